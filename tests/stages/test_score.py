"""score: the shape of the contract, what is refused, how models are paired, what strata hold."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from bench.score import truth
from tests.metrics.photos import WORDS, photo, reply

from fieldtruth.faults import Refused, Usage
from fieldtruth.grading.bootstrap import room
from fieldtruth.grading.evidence import OUTCOMES
from fieldtruth.records import Item, Prediction
from fieldtruth.stages.score import Options, score, strata_of
from fieldtruth.store import Bench, Manifest

KINDS = ("lesion", "object", "dense", "healthy")
ITEMS = [photo(KINDS[n % 4], n) for n in range(40)]
QUICK = Options(resamples=100)


def bench(items: Iterable[Item] = ITEMS) -> Bench:
    mine = tuple(sorted(items, key=lambda item: item.id))
    manifest = Manifest(
        name="leaves", version="1.0", split="val", items=len(mine), questions=0, images=len(mine),
        counts={}, files={}, references={}, config={}, inputs={}, code="test",
    )  # fmt: skip
    return Bench(Path("leaves"), manifest, mine, ())


def replies(model: str, start: int = 0, **changes: Any) -> list[Prediction]:
    words = list(WORDS)
    return [
        reply(item, words[(start + n * n) % len(words)], model=model, **changes)
        for n, item in enumerate(ITEMS)
    ]


@pytest.fixture(scope="module")
def scores() -> dict[str, Any]:
    rows = replies("zeta") + replies("alpha", 3) + replies("zeta", protocol="known_target")
    return score(bench(), rows, QUICK)


def test_the_result_has_the_shape_of_the_contract(scores: dict[str, Any]) -> None:
    assert list(scores) == ["benchmark", "models", "paired"]
    assert scores["benchmark"] == {
        "name": "leaves", "version": "1.0", "items": 40, "positives": 30, "healthy": 10,
    }  # fmt: skip
    assert {name: set(entry) for name, entry in scores["models"].items()} == {
        "zeta": {"candidates", "known_target"},
        "alpha": {"candidates"},
    }
    for entry in (p for model in scores["models"].values() for p in model.values()):
        assert list(entry) == ["metrics", "outcomes", "strata", "unasked"]
        assert tuple(entry["outcomes"]) == OUTCOMES
        assert set(entry["metrics"]) == set(room())
        for found in entry["metrics"].values():
            assert set(found) - {"undefined_draws"} == {"value", "low", "high", "n"}
            assert found["value"] is None or found["low"] <= found["value"] <= found["high"]
            assert (found["value"] is None) == (found["n"] == 0)
    assert json.loads(json.dumps(scores, allow_nan=False)) == scores


def test_each_pair_once_per_protocol_and_metric_the_earlier_first(scores: dict[str, Any]) -> None:
    paired = scores["paired"]
    assert {(p["protocol"], p["a"], p["b"]) for p in paired} == {("candidates", "zeta", "alpha")}
    assert sorted(p["metric"] for p in paired) == sorted(room())
    metrics = {name: scores["models"][name]["candidates"]["metrics"] for name in ("zeta", "alpha")}
    for row in paired:
        assert set(row) - {"undefined_draws"} == {
            "protocol", "metric", "a", "b", "difference", "low", "high", "n",
        }  # fmt: skip
        alpha, zeta = (metrics[name][row["metric"]]["value"] for name in ("alpha", "zeta"))
        unmeasured = row["metric"] in ("open_strict", "open_lenient", "wrong_target_abstention")
        assert (row["difference"] is None) == (alpha is None) == unmeasured
        assert unmeasured or row["difference"] == pytest.approx(alpha - zeta, abs=1e-12)


def test_known_target_lists_nothing(scores: dict[str, Any]) -> None:
    metrics = scores["models"]["zeta"]["known_target"]["metrics"]
    for name in ("first_option_share", "off_list"):
        assert metrics[name] == {"value": None, "low": None, "high": None, "n": 0}


def test_the_published_composition_is_counted() -> None:
    """508 + 467 + 505 photos, 3,463 boxes, 180 dense; agroground.md, 17."""
    items = truth()
    assert sum(len(item.boxes) for item in items) == 3463
    assert sum(strata_of(item)["density"] == "dense" for item in items) == 180
    rows = [reply(item, "empty") for item in items]
    found = score(bench(items), rows, Options(resamples=1, strata=False))
    assert found["benchmark"] | {"name": "", "version": ""} == {
        "name": "", "version": "", "items": 1480, "positives": 975, "healthy": 505,
    }  # fmt: skip
    metrics = found["models"]["one"]["candidates"]["metrics"]
    assert (metrics["lesion_f1"]["n"], metrics["object_f1"]["n"]) == (508, 467)
    assert (metrics["abstention"]["n"], metrics["dense_f1"]["n"]) == (505, 180)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-2], "0 error and 2 missing for 40 items"),
        (lambda rows: [*rows[1:], reply(ITEMS[0], "", error="timed out")], "1 error and 0 missing"),
        (lambda rows: [*rows, rows[3]], "1 duplicate and 0 extra"),
        (lambda rows: [*rows, reply(photo("lesion", 99), "right")], "0 duplicate and 1 extra"),
    ],
)
def test_what_does_not_hold_is_refused_unless_allowed(change: Any, message: str) -> None:
    rows = change(replies("one"))
    with pytest.raises(Refused, match=f"one under candidates: {message}.*--allow-missing"):
        score(bench(), rows, QUICK)
    allowed = score(bench(), rows, Options(resamples=10, allow_missing=0.05, strata=False))
    assert allowed["models"]["one"]["candidates"]["outcomes"]["boxes"] > 0


def test_the_allowed_share_is_a_bound_not_a_limit_to_stay_under() -> None:
    items = [photo("healthy", n) for n in range(100)]
    rows = [reply(item, "empty") for item in items[29:]]  # 0.29 * 100 < 29 in floating point
    score(bench(items), rows, Options(resamples=10, allow_missing=0.29, strata=False))
    with pytest.raises(Refused):
        score(bench(items), rows, Options(resamples=10, allow_missing=0.289, strata=False))


def test_pairs_use_the_items_measured_in_both() -> None:
    options = Options(resamples=50, allow_missing=5 / 40, strata=False)
    cut = [*replies("b", 3)[4:-1], reply(ITEMS[-1], "", model="b", error="gone")]
    found = score(bench(), replies("a") + cut, options)
    alone = score(bench(ITEMS[4:-1]), replies("a")[4:-1] + cut[:-1], options)
    assert found["models"]["b"]["candidates"]["metrics"]["f1"]["n"] == 27
    assert [p["n"] for p in found["paired"] if p["metric"] == "f1"] == [27]
    assert found["paired"] == alone["paired"]


def test_one_model_in_two_files_is_one_model() -> None:
    rows = replies("one")
    parts = score(bench(), [*rows[20:], *rows[:20]], QUICK)
    assert parts == score(bench(), rows, QUICK)


def test_the_same_replies_under_two_names_differ_by_nothing() -> None:
    found = score(bench(), replies("a") + replies("b"), QUICK)
    assert found["models"]["a"] == found["models"]["b"]
    assert all(p["difference"] == p["low"] == p["high"] for p in found["paired"])
    assert {p["difference"] for p in found["paired"]} <= {0.0, None}


def test_units_move_the_interval_and_not_the_value() -> None:
    items = [photo(KINDS[n % 4], n, group=f"g{n // 8}") for n in range(40)]
    rows = replies("one")
    by_group, by_image = (
        score(bench(items), rows, Options(unit=unit, strata=False))["models"]["one"]["candidates"]
        for unit in ("group", "image")
    )
    f1 = [entry["metrics"]["f1"] for entry in (by_group, by_image)]
    assert f1[0]["value"] == f1[1]["value"]
    assert f1[0]["low"] != f1[1]["low"]


# --- strata ------------------------------------------------------------------------------------


def test_strata_part_the_items(scores: dict[str, Any]) -> None:
    strata = scores["models"]["zeta"]["candidates"]["strata"]
    assert list(strata) == ["source", "kind", "crop", "level", "density", "box_size"]
    assert set(strata["level"]) == {"lesion", "object", "healthy"}
    assert set(strata["density"]) == {"dense", "sparse", "healthy"}
    whole = scores["models"]["zeta"]["candidates"]["metrics"]
    for dimension in strata:
        for name in ("f1", "abstention", "recall"):
            parts = [part[name]["n"] for part in strata[dimension].values()]
            assert sum(parts) == whole[name]["n"]
    assert strata["density"]["dense"]["f1"] == whole["dense_f1"] | strata["density"]["dense"]["f1"]
    assert strata["level"]["healthy"]["f1"]["value"] is None


@pytest.mark.parametrize(
    ("boxes", "size"),
    [
        ([(0, 0, 6, 5)], "small"),  # 0.3 % of the image
        ([(0, 0, 7, 5)], "medium"),
        ([(0, 0, 20, 14)], "medium"),
        ([(0, 0, 20, 15)], "large"),  # exactly 3 %
        ([(0, 0, 1, 1), (0, 0, 7, 5), (0, 0, 90, 90)], "medium"),  # the median box decides
    ],
)
def test_box_sizes(boxes: list[tuple[int, ...]], size: str) -> None:
    assert strata_of(photo("lesion", boxes=boxes))["box_size"] == size


def test_only_lesion_photos_are_dense() -> None:
    many = [(n, 0, n + 1, 1) for n in range(5)]
    assert strata_of(photo("lesion", boxes=many))["density"] == "dense"
    assert strata_of(photo("lesion", boxes=many[:4]))["density"] == "sparse"
    assert strata_of(photo("object", boxes=many))["density"] == "sparse"


def test_strata_of_what_is_not_said() -> None:
    healthy = strata_of(photo("healthy", crop=None))
    assert (healthy["crop"], healthy["kind"], healthy["box_size"]) == (
        "unknown", "healthy", "healthy",
    )  # fmt: skip
    assert strata_of(photo("lesion", kind=None))["kind"] == "unknown"
    assert strata_of(photo("lesion", crop="Corn"))["crop"] == "maize"


# --- as published ------------------------------------------------------------------------------


def test_as_published_shows_what_the_dead_server_hid() -> None:
    rows = [reply(item, "", error="connection refused") for item in ITEMS]
    with pytest.raises(Refused):
        score(bench(), rows, QUICK)
    honest = score(bench(), rows, Options(resamples=10, allow_missing=1.0))
    naive = score(bench(), rows, Options(resamples=10, as_published=True))
    for found, value, n in ((honest, None, 0), (naive, 1.0, 10)):
        entry = found["models"]["one"]["candidates"]
        assert (entry["metrics"]["abstention"]["value"], entry["metrics"]["abstention"]["n"]) == (
            value, n,
        )  # fmt: skip
        assert entry["outcomes"]["error"] == 40
    assert naive["models"]["one"]["candidates"]["strata"] == {}


def test_as_published_draws_images_whatever_their_groups() -> None:
    rows, options = replies("one"), Options(resamples=50, as_published=True)
    grouped = [photo(KINDS[n % 4], n, group=f"g{n // 8}") for n in range(40)]
    assert score(bench(grouped), rows, options) == score(bench(), rows, options)


def test_as_published_pairs_by_id_whatever_is_missing() -> None:
    rows = replies("a") + replies("b", 3)[5:]
    found = score(bench(), rows, Options(resamples=20, as_published=True))
    assert [p["n"] for p in found["paired"] if p["metric"] == "recall"] == [26]


# --- usage -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"allow_missing": 1.2}, "share from 0 to 1"),
        ({"allow_missing": float("nan")}, "share from 0 to 1"),
        ({"resamples": 0}, "at least 1"),
        ({"unit": "photo"}, "one of group, image"),
        ({"matching": "best"}, "one of greedy, hungarian, maximum"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any], message: str) -> None:
    with pytest.raises(Usage, match=message):
        Options(**options)


def test_nothing_to_score_is_said() -> None:
    with pytest.raises(Usage, match="predictions to score"):
        score(bench(), [])
    with pytest.raises(Usage, match="benchmark with items"):
        score(bench([]), replies("one"))
    with pytest.raises(
        Usage,
        match=r"'boxing'; it has: candidates, choice, known_target, open, open_set, "
        r"reasoned_choice$",
    ):
        score(bench(), replies("one", protocol="boxing"))


@pytest.mark.parametrize("matching", ["hungarian", "maximum"])
def test_matching_variants_stand_beside_greedy(matching: Any) -> None:
    rows = replies("one")
    found = [
        score(bench(), rows, Options(resamples=5, strata=False, matching=rule))["models"]["one"]
        for rule in ("greedy", matching)
    ]
    recall = [entry["candidates"]["metrics"]["recall"]["value"] for entry in found]
    assert recall[0] <= recall[1]


# --- controls ----------------------------------------------------------------------------------

WRONG = "known_target+wrong_target"


def test_what_a_protocol_does_not_ask_about_is_counted_and_not_refused() -> None:
    items = [*ITEMS, photo("lesion", 40, absent_query=None, candidates=None)]
    asked = [item for item in ITEMS if item.positive]
    rows = [reply(item, "empty", protocol=WRONG) for item in asked]
    for some in (rows, [*rows, reply(ITEMS[3], "empty", protocol=WRONG)]):
        entry = score(bench(items), some, QUICK)["models"]["one"][WRONG]
        found = entry["metrics"].pop("wrong_target_abstention")
        assert (found["value"], found["n"], entry["unasked"]) == (1.0, 30, 11)
        assert {each["n"] for each in entry["metrics"].values()} == {0}
        assert entry["outcomes"]["extra"] == len(some) - 30
        assert entry["outcomes"]["empty"] == 30
    with pytest.raises(Refused, match="0 duplicate and 1 extra"):
        score(bench(items), [*rows, reply(photo("lesion", 99), "empty", protocol=WRONG)], QUICK)
    with pytest.raises(Refused, match="0 error and 1 missing for 30 items"):
        score(bench(items), rows[1:], QUICK)


def test_every_order_at_hand_goes_into_one_probe() -> None:
    orders = [f"candidates+rotate{by}" for by in (1, 2, 3)]
    rows = [row for name in ("candidates", *orders) for row in replies("a", protocol=name)]
    found = score(bench(), [*rows, *replies("b")], QUICK)
    assert list(found) == ["benchmark", "models", "paired", "position"]
    assert list(found["position"]) == ["a"]
    assert found["position"]["a"]["candidates"]["complete"] is True
    assert found["position"]["a"]["candidates"]["items"] == 30
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert "position" not in score(bench(), rows, Options(resamples=1, as_published=True))


def test_all_protocols_and_controls_stand_side_by_side() -> None:
    names = ["open_set", "open_set+blank", "candidates+shuffle", "known_target+blank"]
    rows = [row for name in names for row in replies("a", protocol=name)]
    entries = score(bench(), rows, QUICK)["models"]["a"]
    assert list(entries) == names
    assert {entry["unasked"] for entry in entries.values()} == {0}
    strict, lenient = (entries["open_set"]["metrics"][f"open_{k}"] for k in ("strict", "lenient"))
    assert strict["n"] == lenient["n"] == 30
    assert 0 < strict["value"] <= lenient["value"]
    assert entries["candidates+shuffle"]["metrics"]["open_strict"]["value"] is None
