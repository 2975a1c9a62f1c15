"""Scores of questions against plain loops, and literal numbers of the contract."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import frozen, question

from fieldtruth import store
from fieldtruth.faults import Refused, Usage
from fieldtruth.grading.grades import Shares
from fieldtruth.grading.questions import OUTCOMES
from fieldtruth.records import Prediction, Question
from fieldtruth.stages import score_questions as stage
from fieldtruth.stages.score_questions import Settings, gather

COUNTS = ("correct", "partial", "incorrect", "not_attempted")


def bench(folder: Path, rows: Sequence[Mapping[str, Any]]) -> store.Bench:
    return store.open_bench(frozen(folder / "bench", rows))


def score_questions(made: store.Bench, rows: Sequence[Prediction], settings: Settings) -> Any:
    return stage.score_questions(made, gather(made, rows, settings), settings)


def replies(
    words: Mapping[str, str], model: str = "m", protocol: str = "choice"
) -> list[Prediction]:
    return [
        Prediction(item=name, protocol=protocol, model=model, text=text)
        for name, text in words.items()
    ]


def test_the_contract_in_numbers(tmp_path: Path) -> None:
    made = bench(tmp_path, [
        question("a", qtype="species", crop="soybean", group="g1"),
        question("b", qtype="species", crop="cotton", group="g1"),
        question("c", qtype="management", crop="cotton", domain="weeds", challenge="counting"),
        question("d"),
    ])  # fmt: skip
    rows = replies({"a": "A", "b": "B", "c": "I can't tell", "d": "A"})
    found = score_questions(made, [*rows, *replies(dict.fromkeys("abcd", "A"), "n")], Settings())
    assert found["benchmark"] == {"name": "leaves", "version": "1", "questions": 4}
    entry = found["models"]["m"]["choice"]
    counts = {"correct": 2, "partial": 0, "incorrect": 1, "not_attempted": 1, "unscored": 0, "n": 4}
    assert {name: entry["all"][name] for name in counts} == counts
    assert all(isinstance(entry["all"][name], int) for name in counts)
    assert entry["all"]["accuracy"]["value"] == entry["all"]["harmonic"]["value"] == 0.5
    assert entry["all"]["accuracy"]["n"] == 4
    values = {name: part["accuracy"]["value"] for name, part in entry["types"].items()}
    assert values == {"species": 0.5, "management": 0.0, "unknown": 1.0}
    assert entry["type_mean"]["accuracy"]["value"] == 0.5
    assert {name: part["n"] for name, part in entry["crops"].items()} == {
        "cotton": 2, "soybean": 1, "unknown": 1,
    }  # fmt: skip
    assert set(entry["domains"]) == {"weeds", "unknown"}
    assert set(entry["challenges"]) == {"counting", "unknown"}
    assert entry["outcomes"] == dict.fromkeys(OUTCOMES, 0) | {"letter": 3, "prose": 1}
    assert [(each["metric"], each["a"], each["b"]) for each in found["paired"]] == [
        ("accuracy", "m", "n"), ("harmonic", "m", "n"),
    ]  # fmt: skip
    assert found["paired"][0]["protocol"] == "choice"
    assert (found["paired"][0]["difference"], found["paired"][0]["n"]) == (0.5, 4)


def test_strata_nobody_speaks_of_are_left_out(tmp_path: Path) -> None:
    found = score_questions(bench(tmp_path, [question("a")]), replies({"a": "A"}), Settings())
    assert set(found["models"]["m"]["choice"]) == {"all", "types", "type_mean", "outcomes"}
    assert found["paired"] == []


def test_what_is_unscored_leaves_the_values_and_stays_in_the_counts(tmp_path: Path) -> None:
    free = {"form": "open", "options": None, "answer": "rust"}
    made = bench(tmp_path, [question(name, **free) for name in "abcd"])
    words = {"a": "rust", "b": "scab", "c": "", "d": "rust or scab"}
    part = score_questions(made, replies(words, protocol="open"), Settings())
    whole = part["models"]["m"]["open"]["all"]
    counts = {"correct": 1, "partial": 0, "incorrect": 1, "not_attempted": 1, "unscored": 1, "n": 4}
    assert {name: whole[name] for name in counts} == counts
    assert whole["accuracy"]["n"] == whole["harmonic"]["n"] == 3
    assert whole["accuracy"]["value"] == pytest.approx(1 / 3)


def test_nothing_scored_is_null_and_never_zero(tmp_path: Path) -> None:
    made = bench(tmp_path, [question("a", form="open", options=None, answer="rust")])
    rows = replies({"a": "rust or scab"}, protocol="open")
    entry = score_questions(made, rows, Settings())["models"]["m"]["open"]
    nothing = {"value": None, "low": None, "high": None, "n": 0}
    assert entry["all"]["accuracy"] == entry["type_mean"]["harmonic"] == nothing
    assert (entry["all"]["unscored"], entry["all"]["n"]) == (1, 1)


def test_too_little_is_refused(tmp_path: Path) -> None:
    made = bench(tmp_path, [question(name) for name in "abcd"])
    three = replies(dict.fromkeys("abc", "A"))
    with pytest.raises(Refused, match="0 error and 1 missing for 4 questions"):
        score_questions(made, three, Settings())
    entry = score_questions(made, three, Settings(allow_missing=0.25))["models"]["m"]["choice"]
    assert (entry["all"]["n"], entry["outcomes"]["missing"]) == (3, 1)
    lost = Prediction(
        item="d", protocol="choice", model="m", text="", finish="error", error="HTTP 500"
    )
    with pytest.raises(Refused, match="1 error and 0 missing"):
        score_questions(made, [*three, lost], Settings())
    whole = replies(dict.fromkeys("abcd", "A"))
    with pytest.raises(Refused, match="1 duplicate and 1 extra"):
        score_questions(made, [*whole, whole[0], *replies({"x": "A"})], Settings())


def test_nothing_to_score_is_said(tmp_path: Path) -> None:
    made = bench(tmp_path, [question("a")])
    with pytest.raises(Usage, match="expected predictions to score"):
        score_questions(made, [], Settings())
    with pytest.raises(Usage, match="one of items"):
        score_questions(made, replies({"a": "A"}, protocol="candidates"), Settings())


# --- against plain loops, without a benchmark ----------------------------------------------------


def one_question(name: str, group: str, qtype: str) -> Question:
    return msgspec.convert(question(name, group=group, qtype=qtype), Question)


def graded(rows: Sequence[tuple[str, str, Shares | None]], model: str = "m") -> stage.Worth:
    """Rows of (group, qtype, shares)."""
    return stage.Worth(
        model=model,
        protocol="open",
        questions=[one_question(f"q{n:03d}", g, t) for n, (g, t, _) in enumerate(rows)],
        shares=[shares for _, _, shares in rows],
    )


def values(rows: Sequence[Shares]) -> tuple[float, float]:
    """Accuracy, and the harmonic mean of it and of correct over what is not partial."""
    c, p, q = sum(r.correct for r in rows), sum(r.partial for r in rows), len(rows)
    a, b = c / q, c / (q - p) if q - p > 1e-12 else 0.0
    return a, 2 * a * b / (a + b) if a and b else 0.0


def resampled(rows: Sequence[tuple[str, str, Shares | None]]) -> list[tuple[float, float]]:
    """Groups in order of their names, drawn by index, as the item road draws them."""
    groups = sorted({group for group, _, shares in rows if shares is not None})
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(200):
        picked = [groups[i] for i in rng.integers(0, len(groups), len(groups))]
        some = [s for g in picked for group, _, s in rows if group == g and s is not None]
        drawn.append(values(some))
    return [tuple(np.percentile([d[k] for d in drawn], [2.5, 97.5]).tolist()) for k in (0, 1)]


def mixed(number: int, seed: int) -> list[tuple[str, str, Shares | None]]:
    rng = random.Random(seed)
    kinds: list[Shares | None] = [
        Shares(1), Shares(0, 1), Shares(0, 0, 1), Shares(0, 0, 0, 1), None,
        Shares(0.5, 0, 0.25, 0.25), Shares(1 / 3, 1 / 3, 0, 1 / 3),
    ]  # fmt: skip
    return [
        (f"g{rng.randrange(9)}", rng.choice(["species", "management"]), rng.choice(kinds))
        for _ in range(number)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_values_and_intervals_are_plain_resampling(seed: int) -> None:
    rows = mixed(40, seed)
    entry = stage._entry(graded(rows), dict.fromkeys(OUTCOMES, 0), Settings(resamples=200))
    scored = [shares for _, _, shares in rows if shares is not None]
    for at, name in enumerate(("accuracy", "harmonic")):
        got = entry["all"][name]
        assert got["value"] == pytest.approx(values(scored)[at])
        assert (got["low"], got["high"]) == pytest.approx(resampled(rows)[at])
        assert got["n"] == len(scored)
        by_type = [
            values([s for _, t, s in rows if t == kind and s is not None])[at]
            for kind in ("management", "species")
        ]
        assert entry["type_mean"][name]["value"] == pytest.approx(sum(by_type) / 2)
        assert entry["types"]["species"][name]["value"] == pytest.approx(by_type[1])


shares = st.sampled_from([each for _, _, each in mixed(60, 5)])
rows_of = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["species", "other"]), shares), max_size=12
)


@settings(max_examples=60)
@given(rows_of, st.sampled_from(["group", "image"]))
def test_the_counts_add_up_and_the_mean_lies_between(
    rows: list[tuple[str, str, Shares | None]], unit: Any
) -> None:
    how = Settings(resamples=20, unit=unit)
    entry = stage._entry(graded(rows), dict.fromkeys(OUTCOMES, 0), how)
    for part in (entry["all"], *entry["types"].values()):
        assert sum(part[name] for name in COUNTS) + part["unscored"] == pytest.approx(part["n"])
        assert part["accuracy"]["n"] == part["n"] - part["unscored"]
        low, high = part["accuracy"]["value"], part["harmonic"]["value"]
        if low is None:
            assert part["accuracy"]["n"] == 0
            continue
        assert 0 <= low <= high + 1e-12 <= 1 + 1e-9
        if part["partial"] == 0:
            assert high == pytest.approx(low)
    assert sum(part["n"] for part in entry["types"].values()) == len(rows) == entry["all"]["n"]


def test_differences_use_what_is_scored_in_both() -> None:
    a = graded([("a", "s", Shares(1)), ("b", "s", Shares(0, 0, 1)), ("c", "s", None)], "a")
    b = graded([("a", "s", None), ("b", "s", Shares(1)), ("c", "s", Shares(1))], "b")
    accuracy, harmonic = stage._paired([a, b], Settings(resamples=10))
    assert (accuracy["difference"], accuracy["low"], accuracy["high"], accuracy["n"]) == (
        1,
        1,
        1,
        1,
    )
    assert (harmonic["metric"], harmonic["n"]) == ("harmonic", 1)
    nobody = graded([("a", "s", None)] * 3, "c")
    assert stage._paired([a, nobody], Settings())[0]["difference"] is None


def test_a_difference_with_itself_is_none_at_all() -> None:
    rows = mixed(30, 1)
    for each in stage._paired([graded(rows, "a"), graded(rows, "b")], Settings(resamples=50)):
        assert (each["difference"], each["low"], each["high"]) == (0, 0, 0)
