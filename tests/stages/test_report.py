"""The page: well-formed, harmless, honest, and the same bytes each time."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fieldtruth.grading import Graded, grade
from fieldtruth.protocols.candidates import PROTOCOL
from fieldtruth.records import Item, Prediction
from fieldtruth.stages.report import plots, report
from fieldtruth.stages.report.glossary import METRICS, term
from fieldtruth.stages.report.numbers import Measured
from fieldtruth.stages.report.photos import ROOM, Album
from fieldtruth.stages.report.sentence import sentence
from fieldtruth.stages.report.view import headline, positions
from fieldtruth.stages.score import Options, score
from fieldtruth.store import Bench, Manifest

NAMES = ("leaf rust", "phoma leaf spot", "cercospora spot", "leaf miner")
HOSTILE = "<img src=x onerror=alert(1)>\"'</title></style></pre><script>alert(2)</script>{{7*7}}"
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """A page taken apart by the standard library; refuses tags that do not close in order."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.html = path.read_bytes().decode("utf-8")
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(self.html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), tag
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.getpos())
        self.text += "" if tag == "bdi" else " "

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    @property
    def words(self) -> str:
        return " ".join(self.text.split())

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] for _, attrs in self.tags if attribute in attrs]


def an_item(number: int, **changes: Any) -> Item:
    """Item 0 mod 3 is healthy; the others show the name at place `number` mod 4."""
    healthy = number % 3 == 0
    fields: dict[str, Any] = {
        "id": f"drawn:{number:02}",
        "image": f"images/{number:02}.png",
        "image_sha256": "0" * 64,
        "width": 64,
        "height": 48,
        "source": "drawn",
        "licence": "CC0-1.0",
        "crop": "coffee",
        "kind": None if healthy else "disease",
        "label": None if healthy else NAMES[number % 4],
        "level": "healthy" if healthy else "lesion",
        "boxes": () if healthy else ((8.0, 6.0, 24.0, 18.0),),
        "query": NAMES[number % 4],
        "absent_query": None,
        "candidates": NAMES,
        "group": f"g{number}",
    }
    return Item(**(fields | changes))


def a_bench(folder: Path, items: Sequence[Item]) -> Bench:
    (folder / "images").mkdir(parents=True)
    for item in items:
        Image.new("RGB", (item.width, item.height), "green").save(folder / item.image)
    manifest = Manifest(
        name="leaves",
        version="1.2",
        split="test",
        items=len(items),
        questions=0,
        images=len(items),
        counts={"licence": {"CC0-1.0": len(items)}},
        files={},
        references={},
        config={},
        inputs={},
        code="fieldtruth 0.1.0",
    )
    return Bench(folder, manifest.sealed(), tuple(items), ())


def a_reply(item: Item, model: str, text: str, **more: Any) -> Prediction:
    return Prediction(
        item=item.id, protocol="candidates", model=model, text=text, space="pixel", **more
    )


def replies(items: Sequence[Item]) -> list[Prediction]:
    """`right` knows; `box` boxes everything as the first name; `dead` fails from the third on."""
    box = '[{"bbox_2d": [0, 0, 64, 48], "label": "leaf rust"}]'
    right = [a_reply(item, "right", PROTOCOL.answer(item, "pixel")) for item in items]
    boxed = [a_reply(item, "box", box) for item in items]
    dead = [
        a_reply(item, "dead", "", finish="error", error="connection refused")
        if at > 2
        else a_reply(item, "dead", ("[]", "I cannot tell.", "[{")[at])
        for at, item in enumerate(items)
    ]
    return right + boxed + dead


class Made:
    """All that a page is made from, scored for real."""

    def __init__(
        self, folder: Path, items: Sequence[Item], rows: Sequence[Prediction] | None = None
    ) -> None:
        self.bench = a_bench(folder / "bench", items)
        self.rows = list(replies(items) if rows is None else rows)
        models = list(dict.fromkeys(row.model for row in self.rows))
        self.graded: list[Graded] = [
            grade(items, [row for row in self.rows if row.model == model], "candidates")
            for model in models
        ]
        options = Options(allow_missing=1.0, resamples=50)
        self.scores = score(self.bench, self.rows, options)
        self.out = folder / "page.html"

    def page(self, **more: Any) -> Page:
        made = report(
            self.scores, self.graded, self.bench, predictions=self.rows, out=self.out, **more
        )
        assert made == self.out
        return Page(made)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path, [an_item(number) for number in range(12)])


