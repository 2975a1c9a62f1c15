"""Adjudicate: two experts' blind answers and the generated key become gold (design, section 8).

PlantXpert's protocol (its section on expert annotation): an id that either expert flagged is no
candidate for gold; where the two give one answer, that is gold; where they differ and one of them
gives the generated answer, that is gold; three different answers are dropped. Agreement and
Cohen's kappa are over the ids that neither flagged. The experts must not have seen the key.

That lets the generator settle what people do not agree on, so there are other rules:

    published  as above
    both       only what both experts say; the key settles nothing
    unanimous  only what both experts say and the key says too
    majority   what two of three experts say: a third, blind too, is asked where the two differ
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args

import msgspec

from fieldtruth import store
from fieldtruth.agreement import Answer, Coefficient, cohen
from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Record

Reason = Literal["flagged", "three_way", "disagree", "against_key"]
Rule = Literal["published", "both", "unanimous", "majority"]
REASONS: tuple[Reason, ...] = get_args(Reason)
NO_STRATUM = "(no crop)"  # questions that do not say; `review` gives crops as strata


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
    """The counts of a set of ids: `candidates == flagged + valid`; `settled` of them are gold."""

    candidates: int
    flagged: int
    valid: int
    agreed: int
    settled: int
    agreement: float | None  # null where no id is valid
    kappa: Coefficient


class Adjudication(Tally, frozen=True, kw_only=True):
    """What `adjudicate` prints; ids ascend. `candidates == len(gold) + len(dropped)`.

    `by_key` gold answers were settled by the generated one, `by_third` by a third expert;
    `not_reviewed` ids stand in the key alone.
    """

    gold: tuple[Gold, ...]
    dropped: tuple[Dropped, ...]
    rule: Rule
    by_key: int
    by_third: int
    not_reviewed: int
    strata: dict[str, Tally]


Rows = Mapping[str, Answer]


def adjudicate(
    a: Path, b: Path, generated: Path, rule: str = "published", third: Path | None = None
) -> Adjudication:
    """Settle the answers of two files by id, whatever their order.

    `third` is for the rule `majority`: a third expert's answers to what the two differ on, at
    least. Raises `BadRecord` for a broken line or an id given twice, `Refused` naming ids that one
    expert has and the other or the key has not, `Usage` for an unknown rule.
    """
    how = _rule(rule, third)
    first, second, key = (_read(path) for path in (a, b, generated))
    _complete(a, first, b, second)
    _complete(b, second, a, first)
    _complete(a, first, generated, key)
    last = _read(third) if third else {}
    if third is not None:
        _complete(a, {name: first[name] for name in _apart(first, second)}, third, last)
    made = {
        name: _settled(how, first[name], second[name], last.get(name) or key[name])
        for name in sorted(first)
    }
    gold = {name: each for name, each in made.items() if isinstance(each, Gold)}
    dropped = [
        _dropped(each, first[name], second[name], key[name])
        for name, each in made.items()
        if not isinstance(each, Gold)
    ]
    apart = sum(first[name].answer != second[name].answer for name in gold)
    return Adjudication(
        **msgspec.structs.asdict(_tally(made, first, second, gold)),
        gold=tuple(gold.values()),
        dropped=tuple(dropped),
        rule=how,
        by_key=0 if third else apart,
        by_third=apart if third else 0,
        not_reviewed=len(key.keys() - first.keys()),
        strata={
            name: _tally(some, first, second, gold) for name, some in _strata(made, key).items()
        },
    )


def write(made: Adjudication, out: Path, more: Callable[[Path], None] | None = None) -> None:
    """`gold.jsonl`, `dropped.jsonl`, `adjudication.json` (the counts) and `funnel.md` as a new
    folder, with what `more` puts there."""
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
        with store.replacing(part / "funnel.md") as file:
            file.write(funnel(made).encode())
        if more is not None:
            more(part)
        store.publish(part, out)


def line(made: Adjudication) -> str:
    """The outcome in one line for people."""
    kappa = made.kappa
    beyond = (
        f"kappa {kappa.value:.4f} [{kappa.low:.4f}, {kappa.high:.4f}]"
        if kappa.value is not None
        else f"no kappa ({kappa.undefined})"
    )
    lost = Counter(each.reason for each in made.dropped)
    apart = ", ".join(
        f"{lost[reason]} {words}"
        for reason, words in _LOST.items()
        if lost[reason] or reason == _LOSES[made.rule]
    )
    settled = (
        f"{made.by_third} settled by a third expert"
        if made.rule == "majority"
        else f"{made.by_key} settled by the key"
    )
    share = "" if made.agreement is None else f" ({made.agreement:.1%})"
    return (
        f"{made.candidates} candidates, {made.flagged} flagged, {made.valid} valid; "
        f"{made.agreed} agreed{share}, {beyond}; "
        f"{len(made.gold)} gold ({settled}), {apart}; "
        f"{made.not_reviewed} of the key not reviewed"
    )


_LOST: Mapping[Reason, str] = {
    "three_way": "three ways apart", "disagree": "on which they differ",
    "against_key": "against the key",
}  # fmt: skip
_LOSES: Mapping[Rule, Reason] = {
    "published": "three_way", "both": "disagree", "unanimous": "disagree", "majority": "three_way",
}  # fmt: skip


def funnel(made: Adjudication) -> str:
    """From candidates to gold as a Markdown table, stratum by stratum, as the paper tells it."""
    columns = (
        "", "candidates", "flagged", "valid", "agreed", "agreement", "kappa", "95 % interval",
        "not settled", "gold",
    )  # fmt: skip
    rows = [columns, ("---", *("---:" for _ in columns[1:]))]
    rows += [_funnel_row(name, each) for name, each in (*made.strata.items(), ("all", made))]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"Rule: {made.rule}. {made.by_key} settled by the key.\n\n{table}\n"


def _funnel_row(name: str, tally: Tally) -> tuple[str, ...]:
    kappa = tally.kappa
    value, interval = "", kappa.undefined or ""
    if kappa.value is not None:
        value, interval = f"{kappa.value:.4f}", f"{kappa.low:.4f} to {kappa.high:.4f}"
    counts = (tally.candidates, tally.flagged, tally.valid, tally.agreed)
    share = "" if tally.agreement is None else f"{tally.agreement:.1%}"
    plain = name.replace("|", "/").replace("\n", " ")
    return (
        plain, *map(str, counts), share, value, interval, str(tally.valid - tally.settled),
        str(tally.settled),
    )  # fmt: skip


def _rule(said: str, third: Path | None) -> Rule:
    rule = next((each for each in get_args(Rule) if each == said), None)
    if rule is None:
        raise Usage(f"--rule: expected one of {', '.join(get_args(Rule))}, got {said!r}")
    if (rule == "majority") != (third is not None):
        raise Usage(
            "--rule majority: expected it with --third, another expert's answers, got one of the "
            "two alone"
        )
    found: Rule = rule
    return found


def _apart(first: Rows, second: Rows) -> list[str]:
    """Ids that neither flagged and on which the two differ."""
    said = ((name, first[name].answer, second[name].answer) for name in first)
    return [name for name, a, b in said if a != b and None not in (a, b)]


def _read(path: Path) -> Rows:
    store.fields_once(path)
    return {row.id: row for row in store.read_unique(path, Answer)}


def _complete(here: Path, has: Rows, there: Path, lacks: Rows) -> None:
    missing = sorted(has.keys() - lacks.keys())
    if missing:
        raise Refused(
            f"{there}: expected a line for every id of {here}, got none for {len(missing)} of "
            f"{len(has)}: {', '.join(missing[:5])}{' ...' if len(missing) > 5 else ''}; add them "
            "(answer null where there is none), or take them out of both"
        )


def _settled(rule: Rule, a: Answer, b: Answer, other: Answer) -> Gold | Reason:
    """What is settled, or why nothing is; `other` is the key or, under `majority`, the third."""
    if a.answer is None or b.answer is None:
        return "flagged"
    if a.answer == b.answer:
        return (
            "against_key"
            if rule == "unanimous" and a.answer != other.answer
            else Gold(id=a.id, answer=a.answer)
        )
    if rule in ("both", "unanimous"):
        return "disagree"
    if other.answer is not None and other.answer in (a.answer, b.answer):
        return Gold(id=a.id, answer=other.answer)
    return "three_way"


def _strata(names: Iterable[str], key: Rows) -> dict[str, list[str]]:
    """The ids of each stratum, those of none last, so that strata add up; none if none is named."""
    parts: dict[str, list[str]] = {}
    for name in names:
        parts.setdefault(key[name].stratum or NO_STRATUM, []).append(name)
    if parts.keys() <= {NO_STRATUM}:
        return {}
    return dict(sorted(parts.items(), key=lambda each: (each[0] == NO_STRATUM, each[0])))


def _dropped(reason: Reason, a: Answer, b: Answer, key: Answer) -> Dropped:
    note = "; ".join(filter(None, (a.note, b.note)))
    return Dropped(id=a.id, reason=reason, a=a.answer, b=b.answer, generated=key.answer, note=note)


def _tally(names: Iterable[str], first: Rows, second: Rows, gold: Collection[str]) -> Tally:
    names = list(names)
    pairs = [(first[name].answer, second[name].answer) for name in names]
    valid = [(a, b) for a, b in pairs if a is not None and b is not None]
    agreed = sum(a == b for a, b in valid)
    return Tally(
        candidates=len(names), flagged=len(names) - len(valid), valid=len(valid), agreed=agreed,
        settled=sum(name in gold for name in names),
        agreement=agreed / len(valid) if valid else None,
        kappa=cohen([a for a, _ in valid], [b for _, b in valid]),
    )  # fmt: skip
