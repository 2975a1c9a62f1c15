"""Figures and passages of evidence as rows for people, and what is left of them afterwards.

What comes back is a folder like the one that was handed out, so that the next step takes it:
figures with their images for `evidence`, evidence with fewer passages for `questions`.
"""

from collections import Counter
from collections.abc import Collection
from os.path import normpath
from pathlib import Path

import msgspec
from msgspec.structs import replace

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.papers.evidence import Evidence
from fieldtruth.papers.records import Figure, Paper
from fieldtruth.records import Question, Record
from fieldtruth.run.evidencing import EVIDENCE, Found, counts
from fieldtruth.run.figuring import FIGURES
from fieldtruth.run.screening import PAPERS
from fieldtruth.run.workspace import Books, seen_from
from fieldtruth.stages.verification import Kind

SOURCE = "source.json"
MADE = {"screened": "figures", "passages": "evidence"}  # kind -> the command that makes the folder
Told = dict[str, list[tuple[str, str]]]


class Source(Record, frozen=True, kw_only=True):
    """`source.json`: the folder that rows came from, as seen from there, and its files' hashes."""

    folder: str
    inputs: dict[str, str]


def kind_of(folder: Path) -> Kind | None:
    """What of a folder is handed out, where that is not questions."""
    if (folder / store.QUESTIONS).is_file() or (folder / "CARD.md").is_file():
        return None
    if (folder / EVIDENCE).is_file():
        return "passages"
    return "screened" if (folder / FIGURES).is_file() else None


def rows_of(folder: Path, kind: Kind) -> tuple[list[Question], Path, Told]:
    """Figures or passages in the shape of a row, the folder of their images, what is told of them.

    A figure's row has its id; a passage's is FIGURE:pNN, in the order of the evidence.
    """
    figures = list(store.read_unique(folder / FIGURES, Figure))
    if kind == "screened":
        papers = {each.id: each for each in store.read_unique(folder / PAPERS, Paper)}
        titles = {name: each.title or each.file for name, each in papers.items()}
        some = [
            _row(each, each.id, each.caption, f"{each.label}, page {each.page}")
            for each in figures
        ]  # fmt: skip
        return some, folder, {each.id: [("Paper", titles.get(each.paper, each.paper))]
                              for each in figures}  # fmt: skip
    evidence = {each.id: each for each in store.read_unique(folder / EVIDENCE, Evidence)}
    found = _found(folder)
    some = [
        replace(_row(figure, name_of(figure.id, at), each.text, f"page {each.page}"), qtype=each.by)
        for figure in figures if figure.id in evidence
        for at, each in enumerate(evidence[figure.id].passages, start=1)
    ]  # fmt: skip
    told = {each.id: [("Caption", each.caption)] for each in figures}
    return some, Path(normpath(folder.resolve() / found.root)), told


def name_of(figure: str, at: int) -> str:
    """The id of a passage's row; `at` counts from 1."""
    return f"{figure}:p{at:02}"


def _row(figure: Figure, name: str, words: str, place: str) -> Question:
    return Question(
        id=name, form="open", images=(figure.image,), question=words, options=None, answer="",
        facts=(), domain=None, challenge=None, crop=None, qtype=None, group=figure.group,
        evidence=(), source=figure.source, licence=figure.licence, background=place,
    )  # fmt: skip


def _files(kind: Kind) -> tuple[str, ...]:
    return (FIGURES, PAPERS, store.MANIFEST, *((EVIDENCE,) if kind == "passages" else ()))


def source(folder: Path, kind: Kind, out: Path) -> Source:
    """Where rows came from. `Usage` where a file of the folder is missing."""
    for name in _files(kind):
        if not (folder / name).is_file():
            raise Usage(f"{folder}: expected {name} there; run `fieldtruth {MADE[kind]}`")
    inputs = {name: store.sha256(folder / name) for name in _files(kind)}
    return Source(folder=seen_from(out, folder), inputs=inputs)


def opened(sent: Path) -> Path:
    """The folder that rows came from. `Refused` where it is another now."""
    path = sent / SOURCE
    try:
        told = msgspec.json.decode(path.read_bytes(), type=Source)
    except (OSError, ValueError, RecursionError) as error:
        raise BadRecord(f"{path}: expected what `review questions` writes, got: {error}") from None
    folder = Path(normpath(sent.resolve() / told.folder))
    for name, known in told.inputs.items():
        place = store.inside(folder, name)
        if not place.is_file() or store.sha256(place) != known:
            raise Refused(f"{place}: expected the file that was handed out, got none or another")
    return folder


def keep(folder: Path, kind: Kind, kept: Collection[str], place: tuple[Path, Path]) -> None:
    """Write what is left of `folder` into `place[0]`, a draft of the folder `place[1]`."""
    part, out = place
    figures = list(store.read_unique(folder / FIGURES, Figure))
    store.write(part / PAPERS, store.read_unique(folder / PAPERS, Paper))
    manifest: Books | Found
    if kind == "screened":
        figures = [each for each in figures if each.id in kept]
        for each in figures:
            _copy(each, folder, part)
        manifest = _books(folder)
        panels = sum(len(each.panels) for each in figures)
        pdfs = Path(normpath(folder.resolve() / manifest.root))
        manifest = replace(
            manifest, root=seen_from(out, pdfs),
            counts=manifest.counts | {"figures": len(figures), "panels": panels},
        )  # fmt: skip
    else:
        some = [_left(each, kept) for each in store.read_unique(folder / EVIDENCE, Evidence)]
        store.write(part / EVIDENCE, some)
        manifest = _found(folder)
        images = Path(normpath(folder.resolve() / manifest.root))
        types = dict(sorted(Counter(each.figure_type for each in some).items()))
        manifest = replace(manifest, root=seen_from(out, images), counts=counts(some), types=types)
    store.write(part / FIGURES, figures)
    with store.replacing(part / store.MANIFEST) as file:
        file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")


def _left(evidence: Evidence, kept: Collection[str]) -> Evidence:
    return replace(evidence, passages=tuple(
        each for at, each in enumerate(evidence.passages, start=1)
        if name_of(evidence.id, at) in kept
    ))  # fmt: skip


def _copy(figure: Figure, folder: Path, part: Path) -> None:
    """The image of a figure. `Refused` where it is not the one that was cut out."""
    path = store.inside(folder, figure.image)
    if not path.is_file() or store.sha256(path) != figure.image_sha256:
        raise Refused(f"{path}: expected the image of {figure.id!r} as `figures` cut it out")
    there = store.inside(part, figure.image)
    there.parent.mkdir(parents=True, exist_ok=True)
    there.write_bytes(path.read_bytes())


def _books(folder: Path) -> Books:
    path = folder / store.MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=Books)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path}: expected what `figures` writes, got: {error}") from None


def _found(folder: Path) -> Found:
    path = folder / store.MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=Found)
    except (OSError, ValueError, RecursionError) as error:
        raise BadRecord(f"{path}: expected what `evidence` writes, got: {error}") from None