def test_it_is_well_formed(made: Made) -> None:
    page = made.page(naive=made.scores, note="A note.")
    ids = page.values("id")
    assert len(set(ids)) == len(ids)
    links = {value[1:] for value in page.values("href") if value.startswith("#")}
    assert links <= set(ids)
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    assert page.html.startswith("<!DOCTYPE html>")
    assert "A note." in page.text


def test_it_loads_nothing_and_runs_nothing(made: Made) -> None:
    page = made.page(naive=made.scores)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "iframe", "object", "embed", "base", "form", "img"}
    assert page.values("src") == []
    assert all(value.startswith(("#", "data:image/jpeg;base64,")) for value in page.values("href"))
    assert "url(" not in page.html
    assert "@import" not in page.html
    assert not re.search(r"https?://", page.html)
    policy = next(a["content"] for _, a in page.tags if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")


def test_hostile_names_stay_text_wherever_they_stand(tmp_path: Path) -> None:
    names = (HOSTILE, *NAMES[1:])
    items = [
        an_item(
            number,
            id=f"{HOSTILE}{number}",
            label=None if number % 3 == 0 else HOSTILE,
            query=HOSTILE,
            candidates=names,
            source=HOSTILE,
            licence=HOSTILE,
            crop=HOSTILE,
        )
        for number in range(6)
    ]
    rows = [
        *(a_reply(item, HOSTILE, f'{HOSTILE} [{{"bbox_2d": [1, 1, 9, 9], "label": "<b>"}}]')
          for item in items),
        *(a_reply(item, "m2", "", finish="error", error=HOSTILE) for item in items),
    ]  # fmt: skip
    made = Made(tmp_path, items, rows)
    made.scores["benchmark"]["name"] = HOSTILE
    page = made.page(naive=made.scores, note=HOSTILE)
    assert not {tag for tag, _ in page.tags} & {"img", "script", "b>"}
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert page.text.count(HOSTILE) > 40
    assert "49" not in page.text
    labels = page.values("aria-label")
    assert any(HOSTILE in label for label in labels)


def test_control_characters_and_half_surrogates_do_not_reach_the_page(tmp_path: Path) -> None:
    items = [an_item(number) for number in range(3)]
    made = Made(
        tmp_path, items, [a_reply(item, "m", "no\x00\x1b[31m \ud800 word") for item in items]
    )
    page = made.page()
    assert "no\ufffd\ufffd[31m \ufffd word" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", page.html)


def test_the_same_input_gives_the_same_bytes(made: Made) -> None:
    first = made.page(naive=made.scores).html
    made.graded = list(made.graded)
    assert made.page(naive=made.scores).html == first


def test_every_leading_number_is_on_the_page(made: Made) -> None:
    text = made.page().words
    cells = [each["candidates"]["metrics"] for each in made.scores["models"].values()]
    seen = 0
    for metrics in cells:
        for metric in headline("candidates"):
            got = metrics[metric]
            if got["value"] is not None:
                interval = f"[{got['low']:.3f}, {got['high']:.3f}]"
                interval = "one group" if got["n"] == 1 else interval  # each photo is a group
                assert f"{got['value']:.3f} {interval} n = {got['n']}" in text
                seen += 1
    assert seen >= 10
    for counts in (each["candidates"]["outcomes"] for each in made.scores["models"].values()):
        assert set(counts) <= set(text.split())
        assert "boxes empty prose unreadable error truncated missing duplicate extra" in text


def test_one_group_has_no_interval_and_few_groups_are_greyed(tmp_path: Path) -> None:
    """Six photos of a group each, then of one group, then of two; half of them are recognised."""
    told = []
    for name, groups in (("many", "abcdef"), ("one", "aaaaaa"), ("two", "aaabbb")):
        items = [
            an_item(number, group=group)
            for number, group in zip((1, 2, 4, 5, 7, 8), groups, strict=True)
        ]
        rows = [
            a_reply(item, model, PROTOCOL.answer(item, "pixel") if item in items[:most] else "[]")
            for model, most in (("half", 3), ("none", 0))
            for item in items
        ]
        made = Made(tmp_path / name, items, rows)
        cell = made.scores["models"]["half"]["candidates"]["metrics"]["recognition"]
        assert cell.keys() == {"value", "low", "high", "n"}
        page = made.page()
        row = re.search(r'<th scope="row"><bdi>half</bdi></th>(.*?)</td>', page.html, re.S)
        assert row is not None
        told.append((row[1], page.words))
    (many, _), (one, words), (two, two_words) = told
    assert many.startswith("<td><b>0.500</b><small>[")
    assert one == '<td class="few"><b>0.500</b><small>one group</small><small>n = 6</small>'
    assert two == (
        '<td class="few"><b>0.500</b><small>[0.000, 1.000]</small><small>n = 6, 2 groups</small>'
    )
    assert "none \u2212 half: \u22120.500 one group, n = 6" in words
    assert (
        "No difference can be told between half and none under candidates: joint +0.500, n=6, and "
        "all of them are of one group."
    ) in words
    marks = plots.differences("f1", [("b − a", Measured(-0.5, -0.5, -0.5, 6, 1))]).marks
    assert (marks[0].interval, marks[0].low, marks[0].few, marks[0].grey) == (
        "one group", None, "", True,
    )  # fmt: skip
    assert "[0.500, 0.500]" not in words
    assert "the interval holds zero" in two_words
    assert "n=6 of 2 groups" in two_words
    assert words.count("\u201cOne group\u201d stands in place of an interval where") == 1


def test_nothing_to_measure_is_a_dash_and_never_zero(tmp_path: Path) -> None:
    items = [an_item(number) for number in (1, 2, 4)]  # no healthy one
    made = Made(tmp_path, items, [a_reply(item, "m", "[]") for item in items])
    assert made.scores["models"]["m"]["candidates"]["metrics"]["abstention"]["value"] is None
    page = made.page()
    row = re.search(r'<tr><th scope="row"><bdi>m</bdi></th>(.*?)</tr>', page.html, re.S)
    assert row is not None
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row[1], re.S)
    assert len(cells) == len(headline("candidates"))
    at = headline("candidates").index("abstention")
    assert "–" in cells[at]
    assert "0.000" not in cells[at]
    assert "n = 0" in cells[at]


