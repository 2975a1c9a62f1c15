"""Screened papers to figures with their captions, rendered, with the books.

    OUT/figures.jsonl  misses.jsonl  papers.jsonl  drops.jsonl  manifest.json
    OUT/images/PAPER-fig-NUMBER.png

Every paper is the parent of figures or of one drop. A crop is the page as it is shown, rendered:
never the picture stream of the PDF, which may be a tile, a mask, or turned.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from os.path import normpath, relpath
from pathlib import Path

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.papers.layout import Failed, Limits
from fieldtruth.papers.records import Figure, Miss, Paper
from fieldtruth.papers.worker import Reader
from fieldtruth.records import Box, Drop, Record
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.screening import PAPERS
from fieldtruth.run.workspace import Books
from fieldtruth.stages import figures as finding

FIGURES, MISSES = "figures.jsonl", "misses.jsonl"
_PAD = 3.0  # points around a crop


class Figured(Record, frozen=True, kw_only=True):
    """What was done: the books, figures by the place of their caption, misses by kind."""

    books: Books
    places: dict[str, int]
    missed: dict[str, int]
    pages: dict[str, list[int]]  # paper's file -> the pages with something missed


def figures(
    folder: Path, out: Path, dpi: float = 200.0, limits: Limits | None = None, track: Track = SILENT
) -> Figured:
    """Write the figures of the papers that `screen` left in `folder` as `out`, new or empty.

    Raises `Usage`, `BadRecord`, `Refused` where the PDFs are not where `screen` found them.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    if not 36 <= dpi <= 600:
        raise Usage(f"--dpi: expected 36 to 600, got {dpi:g}")
    papers, root = _opened(folder)
    made: list[Figure] = []
    missed: list[Miss] = []
    drops: list[Drop] = []
    ledger = Ledger(finding.STAGE, finding.REASONS)
    with store.drafting(out) as part, Reader(limits) as reader:
        (part / "images").mkdir()
        for paper in ledger.incoming(track(papers, len(papers))):
            for record in _of(paper, root, part, reader, dpi):
                if isinstance(record, Figure):
                    made.append(record)
                elif isinstance(record, Miss):
                    missed.append(record)
                else:
                    drops.append(record)
        for _ in ledger.outgoing([*made, *drops], _paper_of):
            pass
        kept = ledger.close()
        counts = {
            "papers": kept.incoming, "figures": len(made),
            "panels": sum(len(each.panels) for each in made), "misses": len(missed),
        }  # fmt: skip
        books = Books(
            source="papers",
            root=relpath(root, normpath(out.resolve())),
            licence="",
            paper="",
            counts=counts,
            drops={f"figures: {why}": n for why, n in kept.dropped.items() if n},
        )
        store.write(part / FIGURES, made)
        store.write(part / PAPERS, papers)
        store.write(part / MISSES, missed)
        store.write(part / "drops.jsonl", drops)
        with store.replacing(part / store.MANIFEST) as file:
            file.write(msgspec.json.format(msgspec.json.encode(books), indent=1) + b"\n")
        store.publish(part, out)
    return _told(books, papers, made, missed)


def _told(
    books: Books, papers: Sequence[Paper], made: Sequence[Figure], missed: Sequence[Miss]
) -> Figured:
    files = {each.id: each.file for each in papers}
    pages: dict[str, list[int]] = {}
    for miss in missed:
        some = pages.setdefault(files[miss.paper], [])
        if miss.page not in some:
            some.append(miss.page)
    return Figured(
        books=books, places=dict(sorted(Counter(each.where for each in made).items())),
        missed=dict(sorted(Counter(each.what for each in missed).items())), pages=pages,
    )  # fmt: skip


def _paper_of(record: Record) -> str:
    return record.paper if isinstance(record, Figure) else str(record.sample)  # type: ignore[attr-defined]


def _opened(folder: Path) -> tuple[list[Paper], Path]:
    path = folder / store.MANIFEST
    if not path.is_file() or not (folder / PAPERS).is_file():
        raise Usage(f"{folder}: expected what `fieldtruth screen` writes, got no {PAPERS} there")
    try:
        books = msgspec.json.decode(path.read_bytes(), type=Books)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise BadRecord(f"{path}: expected what `screen` writes, got: {error}") from None
    papers = list(store.read_unique(folder / PAPERS, Paper))
    if len(papers) != books.counts.get("papers"):
        raise Refused(
            f"{folder / PAPERS}: expected the {books.counts.get('papers')} papers that "
            f"{store.MANIFEST} counts, got {len(papers)}; run `fieldtruth screen` again"
        )
    root = Path(normpath(folder.resolve() / books.root))
    if not root.is_dir():
        raise Refused(f"{folder}: expected the PDFs that were screened, got no folder at {root}")
    return papers, root


