"""Repeated runs as one model, and base against tuned part by part, of a question benchmark.

`NAME@run1`, `NAME@run2`, ... are runs of NAME (design, section 3). Their mean has the sample
deviation over runs beside it, and an interval over groups of questions, of each question's mean
over runs: the first says how much asking again moves a number, the second how much other questions
would. Only questions scored in every run count. PlantXpert reports the mean of three runs alone, in
cells of 11 questions (agroground.md, section 19).

`paired_parts`: the difference of two models over the questions scored in both, for all of them and
for each part of each cut; runs are taken together first. All pairs up to four models; beyond, those
that `Settings.pairs` names.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, stdev
from typing import Any

from fieldtruth.faults import Usage
from fieldtruth.grading.grades import Shares
from fieldtruth.grading.questions import Answered
from fieldtruth.resampling import Estimate, summed
from fieldtruth.stages.score_questions import (
    VALUES,
    Settings,
    Worth,
    cuts,
    estimated,
    fields,
    worths,
)

RUN = re.compile(r"(?P<name>.+)@run[0-9]+")
METRIC = "accuracy"
ALL_PAIRS = 4  # models, runs taken together, up to which every pair is set side by side
_PARTS = ("correct", "partial", "incorrect", "not_attempted")


def score_parts(graded: Sequence[Answered], settings: Settings) -> dict[str, Any]:
    """`runs` -> NAME -> PROTOCOL -> `all` and cuts, and `paired_parts`; empty where there are none.

    Raises `Usage` for a pair of which a model is not there.
    """
    together = {name: _together(some) for name, some in worths(graded, settings).items()}
    _known(settings, {one.model for some in together.values() for one, _ in some})
    runs: dict[str, dict[str, Any]] = {}
    for protocol, some in together.items():
        for one, own in some:
            if len(own) > 1:
                runs.setdefault(one.model, {})[protocol] = _runs(one, own, settings)
    paired = [
        row
        for protocol, some in together.items()
        for pair in _pairs([one for one, _ in some], settings)
        for row in _rows(protocol, pair, settings)
    ]
    return {"runs": runs, "paired_parts": paired}


def pairs(said: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """`BASE=TUNED` as it was typed; `Usage` for what is not of that form."""
    parted = [each.partition("=") for each in said]
    for base, _, tuned in parted:
        if not base or not tuned or base == tuned:
            raise Usage(f"--pair: expected BASE=TUNED, got {base!r} and {tuned!r}")
    return tuple((base, tuned) for base, _, tuned in parted)


def none_of(said: Sequence[str]) -> None:
    """`Usage` where pairs are named for replies to items."""
    if said:
        raise Usage("--pair: expected it with replies to questions, got replies to items")


def _together(some: Sequence[Worth]) -> list[tuple[Worth, list[Worth]]]:
    """Each model with its runs taken together, and the runs; one alone is taken as it is."""
    found: dict[str, list[Worth]] = {}
    for one in some:
        named = RUN.fullmatch(one.model)
        found.setdefault(named["name"] if named else one.model, []).append(one)
    return [(own[0] if len(own) == 1 else _mean(name, own), own) for name, own in found.items()]


def _mean(name: str, runs: Sequence[Worth]) -> Worth:
    """The mean of every question over the runs; None where a run has no score of it."""
    by_id = [
        {each.id: share for each, share in zip(one.questions, one.shares, strict=True)}
        for one in runs
    ]
    questions = [each for each in runs[0].questions if all(each.id in some for some in by_id)]
    shares = [_share([some[each.id] for some in by_id]) for each in questions]
    return Worth(name, runs[0].protocol, questions, shares)


def _share(shares: Sequence[Shares | None]) -> Shares | None:
    known = [each for each in shares if each is not None]
    if len(known) < len(shares):
        return None
    return Shares(**{name: fmean(getattr(each, name) for each in known) for name in _PARTS})


def _runs(one: Worth, runs: Sequence[Worth], settings: Settings) -> dict[str, Any]:
    told: dict[str, Any] = {
        "runs": [each.model for each in runs],
        "all": _cell(one, runs, [True] * len(one.questions), settings),
    }
    for name, parts in cuts(one.questions).items():
        told[name] = {
            part: _cell(one, runs, [part == own for own in parts], settings)
            for part in sorted(set(parts))
        }
    return told


def _cell(
    one: Worth, runs: Sequence[Worth], wanted: Sequence[bool], settings: Settings
) -> dict[str, Any]:
    """The mean with its interval over questions, `n` of them, and `sd` over the runs."""
    part = one.table(wanted)
    values = []
    for run in runs:
        ids = set(part.ids)
        same = run.table([each.id in ids for each in run.questions])
        value, known = VALUES[METRIC](summed(same.sums))
        values += [float(value)] if known else []
    spread = stdev(values) if len(values) > 1 else None
    return {**fields(estimated([part], VALUES[METRIC], settings), "value"), "sd": spread}


def _known(settings: Settings, models: set[str]) -> None:
    for name in (each for pair in settings.pairs for each in pair):
        if name not in models:
            raise Usage(
                f"--pair: expected models that were scored ({', '.join(sorted(models))}), got "
                f"{name!r}"
            )


def _pairs(some: Sequence[Worth], settings: Settings) -> list[tuple[Worth, Worth]]:
    named = {one.model: one for one in some}
    if settings.pairs:
        return [(named[a], named[b]) for a, b in settings.pairs if {a, b} <= named.keys()]
    return list(combinations(some, 2)) if len(some) <= ALL_PAIRS else []


def _rows(protocol: str, pair: tuple[Worth, Worth], settings: Settings) -> list[dict[str, Any]]:
    """All, then each part: `b - a` over the questions scored in both."""
    tables = [one.table() for one in pair]
    both = set(tables[0].ids) & set(tables[1].ids)
    questions = [each for each in pair[0].questions if each.id in both]
    whole: Mapping[str, list[str]] = {"all": ["all"] * len(questions), **cuts(questions)}
    made = []
    for cut, parts in whole.items():
        for part in sorted(set(parts)):
            ids = {each.id for each, own in zip(questions, parts, strict=True) if own == part}
            same = [table.take(name in ids for name in table.ids) for table in tables]
            found: Estimate = estimated(same, VALUES[METRIC], settings, minus=True)
            made.append({
                "protocol": protocol, "metric": METRIC, "cut": cut, "part": part,
                "a": pair[0].model, "b": pair[1].model, **fields(found, "difference"),
            })  # fmt: skip
    return made
