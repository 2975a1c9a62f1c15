"""Figures found: ours beside what three peers offer, on made papers and a real one.

    python bench/figures_found.py

None of the peers pairs figures with captions, so each is given the same plain rule: every line that
our own test takes for the start of a caption goes to the nearest picture of its page.

    pdfplumber images  pictures in the file as they are
    pdfplumber drawn   pictures, rectangles, curves and lines within 20 points of each other as one
    pypdf              pictures in the file, which it gives no place: pages alone are counted
    rapid-layout       "figure" of its layout model at 0.5 (Apache-2.0), where it is installed with
                       onnxruntime and opencv: nothing here depends on it

The second held-out set is the one that nothing was changed for after it was seen.

"place": the page, and IoU of at least 0.75. "pair": the place, and the number in the caption's
label. "page": the number of a caption on the page of a picture. Precision is of places.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pdfplumber
import pypdf
import pypdfium2

from fieldtruth.papers import pdf
from fieldtruth.papers.layout import Layout, Limits
from fieldtruth.stages.figures import find
from fieldtruth.stages.figures.captions import start

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.papers.answers import Answer, overlap
from tests.papers.held_out.answers import FOLDER, HELD, UNSEEN
from tests.papers.test_figures import MADE, REAL, REAL_ANSWERS

Box = tuple[float, float, float, float]
NEAR = 20.0  # points between drawn things of one picture
LEAST = 900.0  # square points of a picture


@dataclass(frozen=True)
class Seen:
    """A figure as a finder tells it; without a box where it tells none."""

    page: int
    number: str
    box: Box | None = None


def ours(path: Path) -> list[Seen]:
    """The whole of ours."""
    got = pdf.look(path, Limits())
    assert isinstance(got, Layout)
    return [Seen(each.page, each.number, each.box) for each in find(got).figures]


def _labels(page: Any) -> list[tuple[str, Box]]:
    """Numbers and places of the lines of a page that begin a figure's caption."""
    made = []
    for line in page.extract_text_lines(return_chars=False):
        told = start(line["text"])
        if told and not told.table:
            made.append((told.number, (line["x0"], line["top"], line["x1"], line["bottom"])))
    return made


def _nearest(page: int, labels: Sequence[tuple[str, Box]], boxes: Sequence[Box]) -> list[Seen]:
    """Each caption to the nearest picture; pictures without one are left out."""
    made, left = [], list(boxes)
    for number, place in labels:
        if left:
            best = min(left, key=lambda box: _gap(box, place))
            left.remove(best)
            made.append(Seen(page, number, best))
    return made


def _gap(a: Box, b: Box) -> float:
    return float(max(b[0] - a[2], a[0] - b[2], b[1] - a[3], a[1] - b[3], 0.0))


def _boxes(things: Sequence[Any]) -> list[Box]:
    made = [(t["x0"], t["top"], t["x1"], t["bottom"]) for t in things]
    return [each for each in made if (each[2] - each[0]) * (each[3] - each[1]) >= LEAST]


def images(path: Path) -> list[Seen]:
    """Pictures that the file holds, by pdfplumber."""
    with pdfplumber.open(path) as opened:
        return [
            seen for page in opened.pages
            for seen in _nearest(page.page_number, _labels(page), _boxes(page.images))
        ]  # fmt: skip


def drawn(path: Path) -> list[Seen]:
    """All that is drawn, by pdfplumber, what is near as one."""
    made = []
    with pdfplumber.open(path) as opened:
        for page in opened.pages:
            things = [*page.images, *page.rects, *page.curves, *page.lines]
            spots = [(t["x0"], t["top"], t["x1"], t["bottom"]) for t in things]
            whole = [b for b in _joined(spots) if (b[2] - b[0]) * (b[3] - b[1]) >= LEAST]
            made += _nearest(page.page_number, _labels(page), whole)
    return made


