"""Screening: which PDFs of a folder are research articles to take figures from, and why not.

    words   language, kind, title, year, crops and tasks, from the words of a paper
    copies  one paper twice: hash, DOI, title, text

Every PDF becomes one `Paper` or one drop with its reason (PlantXpert, section 3.1 and table 6).
"""

from collections.abc import Sequence

from fieldtruth.papers.layout import BROKEN, Failed, Layout
from fieldtruth.papers.records import Paper
from fieldtruth.papers.references import Reference, doi_in, title_key
from fieldtruth.records import Drop, Record
from fieldtruth.stages.screen import words
from fieldtruth.stages.screen.copies import Copies, sketch

STAGE = "screen"
REASONS = (
    *BROKEN, "scanned", "no words", "not a research article", "duplicate", "language", "year",
    "crop",
)  # fmt: skip

_LETTERS = 100  # that a paper has at least


class Settings(Record, frozen=True, kw_only=True):
    """What is wanted; what is empty or null lets everything pass."""

    languages: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    crops: tuple[str, ...] = ()
    any_kind: bool = False  # not research articles alone
    licence: str = "unknown"


class Screen:
    """One pass over a folder: `judge` each file in turn, in the order of their names."""

    def __init__(self, settings: Settings, references: Sequence[Reference] = ()) -> None:
        self.settings = settings
        self._copies = Copies()
        self._dois = {each.doi: each for each in reversed(references) if each.doi}
        self._titles = {
            key: each for each in reversed(references) if (key := title_key(each.title or ""))
        }
        self.found: dict[str, str] = {}  # reference id -> file

    def judge(self, file: str, sha256: str, got: Layout | Failed | None) -> Paper | Drop:
        """A paper, or a drop with its reason; `got` is None where the bytes were seen before."""
        if isinstance(got, Failed):
            return _drop(file, got.reason, got.detail)
        if got is None or self.seen(sha256):
            return _drop(file, "duplicate", f"of {self.seen(sha256)} (the same bytes)")
        text = words.text_of(got)
        title = words.title(got)
        head = "\n".join(line.text for line in got.pages[0].lines)
        doi = doi_in(head) or doi_in(got.about)
        known = self._known(doi, title)
        runs = sketch(text)
        copy = self._copies.same_paper(doi, title, runs)
        if known is not None:
            self.found.setdefault(known.id, file)
        if copy is not None:
            return _drop(file, "duplicate", f"of {copy[0]} ({copy[1]})")
        paper = _paper(file, sha256, got, known, title)
        paper = _with(paper, doi, self.settings.licence)
        if why := _against(paper, got, self.settings):
            # What is left out is copied by its bytes alone: a scan does not stand for the paper.
            self._copies.add(file, sha256, None, None, ())
            return _drop(file, *why)
        self._copies.add(file, sha256, doi, title, runs)
        if known is not None:
            self.found[known.id] = file
        return paper

    def seen(self, sha256: str) -> str | None:
        """The file before that has the same bytes."""
        return self._copies.same_file(sha256)

    def file_of(self, row: Reference) -> str | None:
        """The file that a row of an export, or the same row of another, was found to be."""
        titled = self._titled(row.doi, row.title)
        rows = [row, self._dois.get(row.doi or ""), titled]
        rows.append(self._dois.get(titled.doi or "") if titled else None)
        return next((self.found[one.id] for one in rows if one and one.id in self.found), None)

    def _known(self, doi: str | None, title: str | None) -> Reference | None:
        return self._dois.get(doi or "") or self._titled(doi, title)

    def _titled(self, doi: str | None, title: str | None) -> Reference | None:
        """The row that has the title, and no other DOI."""
        row = self._titles.get(title_key(title or ""))
        return None if row is None or (doi and row.doi and row.doi != doi) else row


def _with(paper: Paper, doi: str | None, licence: str) -> Paper:
    from msgspec.structs import replace

    return replace(paper, doi=doi or paper.doi, licence=licence)


def _paper(
    file: str, sha256: str, got: Layout, known: Reference | None, title: str | None
) -> Paper:
    text = words.text_of(got)
    front = words.front(got, title)
    return Paper(
        id=sha256[:16], file=file, sha256=sha256, pages=len(got.pages), words=len(text.split()),
        language=words.language(text), title=title or (known.title if known else None),
        doi=known.doi if known else None,
        year=(known.year if known else None) or words.year(got),
        venue=known.venue if known else None, date=known.date if known else None,
        query=known.query if known else None, crops=words.crops(front), tasks=words.tasks(front),
        scanned=tuple(page.number for page in got.pages if page.scanned),
    )  # fmt: skip


def _against(paper: Paper, got: Layout, wanted: Settings) -> tuple[str, str] | None:
    """Why a paper is not taken; None where it is."""
    letters = sum(map(str.isalpha, words.text_of(got)))
    if len(paper.scanned) * 2 > paper.pages:
        return "scanned", f"{len(paper.scanned)} of {paper.pages} pages"
    if letters < _LETTERS:
        return "no words", f"{letters} letters to read on {paper.pages} pages"
    is_article, told = words.article(got)
    if not wanted.any_kind and not is_article:
        return "not a research article", told
    if wanted.languages and paper.language not in wanted.languages:
        return "language", paper.language or "unknown"
    year = paper.year
    low, high = wanted.since or 0, wanted.until or 9999
    if (wanted.since or wanted.until) and (year is None or not low <= year <= high):
        return "year", str(year or "unknown")
    if wanted.crops and not {*wanted.crops} & {*paper.crops}:
        return "crop", ", ".join(paper.crops) or "none named"
    return None


def _drop(file: str, reason: str, detail: str = "") -> Drop:
    return Drop(id=f"{file}:dropped", sample=file, stage=STAGE, reason=reason, detail=detail)
