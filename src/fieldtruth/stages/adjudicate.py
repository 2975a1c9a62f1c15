"""Adjudicate: two experts' blind answers and the generated key become gold (design, section 8).

PlantXpert's protocol (its section on expert annotation): an id that either expert flagged is no
candidate for gold; where the two give one answer, that is gold; where they differ and one of them
gives the generated answer, that is gold; three different answers are dropped. Agreement and
Cohen's kappa are over the ids that neither flagged. The experts must not have seen the key.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from fieldtruth import store
from fieldtruth.agreement import Coefficient, cohen
from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Record

REASONS = ("flagged", "three_way")

Reason = Literal["flagged", "three_way"]


class Answer(Record, frozen=True, kw_only=True):
    """One line of an expert's file or of the key; `answer` is null when flagged.

    `note` says why, `stratum` (read from the key) is what counts are broken down by: a crop, say.
    """

    id: str
    answer: str | None
    note: str = ""
    stratum: str = ""

    def __post_init__(self) -> None:
        if self.answer is not None and self.answer.strip() != (self.answer or " "):
            raise ValueError(
                "expected an answer without blanks around it, or null where it is flagged, "
                f"got {self.answer!r}"
            )


class Gold(Record, frozen=True, kw_only=True):
    """A settled answer."""

    id: str
    answer: str


class Dropped(Record, frozen=True, kw_only=True):
    """An id without gold, why, and what the three said."""

    id: str
    reason: Reason
    a: str | None
    b: str | None
    generated: str | None
    note: str = ""


class Tally(Record, frozen=True, kw_only=True):
    """The counts of a set of ids: `candidates == flagged + valid`."""

    candidates: int
    flagged: int
    valid: int
    agreed: int
    agreement: float | None  # null where no id is valid
    kappa: Coefficient


class Adjudication(Tally, frozen=True, kw_only=True):
    """What `adjudicate` prints; ids ascend. `candidates == len(gold) + len(dropped)`.

    `by_key` gold answers were settled by the generated one; `not_reviewed` ids stand in the key
    alone.
    """

    gold: tuple[Gold, ...]
    dropped: tuple[Dropped, ...]
    by_key: int
    not_reviewed: int
    strata: dict[str, Tally]


Rows = Mapping[str, Answer]


def adjudicate(a: Path, b: Path, generated: Path) -> Adjudication:
    """Settle the answers of two files by id, whatever their order.

    Raises `BadRecord` for a broken line or an id given twice, and `Refused` naming ids that one
    expert has and the other or the key has not.
    """
    first, second, key = (_read(path) for path in (a, b, generated))
    _complete(a, first, b, second)
    _complete(b, second, a, first)
    _complete(a, first, generated, key)
    made = [_settled(first[name], second[name], key[name]) for name in sorted(first)]
    gold = tuple(each for each in made if isinstance(each, Gold))
    names = sorted({key[name].stratum for name in first} - {""})
    tally = _tally(sorted(first), first, second)
    return Adjudication(
        **msgspec.structs.asdict(tally),
        gold=gold,
        dropped=tuple(each for each in made if isinstance(each, Dropped)),
        by_key=sum(first[each.id].answer != second[each.id].answer for each in gold),
        not_reviewed=len(key.keys() - first.keys()),
        strata={
            name: _tally([at for at in sorted(first) if key[at].stratum == name], first, second)
            for name in names
        },
    )


def write(made: Adjudication, out: Path) -> None:
    """`gold.jsonl`, `dropped.jsonl` and `adjudication.json` (the counts) as a new folder."""
    out = out.resolve()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    counts = {
        name: value
        for name, value in msgspec.structs.asdict(made).items()
        if name not in ("gold", "dropped")
    }
    with store.drafting(out) as part:
        store.write(part / "gold.jsonl", made.gold)
        store.write(part / "dropped.jsonl", made.dropped)
        with store.replacing(part / "adjudication.json") as file:
            file.write(msgspec.json.format(msgspec.json.encode(counts), indent=1) + b"\n")
        store.publish(part, out)


def line(made: Adjudication) -> str:
    """The outcome in one line for people."""
    kappa = made.kappa
    beyond = (
        f"kappa {kappa.value:.4f} [{kappa.low:.4f}, {kappa.high:.4f}]"
        if kappa.value is not None
        else f"no kappa ({kappa.undefined})"
    )
    apart = sum(each.reason == "three_way" for each in made.dropped)
    share = "" if made.agreement is None else f" ({made.agreement:.1%})"
    return (
        f"{made.candidates} candidates, {made.flagged} flagged, {made.valid} valid; "
        f"{made.agreed} agreed{share}, {beyond}; "
        f"{len(made.gold)} gold ({made.by_key} settled by the key), {apart} three ways apart; "
        f"{made.not_reviewed} of the key not reviewed"
    )


def _read(path: Path) -> Rows:
    return {row.id: row for row in store.read_unique(path, Answer)}


def _complete(here: Path, has: Rows, there: Path, lacks: Rows) -> None:
    missing = sorted(has.keys() - lacks.keys())
    if missing:
        raise Refused(
            f"{there}: expected a line for every id of {here}, got none for {len(missing)} of "
            f"{len(has)}: {', '.join(missing[:5])}{' ...' if len(missing) > 5 else ''}; add them "
            "(answer null where there is none), or take them out of both"
        )


def _settled(a: Answer, b: Answer, key: Answer) -> Gold | Dropped:
    if a.answer is None or b.answer is None:
        return _dropped("flagged", a, b, key)
    if a.answer == b.answer or a.answer == key.answer:
        return Gold(id=a.id, answer=a.answer)
    if b.answer == key.answer:
        return Gold(id=a.id, answer=b.answer)
    return _dropped("three_way", a, b, key)


def _dropped(reason: Reason, a: Answer, b: Answer, key: Answer) -> Dropped:
    note = "; ".join(filter(None, (a.note, b.note)))
    return Dropped(id=a.id, reason=reason, a=a.answer, b=b.answer, generated=key.answer, note=note)


def _tally(names: Iterable[str], first: Rows, second: Rows) -> Tally:
    names = list(names)
    pairs = [(first[name].answer, second[name].answer) for name in names]
    valid = [(a, b) for a, b in pairs if a is not None and b is not None]
    agreed = sum(a == b for a, b in valid)
    return Tally(
        candidates=len(names), flagged=len(names) - len(valid), valid=len(valid), agreed=agreed,
        agreement=agreed / len(valid) if valid else None,
        kappa=cohen([a for a, _ in valid], [b for _, b in valid]),
    )  # fmt: skip