def test_a_failed_call_is_told_as_an_error_and_not_as_an_abstention(made: Made) -> None:
    text = made.page().words
    assert "dead: 9 of 12 calls failed or are missing. They are errors, not empty answers" in text
    assert "connection refused" in text
    assert "error: no answer" in text
    assert "an error, prose or an unreadable reply never is" in text


def test_a_card_shows_the_words_and_what_they_were_read_as(made: Made) -> None:
    text = made.page().words
    assert "I cannot tell." in text
    assert "Read as prose" in text
    assert "Read as unreadable" in text
    assert "leaf rust (wrong)" in text
    assert "coffee · drawn · CC0-1.0" in text


def test_boxes_are_drawn_in_pixels_of_the_upright_photo(made: Made) -> None:
    page = made.page()
    boxes = ["viewbox" in attrs and attrs["viewbox"] for tag, attrs in page.tags if tag == "svg"]
    assert "0 0 64 48" in boxes
    sides = ("x", "y", "width", "height")
    drawn = {
        (attrs["class"], *(float(attrs[side]) for side in sides))
        for tag, attrs in page.tags
        if tag == "rect" and attrs.get("class") in ("t", "p")
    }
    assert ("t", 8.0, 6.0, 16.0, 12.0) in drawn
    assert ("p", 0.0, 0.0, 64.0, 48.0) in drawn


def test_a_long_reply_is_folded_and_what_is_cut_is_counted(tmp_path: Path) -> None:
    items = [an_item(1)]
    made = Made(tmp_path, items, [a_reply(items[0], "m", "a" * 199 + "b" + "c" * 5_000)])
    page = made.page()
    assert "a" * 199 + "b…" in page.text
    assert "1000 more characters stand in the predictions file" in page.text
    assert page.html.count("c" * 4_000) == 1


def test_without_the_words_the_card_says_so(made: Made) -> None:
    made.rows = []
    assert "The reply's words are not at hand." in made.page().text


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("remove", "The photo is not in the benchmark's folder."),
        ("break", "The photo cannot be opened."),
        ("leave", "The photo's path leaves the benchmark's folder."),
    ],
)
def test_a_photo_that_cannot_be_shown_is_said_to_be_so(
    tmp_path: Path, spoil: str, says: str
) -> None:
    item = an_item(1)
    made = Made(tmp_path, [item], [a_reply(item, "m", "[]")])
    photo = made.bench.folder / item.image
    if spoil == "remove":
        photo.unlink()
    elif spoil == "break":
        photo.write_bytes(photo.read_bytes()[:20])
    else:
        photo.unlink()
        photo.symlink_to(tmp_path / "elsewhere.png")
    page = made.page()
    assert says in page.text
    assert "use" not in {tag for tag, _ in page.tags}


