"""The colour model, fitted on a handful of leaves drawn here."""

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from scipy import optimize
from tests.models.leaves import NAMES, leaves

from fieldtruth.faults import BadRecord, Unreadable, Usage
from fieldtruth.geometry import as_boxes, match
from fieldtruth.models import colour
from fieldtruth.models.colour import leaf, parts, pixels
from fieldtruth.models.colour.naming import fit_naming
from fieldtruth.models.contract import Request
from fieldtruth.records import AskLevel, Item
from fieldtruth.taxonomy import label_id


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> colour.Fitted:
    root = tmp_path_factory.mktemp("train")
    return colour.fit(leaves(root, range(6)), root)


def answer(
    fitted: colour.Fitted,
    item: Item,
    root: Path,
    names: tuple[str, ...] = NAMES,
    level: AskLevel = "lesion",
) -> list[dict[str, object]]:
    request = Request(id=item.id, prompt="", images=(root / item.image,), names=names, level=level)
    (words,) = colour.Colour(fitted).reply([request])
    assert words.error is None
    said: list[dict[str, object]] = json.loads(words.text)
    return said


def test_spots_are_found_and_named_and_healthy_leaves_left_alone(
    trained: colour.Fitted, tmp_path: Path
) -> None:
    found, true, said, named, healthy = 0, 0, 0, 0, 0
    for item in leaves(tmp_path, range(20, 24)):
        reply = answer(trained, item, tmp_path)
        if not item.positive:
            healthy += reply == []
            continue
        boxes = as_boxes([one["bbox_2d"] for one in reply])  # type: ignore[misc]
        found += len(match(boxes, as_boxes(item.boxes)))
        true, said = true + len(item.boxes), said + len(boxes)
        named += {one["label"] for one in reply} == {item.label}
    assert healthy == 4
    assert named == 8
    assert found >= 0.9 * max(true, said)


def test_object_wording_is_answered_with_the_leaf(trained: colour.Fitted, tmp_path: Path) -> None:
    for item in leaves(tmp_path, [30]):
        reply = answer(trained, item, tmp_path, level="object")
        if item.positive:
            ((box),) = [one["bbox_2d"] for one in reply]
            assert box == pytest.approx([20, 20, 220, 140], abs=3)
        else:
            assert reply == []


def test_a_name_it_was_not_trained_on_is_said_only_where_no_other_is_offered(
    trained: colour.Fitted, tmp_path: Path
) -> None:
    rust = leaves(tmp_path, [31])[0]

    def name(*offered: str) -> object:
        return answer(trained, rust, tmp_path, offered)[0]["label"]

    assert name("scab", "Leaf-Rust", "late blight") == "Leaf-Rust"  # as the list spells it
    assert name("scab", "late blight") == "late blight"
    assert name("smut", "scab") == "smut"


def test_the_one_name_asked_about_is_declined_where_no_like_photo_has_it(
    trained: colour.Fitted, tmp_path: Path
) -> None:
    rust, blight, _ = leaves(tmp_path, [32])
    assert trained.declines
    assert answer(trained, rust, tmp_path, ("Leaf Rust",)) != []
    assert answer(trained, blight, tmp_path, ("leaf rust",)) == []
    assert answer(trained, blight, tmp_path, ("scab",)) != []  # it cannot judge what it never saw
    eager = msgspec.structs.replace(trained, declines=False)
    assert answer(eager, blight, tmp_path, ("leaf rust",)) != []
    assert eager.version != trained.version


def test_fitting_is_the_same_in_whatever_order_the_items_come(
    trained: colour.Fitted, tmp_path: Path
) -> None:
    items = leaves(tmp_path, range(2))
    forth, back = colour.fit(items, tmp_path), colour.fit(items[::-1], tmp_path)
    assert forth == back
    assert forth.version == back.version
    assert forth.version != trained.version


def test_a_saved_fit_answers_as_before(trained: colour.Fitted, tmp_path: Path) -> None:
    trained.save(tmp_path / "deep" / "colour.json")
    again = colour.load(tmp_path / "deep" / "colour.json")
    assert again == trained
    assert again.version == trained.version
    assert json.loads((tmp_path / "deep" / "colour.json").read_text())["photos"] == 18


