"""A folder of PDFs to the papers that figures are taken from, with the books.

    OUT/papers.jsonl  drops.jsonl  references.jsonl  manifest.json

Every PDF is the parent of one paper or of one drop. Only words are read here; nothing is drawn.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import attrgetter
from os.path import normpath, relpath
from pathlib import Path

import msgspec
from msgspec.structs import replace

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.papers.layout import Limits
from fieldtruth.papers.records import Paper
from fieldtruth.papers.references import Reference, read_references
from fieldtruth.papers.worker import Reader
from fieldtruth.records import Drop, Record
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.workspace import Books
from fieldtruth.stages import screen as screening

PAPERS, REFERENCES = "papers.jsonl", "references.jsonl"


class Screened(Record, frozen=True, kw_only=True):
    """What was done: the books, and how many rows of the exports have a PDF."""

    books: Books
    languages: dict[str, int]
    references: int = 0
    found: int = 0


class _File(Record, frozen=True, kw_only=True):
    id: str


def screen(
    folder: Path, out: Path, settings: screening.Settings, exports: Sequence[Path] = (),
    limits: Limits | None = None, track: Track = SILENT,
) -> Screened:  # fmt: skip
    """Write what passes as `out`, new or empty, whole or not at all.

    Raises `Usage` where there is no folder or no PDF in it, `BadRecord` for a broken export.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    files = list(_files(folder, out))
    if not files:
        raise Usage(f"{folder}: expected PDFs (*.pdf) in it, got none")
    references = [each for path in exports for each in read_references(path)]
    judge = screening.Screen(settings, references)
    made: list[Paper] = []
    drops: list[Drop] = []
    ledger = Ledger(screening.STAGE, screening.REASONS)
    with Reader(limits) as reader:
        for file in ledger.incoming(track([_File(id=name) for name in files], len(files))):
            path = folder / file.id
            digest = store.sha256(path)
            got = None if judge.seen(digest) else reader.look(path, ink=False)
            one = judge.judge(file.id, digest, got)
            (drops if isinstance(one, Drop) else made).append(one)  # type: ignore[arg-type]
    for _ in ledger.outgoing([*made, *drops], _file_of):
        pass
    kept = ledger.close()
    books = Books(
        source="papers", root=relpath(normpath(folder.resolve()), normpath(out.resolve())),
        licence=settings.licence, paper="", counts={"files": len(files), "papers": kept.kept},
        drops={f"screen: {why}": n for why, n in kept.dropped.items() if n},
    )  # fmt: skip
    told = [replace(each, paper=judge.file_of(each)) for each in references]
    _write(out, made, drops, told, books)
    return Screened(
        books=books, languages=dict(sorted(Counter(each.language or "?" for each in made).items())),
        references=len(told), found=sum(each.paper is not None for each in told),
    )  # fmt: skip


def _file_of(record: Record) -> str:
    return record.file if isinstance(record, Paper) else str(record.sample)  # type: ignore[attr-defined]


def _write(
    out: Path, made: Sequence[Paper], drops: Sequence[Drop], told: Sequence[Reference], books: Books
) -> None:
    with store.drafting(out) as part:
        store.write(part / PAPERS, made)
        store.write(part / "drops.jsonl", drops)
        store.write(part / REFERENCES, told)
        with store.replacing(part / store.MANIFEST) as file:
            file.write(msgspec.json.format(msgspec.json.encode(books), indent=1) + b"\n")
        store.publish(part, out)


def _files(folder: Path, out: Path) -> Iterator[str]:
    """The PDFs of a folder and of those in it, by name; hidden ones and `out` left aside."""
    if not folder.is_dir():
        raise Usage(f"{folder}: expected a folder of PDFs, got none")
    aside = out.resolve()
    for path in sorted(folder.rglob("*"), key=attrgetter("parts")):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if hidden or path.suffix.casefold() != ".pdf" or aside in path.resolve().parents:
            continue
        if path.is_file():
            yield name.as_posix()


def line(done: Screened, out: Path) -> str:
    """What a person reads when `screen` ends."""
    counts = done.books.counts
    lost = ", ".join(f"{why.removeprefix('screen: ')} {n}" for why, n in done.books.drops.items())
    has = f"; {done.found} of {done.references} references have a PDF" if done.references else ""
    papers = f"{counts['papers']} papers of {counts['files']} PDFs"
    return f"{papers}; left out: {lost or 'none'}{has}. In {out}"
