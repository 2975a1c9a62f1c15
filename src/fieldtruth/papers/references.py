"""Reference exports: what a search at a library gave, as RIS, BibTeX or CSV.

Only what screening needs is taken: title, DOI, year, venue, date, and the query where the export
has such a field. RIS is read by rispy, BibTeX by bibtexparser (both MIT).
"""

import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Record

MOST = 200 << 20  # bytes of one export
# Field of ours -> what exports call it, in lower case, the best first.
_NAMES = {
    "title": ("title", "article title", "primary_title", "document title", "t1", "ti"),
    "doi": ("doi", "digital object identifier", "do"),
    "year": ("year", "publication year", "publication_year", "py", "pub year"),
    "venue": (
        "venue", "journal", "source title", "journal_name", "secondary_title", "booktitle",
        "publication title", "journaltitle", "publication", "source", "alternate_title3",
    ),
    "date": ("date", "publication date", "publication_date", "cover date", "access_date"),
    "query": ("query", "search", "search query", "search term", "keywords"),
}  # fmt: skip
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}|\\^`,;]+")
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)")


class Reference(Record, frozen=True, kw_only=True):
    """One row of an export; `paper` is the file it was found to be, null where there is none."""

    id: str  # FILE:ROW, rows from 1
    title: str | None = None
    doi: str | None = None
    year: int | None = None
    venue: str | None = None
    date: str | None = None
    query: str | None = None
    paper: str | None = None


def read_references(path: Path) -> list[Reference]:
    """The rows of an export. `Usage` for another kind of file, `BadRecord` for a broken one."""
    readers = {".ris": _ris, ".bib": _bibtex, ".csv": _csv}
    reader = readers.get(path.suffix.casefold())
    if reader is None:
        raise Usage(f"{path}: expected an export that ends in .ris, .bib or .csv")
    try:
        if path.stat().st_size > MOST:
            raise Usage(f"{path}: expected at most {MOST:,} bytes, got {path.stat().st_size:,}")
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise Usage(f"{path}: expected an export there, got no such file") from None
    except UnicodeDecodeError as error:
        raise BadRecord(f"{path}: expected UTF-8, got {error}; export it as UTF-8") from None
    return [_row(path, at, fields) for at, fields in enumerate(reader(text, path), start=1)]


def doi_in(text: str) -> str | None:
    """The first DOI of a text, in lower case, without what a sentence puts after it.

    >>> doi_in("see https://doi.org/10.3389/FPLS.2016.01419).")
    '10.3389/fpls.2016.01419'
    """
    found = _DOI.search(text)
    if found is None:
        return None
    doi = found[0].rstrip(".:*'’”")
    while doi.endswith(")") and doi.count("(") < doi.count(")"):
        doi = doi[:-1].rstrip(".")
    return doi.casefold()


def title_key(title: str) -> str:
    """A title by its letters and digits alone: what two exports of one agree in.

    >>> title_key("Leaf-Rust of  Wheat.") == title_key("Leaf rust of wheat")
    True
    """
    plain = unicodedata.normalize("NFKD", title).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def _row(path: Path, at: int, fields: Mapping[str, str]) -> Reference:
    told = {name: _first(fields, names) for name, names in _NAMES.items()}
    years = _YEAR.search(told["year"] or told["date"] or "")
    return Reference(
        id=f"{path.name}:{at}", title=told["title"], doi=doi_in(told["doi"] or ""),
        year=int(years[1]) if years else None, venue=told["venue"], date=told["date"],
        query=told["query"],
    )  # fmt: skip


def _first(fields: Mapping[str, str], names: Iterable[str]) -> str | None:
    for name in names:
        if value := " ".join(fields.get(name, "").split()):
            return value[:2000]
    return None


def _csv(text: str, path: Path) -> Iterator[dict[str, str]]:
    head, _, _ = text.partition("\n")
    cut = max(",;\t", key=head.count)
    rows = csv.DictReader(StringIO(text), delimiter=cut, strict=True)
    try:
        names = {str(name).strip().casefold() for name in rows.fieldnames or ()}
        if names.isdisjoint(_NAMES["title"] + _NAMES["doi"]):
            told = ", ".join(sorted(names))[:200] or "nothing"
            raise BadRecord(f"{path}: line 1: expected a column Title or DOI, got {told}")
        for row in rows:
            yield {str(k).strip().casefold(): v for k, v in row.items() if isinstance(v, str)}
    except csv.Error as error:
        raise BadRecord(f"{path}: expected CSV with a row of names first, got: {error}") from None


def _ris(text: str, path: Path) -> Iterator[dict[str, str]]:
    rispy = _module("rispy")
    try:
        rows = rispy.loads(text)
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise BadRecord(
            f"{path}: expected RIS, each tag as `TI  - ` and each row ended by `ER  - `, got "
            f"{type(error).__name__}: {error}"
        ) from None
    yield from map(_plain, rows)


def _bibtex(text: str, path: Path) -> Iterator[dict[str, str]]:
    library = _module("bibtexparser").parse_string(text)
    for block in library.blocks:
        # Of a key, or a field, that stands there twice: exports that were put together have those.
        entry = getattr(block, "ignore_error_block", block)
        if entry is None or (block is entry and hasattr(block, "error")):
            line = (getattr(block, "start_line", None) or 0) + 1
            raise BadRecord(f"{path}: line {line}: expected a BibTeX entry, got: {block.error}")
        fields = getattr(entry, "fields", ())  # a comment has none
        if fields:
            yield _plain({each.key: re.sub(r"[{}]", "", str(each.value)) for each in fields})


def _plain(row: Mapping[str, Any]) -> dict[str, str]:
    return {
        str(name).casefold(): "; ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in row.items()
    }


def _module(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise Usage(
            f"such exports need {name}; install it with `pip install 'fieldtruth[papers]'`"
        ) from None