def test_a_photo_on_several_cards_lies_in_the_page_once(made: Made) -> None:
    page = made.page()
    images = [attrs["href"] for tag, attrs in page.tags if tag == "image"]
    uses = [attrs["href"] for tag, attrs in page.tags if tag == "use"]
    assert len(images) == len(set(uses)) < len(uses)


def test_the_photos_of_a_page_keep_within_its_size(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (480, 480, 3), dtype=np.uint8)
    items = [
        an_item(number, image="images/noise.png", width=480, height=480) for number in range(40)
    ]
    bench = a_bench(tmp_path / "bench", items[:1])
    Image.fromarray(noise).save(bench.folder / "images/noise.png")
    album = Album(bench)
    photos = [album.photo(item) for item in items]
    size = sum(len(uri) for _, _, uri in album.shown.values())
    assert 0.8 * ROOM < size <= ROOM
    assert photos[0].key == "photo-1"
    assert photos[-1].reason == "Left out to keep the page small."


def test_a_page_that_fails_leaves_the_old_one(made: Made) -> None:
    before = made.page().html
    made.scores.pop("paired")
    with pytest.raises(KeyError):
        made.page()
    assert made.out.read_text(encoding="utf-8") == before
    assert [path.name for path in made.out.parent.iterdir() if path.is_file()] == ["page.html"]


def test_naive_numbers_stand_beside_ours_and_what_differs_is_marked(made: Made) -> None:
    naive: dict[str, Any] = {"models": {"dead": {"candidates": {"metrics": {}}}}}
    naive["models"]["dead"]["candidates"]["metrics"]["abstention"] = {
        "value": 1.0, "low": 1.0, "high": 1.0, "n": 987,
    }  # fmt: skip
    here = made.scores["models"]["dead"]["candidates"]["metrics"]["abstention"]
    for ours, marked in ((0.995, False), (0.5, True), (None, True)):
        here["value"] = ours
        page = made.page(naive=naive)
        assert "n = 987" in page.text
        assert bool(re.search(r'<td class="bad"><b>1\.000</b>', page.html)) is marked
    assert "n = 987" not in made.page().text


def test_provenance_names_the_benchmark_and_what_was_set(made: Made) -> None:
    made.scores["settings"] = {"unit": "group", "resamples": 1000}
    text = made.page().words
    for part in (
        "leaves, version 1.2, split test",
        made.bench.manifest.digest,
        "Made by fieldtruth 0.1.0",
        "Audit not audited",
        "Unit group",
        "Resamples 1000",
    ):
        assert part in text


def test_places_on_the_list_are_counted_for_diseased_photos(made: Made) -> None:
    right, box, dead = (positions(graded) for graded in made.graded)
    assert right is not None
    assert right.counts == (2, 2, 2, 2)  # of 12 items, 8 diseased: 1 2 4 5 7 8 10 11
    assert right.true == right.answered == (0.25, 0.25, 0.25, 0.25)
    assert box is not None
    assert (box.n, box.counts) == (8, (8, 0, 0, 0))
    assert dead is not None
    assert (dead.n, dead.answered) == (0, (0.0, 0.0, 0.0, 0.0))
    assert positions(replace(made.graded[0], protocol="candidates+shuffle")) is None


