"""Runs taken together, and base against tuned part by part, held against plain arithmetic."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from tests.builders import frozen, question, replies

from fieldtruth.faults import Usage
from fieldtruth.run import answers
from fieldtruth.stages.score_questions import Settings
from fieldtruth.stages.score_questions.parts import none_of, pairs
from fieldtruth.store import open_bench

NAMES = [f"q{at:02}" for at in range(24)]


def bench(tmp_path: Path) -> Path:
    """24 questions, A is right: 18 of soybean and 6 of cotton, each its own group."""
    rows = [
        question(
            name, crop="soybean" if at < 18 else "cotton", challenge="Visual" if at % 2 else "Other"
        )
        for at, name in enumerate(NAMES)
    ]
    return frozen(tmp_path / "bench", rows)


def scored(
    tmp_path: Path, said: Mapping[str, Sequence[str]], how: Settings | None = None
) -> dict[str, Any]:
    """The scores of models that give these letters, in the order of the questions."""
    opened = open_bench(bench(tmp_path))
    paths = []
    for model, letters in said.items():
        words = dict(zip(NAMES, letters, strict=True))
        file = tmp_path / f"{model.replace('@', '-')}.jsonl"
        paths.append(replies(file, model, words, protocol="choice", space=None))
    wanted = answers.Request(settings=how or Settings(resamples=50))
    return answers.score(opened, paths, wanted, None)[0]


def right(count: int) -> str:
    """So many right answers, then wrong ones."""
    return "A" * count + "B" * (24 - count)


def test_three_runs_are_one_model(tmp_path: Path) -> None:
    said = {f"m@run{at}": right(count) for at, count in ((1, 6), (2, 12), (3, 21))}
    found = scored(tmp_path, said)["runs"]["m"]["choice"]
    assert found["runs"] == ["m@run1", "m@run2", "m@run3"]
    values = [6 / 24, 12 / 24, 21 / 24]
    assert found["all"]["value"] == pytest.approx(fmean(values))
    assert found["all"]["sd"] == pytest.approx(stdev(values))  # the sample's: n - 1
    assert found["all"]["n"] == 24
    assert found["all"]["low"] < found["all"]["value"] < found["all"]["high"]
    cotton = [0, 0, 3 / 6]
    assert found["crops"]["cotton"]["value"] == pytest.approx(fmean(cotton))
    assert found["crops"]["cotton"]["sd"] == pytest.approx(stdev(cotton))
    assert found["crops"]["cotton"]["n"] == 6
    assert set(found) == {"runs", "all", "types", "crops", "challenges"}


def test_runs_that_agree_have_no_deviation(tmp_path: Path) -> None:
    found = scored(tmp_path, dict.fromkeys(("m@run1", "m@run2"), right(12)))["runs"]["m"]["choice"]
    assert (found["all"]["value"], found["all"]["sd"]) == (0.5, 0.0)


def test_one_run_is_no_mean(tmp_path: Path) -> None:
    found = scored(tmp_path, {"m@run1": right(3), "other": right(4)})
    assert found["runs"] == {}


def test_base_against_tuned_part_by_part(tmp_path: Path) -> None:
    said = {"base@run1": right(9), "base@run2": right(12), "tuned": right(21)}
    rows = scored(tmp_path, said)["paired_parts"]
    told = {(row["cut"], row["part"]): row for row in rows}
    assert {(row["a"], row["b"]) for row in rows} == {("base", "tuned")}
    assert told["all", "all"]["difference"] == pytest.approx(21 / 24 - 10.5 / 24)
    assert told["all", "all"]["n"] == 24
    assert told["crops", "cotton"]["difference"] == pytest.approx(3 / 6)
    assert told["crops", "soybean"]["difference"] == pytest.approx(18 / 18 - 10.5 / 18)
    assert told["crops", "cotton"]["n"] == 6
    assert {cut for cut, _ in told} == {"all", "types", "crops", "challenges"}
    for row in rows:
        assert row["low"] <= row["difference"] <= row["high"]


def test_only_the_pairs_that_are_named(tmp_path: Path) -> None:
    said = {name: right(count) for name, count in (("a", 3), ("b", 9), ("c", 12))}
    rows = scored(tmp_path, said, Settings(resamples=10, pairs=(("a", "c"),)))["paired_parts"]
    assert {(row["a"], row["b"]) for row in rows} == {("a", "c")}
    with pytest.raises(Usage, match=r"--pair: expected models that were scored .*got 'x'"):
        scored(tmp_path / "again", said, Settings(pairs=(("a", "x"),)))


def test_five_models_are_set_side_by_side_only_where_asked(tmp_path: Path) -> None:
    said = {name: right(3) for name in "abcde"}
    assert scored(tmp_path, said)["paired_parts"] == []


def test_pairs_as_they_are_typed() -> None:
    assert pairs(["a=b", "c=d@x"]) == (("a", "b"), ("c", "d@x"))
    for wrong in ("a", "=b", "a=", "a=a"):
        with pytest.raises(Usage, match="expected BASE=TUNED"):
            pairs([wrong])
    none_of([])
    with pytest.raises(Usage, match="replies to questions"):
        none_of(["a=b"])
