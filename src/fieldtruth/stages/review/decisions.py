"""What each annotation says of its item, and which one counts.

A decision is one of `Said`. Where several people saw a task and all say the same, the earliest
one counts (its boxes are taken; how far theirs agree is `agreement`'s); where they do not, or
name two levels, the item is dropped as a matter for a third, unless one annotation is marked as
the ground truth on the server, which settles it. Of two annotations of one person, the later
counts.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from fieldtruth.formats.label_studio.reading import Annotated
from fieldtruth.formats.label_studio.writing import LEVEL, LEVELS, REASON, VERDICT
from fieldtruth.records import AskLevel, Box, Item, Record
from fieldtruth.stages.review.sent import Sent

Said = Literal[
    "boxes",  # it is there, and these are all its boxes
    "absent",  # it is not on the photo
    "remove",  # the photo does not belong in the set
    "flag",  # somebody else should look
    "nothing",  # neither box nor choice: a slip, or a photo that was only clicked through
    "skip",  # the skip button
    "draft",  # begun and not submitted
    "unusable",  # with `faults`
]
SETTLES: tuple[Said, ...] = ("boxes", "absent", "remove", "flag")
_ASIDE: dict[Said, str] = {  # why an item has no decision, the most telling first
    "unusable": "unusable", "nothing": "nothing_said", "skip": "skipped", "draft": "draft_only",
}  # fmt: skip


class Decision(Record, frozen=True, kw_only=True):
    """One line of `log.jsonl`: who said what of which item, when, and whether it counts."""

    task: str
    item: str
    annotation: int
    who: str
    at: str
    seconds: float | None
    said: Said
    reasons: tuple[str, ...]
    note: str
    level: AskLevel | None  # of `boxes`
    boxes: tuple[Box, ...]
    remarks: tuple[str, ...]
    faults: tuple[str, ...]
    blind: bool
    ground_truth: bool
    counts: bool = False


def decisions(sent: Sent, annotated: Iterable[Annotated]) -> list[Decision]:
    """The decisions on one task, in the order they were made."""
    ordered = sorted(annotated, key=lambda each: (each.at, each.number))
    return [_decision(sent, each) for each in ordered]


def counted(made: Sequence[Decision], annotator: str | None) -> tuple[Decision | None, str, str]:
    """The decision that counts; or none, with the reason for the drop and its detail.

    `annotator`: only what this person said.
    """
    mine = [each for each in made if annotator in (None, each.who)]
    last = {each.who: each for each in mine if each.said in SETTLES}  # a later one takes its place
    settled = sorted(last.values(), key=lambda each: (each.at, each.annotation))
    truth = [each for each in settled if each.ground_truth]
    if truth:
        return truth[-1], "", ""
    if not settled:
        return None, *_unsettled(mine)
    if len({(each.said, each.level) for each in settled}) > 1:
        told = ", ".join(f"{each.who}: {' '.join(filter(None, _told(each)))}" for each in settled)
        return None, "annotators_disagree", told
    return settled[0], "", ""


def _told(each: Decision) -> tuple[str, str | None]:
    return each.said, each.level


def _unsettled(mine: Sequence[Decision]) -> tuple[str, str]:
    for said, reason in _ASIDE.items():
        of = [each for each in mine if each.said == said]
        if of:
            return reason, "; ".join(filter(None, (*of[-1].faults, of[-1].note)))
    return "not_annotated", ""


def _decision(sent: Sent, told: Annotated) -> Decision:
    level, remarks, faults = _level(sent.item, told)
    said = _said(told, faults)
    return Decision(
        task=sent.id, item=sent.item.id, annotation=told.number, who=told.who, at=told.at,
        seconds=told.seconds, said=said, reasons=told.choices.get(REASON, ()), note=told.note,
        level=level if said == "boxes" else None, boxes=told.boxes,
        remarks=(*told.remarks, *(remarks if said == "boxes" else ())), faults=faults,
        blind=sent.blind, ground_truth=told.ground_truth,
    )  # fmt: skip


def _said(told: Annotated, faults: tuple[str, ...]) -> Said:
    verdict = told.choices.get(VERDICT, ())
    if told.draft:
        return "draft"
    if told.skipped:
        return "skip"
    if faults:
        return "unusable"
    if verdict:
        return next(said for said in get_args(Said) if said == verdict[0])
    return "boxes" if told.boxes else "nothing"


def _level(item: Item, told: Annotated) -> tuple[AskLevel | None, tuple[str, ...], tuple[str, ...]]:
    """The level of the boxes, with remarks; and what spoils the annotation."""
    faults = list(told.faults)
    verdict = told.choices.get(VERDICT, ())
    unknown = [each for each in verdict if each not in SETTLES[1:]]
    if unknown or len(verdict) > 1:
        faults.append(f"expected one of {', '.join(SETTLES[1:])}, got {', '.join(verdict)!r}")
    if "absent" in verdict and told.boxes:
        faults.append("says that it is not on the photo, and boxes it")
    ticked = told.choices.get(LEVEL, ())
    level: AskLevel = item.wording
    remarks: tuple[str, ...] = ()
    if len(ticked) > 1 or set(ticked) - set(LEVELS):
        faults.append(f"expected one level of {', '.join(LEVELS)}, got {', '.join(ticked)!r}")
    elif ticked:
        level = "lesion" if ticked[0] == "lesion" else "object"
    else:
        remarks = (f"no level chosen; {level}, as it was sent",)
    return level, remarks, tuple(faults)