@pytest.mark.parametrize("content", ["", "{}", "[1", '{"photos": 1}', "\ufeff{}", "null"])
def test_a_file_that_is_no_fit_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "colour.json").write_text(content)
    with pytest.raises(BadRecord, match=r"colour\.json: expected"):
        colour.load(tmp_path / "colour.json")


def test_a_fit_whose_parts_do_not_fit_each_other_is_refused(
    trained: colour.Fitted, tmp_path: Path
) -> None:
    raw = msgspec.to_builtins(trained)
    for spoil in ("pixel", "blob"):
        broken = raw | {spoil: raw[spoil] | {"weights": raw[spoil]["weights"][1:]}}
        (tmp_path / "colour.json").write_bytes(msgspec.json.encode(broken))
        with pytest.raises(BadRecord, match="expected weights"):
            colour.load(tmp_path / "colour.json")
    turned = raw | {"pixel": raw["blob"]}
    (tmp_path / "colour.json").write_bytes(msgspec.json.encode(turned))
    with pytest.raises(BadRecord, match=r"expected \(17, "):
        colour.load(tmp_path / "colour.json")


def test_without_a_fit_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="fieldtruth train colour TRAINING_BENCH --out"):
        colour.OPEN({})
    with pytest.raises(Usage, match="expected a fitted colour model"):
        colour.OPEN({"fitted": str(tmp_path / "none.json")})


def test_items_it_cannot_learn_from_are_refused(tmp_path: Path) -> None:
    items = leaves(tmp_path, [0])
    with pytest.raises(Usage, match="at least one item of level lesion"):
        colour.fit([item for item in items if not item.positive], tmp_path)
    with pytest.raises(Usage, match="at least one item of level lesion"):
        colour.fit([], tmp_path)
    (tmp_path / items[0].image).write_bytes(b"no photo")
    with pytest.raises(Unreadable, match="leaf rust-0"):
        colour.fit(items, tmp_path)


def test_leaves_that_are_all_ill_or_all_of_one_name_can_be_learned_from(tmp_path: Path) -> None:
    rust = [item for item in leaves(tmp_path, range(4)) if item.label == "leaf rust"]
    fitted = colour.fit(rust, tmp_path)
    assert fitted.enough == fitted.keep
    assert {one["label"] for one in answer(fitted, rust[0], tmp_path)} == {"leaf rust"}


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (300, 4), (40, 40), (1500, 60)])
def test_any_photo_can_be_looked_at(
    size: tuple[int, int], trained: colour.Fitted, tmp_path: Path
) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 3), np.uint8)
    for photo in (Image.fromarray(noise), Image.new("RGB", size, (90, 140, 60))):
        for x1, y1, x2, y2 in trained.see(photo).boxes:
            assert 0 <= x1 < x2 <= size[0]
            assert 0 <= y1 < y2 <= size[1]


# --- the steps, against what their sentences say -----------------------------------------------

# CIE L*a*b* under D65 of sRGB primaries and greys, from any colour calculator
COLOURS = [
    ((0, 0, 0), (0, 0, 0)),
    ((255, 255, 255), (100, 0, 0)),
    ((119, 119, 119), (50.03, 0, 0)),
    ((255, 0, 0), (53.24, 80.09, 67.20)),
    ((0, 255, 0), (87.73, -86.18, 83.18)),
    ((0, 0, 255), (32.30, 79.19, -107.86)),
]


@pytest.mark.parametrize(("rgb", "expected"), COLOURS)
def test_lab(rgb: tuple[int, int, int], expected: tuple[float, float, float]) -> None:
    (got,) = leaf.lab(np.array([[rgb]], np.uint8))
    assert got[0].tolist() == pytest.approx(expected, abs=0.1)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 100.0]))
