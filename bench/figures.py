"""Pages a second from a PDF to its words and its ink, beside two readers of PDFs in one run.

    python bench/figures.py [FILE.pdf]

Three ways read the same pages in turn: ours (pdfium: lines of words, a rendering at 72 dots an
inch taken apart into patches, then figures paired with captions), pdfplumber (words, lines, rects,
curves and images: what a figure finder on pdfminer starts from) and pypdf (text alone). CPU time of
this process, median of rounds in which each has its turn. Ours has the whole job done in that time,
the peers only the reading. Exits 1 where ours is slower than pdfplumber.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pdfplumber
import pypdf

from fieldtruth.papers import pdf
from fieldtruth.papers.layout import Layout, Limits
from fieldtruth.stages.figures import find

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.papers import by_reportlab

ROUNDS = 3
REAL = Path(__file__).parents[2] / "shared" / "data" / "papers" / "mohanty2016.pdf"


def ours(path: Path) -> int:
    """Words, ink, figures."""
    got = pdf.look(path, Limits())
    assert isinstance(got, Layout)
    find(got)
    return len(got.pages)


def words_alone(path: Path) -> int:
    """What screening does: words without ink."""
    got = pdf.look(path, Limits(), ink=False)
    assert isinstance(got, Layout)
    return len(got.pages)


def plumber(path: Path) -> int:
    """Words and drawn things of each page."""
    with pdfplumber.open(path) as opened:
        for page in opened.pages:
            page.extract_words()
            assert page.images is not None
            assert page.rects is not None
            page.flush_cache()
        return len(opened.pages)


def pypdf_text(path: Path) -> int:
    """Text alone."""
    reader = pypdf.PdfReader(path)
    for page in reader.pages:
        page.extract_text()
    return len(reader.pages)


def main() -> int:
    """Print a line for each way."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else REAL
    if not path.is_file():
        path = Path("/tmp/fieldtruth-bench.pdf")
        path.write_bytes(by_reportlab.two_columns())
    ways: dict[str, Callable[[Path], int]] = {
        "fieldtruth figures": ours, "fieldtruth screen": words_alone,
        "pdfplumber": plumber, "pypdf": pypdf_text,
    }  # fmt: skip
    ours(path)  # imports
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.process_time()
            pages = way(path)
            took[name].append(pages / (time.process_time() - start))
    speed = {name: median(some) for name, some in took.items()}
    for name, pages_a_second in speed.items():
        print(f"{name:20} {pages_a_second:7.1f} pages a CPU-second")
    return int(speed["fieldtruth figures"] < speed["pdfplumber"])


if __name__ == "__main__":
    sys.exit(main())
