"""A source's folder on its way to items: the files in it, and the books kept around each stage.

    samples.jsonl  targets.jsonl  healthy.jsonl  annotations.jsonl  drops.jsonl  manifest.json

Each stage reads what the one before it wrote and writes its own files whole or not at all. Drops
of all stages lie in one file; the manifest counts everything (design, section 8).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from operator import attrgetter
from os.path import normpath, relpath
from pathlib import Path
from shutil import rmtree
from typing import Any, TypeVar

import msgspec

from fieldtruth import archives, sources, store
from fieldtruth.faults import BadRecord, Refused, Unbalanced, Usage
from fieldtruth.records import SCHEMA, Annotation, Drop, Healthy, Item, Record, Sample, Target
from fieldtruth.rooms import open_room
from fieldtruth.run import migrations
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.sources.contract import Source
from fieldtruth.stages import annotate as annotating
from fieldtruth.stages import compose as composing
from fieldtruth.stages import ingest as ingesting
from fieldtruth.stages import label as labelling

STAGES = ("ingest", "label", "annotate")
MAKER = {"samples": "ingest", "targets": "label", "healthy": "label", "annotations": "annotate"}

R = TypeVar("R", bound=Record)


class Books(Record, frozen=True, kw_only=True):
    """`manifest.json` of a source's folder: where it came from and what each stage counted."""

    schema: int = SCHEMA
    source: str
    root: str
    licence: str
    paper: str
    counts: dict[str, int]
    drops: dict[str, int]  # by "stage: reason"
    options: dict[str, str] = msgspec.field(default_factory=dict)  # what the source was opened with


class Composed(Record, frozen=True, kw_only=True):
    """What `compose` counted."""

    items: int
    positives: int
    healthy: int
    without_candidates: int
    drops: dict[str, int]


class _Sink:
    """The files a stage writes; they appear together when the block ends without an error."""

    def __init__(self, out: Path, names: tuple[str, ...], stage: str) -> None:
        self._out, self._names, self._stage = out, names, stage
        self.counts = Counter(dict.fromkeys(names, 0))
        self.drops: Counter[str] = Counter()
        self._stack = ExitStack()

    def __enter__(self) -> "_Sink":
        with ExitStack() as stack:
            self._write = {
                name: stack.enter_context(store.writing(self._out / f"{name}.jsonl"))
                for name in (*self._names, "drops")
            }
            earlier = STAGES[: STAGES.index(self._stage)]
            old = self._out / "drops.jsonl"
            for drop in store.read(old, Drop) if old.exists() and earlier else ():
                if drop.stage in earlier:
                    self._write["drops"](drop)
                    self.drops[f"{drop.stage}: {drop.reason}"] += 1
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.__exit__(*error)  # type: ignore[arg-type]

    def put(self, name: str, record: Record) -> None:
        """A record into its file, a drop into the drops."""
        if isinstance(record, Drop):
            self._write["drops"](record)
            self.drops[f"{record.stage}: {record.reason}"] += 1
        else:
            self._write[name](record)
            self.counts[name] += 1


def ingest(
    name: str,
    root: Path,
    out: Path,
    track: Track = SILENT,
    options: Mapping[str, str] | None = None,
) -> Books:
    """The raw release at `root` becomes samples and drops in `out`.

    An archive (zip or tar) is unpacked into `out/release` first. The source keeps its `options`
    for the stages that follow.
    """
    source = _source(name, options or {})
    if not root.exists():
        raise Usage(f"{root}: expected the raw release of {name}, got nothing there")
    if out.resolve().is_relative_to(root.resolve()):
        raise Usage(
            f"{out}: expected a folder outside the release, got one in {root}; name another"
        )
    store.make_folder(out)
    seen: set[str] = set()
    with store.lock(out), _Sink(out, ("samples",), "ingest") as sink:
        root = _unpacked(root, out / "release")
        rows: Iterable[Sample | Drop] = track(ingesting.ingest(source, root))
        for record in rows:
            if record.id in seen:
                raise BadRecord(f"{root}: {name} gives the id {record.id!r} to two of its rows")
            seen.add(record.id)
            sink.put("samples", record)
        books = Books(
            source=name, root=_from(out, root), licence=source.licence, paper=source.paper,
            counts={"rows": len(seen), **sink.counts}, drops=dict(sorted(sink.drops.items())),
            options=dict(options or {}),
        )  # fmt: skip
        _forget(out, ("manifest.json", "targets.jsonl", "healthy.jsonl", "annotations.jsonl"))
    return _close(out, books)


