"""What papers say of their figures, with the books.

    OUT/evidence.jsonl  figures.jsonl  papers.jsonl  drops.jsonl  manifest.json

Every figure is the parent of its evidence or of one drop; every passage that a model proposed is
in the evidence or one drop. A figure whose model failed is a drop of its own kind: the same command
asks for it alone, since replies that could be read are kept.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os.path import normpath
from pathlib import Path

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, TooManyFailed, Usage
from fieldtruth.models.contract import UNREADABLE, Spent, Words
from fieldtruth.papers.evidence import Evidence
from fieldtruth.papers.layout import Failed, Layout, Limits
from fieldtruth.papers.records import Figure, Paper
from fieldtruth.papers.worker import Reader
from fieldtruth.records import SCHEMA, Drop, Record
from fieldtruth.run.cached import Cached
from fieldtruth.run.checked import Shape, open_shaped
from fieldtruth.run.figuring import FIGURES
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.screening import PAPERS
from fieldtruth.run.workspace import Books, seen_from
from fieldtruth.stages import evidence as finding
from fieldtruth.stages.evidence import proposed
from fieldtruth.stages.figures.reading import sheets

EVIDENCE = "evidence.jsonl"
RULES = "rules"


class Job(Record, frozen=True, kw_only=True):
    """Who proposes passages beside the rules: nobody, or a backend with its options."""

    model: str = RULES
    options: Mapping[str, str] = {}
    cache: Path | None = None
    allow_errors: float = 0.0


class Found(Record, frozen=True, kw_only=True):
    """`manifest.json`: what was found. `root`: where the figures' images lie, from this folder."""

    schema: int = SCHEMA
    source: str = "papers"
    root: str
    counts: dict[str, int]  # figures, passages by who proposed them, figures with none
    types: dict[str, int]  # figures by type
    drops: dict[str, int]
    by: str
    inputs: dict[str, str]
    spent: Spent | None = None


class Folder(Record, frozen=True, kw_only=True):
    """What `figures` left."""

    figures: tuple[Figure, ...]
    papers: dict[str, Paper]
    pdfs: Path
    images: Path  # the folder that images are relative to