@settings(max_examples=30)
def test_a_regression_is_as_good_as_a_general_minimiser_makes_it(seed: int, ridge: float) -> None:
    draw = np.random.default_rng(seed)  # outliers and rare truths
    features = draw.standard_cauchy((60, 2)).astype(np.float32)
    true = (draw.random(60) < draw.choice([0.05, 0.5])).astype(float)
    x, y = np.clip((features - features.mean(0)) / features.std(0), -4, 4).T.astype(float)
    table = np.stack([np.ones(60), x, y, x * x, x * y, y * y], axis=1)

    def loss(weights: NDArray[np.float64]) -> float:
        odds = table @ weights
        missed = np.logaddexp(0, np.where(true == 1, -odds, odds)).sum()
        return float(missed + ridge / 2 * (weights[1:] ** 2).sum())

    best = optimize.minimize(loss, np.zeros(6), method="BFGS").fun
    assert loss(np.array(pixels.fit_logistic(features, true, ridge).weights)) <= best * 1.01 + 1e-2


def test_a_regression_learns_what_takes_products() -> None:
    x, y = np.meshgrid([-1.0, 1.0], [-1.0, 1.0])
    features = np.repeat(np.stack([x.ravel(), y.ravel()], 1), 20, axis=0).astype(np.float32)
    true = (features[:, 0] * features[:, 1] > 0).astype(float)
    chance = pixels.fit_logistic(features, true, 0.1).chance(features)
    assert ((chance > 0.9) == (true == 1)).all()


@given(st.data())
def test_select_takes_the_most_that_do_not_lie_in_each_other(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 9))
    parent = [data.draw(st.integers(-1, blob - 1)) for blob in range(count)]
    worth = [data.draw(st.integers(-4, 4)) for _ in range(count)]

    def above(blob: int) -> set[int]:
        return {parent[blob]} | above(parent[blob]) if parent[blob] >= 0 else set()

    best = 0
    for chosen in range(1 << count):
        some = {blob for blob in range(count) if chosen >> blob & 1}
        if not any(above(blob) & some for blob in some):
            best = max(best, sum(worth[blob] for blob in some))
    taken = parts.select(np.array(parent, np.int64), np.array(worth, np.float32)).tolist()
    assert not any(above(blob) & set(taken) for blob in taken)
    assert sum(worth[blob] for blob in taken) == best


def test_names_lie_where_their_photos_do() -> None:
    rows = np.array([[x, y] for x in (0.0, 10.0) for y in np.linspace(0, 2, 9)])
    naming = fit_naming(rows, ["a"] * 9 + ["B"] * 9)
    assert naming.names == ("a", "b")
    assert naming.best(np.array([0.5, 2.0]), ("B", "a")) == "a"
    assert naming.best(np.array([9.0, 0.0]), ("a", "B")) == "B"
    assert naming.best(np.array([9.0, 0.0]), ("a", "c")) == "a"
    assert naming.best(np.array([9.0, 0.0]), ()) == "b"
    assert not naming.rules_out(np.array([9.0, 0.0]), "c")
    assert naming.rules_out(np.array([9.0, 0.0]), "a")
    assert not naming.rules_out(np.array([9.0, 0.0]), "B")
    shares = naming.votes(np.array([0.0, 1.0]), ["a", "b"])
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["a"] > 0.9


def test_photos_with_classes_alone_lend_their_names_to_lesions_learned_elsewhere(
    tmp_path: Path,
) -> None:
    known = leaves(tmp_path / "a", range(6))
    whole = [
        msgspec.structs.replace(
            item, id=f"mine {item.id}", group=f"mine {item.group}", level="object",
            label=f"my {item.label}", boxes=((0.0, 0.0, item.width, item.height),),
        )
        for item in leaves(tmp_path / "b", range(6))
        if item.positive
    ]  # fmt: skip
    with pytest.raises(Usage, match="at least one item of level lesion"):
        colour.fit(whole, tmp_path / "b")
    both = colour.fit_all([(known, tmp_path / "a"), (whole, tmp_path / "b")])
    assert set(both.naming.names) == {
        name for item in (*known, *whole) if item.label for name in [label_id(item.label)]
    }
    with pytest.raises(Usage, match="an id of its own"):
        colour.fit_all([(known, tmp_path / "a"), (known, tmp_path / "a")])
