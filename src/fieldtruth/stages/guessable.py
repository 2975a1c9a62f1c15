"""Guessable: questions that models answer without their photos (`+textonly`, `+blank`).

A question that the words alone give away does not test sight. For each question, each model counts
once, however many runs and controls it was asked in (its first, by name): at temperature 0 they are
one answer. The chance of `right` or more of n is binomial with 1 / options; `above` are questions
at or below `alpha`, `expected` how many of them chance alone would put there, and `q` the chance
adjusted for looking at all of them (Benjamini and Hochberg, 1995). Per model, the test is over its
questions, each with its own chance. A failed call is not an answer; a refusal is a wrong one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fieldtruth.faults import Usage
from fieldtruth.grading import question_control
from fieldtruth.grading.questions import answered
from fieldtruth.records import Prediction, Question, Record
from fieldtruth.resampling import Floats

ALPHA = 0.05


class Guesser(Record, frozen=True, kw_only=True):
    """One model's replies without photos: right of n, what chance gives, and how likely."""

    model: str
    protocol: str
    right: int
    n: int
    chance: float
    p: float


class Guessed(Record, frozen=True, kw_only=True):
    """One question: how many of n models are right without seeing it."""

    id: str
    right: int
    n: int
    chance: float
    p: float
    q: float


class Guesses(Record, frozen=True, kw_only=True):
    """`questions` ascend by p, then id; `above` are those of them at or below `alpha`."""

    alpha: float
    models: tuple[Guesser, ...]
    questions: tuple[Guessed, ...]
    above: tuple[str, ...]
    expected: float


@dataclass(frozen=True, slots=True)
class _Told:
    """The answers of one model under one protocol: question -> whether it was right."""

    model: str
    protocol: str
    right: Mapping[str, bool]


def guessable(
    questions: Iterable[Question], predictions: Iterable[Prediction], alpha: float = ALPHA
) -> Guesses:
    """Test the replies that were given without photos; all others are left aside.

    Raises `Usage` where there are none, or `alpha` is no share.
    """
    if not 0 < alpha < 1:
        raise Usage(f"--alpha: expected a share between 0 and 1, got {alpha}")
    asked = {each.id: each for each in questions if each.form == "mcq"}
    told = _told(asked, predictions)
    chance = {name: 1 / len(each.options or ()) for name, each in asked.items()}
    models = tuple(_model(each, chance) for each in told)
    votes: dict[str, dict[str, bool]] = {}
    for each in told:
        who = each.model.partition("@run")[0]
        for name, right in each.right.items():
            votes.setdefault(name, {}).setdefault(who, right)
    tails = {name: _tail([chance[name]] * len(said)) for name, said in votes.items()}
    counts = {name: sum(said.values()) for name, said in votes.items()}
    chances = {name: float(tails[name][count]) for name, count in counts.items()}
    ordered = sorted(votes, key=lambda name: (chances[name], name))
    adjusted = _adjusted([chances[name] for name in ordered])
    found = tuple(
        Guessed(
            id=name, right=counts[name], n=len(votes[name]), chance=chance[name],
            p=chances[name], q=q,
        )
        for name, q in zip(ordered, adjusted, strict=True)
    )  # fmt: skip
    return Guesses(
        alpha=alpha, models=models, questions=found,
        above=tuple(each.id for each in found if each.p <= alpha),
        expected=sum(_reach(tail, alpha) for tail in tails.values()),
    )  # fmt: skip


def line(found: Guesses) -> str:
    """A line a model, and the questions that were answered above chance."""
    lines = [
        f"{each.model} under {each.protocol}: {each.right} of {each.n} right without photos, "
        f"chance {each.chance * each.n:.1f}, p = {each.p:.2g}"
        for each in found.models
    ]
    by_id = {each.id: each for each in found.questions}
    for name in found.above:
        one = by_id[name]
        lines.append(f"{name}: {one.right} of {one.n} models, p = {one.p:.2g}, q = {one.q:.2g}")
    lines.append(
        f"{len(found.above)} of {len(found.questions)} questions answered above chance without "
        f"their photos (p <= {found.alpha:g}; chance alone would give {found.expected:.1f})"
    )
    return "\n".join(lines)


def _told(asked: Mapping[str, Question], predictions: Iterable[Prediction]) -> list[_Told]:
    rows: dict[tuple[str, str], list[Prediction]] = {}
    for row in predictions:
        if question_control(row.protocol) is not None:
            rows.setdefault((row.model, row.protocol), []).append(row)
    found = []
    for (model, protocol), some in sorted(rows.items()):
        graded = answered(asked.values(), some, protocol)
        right = {
            question.id: reading.letter == question.answer
            for question, reading in zip(graded.questions, graded.readings, strict=True)
        }
        found.append(_Told(model, protocol, right))
    if not any(each.right for each in found):
        raise Usage(
            "expected replies to questions asked without their photos, got none; make them with "
            "`predict --protocol choice+textonly`, or choice+blank"
        )
    return found


def _model(told: _Told, chance: Mapping[str, float]) -> Guesser:
    chances = [chance[name] for name in sorted(told.right)]
    right = sum(told.right.values())
    return Guesser(
        model=told.model, protocol=told.protocol, right=right, n=len(chances),
        chance=float(np.mean(chances)) if chances else 0.0, p=float(_tail(chances)[right]),
    )  # fmt: skip


def _tail(chances: Sequence[float]) -> Floats:
    """The chance of k or more successes, k from 0: one trial with each of these chances."""
    exactly = np.ones(1)
    for chance in chances:
        exactly = np.convolve(exactly, [1 - chance, chance])
    tail: Floats = np.minimum(exactly[::-1].cumsum()[::-1], 1.0)
    return tail


def _reach(tail: Floats, alpha: float) -> float:
    """How likely chance alone gets to or below alpha."""
    return float(tail[tail <= alpha].max(initial=0.0))


def _adjusted(ascending: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's q of each p."""
    n = len(ascending)
    scaled = [p * n / rank for rank, p in enumerate(ascending, start=1)]
    lowest = np.minimum.accumulate(np.array(scaled)[::-1])[::-1] if scaled else np.empty(0)
    return [min(1.0, float(q)) for q in lowest]