def evidence(
    folder: Path, out: Path, job: Job, limits: Limits | None = None, track: Track = SILENT
) -> Found:
    """Write the evidence of what `figures` left in `folder` as `out`, new or empty.

    Raises `Usage`, `BadRecord`, `Refused` where figures or PDFs are not what `figures` left.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    there = _opened(folder)
    asked = _asked(job, folder)
    made: list[Evidence] = []
    drops: list[Drop] = []
    ledger = Ledger(finding.STAGE, finding.OF_FIGURES)
    groups = finding.by_paper(there.figures)
    with Reader(limits) as reader:
        for paper, some in track(groups.items(), len(groups)):
            for _ in ledger.incoming(some):
                pass
            for record in _of_paper(there, there.papers[paper], some, reader, asked):
                (made if isinstance(record, Evidence) else drops).append(record)  # type: ignore[arg-type]
    whole: list[Record] = [*made, *(each for each in drops if each.parent == each.sample)]
    for _ in ledger.outgoing(whole, _figure_of):
        pass
    ledger.close()
    told = Found(
        root=seen_from(out, there.images), counts=counts(made),
        types=dict(sorted(Counter(each.figure_type for each in made).items())),
        drops=dict(sorted(Counter(each.reason for each in drops).items())),
        by=RULES if asked is None else f"{job.model}: {asked.version}, {proposed.PROMPT.stem}",
        inputs={name: store.sha256(folder / name) for name in (FIGURES, PAPERS)},
        spent=None if asked is None else asked.spent,
    )  # fmt: skip
    with store.drafting(out) as part:
        store.write(part / EVIDENCE, made)
        store.write(part / FIGURES, there.figures)
        store.write(part / PAPERS, there.papers.values())
        store.write(part / "drops.jsonl", drops)
        with store.replacing(part / store.MANIFEST) as file:
            file.write(msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n")
        store.publish(part, out)
    return told


def check(done: Found, out: Path, job: Job) -> None:
    """Raise `TooManyFailed` where the model failed on more figures than are allowed."""
    failed = sum(done.drops.get(why, 0) for why in (finding.MODEL_FAILED, finding.UNREADABLE))
    if failed > job.allow_errors * done.counts["figures"]:
        raise TooManyFailed(
            f"{out}: {failed} figures could not be asked about, more than the share "
            f"{job.allow_errors:g} that is allowed; drops.jsonl says why; run it again into "
            "another folder: only those are asked again"
        )


def line(done: Found, out: Path) -> str:
    """What a person reads when `evidence` ends."""
    numbers = ", ".join(f"{n} {name}" for name, n in done.counts.items())
    types = ", ".join(f"{name} {n}" for name, n in done.types.items()) or "none"
    lost = ", ".join(f"{why} {n}" for why, n in done.drops.items()) or "none"
    return f"{numbers} ({types}); dropped: {lost}. In {out}"


def counts(made: Sequence[Evidence]) -> dict[str, int]:
    """Figures, passages, those of them by a model, and figures with none."""
    by = Counter(each.by for one in made for each in one.passages)
    return {
        "figures": len(made), "passages": sum(by.values()), "of them by a model": by["model"],
        "figures without one": sum(not one.passages for one in made),
    }  # fmt: skip


def _figure_of(record: Record) -> str:
    return record.sample if isinstance(record, Drop) else str(getattr(record, "id", ""))


def _opened(folder: Path) -> Folder:
    for name in (FIGURES, PAPERS, store.MANIFEST):
        if not (folder / name).is_file():
            raise Usage(f"{folder}: expected what `fieldtruth figures` writes, got no {name} there")
    path = folder / store.MANIFEST
    try:
        books = msgspec.json.decode(path.read_bytes(), type=Books)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path}: expected what `figures` writes, got: {error}") from None
    figures = tuple(store.read_unique(folder / FIGURES, Figure))
    papers = {each.id: each for each in store.read_unique(folder / PAPERS, Paper)}
    if len(figures) != books.counts.get("figures"):
        raise Refused(
            f"{folder / FIGURES}: expected the {books.counts.get('figures')} figures that "
            f"{store.MANIFEST} counts, got {len(figures)}; run `fieldtruth figures` again"
        )
    for number, figure in enumerate(figures, start=1):
        if figure.paper not in papers:
            raise BadRecord(
                f"{folder / FIGURES}:{number} (id {figure.id!r}): expected a paper of {PAPERS}, "
                f"got {figure.paper!r}; run `fieldtruth figures` again"
            )
    pdfs = Path(normpath(folder.resolve() / books.root))
    if not pdfs.is_dir():
        raise Refused(f"{folder}: expected the PDFs that were screened, got no folder at {pdfs}")
    return Folder(figures=figures, papers=papers, pdfs=pdfs, images=folder)


def _asked(job: Job, folder: Path) -> Cached | None:
    if job.model == RULES:
        if job.options or job.cache:
            raise Usage(f"--model {RULES}: expected no --model-args or --cache")
        return None
    cache = job.cache or folder.with_name(f"{folder.name}.replies")
    return open_shaped(job.model, job.options, Shape(proposed.SCHEMA, proposed.read), cache)


def _of_paper(
    there: Folder, paper: Paper, figures: Sequence[Figure], reader: Reader, asked: Cached | None
) -> Iterator[Evidence | Drop]:
    """All that becomes of the figures of a paper."""
    path = store.inside(there.pdfs, paper.file)
    layout: Layout | Failed
    if not path.is_file() or store.sha256(path) != paper.sha256:
        for figure in figures:
            yield finding.drop(figure.id, "changed", f"{paper.file} is not what was screened")
        return
    layout = reader.look(path)
    if isinstance(layout, Failed):
        for figure in figures:
            yield finding.drop(figure.id, layout.reason, f"{paper.file}: {layout.detail}")
        return
    text = finding.Text(parts(layout))
    mine = finding.passages(figures, text)
    said = _said(figures, text, there.images, asked)
    for figure in figures:
        words = said.get(figure.id)
        if words is not None and (words.error is not None or words.finish == "error"):
            yield _failed(figure, words)
            continue
        proposal = None if words is None else proposed.read(words.text)
        kept, drops = finding.gather(figure, mine[figure.id], text, proposal, paper.crops)
        yield kept
        yield from drops


def _said(
    figures: Sequence[Figure], text: finding.Text, images: Path, asked: Cached | None
) -> dict[str, Words]:
    if asked is None:
        return {}
    requests = [proposed.request(each, str(text), images) for each in figures]
    return dict(zip([each.id for each in figures], asked.reply(requests), strict=True))


def _failed(figure: Figure, words: Words) -> Drop:
    why = words.error or "the model gave no words"
    if why.startswith(f"{UNREADABLE}: "):
        return finding.drop(figure.id, finding.UNREADABLE, why.removeprefix(f"{UNREADABLE}: "))
    return finding.drop(figure.id, finding.MODEL_FAILED, why)


def parts(layout: Layout) -> list[finding.Part]:
    """The text of a paper in blocks: what runs on, captions, and lines that are neither."""
    made = []
    for sheet in sheets(layout):
        kinds = (("body", sheet.body), ("caption", sheet.captions))
        for kind, blocks in kinds:
            made += [
                finding.Part(
                    text=each.text, page=sheet.number, box=each.box, width=sheet.width,
                    kind="body" if kind == "body" else "caption",
                )
                for each in blocks
            ]  # fmt: skip
        made += [
            finding.Part(
                text=each.text, page=sheet.number, box=each.box, width=sheet.width, kind="words"
            )
            for each in sheet.words
        ]
    return made
