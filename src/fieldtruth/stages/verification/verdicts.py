"""What people ticked becomes what is kept: only what nobody found anything wrong with.

A question is kept where as many people read it as were to, and every box of each is still ticked
(AgMMU, appendix B.4: of 1,742 questions 746 were). Agreement is Krippendorff's alpha over the rows
that two or more read, for each condition and for "clean": it allows for rows that somebody left
out, and has an interval over rows. Where a third person was named, that one decides the rows
on which the others do not all say the same (PlantXpert, section 2.1); agreement is the others'.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from fieldtruth.agreement import Coefficient, krippendorff
from fieldtruth.records import Drop, Question, Record
from fieldtruth.stages.verification.sent import CONDITIONS, SHEETS, Sent
from fieldtruth.stages.verification.workbook import Ticks

STAGE = "verification"
NOT_READ = "not read"
UNDECIDED = "undecided"  # two say different things, and the third has not said which holds
REASONS = tuple(
    dict.fromkeys([*(c for each in SHEETS.values() for c in each.conditions), NOT_READ, UNDECIDED])
)


class Verified(Record, frozen=True, kw_only=True):
    """What became of a set: `rows == kept + sum(drops)`.

    `cleared`: rows of which somebody cleared that box; `funnel`: rows left after each condition,
    in the order of its conditions. `shares`: of each person, the rows read and left clean.
    """

    rows: int
    read: int
    kept: int
    questions: int  # kept, in all their forms; or figures, or passages
    funnel: dict[str, int]
    cleared: dict[str, int]
    drops: dict[str, int]
    types: dict[str, tuple[int, int]]  # type -> (sent, kept)
    annotators: dict[str, tuple[int, int]]  # person -> (read, clean)
    agreement: dict[str, Coefficient]
    what: str = "question"  # what a row is
    decided: int = 0  # rows that the third person decided
    undecided: tuple[str, ...] = ()  # rows that wait for the third person


def settle(
    sent: Sequence[Sent], ticks: Sequence[Ticks], questions: Mapping[str, Question], least: int
) -> tuple[list[Question], list[Drop], Verified]:
    """The questions kept, a drop for each of the others, and the figures.

    `least`: how many people have to have read a row, at most as many as it was sent to.
    """
    by_row: dict[str, list[Ticks]] = {}
    thirds: dict[str, Ticks] = {}
    judges = {row.id: row.annotators for row in sent}
    for each in ticks:
        if each.read and each.annotator in judges[each.row]:
            by_row.setdefault(each.row, []).append(each)
        elif each.read:
            thirds[each.row] = each
    kept: list[Question] = []
    drops: list[Drop] = []
    fates: dict[str, str] = {}
    for row in sent:
        judged = sorted(by_row.get(row.id, ()), key=lambda each: each.annotator)
        if row.third is None:
            why, detail = _fate(row, judged, least)
        else:
            why, detail = _of_two(row, judged, thirds.get(row.id), least)
        fates[row.id] = why
        some = [questions[name] for name in row.questions]
        if why:
            drops += [_drop(each, why, detail) for each in some]
        else:
            kept += some
    kept.sort(key=lambda each: each.id)
    drops.sort(key=lambda each: each.id)
    return kept, drops, _third(_figures(sent, by_row, fates, kept), sent, by_row, fates)


def _third(
    made: Verified,
    sent: Sequence[Sent],
    by_row: Mapping[str, Sequence[Ticks]],
    fates: Mapping[str, str],
) -> Verified:
    """With what the third person decided, and has yet to decide."""
    waiting = tuple(row.id for row in sent if fates[row.id] == UNDECIDED)
    apart = sum(
        row.third is not None
        and fates[row.id] not in (UNDECIDED, NOT_READ)
        and len({each.clean for each in by_row[row.id]}) > 1
        for row in sent
    )
    what = next((each.sheet.what for each in sent), made.what)
    return replace(made, what=what, decided=apart, undecided=waiting)


def _of_two(row: Sent, judged: Sequence[Ticks], third: Ticks | None, least: int) -> tuple[str, str]:
    """The same where a third person decides what the others do not all say."""
    if len(judged) < min(least, len(row.annotators)):
        return NOT_READ, f"{len(judged)} of {min(least, len(row.annotators))} people"
    if len({each.clean for each in judged}) < 2:
        return _fate(row, judged, least)
    if third is None:
        return UNDECIDED, f"waits for {row.third}"
    return _fate(row, [third], 1)


def _fate(row: Sent, judged: Sequence[Ticks], least: int) -> tuple[str, str]:
    """Why a row is dropped, and by whom; nothing where it is kept."""
    for at, name in enumerate(row.conditions):
        who = [each for each in judged if not each.conditions[at]]
        if who:
            told = "; ".join(
                f"{each.annotator}: {each.remark}" if each.remark else each.annotator
                for each in who
            )
            return name, told[:500]
    needed = min(least, len(row.annotators))
    return (NOT_READ, f"{len(judged)} of {needed} people") if len(judged) < needed else ("", "")


def _drop(question: Question, why: str, detail: str) -> Drop:
    return Drop(
        id=f"{question.id}:dropped", sample=question.id, parent=question.id, stage=STAGE,
        reason=why, detail=detail,
    )  # fmt: skip


def _figures(
    sent: Sequence[Sent],
    by_row: Mapping[str, Sequence[Ticks]],
    fates: Mapping[str, str],
    kept: Sequence[Question],
) -> Verified:
    drops = Counter(filter(None, fates.values()))
    left, funnel = len(sent), {"sent": len(sent)}
    conditions = next((each.conditions for each in sent), CONDITIONS)
    waits = (UNDECIDED,) if any(each.third for each in sent) else ()
    for name in (*conditions, NOT_READ, *waits):
        left -= drops[name]
        funnel[name] = left
    cleared = {
        name: sum(any(not each.conditions[at] for each in some) for some in by_row.values())
        for at, name in enumerate(conditions)
    }
    types: dict[str, tuple[int, int]] = {}
    for row in sent:
        was, stayed = types.get(row.qtype or "none", (0, 0))
        types[row.qtype or "none"] = (was + 1, stayed + (not fates[row.id]))
    people: dict[str, tuple[int, int]] = {}
    for each in (each for some in by_row.values() for each in some):
        read, clean = people.get(each.annotator, (0, 0))
        people[each.annotator] = (read + 1, clean + each.clean)
    return Verified(
        rows=len(sent), read=len(by_row), kept=sum(not why for why in fates.values()),
        questions=len(kept), funnel=funnel, cleared=cleared, drops=dict(sorted(drops.items())),
        types=dict(sorted(types.items())), annotators=dict(sorted(people.items())),
        agreement=_agreement(sent, by_row),
    )  # fmt: skip


def _agreement(
    sent: Sequence[Sent], by_row: Mapping[str, Sequence[Ticks]]
) -> dict[str, Coefficient]:
    """Krippendorff's alpha, nominal, over rows in the order of their ids."""
    shared = [by_row[row.id] for row in sent if len(by_row.get(row.id, ())) > 1]
    of = {
        name: [[_word(holds=each.conditions[at]) for each in some] for some in shared]
        for at, name in enumerate(next((each.conditions for each in sent), CONDITIONS))
    }
    of["clean"] = [[_word(holds=each.clean) for each in some] for some in shared]
    return {name: krippendorff(ratings) for name, ratings in of.items()}


def _word(*, holds: bool) -> str:
    return "ticked" if holds else "cleared"


def line(made: Verified) -> str:
    """The funnel, the agreement and one closing line, for people."""
    rows = [f"  {name:<14} {count:>7,}" for name, count in made.funnel.items()]
    for name, each in made.agreement.items():
        if each.value is None:
            rows.append(f"  agreement on {name}: not defined ({each.undefined})")
        else:
            rows.append(
                f"  agreement on {name}: alpha {each.value:.2f} "
                f"[{each.low:.2f}, {each.high:.2f}] n={each.n}"
            )
    lost = ", ".join(f"{why} {count}" for why, count in made.drops.items()) or "none"
    if made.undecided:
        rows.append(
            f"  {len(made.undecided)} rows wait for the third person, whose workbook is there"
        )
    elif made.decided:
        rows.append(f"  the third person decided {made.decided} rows")
    kept = f"{made.kept} of {made.rows} rows kept ({made.questions} {made.what}s)"
    return "\n".join([*rows, f"{kept}; dropped: {lost}"])
