"""Silver: a set of questions with expert gold for a part of it becomes gold and what is trained on.

As published (PlantXpert, expert annotation), silver is every question that is not gold. Gold took
one question of each figure, so the other seven of the same figure were trained on, and with them
what the experts had flagged or could not settle: 3,076 - 369 = 2,707 (agroground.md, section 19).
The default keeps gold and silver apart: no figure, and no paper or other group, is in both, and
what was reviewed in vain is in neither. What the published way leaks is measured either way.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from fieldtruth import store
from fieldtruth.faults import Refused, Unbalanced, Usage
from fieldtruth.records import Drop, Question, Record

Way = Literal["disjoint", "published"]
REASONS = ("not_settled", "figure_in_gold", "group_in_gold")
GOLD, SILVER, DROPS, LEAK = (
    "gold-questions.jsonl", "silver-questions.jsonl", "silver-drops.jsonl", "leak.json",
)  # fmt: skip


class Leak(Record, frozen=True, kw_only=True):
    """What of gold a model has seen that was trained on silver.

    `figure` and `group` count gold questions of which a photo, or the group, is in silver too;
    `not_settled` silver questions that experts flagged or could not settle.
    """

    gold: int
    silver: int
    figure: int
    group: int
    not_settled: int


class Parted(Record, frozen=True, kw_only=True):
    """Gold with the settled answers, and silver; ids ascend. `published` is the leak that the
    published way has, `leak` that of the way taken."""

    way: Way
    gold: tuple[Question, ...]
    silver: tuple[Question, ...]
    drops: tuple[Drop, ...]
    leak: Leak
    published: Leak


def part(
    questions: Iterable[Question],
    gold: Mapping[str, str],
    reviewed: Iterable[str],
    way: str = "disjoint",
    photos: Mapping[str, str] | None = None,
) -> Parted:
    """Part a set. `gold`: id -> settled letter; `reviewed`: ids that experts looked at; `photos`:
    path -> hash of those at hand: one figure that two papers print is one figure.

    Raises `Usage` for an unknown way, `Refused` for gold that the set lacks or has no letter for.
    """
    taken = next((each for each in get_args(Way) if each == way), None)
    if taken is None:
        raise Usage(f"--silver: expected one of {', '.join(get_args(Way))}, got {way!r}")
    whole = sorted(questions, key=lambda each: each.id)
    settled = _gold(whole, gold)
    rest = [each for each in whole if each.id not in gold]
    lost = set(reviewed) - gold.keys()
    known = photos or {}
    published = _leak(settled, rest, lost, known)
    drops: list[Drop] = []
    silver = rest
    if taken == "disjoint":
        why = _reasons(settled, lost, known)
        drops = [_drop(each, reason) for each in rest if (reason := why(each))]
        aside = {each.parent for each in drops}
        silver = [each for each in rest if each.id not in aside]
    if len(settled) + len(silver) + len(drops) != len(whole):
        raise Unbalanced(f"silver: {len(whole)} questions in, {len(settled)} gold out")
    return Parted(
        way=taken, gold=tuple(settled), silver=tuple(silver), drops=tuple(drops),
        leak=_leak(settled, silver, lost, known), published=published,
    )  # fmt: skip


def write(made: Parted, folder: Path) -> None:
    """The questions of both, what is in neither, and the leak, into an open folder."""
    store.write(folder / GOLD, made.gold)
    store.write(folder / SILVER, made.silver)
    store.write(folder / DROPS, made.drops)
    told = {
        "way": made.way, "leak": made.leak, "published": made.published,
        "drops": dict(sorted(Counter(each.reason for each in made.drops).items())),
    }  # fmt: skip
    with store.replacing(folder / LEAK) as file:
        file.write(msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n")


def line(made: Parted) -> str:
    """Both parts and both leaks in one line for people."""
    lost = ", ".join(
        f"{reason} {count}"
        for reason, count in sorted(Counter(each.reason for each in made.drops).items())
    )
    here, there = made.leak, made.published
    return (
        f"{here.gold} gold and {here.silver} silver questions ({made.way}; in neither: "
        f"{lost or 'none'}); gold questions with a figure in silver {here.figure}, with a group "
        f"{here.group}; as published they would be {there.figure} and {there.group}, beside "
        f"{there.not_settled} that experts did not settle"
    )


def _gold(questions: Sequence[Question], gold: Mapping[str, str]) -> list[Question]:
    """The gold questions with the settled answer.

    The evidence was written for the generated answer: it goes where another was settled.
    """
    made = []
    for each in questions:
        if each.id not in gold:
            continue
        answer = gold[each.id]
        evidence = each.evidence if answer == each.answer else ()
        try:
            made.append(msgspec.structs.replace(each, answer=answer, evidence=evidence))
        except ValueError as error:
            raise Refused(
                f"question {each.id!r}: expected a settled letter of its options, got: {error}; "
                "is this the set that the experts saw?"
            ) from None
    missing = sorted(gold.keys() - {each.id for each in made})
    if missing:
        raise Refused(
            f"expected a question for every gold answer, got none for {len(missing)}: "
            f"{', '.join(missing[:5])}{' ...' if len(missing) > 5 else ''}; give the set that the "
            "experts saw a part of"
        )
    return made


def _shown(question: Question, photos: Mapping[str, str]) -> set[str]:
    """The figures of a question, by what they hold where that is known."""
    return {photos.get(image, image) for image in question.images}


def _reasons(
    gold: Sequence[Question], lost: set[str], photos: Mapping[str, str]
) -> Callable[[Question], str]:
    figures = {one for each in gold for one in _shown(each, photos)}
    groups = {each.group for each in gold}

    def why(question: Question) -> str:
        if question.id in lost:
            return "not_settled"
        if figures & _shown(question, photos):
            return "figure_in_gold"
        return "group_in_gold" if question.group in groups else ""

    return why


def _drop(question: Question, reason: str) -> Drop:
    return Drop(
        id=f"{question.id}:silver", sample=question.id, parent=question.id, stage="silver",
        reason=reason,
    )  # fmt: skip


def _leak(
    gold: Sequence[Question], silver: Sequence[Question], lost: set[str], photos: Mapping[str, str]
) -> Leak:
    figures = {one for each in silver for one in _shown(each, photos)}
    groups = {each.group for each in silver}
    return Leak(
        gold=len(gold), silver=len(silver),
        figure=sum(bool(figures & _shown(each, photos)) for each in gold),
        group=sum(each.group in groups for each in gold),
        not_settled=sum(each.id in lost for each in silver),
    )  # fmt: skip
