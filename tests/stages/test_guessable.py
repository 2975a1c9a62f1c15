"""What models answer without photos, against scipy's own binomial test."""

from typing import Any

import msgspec
import pytest
from scipy.stats import binomtest
from tests.builders import question

from fieldtruth.faults import Usage
from fieldtruth.records import Prediction, Question
from fieldtruth.stages.guessable import guessable, line


def asked(name: str, **changes: Any) -> Question:
    return msgspec.convert(question(name, images=["a.png"], **changes), Question)


def said(item: str, model: str, text: str, protocol: str = "choice+textonly") -> Prediction:
    return Prediction(item=item, protocol=protocol, model=model, text=text)


QUESTIONS = [asked("easy"), asked("hard"), asked("two", options=["rust", "scab"])]


def test_each_question_is_tested_over_the_models() -> None:
    models = [f"m{at}" for at in range(5)]
    rows = [said("easy", name, "A") for name in models]
    rows += [said("hard", name, "A" if name == "m0" else "B") for name in models]
    rows += [said("two", name, "A") for name in models]
    found = guessable(QUESTIONS, rows)
    told = {each.id: each for each in found.questions}
    for name, right, chance in (("easy", 5, 0.25), ("hard", 1, 0.25), ("two", 5, 0.5)):
        expected = binomtest(right, 5, chance, alternative="greater").pvalue
        assert told[name].p == pytest.approx(expected)
        assert (told[name].right, told[name].n, told[name].chance) == (right, 5, chance)
    assert [each.id for each in found.questions] == ["easy", "two", "hard"]
    assert found.above == ("easy", "two")
    # Benjamini and Hochberg by hand: p x 3 / rank, the least from there on
    assert told["easy"].q == pytest.approx(3 * 0.25**5)
    assert told["two"].q == pytest.approx(3 / 2 * 0.5**5)
    assert told["hard"].q == pytest.approx(told["hard"].p)
    # four of five or more by chance: 16/1024; five of five with two options: 1/32
    assert found.expected == pytest.approx(2 * 16 / 1024 + 1 / 32)
    assert "2 of 3 questions answered above chance" in line(found)


def test_each_model_is_tested_over_its_questions() -> None:
    some = [asked(f"q{at:02}") for at in range(40)]
    rows = [said(each.id, "m", "A" if at < 18 else "B") for at, each in enumerate(some)]
    (model,) = guessable(some, rows).models
    assert (model.right, model.n, model.chance) == (18, 40, 0.25)
    assert model.p == pytest.approx(binomtest(18, 40, 0.25, alternative="greater").pvalue)


def test_a_model_counts_once_whatever_its_runs_and_controls() -> None:
    rows = [said("easy", f"m@run{at}", "A") for at in (1, 2, 3)]
    rows += [said("easy", "m@run1", "A", "choice+blank")]
    (one,) = guessable(QUESTIONS[:1], rows).questions
    assert (one.right, one.n) == (1, 1)


def test_seen_photos_are_left_aside_and_failures_are_no_answers() -> None:
    rows = [
        said("easy", "m", "A", "choice"), said("easy", "m", "I cannot tell."),
        Prediction(
            item="hard", protocol="choice+textonly", model="m", text="", finish="error", error="x"
        ),
    ]  # fmt: skip
    (one,) = guessable(QUESTIONS, rows).questions
    assert (one.id, one.right, one.n) == ("easy", 0, 1)
    with pytest.raises(Usage, match="asked without their photos, got none"):
        guessable(QUESTIONS, rows[:1])
    with pytest.raises(Usage, match="--alpha"):
        guessable(QUESTIONS, rows, 1.0)
