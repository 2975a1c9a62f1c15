"""A folder of PDFs screened, and its figures taken out: files, books, crops."""

from pathlib import Path

import msgspec
import pytest
from PIL import Image
from tests.papers import by_fpdf2, by_reportlab

from fieldtruth import store
from fieldtruth.faults import Refused, Usage
from fieldtruth.papers.records import Figure, Miss, Paper
from fieldtruth.papers.references import Reference
from fieldtruth.records import Drop
from fieldtruth.run import figuring, screening
from fieldtruth.run.workspace import Books
from fieldtruth.stages.figures import Cut
from fieldtruth.stages.screen import Settings

pytestmark = pytest.mark.slow


def _folder(path: Path) -> Path:
    path.mkdir()
    (path / "deep").mkdir()
    german = by_fpdf2.german()
    (path / "german.pdf").write_bytes(german)
    (path / "deep" / "panels.PDF").write_bytes(by_reportlab.panels())
    (path / "zz.pdf").write_bytes(german)
    (path / "scanned.pdf").write_bytes(by_reportlab.scanned())
    (path / "broken.pdf").write_bytes(german[:200])
    (path / "none.pdf").write_bytes(by_reportlab.no_figures())
    (path / "notes.txt").write_text("no PDF")
    (path.parent / "found.csv").write_text("title,query\nNobody has this one,q\n")
    return path


def _screened(tmp_path: Path) -> Path:
    wanted = Settings(any_kind=True, licence="CC-BY-4.0")
    exports = [tmp_path / "found.csv"]
    screening.screen(_folder(tmp_path / "pdfs"), tmp_path / "papers", wanted, exports)
    return tmp_path / "papers"


def test_a_folder_becomes_figures_and_the_books_balance(tmp_path: Path) -> None:
    papers = _screened(tmp_path)
    files = [each.file for each in store.read(papers / "papers.jsonl", Paper)]
    drops = {each.sample: each.reason for each in store.read(papers / "drops.jsonl", Drop)}
    assert files == ["deep/panels.PDF", "german.pdf", "none.pdf"]
    assert drops == {"broken.pdf": "broken", "scanned.pdf": "scanned", "zz.pdf": "duplicate"}
    (row,) = store.read(papers / "references.jsonl", Reference)
    assert row.paper is None

    done = figuring.figures(papers, tmp_path / "out", dpi=72.0)
    made = list(store.read_unique(tmp_path / "out" / "figures.jsonl", Figure))
    assert [(each.number, each.where, each.licence) for each in made] == [
        ("1", "below", "CC-BY-4.0"), ("1", "below", "CC-BY-4.0"), ("2", "below", "CC-BY-4.0"),
    ]  # fmt: skip
    for each in made:
        path = tmp_path / "out" / each.image
        assert store.sha256(path) == each.image_sha256
        with Image.open(path) as crop:
            assert crop.size == (each.width, each.height)
    (drop,) = store.read(tmp_path / "out" / "drops.jsonl", Drop)
    assert (drop.reason, drop.detail) == ("no figure", "none.pdf")
    books = msgspec.json.decode((tmp_path / "out" / "manifest.json").read_bytes(), type=Books)
    assert books.counts == {
        "papers": 3,
        "figures": 3,
        "panels": 4,
        "misses": done.books.counts["misses"],
    }
    assert (tmp_path / "out" / books.root).resolve() == tmp_path / "pdfs"
    misses = list(store.read(tmp_path / "out" / "misses.jsonl", Miss))
    assert len(misses) == books.counts["misses"]


def test_twice_is_the_same_to_the_byte(tmp_path: Path) -> None:
    papers = _screened(tmp_path)
    for name in ("one", "two"):
        figuring.figures(papers, tmp_path / name, dpi=50.0)
    first = {
        p.relative_to(tmp_path / "one"): p.read_bytes() for p in (tmp_path / "one").rglob("*.*")
    }
    second = {
        p.relative_to(tmp_path / "two"): p.read_bytes() for p in (tmp_path / "two").rglob("*.*")
    }
    assert first == second
    assert sum(each.suffix == ".png" for each in first) == 3


def test_a_paper_that_changed_is_dropped(tmp_path: Path) -> None:
    papers = _screened(tmp_path)
    (tmp_path / "pdfs" / "german.pdf").write_bytes(by_fpdf2.spanish())
    figuring.figures(papers, tmp_path / "out")
    drops = [each.reason for each in store.read(tmp_path / "out" / "drops.jsonl", Drop)]
    assert sorted(drops) == ["changed", "no figure"]


def test_what_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="expected PDFs"):
        screening.screen(tmp_path, tmp_path / "out", Settings())
    with pytest.raises(Usage, match="fieldtruth screen"):
        figuring.figures(tmp_path, tmp_path / "out")
    papers = _screened(tmp_path)
    with pytest.raises(Usage, match="36 to 600"):
        figuring.figures(papers, tmp_path / "out", dpi=5000)
    rows = (papers / "papers.jsonl").read_bytes().splitlines(keepends=True)
    (papers / "papers.jsonl").write_bytes(b"".join(rows[:-1]))
    with pytest.raises(Refused, match="counts"):
        figuring.figures(papers, tmp_path / "out")


def test_figures_of_one_paper_have_names_of_their_own() -> None:
    cuts = [
        Cut(
            number=number, label="Fig.", caption="c", page=page, box=(0, 0, 1, 1), caption_page=1,
            caption_box=(0, 0, 1, 1), where="below",
        )
        for number, page in (("3", 1), ("3", 7), ("3", 7), ("S1", 8), ("2.1", 9))
    ]  # fmt: skip
    assert figuring.names(cuts) == ["fig-3", "fig-3-p7", "fig-3-p7-2", "fig-s1", "fig-2-1"]
