"""The frozen published reader and raster, fault by fault (agroground.md, 11.1, 11.2 and 16.6)."""

import pytest
from tests.metrics.photos import LESION, photo, reply, said

from fieldtruth.geometry import as_boxes
from fieldtruth.grading import bootstrap
from fieldtruth.grading.published import name, parse, published, region
from fieldtruth.records import Item, Prediction

BOX = '{"bbox_2d": [1, 2, 3, 4], "label": "rust"}'


@pytest.mark.parametrize(
    ("text", "boxes", "labels"),
    [
        (f"[{BOX}]", [[1, 2, 3, 4]], ["rust"]),
        ("[]", [], []),
        ('[{"bbox_2d": [1.5, 2, 3, 4]}]', [[1.5, 2, 3, 4]], [""]),
        ('[{"bbox_2d": [1, 2, 3]}]', [], []),
        ('[{"label": "rust"}]', [], []),
        ('[{"bbox_2d": [1, 2, 3, 4], "label": null}]', [[1, 2, 3, 4]], ["None"]),
        (f"```json\n[{BOX}]\n```", [[1, 2, 3, 4]], [""]),  # a fence loses the label
        (f"[{BOX}, {{", [[1, 2, 3, 4]], [""]),  # so does a list cut off
        (f"[{BOX}, 7]", [[1, 2, 3, 4]] * 2, ["rust", ""]),  # a half-read list doubles
        ("a box at [ 1, 2,3 , 4 ] here", [[1, 2, 3, 4]], [""]),
        ("[-1, 2, 3, 4] [1.0, 2, 3, 4]", [], []),  # the fallback knows no signs and no points
        ("null", [], []),
        ("no boxes", [], []),
        ('[{"bbox_2d": [1, 2, 3, NaN]}]', [], []),
        ('[{"bbox_2d": ["5", 2, 3, 4]}]', [[5, 2, 3, 4]], [""]),
        ("[" * 100_000, [], []),
    ],
)
def test_the_published_parser(text: str, boxes: list[list[float]], labels: list[str]) -> None:
    assert parse(text) == (boxes, labels)


@pytest.mark.parametrize(
    ("said_box", "true_box", "expected"),
    [
        ((4, 4, 7, 7), (4, 4, 7, 7), 0.0),  # 3 px: no cell is left of it
        ((3, 3, 10, 10), (3, 3, 10, 10), 1.0),  # 7 px: 4 cells
        ((0, 0, 40, 40), (0, 0, 40, 20), 0.5),
        ((0, 0, 40, 40), (0, 0, 40, 23), 0.5),  # 23 / 40 exactly, cut to 5 / 10
        ((40, 40, 0, 0), (0, 0, 40, 40), 0.0),  # corners are not put in order
        ((0, 0, 400, 400), (0, 0, 100, 100), 1.0),  # the raster cuts, the arithmetic does not
    ],
)
def test_the_published_raster(
    said_box: tuple[int, ...], true_box: tuple[int, ...], expected: float
) -> None:
    assert region(as_boxes([said_box]), as_boxes([true_box]), 100, 100) == expected


def test_a_tiny_photo_still_has_one_cell() -> None:
    assert region(as_boxes([(0, 0, 3, 3)]), as_boxes([(0, 0, 3, 3)]), 3, 3) == 0.0


@pytest.mark.parametrize(
    ("labels", "text", "expected"),
    [
        (["Rust", "rust", "scab", "scab"], "", "scab"),  # counted as written, then normalised
        (["Rust ", "scab"], "", "rust"),  # ties: the first
        (["", ""], "It is RUST on the leaf", "rust"),
        ([], "rust or scab", None),  # two names: none
        ([], "rusty", "rust"),  # a substring is enough
        ([], "x" * 250 + "rust", None),  # only 250 characters are kept
        ([], "wilt", None),
    ],
)
def test_the_published_name(labels: list[str], text: str, expected: str | None) -> None:
    assert name(labels, text, ("blight", "rust", "mold", "scab")) == expected


def values(items: list[Item], rows: list[Prediction], protocol: str) -> dict[str, float | None]:
    drawn = bootstrap.draw([published(items, rows, protocol)], "image", 10, floored=True)
    return {metric: found.value for metric, found in bootstrap.estimates(drawn[0]).items()}


def test_a_dead_server_abstains_perfectly() -> None:
    items = [photo("healthy", 0), photo("lesion", 1)]
    rows = [reply(item, "", error="connection refused") for item in items]
    found = values(items, rows, "candidates")
    assert (found["abstention"], found["false_abstention"], found["f1"]) == (1.0, 1.0, 0.0)


def test_prose_abstains_and_missing_items_only_shrink_the_set() -> None:
    items = [photo("healthy", n) for n in range(3)]
    panel = published(items, [reply(items[0], "prose"), reply(items[2], "right")], "candidates")
    assert panel.ids == ("photo-000", "photo-002")
    assert values(items, [reply(items[0], "prose")], "candidates")["abstention"] == 1.0


def test_a_row_given_twice_counts_twice() -> None:
    items = [photo("lesion", 0), photo("lesion", 1)]
    rows = [reply(items[0], "right"), reply(items[0], "right"), reply(items[1], "empty")]
    assert values(items, rows, "candidates")["recall"] == pytest.approx(2 / 3)


def test_what_is_right_is_right_in_every_space() -> None:
    item = photo("lesion", 0)
    for space, scale in (("pixel", 1), ("norm1000", 10), ("yx1000", 10)):
        words = said([[scale * value for value in box] for box in LESION])
        found = values([item], [reply(item, words, space=space)], "candidates")
        assert (found["f1"], found["region_iou"], found["joint"]) == (1.0, 1.0, 1.0), space


def test_names_are_searched_only_where_candidates_were_shown() -> None:
    item = photo("lesion", 0)
    words = "[10, 10, 30, 30] looks like rust"
    for protocol, share in (("candidates", 1.0), ("known_target", 0.0)):
        found = values([item], [reply(item, words, protocol=protocol)], protocol)
        assert found["recognition"] == share


def test_hostile_numbers_do_not_stop_it() -> None:
    item = photo("lesion", 0)
    words = '[{"bbox_2d": [-1e308, -5, 1e308, 1e308], "label": "rust"}]'
    assert values([item], [reply(item, words, space="norm1")], "candidates")["f1"] == 0.0


def test_the_joint_number_of_open_answers_goes_by_the_lenient_rule() -> None:
    """11.2; what is strict stays strict, and the boxes of the third reply are wrong."""
    items = [photo("lesion", n) for n in range(3)]
    boxes = [[10 * value for value in box] for box in LESION]
    words = (said(boxes, "leaf rust"), said(boxes, "scab"), said([[0, 0, 9, 9]], "rust"))
    rows = [
        reply(item, text, protocol="open_set", space="norm1000")
        for item, text in zip(items, words, strict=True)
    ]
    found = values(items, rows, "open_set")
    names = ("joint", "open_lenient", "open_strict", "recognition", "instance_joint")
    assert [found[metric] for metric in names] == pytest.approx([1 / 3, 2 / 3, 1 / 3, 1 / 3, 0])
