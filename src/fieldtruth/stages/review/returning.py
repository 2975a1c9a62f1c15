"""What people decided, back to items: `review import`.

    items.jsonl      items as they were sent, with the boxes and level that people gave them
    drops.jsonl      every other item that was sent, with why
    log.jsonl        every decision: who, when, what, and whether it counts
    anchoring.json   how much of the machine's boxes was kept
    review.json      the counts

Truth about an item (source, licence, group, size) is what was sent, never what the server says.
Every item that was sent is an item or a drop.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from pathlib import Path

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, Unbalanced, Usage
from fieldtruth.formats.label_studio import reading
from fieldtruth.records import Drop, Item, Record
from fieldtruth.stages.review.anchoring import Anchoring, Reviewed, Share, anchoring
from fieldtruth.stages.review.decisions import SETTLES, Decision, counted, decisions
from fieldtruth.stages.review.sent import DROPS, Sent, new_folder, read_sent

LOG = "log.jsonl"
REASONS = (
    "not_returned",  # its task is not in the export
    "not_annotated",  # nobody opened it, or not the one who was asked for
    "draft_only",
    "skipped",
    "nothing_said",
    "unusable",
    "annotators_disagree",
    "absent",  # what it was asked about is not to be seen
    "healthy_but_boxed",
    "removed",
    "flagged",
)


class Imported(Record, frozen=True, kw_only=True):
    """What came back: `sent == items + sum(drops)`.

    `short` tasks have fewer people's decisions than were asked for; `unknown` rows of the export
    are none of these tasks; `twice` tasks stand in it more than once, as an import done again
    leaves them.
    """

    sent: int
    items: int
    positives: int
    healthy: int
    drops: dict[str, int]
    annotations: int
    annotators: int
    remarks: int
    short: int
    unknown: int
    twice: int
    anchoring: Anchoring


def receive(exported: Path, sent: Path, out: Path, annotator: str | None = None) -> Imported:
    """A server's export of the tasks in the folder `sent` to a new folder `out`.

    `annotator`: the server's number of the one person whose decisions are taken. Raises
    `BadRecord` where the file is no such export, or nothing in it can be used.
    """
    tasks = read_sent(sent)
    sizes = {name: (each.item.width, each.item.height) for name, each in tasks.items()}
    returned = reading.read(exported, sizes)
    log: list[Decision] = []
    made: list[Item | Drop] = []
    reviewed: list[Reviewed] = []
    for each in sorted(tasks.values(), key=lambda one: one.item.id):
        told = decisions(each, returned.tasks.get(each.id, ()))
        chosen, reason, detail = counted(told, annotator)
        if each.id not in returned.tasks:
            reason = "not_returned"
        log += [msgspec.structs.replace(one, counts=one is chosen) for one in told]
        outcome = _outcome(each, chosen) if chosen else _drop(each.item, reason, detail)
        made.append(outcome)
        if chosen and isinstance(outcome, Item) and outcome.positive:
            reviewed.append(_reviewed(each, chosen))
    _usable(exported, log, annotator)
    items = [each for each in made if isinstance(each, Item)]
    positives = sum(each.positive for each in items)
    drops = Counter(each.reason for each in made if isinstance(each, Drop))
    found = Imported(
        sent=len(tasks), items=len(items), positives=positives, healthy=len(items) - positives,
        drops={reason: drops[reason] for reason in REASONS if drops[reason]},
        annotations=len(log), annotators=len({each.who for each in log if each.who}),
        remarks=sum(len(each.remarks) for each in log), short=_short(tasks.values(), log),
        unknown=returned.unknown, twice=len(returned.twice), anchoring=anchoring(reviewed),
    )  # fmt: skip
    if found.sent != found.items + sum(found.drops.values()):
        raise Unbalanced(f"review import: {found.sent} items were sent, {len(made)} came out")
    _write(out, made, log, found)
    return found


def line(made: Imported, out: Path) -> str:
    """What came back, in a line for people, and a warning where something does not belong."""
    lost = ", ".join(f"{reason} {count}" for reason, count in made.drops.items())
    apart = made.anchoring.overall
    told = (
        f"{made.items} items of {made.sent} ({made.positives} positive, {made.healthy} healthy) "
        f"by {made.annotators} people; dropped: {lost or 'none'}. Of {apart.proposals} boxes shown "
        f"or held back {apart.kept} kept, {apart.adjusted} adjusted, {apart.deleted} deleted; "
        f"{apart.new} new{_effect(made.anchoring.effect)}. In {out}"
    )
    odd = {
        f"{made.short} tasks had fewer people than asked": made.short,
        f"{made.unknown} rows are of other tasks": made.unknown,
        f"{made.twice} tasks stand there twice": made.twice,
    }
    return "\n".join([told, *(words for words, count in odd.items() if count)])


def _effect(effect: Share) -> str:
    if effect.value is None:
        return ""
    return (
        f"; kept where shown less where blind {effect.value:+.3f} "
        f"[{effect.low:+.3f}, {effect.high:+.3f}]"
    )


def _outcome(sent: Sent, chosen: Decision) -> Item | Drop:
    item = sent.item
    why = "; ".join(filter(None, (", ".join(chosen.reasons), chosen.note)))
    if chosen.said == "remove":
        return _drop(item, "removed", why)
    if chosen.said == "flag":
        return _drop(item, "flagged", why)
    if chosen.said == "absent":
        return _drop(item, "absent", why) if item.positive else item
    if not item.positive:
        return _drop(item, "healthy_but_boxed", f"{len(chosen.boxes)} boxes")
    level = chosen.level or item.wording
    return msgspec.structs.replace(item, boxes=chosen.boxes, level=level)


def _drop(item: Item, reason: str, detail: str) -> Drop:
    return Drop(
        id=f"{item.id}:review", sample=item.id, stage="review", reason=reason, detail=detail
    )


def _reviewed(sent: Sent, chosen: Decision) -> Reviewed:
    item = sent.item
    return Reviewed(
        item=item.id, source=item.source, blind=sent.blind, proposed=item.boxes,
        final=chosen.boxes,
    )  # fmt: skip


def _usable(exported: Path, log: Sequence[Decision], annotator: str | None) -> None:
    if not log:
        raise BadRecord(
            f"{exported}: expected people's annotations, got tasks and none of them annotated; "
            "export as JSON from the server once they are (tasks.json is what it was given)"
        )
    if all(each.said == "unusable" for each in log):
        raise BadRecord(
            f"{exported}: expected annotations that can be used, got none: task {log[0].task}: "
            f"{'; '.join(log[0].faults)}"
        )
    people = sorted({each.who for each in log if each.who})
    if annotator is not None and annotator not in people:
        raise Usage(
            f"--annotator: expected one of {', '.join(people) or 'none'}, got {annotator!r}"
        )


def _short(tasks: Iterable[Sent], log: Sequence[Decision]) -> int:
    people: dict[str, set[str]] = {}
    for each in log:
        if each.said in SETTLES:
            people.setdefault(each.task, set()).add(each.who)
    return sum(len(people.get(each.id, ())) < each.annotators for each in tasks)


def _write(
    out: Path, made: Sequence[Item | Drop], log: Sequence[Decision], found: Imported
) -> None:
    with new_folder(out) as part:
        items = (each for each in made if isinstance(each, Item))
        store.write(part / store.ITEMS, sorted(items, key=attrgetter("id")))
        store.write(part / DROPS, (each for each in made if isinstance(each, Drop)))
        store.write(part / LOG, log)
        for name, what in (("anchoring.json", found.anchoring), ("review.json", found)):
            with store.replacing(part / name) as file:
                file.write(msgspec.json.format(msgspec.json.encode(what), indent=1) + b"\n")