def _joined(boxes: Sequence[Box]) -> list[Box]:
    done: list[Box] = []
    for box in boxes:
        near = [each for each in done if _gap(each, box) <= NEAR]
        done = [each for each in done if each not in near]
        some = [*near, box]
        done.append((min(b[0] for b in some), min(b[1] for b in some),
                     max(b[2] for b in some), max(b[3] for b in some)))  # fmt: skip
    return done if len(done) == len(boxes) else _joined(done)


def pages_alone(path: Path) -> list[Seen]:
    """Captions of pages that hold a picture, by pypdf."""
    made = []
    for at, page in enumerate(pypdf.PdfReader(path).pages, start=1):
        told = [start(line.strip()) for line in page.extract_text().splitlines()]
        numbers = [each.number for each in told if each and not each.table]
        made += [Seen(at, number) for number in numbers[: len(list(page.images.keys()))]]
    return made


@cache
def _model() -> Any:
    from rapid_layout import RapidLayout  # type: ignore[import-not-found]

    return RapidLayout()


def by_layout(path: Path) -> list[Seen]:
    """What a layout model calls a figure."""
    model = _model()
    made = []
    with pdfplumber.open(path) as opened:
        document = pypdfium2.PdfDocument(path)
        for page in opened.pages:
            shown = document[page.page_number - 1].render(scale=2.0).to_numpy()[..., :3]
            boxes, _, names, _ = model(shown)
            some = [] if boxes is None else list(zip(boxes, names, strict=True))
            figures = [tuple(float(v) / 2 for v in box) for box, name in some if name == "figure"]
            made += _nearest(page.page_number, _labels(page), figures)  # type: ignore[arg-type]
    return made


def sets(folder: Path) -> Iterator[tuple[str, list[tuple[Path, Sequence[Answer]]]]]:
    """The papers with their answers: tricky ones, two held-out sets, the real one."""
    made = []
    for name, paper in MADE.items():
        (folder / f"{name}.pdf").write_bytes(paper.make())
        made.append((folder / f"{name}.pdf", paper.figures))
    yield "tricky", made
    for title, held in (("held out", HELD), ("untouched", UNSEEN)):
        yield title, [(FOLDER / f"{name}.pdf", answers) for name, answers in held.items()]
    if REAL.is_file():
        yield "Mohanty 2016", [(REAL, REAL_ANSWERS)]


def counted(finder: Callable[[Path], list[Seen]], papers: Sequence[tuple[Path, Any]]) -> str:
    """A row: page, pair and place found of those owed, and precision."""
    owed = given = place = pair = page = 0
    for path, answers in papers:
        got = finder(path)
        owed, given = owed + len(answers), given + len(got)
        for each in answers:
            there = [s for s in got if s.page == each.page]
            right = [s for s in there if s.box and overlap(s.box, each.box) >= 0.75]
            place += bool(right)
            pair += any(s.number == each.number for s in right)
            page += any(s.number == each.number for s in there)
    precise = f"{place / given:.2f}" if given and finder is not pages_alone else "-"
    return (
        f"page {page:2}/{owed}  place {place:2}/{owed}  pair {pair:2}/{owed}  precision {precise}"
    )


def main() -> int:
    """Print a row for each finder and set; 1 where a peer has more pairs than ours."""
    ways: dict[str, Callable[[Path], list[Seen]]] = {
        "fieldtruth": ours, "pdfplumber images": images, "pdfplumber drawn": drawn,
        "pypdf": pages_alone,
    }  # fmt: skip
    if find_spec("rapid_layout"):
        ways["rapid-layout"] = by_layout
    else:
        print("rapid-layout is not installed: left out")
    worse = False
    with tempfile.TemporaryDirectory() as folder:
        for title, papers in sets(Path(folder)):
            rows = {name: counted(way, papers) for name, way in ways.items()}
            pairs = {name: int(row.split("pair")[1].split("/")[0]) for name, row in rows.items()}
            worse = worse or pairs["fieldtruth"] < max(pairs.values())
            for name, row in rows.items():
                print(f"{title:12}  {name:17}  {row}")
    return int(worse)


if __name__ == "__main__":
    sys.exit(main())