def label(out: Path, track: Track = SILENT) -> Books:
    """Samples become targets, healthy photos and drops."""
    books, source = _open(out, "samples")
    with store.lock(out), _Sink(out, ("targets", "healthy"), "label") as sink:
        ledger = Ledger("label", source.reasons)
        samples = ledger.incoming(track(_read(out, "samples", Sample), books.counts.get("samples")))
        for record in ledger.outgoing(labelling.label(source, samples)):
            sink.put("targets" if isinstance(record, Target) else "healthy", record)
        _agree(out, books, "samples", ledger.close().incoming)
        _reopen(out, books, "label")
        _forget(out, ("annotations.jsonl",))
    return _close(out, _counted(books, sink, "label"))


def annotate(out: Path, model: str = "source", track: Track = SILENT) -> Books:
    """Targets get the boxes their release holds, or become drops."""
    books, source = _open(out, "targets")
    annotators: dict[str, annotating.Annotator] = {
        "leaf_box": annotating.leaf_box,
        "source": source.annotate,
    }
    if model not in annotators:
        raise Usage(f"annotate has no model {model!r}; it has: {', '.join(annotators)}")
    samples = {sample.id: sample for sample in _read(out, "samples", Sample)}
    with store.lock(out), _Sink(out, ("annotations",), "annotate") as sink:
        ledger = Ledger("annotate", (*source.reasons, *annotating.REASONS))
        targets = ledger.incoming(track(_read(out, "targets", Target), books.counts.get("targets")))
        made = annotating.annotate(annotators[model], targets, samples, _root(out, books))
        for record in ledger.outgoing(made, parent=_target_of):
            sink.put("annotations", record)
        _agree(out, books, "targets", ledger.close().incoming)
        _reopen(out, books, "annotate")
    return _close(out, _counted(books, sink, "annotate"))


def compose_items(
    out: Path, items: Path, split: str = "all", seed: int = 0, track: Track = SILENT
) -> Composed:
    """Annotated targets and healthy photos become items in `items`; the rest lies beside it."""
    books, source = _open(out, "annotations")
    drops, kept = items.with_name(f"{items.stem}.drops.jsonl"), list[Item]()
    labelled = composing.Labelled(
        samples={sample.id: sample for sample in _read(out, "samples", Sample)},
        targets=tuple(_read(out, "targets", Target)),
        healthy=tuple(_read(out, "healthy", Healthy)),
        annotations={mark.target: mark for mark in _read(out, "annotations", Annotation)},
        exhaustive=source.exhaustive,
        root=_root(out, books),
    )
    for name in ("targets", "healthy", "annotations"):
        _agree(out, books, name, len(getattr(labelled, name)))
    gone: list[Drop] = []
    owed = len(labelled.targets) + len(labelled.healthy)
    made: Iterable[Item | Drop] = track(composing.compose(labelled, split, seed), owed)
    for record in made:
        if isinstance(record, Drop):
            gone.append(record)
        else:
            kept.append(record)
    if len(kept) + len(gone) != owed:
        raise Unbalanced(f"compose: {owed} records in, {len(kept)} kept and {len(gone)} dropped")
    if not kept:
        raise Usage(
            f"{out}: expected photos of the split {split!r}, got none; the drops say why: "
            f"{dict(Counter(drop.reason for drop in gone))}"
        )
    kept.sort(key=attrgetter("id"))
    with store.writing(items) as keep, store.writing(drops) as drop:
        for item in kept:
            keep(item)
        for each in gone:
            drop(each)
        items.unlink(missing_ok=True)  # so that no items stand beside the drops of others
    return Composed(
        items=len(kept),
        positives=sum(item.positive for item in kept),
        healthy=sum(not item.positive for item in kept),
        without_candidates=sum(item.candidates is None for item in kept),
        drops=dict(sorted(Counter(drop.reason for drop in gone).items())),
    )


def root(out: Path) -> Path:
    """The folder of the release that was ingested; `Usage` where it is no longer there."""
    books, _ = _open(out, "samples")
    return _root(out, books)