def _of(
    paper: Paper, root: Path, part: Path, reader: Reader, dpi: float
) -> Iterator[Figure | Miss | Drop]:
    """All that becomes of a paper."""
    path = store.inside(root, paper.file)
    if not path.is_file() or store.sha256(path) != paper.sha256:
        yield _drop(paper, "changed", "not the file that was screened")
        return
    layout = reader.look(path)
    if isinstance(layout, Failed):
        yield _drop(paper, layout.reason, layout.detail)
        return
    found = finding.find(layout)
    made: list[Figure] = []
    for cut, name in zip(found.figures, names(found.figures), strict=True):
        page = layout.pages[cut.page - 1]
        box = _padded(cut.box, page.width, page.height)
        crop = reader.crop(path, cut.page, box, dpi)
        if isinstance(crop, Failed):
            yield _drop(paper, crop.reason, f"{cut.label}: {crop.detail}")
            return
        image = f"images/{paper.id}-{name}.png"
        (part / image).write_bytes(crop.png)
        made.append(
            Figure(
                id=f"{paper.id}:{name}", paper=paper.id, number=cut.number, label=cut.label,
                caption=cut.caption, page=cut.page, box=cut.box, page_width=page.width,
                page_height=page.height, caption_page=cut.caption_page,
                caption_box=cut.caption_box, where=cut.where, panels=cut.panels, image=image,
                image_sha256=sha256(crop.png).hexdigest(), width=crop.width, height=crop.height,
                dpi=crop.dpi, turned=page.turned, group=paper.id, licence=paper.licence,
            )
        )  # fmt: skip
    yield from made
    for miss in found.missed:
        yield Miss(paper=paper.id, page=miss.page, what=miss.what, label=miss.label, box=miss.box)
    if not made:
        scanned = any(page.scanned for page in layout.pages)
        yield _drop(paper, "scanned" if scanned else "no figure", "")


def names(cuts: Sequence[finding.Cut]) -> list[str]:
    """A name for each figure of a paper, unlike the others: `fig-3`, `fig-3-p7`, `fig-3-p7-2`."""
    taken: set[str] = set()
    made = []
    for cut in cuts:
        plain = re.sub(r"[^a-z0-9]+", "-", cut.number.casefold()).strip("-") or "x"
        name = f"fig-{plain}"
        if name in taken:
            name = f"{name}-p{cut.page}"
        again = 2
        while name in taken:
            name, again = f"fig-{plain}-p{cut.page}-{again}", again + 1
        taken.add(name)
        made.append(name)
    return made


def _padded(box: Box, width: float, height: float) -> Box:
    return (
        max(box[0] - _PAD, 0.0), max(box[1] - _PAD, 0.0),
        min(box[2] + _PAD, width), min(box[3] + _PAD, height),
    )  # fmt: skip


def _drop(paper: Paper, reason: str, detail: str) -> Drop:
    return Drop(
        id=f"{paper.id}:dropped", sample=paper.id, stage=finding.STAGE, reason=reason,
        detail=f"{paper.file}: {detail}" if detail else paper.file,
    )  # fmt: skip


def line(done: Figured, out: Path) -> str:
    """What a person reads when `figures` ends, the misses by page."""
    counts = done.books.counts
    places = ", ".join(f"{name} {n}" for name, n in done.places.items())
    lost = ", ".join(f"{why.removeprefix('figures: ')} {n}" for why, n in done.books.drops.items())
    said = [
        f"{counts['figures']} figures with captions ({places or 'none'}) of {counts['papers']} "
        f"papers; without any: {lost or 'none'}. In {out}"
    ]
    if done.missed:
        kinds = ", ".join(f"{n} x {what}" for what, n in done.missed.items())
        said.append(f"look at: {kinds}")
        said += [
            f"  {file}: page {', '.join(map(str, some))}"
            for file, some in list(done.pages.items())[:20]
        ]
        if len(done.pages) > 20:
            said.append(f"  and {len(done.pages) - 20} papers more, in misses.jsonl")
    return "\n".join(said)