def a_score(rows: list[tuple[str, str, str, float | None, float | None, float | None]],
            **values: float | None) -> dict[str, Any]:  # fmt: skip
    """A score result with `values` for `joint`, and paired rows (metric, a, b, d, low, high)."""
    fields = ("metric", "a", "b", "difference", "low", "high")
    return {
        "benchmark": {},
        "models": {
            model: {
                "p": {
                    "metrics": {"joint": {"value": value, "low": 0.1, "high": 0.9, "n": 60}},
                    "outcomes": {"boxes": 60, "error": 30 if model == "dying" else 0},
                }
            }
            for model, value in values.items()
        },
        "paired": [
            dict(zip(fields, row, strict=True)) | {"protocol": "p", "n": 60} for row in rows
        ],
    }


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        (
            a_score([("joint", "leaf", "colour", 0.31, 0.2, 0.4)], leaf=0.1, colour=0.41),
            "colour finds more than leaf under p: joint +0.310 [0.200, 0.400], n=60.",
        ),
        (
            a_score([("joint", "colour", "leaf", -0.31, -0.4, -0.2)], colour=0.41, leaf=0.1),
            "colour finds more than leaf under p: joint +0.310 [0.200, 0.400], n=60.",
        ),
        (
            a_score([("joint", "leaf", "colour", 0.02, -0.03, 0.07)], leaf=0.1, colour=0.12),
            "No difference can be told between colour and leaf under p: joint +0.020 "
            "[−0.030, 0.070], n=60; the interval holds zero.",
        ),
        (
            a_score([("joint", "leaf", "colour", 0.02, 0.0, 0.07)], leaf=0.1, colour=0.12),
            "No difference can be told between colour and leaf under p: joint +0.020 "
            "[0.000, 0.070], n=60; the interval holds zero.",
        ),
        (
            a_score([("joint", "leaf", "colour", 0.02, None, None)], leaf=0.1, colour=0.12),
            "No difference can be told between colour and leaf under p: joint +0.020, n=60, and "
            "no interval could be drawn.",
        ),
        (
            a_score([], colour=0.41),
            "colour alone was measured under p: joint 0.410 [0.100, 0.900], n=60. With one model "
            "there is nothing to compare.",
        ),
        (a_score([], colour=None), "Nothing could be measured under p."),
        (
            a_score([], colour=0.4, leaf=0.2),
            "colour and leaf were not compared under p: no item was measured in both.",
        ),
        (
            a_score([("joint", "leaf", "colour", None, None, None)], leaf=0.1, colour=0.12),
            "leaf and colour cannot be compared under p: there is nothing to measure.",
        ),
        (  # the one that died half way does not lead, however well it did till then
            a_score(
                [
                    ("joint", "leaf", "dying", 0.8, 0.7, 0.9),
                    ("joint", "dying", "colour", -0.5, -0.6, -0.4),
                    ("joint", "leaf", "colour", 0.3, 0.2, 0.4),
                ],
                leaf=0.1,
                dying=0.9,
                colour=0.4,
            ),
            "colour finds more than leaf under p: joint +0.300 [0.200, 0.400], n=60.",
        ),
    ],
)
def test_the_sentence_claims_no_more_than_the_interval(scores: dict[str, Any], says: str) -> None:
    assert sentence(scores, "p", ("joint",)) == says


def test_the_sentence_speaks_of_what_the_protocol_asks() -> None:
    scores = a_score([("f1", "a", "b", 0.2, 0.1, 0.3)], a=0.4, b=0.3)
    for model, value in (("a", 0.1), ("b", 0.3)):
        scores["models"][model]["p"]["metrics"]["f1"] = {
            "value": value,
            "low": 0,
            "high": 1,
            "n": 9,
        }
    assert sentence(scores, "p", ("region_iou", "f1")).startswith("b finds more than a under p: F1")


def test_where_less_is_better_the_one_with_less_is_named_first() -> None:
    scores = a_score([("off_list", "a", "b", 0.2, 0.1, 0.3)], a=None, b=None)
    for model, value in (("a", 0.1), ("b", 0.3)):
        scores["models"][model]["p"]["metrics"] = {
            "off_list": {"value": value, "low": 0.0, "high": 0.5, "n": 60}
        }
    assert sentence(scores, "p", ("off_list",)) == (
        "a leaves the list less often than b under p: off list −0.200 [−0.300, −0.100], n=60."
    )


def test_marks_stand_where_their_numbers_are() -> None:
    plot = plots.values(
        "f1", [("a", Measured(0.5, 0.25, 1.0, 9)), ("b", Measured(None, None, None, 0))]
    )
    first, second = plot.marks
    assert (first.low, first.at, first.high) == (26.0, 50.0, 98.0)
    assert (second.low, second.at, second.high, second.value) == (None, None, None, "–")
    assert [text for _, text in plot.ticks] == ["0", "0.25", "0.5", "0.75", "1"]
    wide = plots.values("boxes_per_lesion_image", [("a", Measured(3.2, 3.0, 3.4, 9))])
    assert [text for _, text in wide.ticks] == ["0", "1.25", "2.5", "3.75", "5"]
    apart = plots.differences("f1", [("b − a", Measured(-0.1, -0.2, 0.0, 9))])
    assert (apart.zero, apart.marks[0].low, apart.marks[0].high) == (50.0, 2.0, 50.0)
    assert (apart.marks[0].value, apart.marks[0].interval) == ("−0.100", "[−0.200, 0.000]")