def line(books: Books, out: Path) -> str:
    """What a person reads when a stage ends."""
    made = ", ".join(f"{count} {name}" for name, count in books.counts.items())
    lost = ", ".join(f"{reason} {count}" for reason, count in books.drops.items())
    return f"{books.source}: {made}; dropped: {lost or 'none'}. In {out}"


def composed_line(made: Composed, out: Path) -> str:
    """What a person reads when `compose` ends."""
    lost = ", ".join(f"{reason} {count}" for reason, count in made.drops.items())
    return (
        f"{made.items} items ({made.positives} positive, {made.healthy} healthy, "
        f"{made.without_candidates} without candidates); left out: {lost or 'none'}. In {out}"
    )


def _source(name: str, options: Mapping[str, str]) -> Source:
    module: Any = open_room(sources, name)
    if not options:
        source: Source = module.SOURCE
        return source
    if not hasattr(module, "open_source"):
        raise Usage(f"--source-args: expected none for {name}, got {', '.join(options)}")
    opened: Source = module.open_source(options)
    return opened


def _unpacked(root: Path, release: Path) -> Path:
    """The release's folder: the one given, or what its archive holds, below its one top folder."""
    if not archives.is_archive(root):
        return root
    if release.exists():  # of an earlier ingest, whose samples point into it
        _forget(release.parent, ("manifest.json",))
        rmtree(release)
    archives.unpack(root, release)
    inside = list(release.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else release


def _open(out: Path, needs: str) -> tuple[Books, Source]:
    path = out / "manifest.json"
    if not path.is_file() or not (out / f"{needs}.jsonl").is_file():
        raise Usage(f"{out}: expected {needs}.jsonl and manifest.json; run `{MAKER[needs]}` first")
    raw = migrations.document(path.read_bytes(), path, "ingest")
    try:
        books = msgspec.convert(raw, Books)
    except msgspec.ValidationError as error:
        raise BadRecord(f"{path}: expected what `ingest` writes, got: {error}") from None
    return books, _source(books.source, books.options)


def _from(out: Path, root: Path) -> str:
    """The release as seen from `out`: both may move together, and two runs write the same."""
    try:
        return Path(relpath(root.resolve(), out.resolve())).as_posix()
    except ValueError:  # on another drive
        return str(root.resolve())


def _root(out: Path, books: Books) -> Path:
    root = Path(normpath(out.resolve() / books.root))
    if not root.is_dir():
        raise Usage(f"{out}: expected the release that was ingested, got nothing at {root}")
    return root


def _agree(out: Path, books: Books, name: str, found: int) -> None:
    """A file cut short, edited, or left by a stage that was killed at its very end is refused."""
    counted = books.counts.get(name)
    if counted is None:
        raise Refused(f"{out}: `{MAKER[name]}` did not come to its end there; run it again")
    if counted != found:
        raise Refused(
            f"{out / name}.jsonl: expected the {counted} records that manifest.json counts, got "
            f"{found}; run `{MAKER[name]}` again"
        )


def _target_of(record: Annotation | Drop) -> str:
    return record.parent or "" if isinstance(record, Drop) else record.target


def _read(out: Path, name: str, kind: type[R]) -> Iterator[R]:
    return store.read(out / f"{name}.jsonl", kind)


def _before(books: Books, stage: str) -> Books:
    """The books as they were when the stages before this one had ended."""
    earlier = STAGES[: STAGES.index(stage)]
    return msgspec.structs.replace(
        books,
        counts={
            name: n for name, n in books.counts.items() if MAKER.get(name, "ingest") in earlier
        },
        drops={why: n for why, n in books.drops.items() if why.partition(":")[0] in earlier},
    )


def _counted(books: Books, sink: _Sink, stage: str) -> Books:
    counts = _before(books, stage).counts | dict(sink.counts)
    return msgspec.structs.replace(books, counts=counts, drops=dict(sorted(sink.drops.items())))


def _reopen(out: Path, books: Books, stage: str) -> None:
    """A stage's files are about to be replaced one by one: until it closes, none of them counts."""
    before = _before(books, stage)
    if before != books:
        _close(out, before)


def _forget(out: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (out / name).unlink(missing_ok=True)


def _close(out: Path, books: Books) -> Books:
    with store.replacing(out / "manifest.json") as file:
        file.write(msgspec.json.format(msgspec.json.encode(books), indent=1) + b"\n")
    return books