def test_parts_of_a_bar_fill_it() -> None:
    parts = plots.stacked([("boxes", 3), ("empty", 0), ("error", 1)])
    assert [(part.name, part.at, part.width) for part in parts] == [
        ("boxes", 0.0, 75.0),
        ("error", 75.0, 25.0),
    ]
    assert plots.stacked([("boxes", 0)]) == ()


def test_every_metric_of_the_room_has_its_sentence() -> None:
    from fieldtruth import metrics
    from fieldtruth.rooms import names

    assert [name for name in names(metrics) if not term(name).sentence] == []
    assert all(len(each.sentence) < 160 for each in METRICS.values())


# --- controls ----------------------------------------------------------------------------------


def test_a_control_says_what_it_is_and_claims_nothing(tmp_path: Path) -> None:
    items = [an_item(number, absent_query="wilt") for number in range(12)]
    made = Made(tmp_path, items)
    for control in ("blank", "wrong_target"):
        base = "candidates" if control == "blank" else "known_target"
        name = f"{base}+{control}"
        asked = [item for item in items if item.positive or control == "blank"]
        rows = [
            replace_protocol(row, name)
            for row in made.rows
            if row.model != "dead" and row.item in {item.id for item in asked}
        ]
        options = Options(resamples=50)
        scores = score(made.bench, rows, options)
        graded = [
            grade(items, [row for row in rows if row.model == model], name)
            for model in ("right", "box")
        ]
        page = Page(report(scores, graded, made.bench, predictions=rows, out=tmp_path / "c.html"))
        assert "Control: " in page.words
        assert f"{name}" in page.words
        told = sentence(scores, name, headline(name))
        if control == "blank":
            assert "more is not better" in told
            assert "Photos" not in page.words.split("What came back")[1].split("What the words")[0]
        else:
            assert "is fooled by a wrong name less often than" in told or "No difference" in told
            assert "Asked for wilt" in page.words
            assert "Wrong-target abstention" in page.words


def replace_protocol(row: Prediction, protocol: str) -> Prediction:
    return Prediction(
        item=row.item, protocol=protocol, model=row.model, text=row.text, space=row.space
    )


def test_a_page_leads_with_a_protocol_and_not_with_its_control(tmp_path: Path) -> None:
    items = [an_item(number) for number in range(12)]
    made = Made(tmp_path, items)
    plain = [row for row in made.rows if row.model != "dead"]
    blank = [replace_protocol(row, "candidates+blank") for row in plain]
    scores = score(made.bench, [*blank, *plain], Options(resamples=50))
    graded = [
        grade(items, [row for row in rows if row.model == model], name)
        for name, rows in (("candidates+blank", blank), ("candidates", plain))
        for model in ("right", "box")
    ]
    page = Page(report(scores, graded, made.bench, out=tmp_path / "both.html"))
    assert page.words.index("finds more than box under candidates:") < page.words.index("Control: ")


def test_the_order_of_names_has_a_table_of_its_own(tmp_path: Path) -> None:
    items = [an_item(number) for number in range(12)]
    made = Made(tmp_path, items)
    rows, graded = [], []
    for order in ("candidates", "candidates+rotate1", "candidates+rotate2", "candidates+rotate3"):
        mine = [replace_protocol(row, order) for row in made.rows if row.model == "box"]
        rows += mine
        graded.append(grade(items, mine, order))
    scores = score(made.bench, rows, Options(resamples=50))
    page = Page(report(scores, graded, made.bench, out=tmp_path / "orders.html"))
    assert "Does the order of the names matter?" in page.words
    at = page.words.index("4 of 4 listed names given here")
    # It always says the name that stands first, last, third and second in turn.
    assert page.words[at:].startswith(
        "4 of 4 listed names given here 0.250 n = 32 0.250 n = 32 0.250 n = 32 0.250 n = 32 1.000 "
        "n = 8 right, the true name here 0.250 n = 8"
    )
    assert "Does the order" not in made.page().words


def test_everything_that_can_be_asked_is_explained() -> None:
    from fieldtruth import controls, protocols
    from fieldtruth.rooms import names
    from fieldtruth.stages.report.glossary import about

    for base in names(protocols):
        assert about(base)
        for control in names(controls):
            assert about(f"{base}+{control}").startswith(f"{about(base)} Control: ")
    assert about("new") == ""
