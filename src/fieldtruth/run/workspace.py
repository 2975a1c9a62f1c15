"""A source's folder on its way to items: the files in it, and the books kept around each stage.

    samples.jsonl  targets.jsonl  healthy.jsonl  annotations.jsonl  drops.jsonl  manifest.json

A source of talks has `dialogues.jsonl` in place of the first four; `scrub` and `facts` go on.
Each stage reads what the one before it wrote and writes its own files whole or not at all. Drops
of all stages lie in one file; the manifest counts everything (design, section 8).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from operator import attrgetter
from os.path import normpath, relpath
from pathlib import Path
from shutil import rmtree
from typing import Any, TypeVar

import msgspec

from fieldtruth import archives, shards, sources, store
from fieldtruth.faults import BadRecord, Refused, Unbalanced, Usage
from fieldtruth.privacy.talks import Looked
from fieldtruth.records import SCHEMA, Annotation, Drop, Healthy, Place, Record, Sample, Target
from fieldtruth.rooms import open_room
from fieldtruth.run import migrations
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.sources.contract import DialogueSource, Source
from fieldtruth.stages import annotate as annotating
from fieldtruth.stages import compose as composing
from fieldtruth.stages import ingest as ingesting
from fieldtruth.stages import label as labelling
from fieldtruth.stages.annotate import detected
from fieldtruth.unique import Unique

STAGES = ("ingest", "label", "annotate")
ANNOTATORS = ("source", "leaf_box")  # who draws without being asked as a model is
AT_ONCE = 128  # records on their way from file to file: they stay in the cache of one core
MAKER = {"samples": "ingest", "targets": "label", "healthy": "label", "annotations": "annotate"}
# What hangs on the samples, or the dialogues, and is of no worth when they are made anew.
FOLLOWING = {
    "samples": (
        "manifest.json", "targets.jsonl", "healthy.jsonl", "annotations.jsonl", "splits.jsonl",
        "leakage.json", "dialogues.jsonl",
    ),
    "dialogues": ("manifest.json", "samples.jsonl", "facts.jsonl"),
}  # fmt: skip

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
    kinds: dict[str, int] = msgspec.field(default_factory=dict)  # of the targets
    boxes: dict[str, int] = msgspec.field(default_factory=dict)  # a model's, by what became of them
    options: dict[str, str] = msgspec.field(default_factory=dict)  # what the source was opened with
    personal: Looked | None = None  # of dialogues: who looked for personal data, and what was found


class _Sink:
    """The files a stage writes; they appear together when the block ends without an error."""

    def __init__(self, out: Path, names: tuple[str, ...], stage: str) -> None:
        self._out, self._names, self._stage = out, names, stage
        self.counts = Counter(dict.fromkeys(names, 0))
        self.drops: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self._stack = ExitStack()

    def __enter__(self) -> "_Sink":
        with ExitStack() as stack:
            self._write = {
                name: stack.enter_context(store.writing_lists(self._out / f"{name}.jsonl"))
                for name in (*self._names, "drops")
            }
            earlier = STAGES[: STAGES.index(self._stage)]
            old = self._out / "drops.jsonl"
            for drop in store.read(old, Drop) if old.exists() and earlier else ():
                if drop.stage in earlier:
                    self._write["drops"]([drop])
                    self.drops[f"{drop.stage}: {drop.reason}"] += 1
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.__exit__(*error)  # type: ignore[arg-type]

    def put_all(self, names: Mapping[type[Record], str], records: Sequence[Record]) -> None:
        """Many records, each into the file of its class; drops into the drops."""
        there = set(map(type, records))
        if not there <= {*names, Drop}:
            raise Unbalanced(f"{self._stage}: expected {[*names, Drop]} to write, got {there}")
        for kind in there:
            some: Any = records if there == {kind} else [r for r in records if type(r) is kind]
            name = names.get(kind, "drops")
            self._write[name](some)
            if kind is Drop:
                for (stage, reason), count in Counter(map(_why, some)).items():
                    self.drops[f"{stage}: {reason}"] += count
                continue
            self.counts[name] += len(some)
            if kind is Target:
                self.kinds.update(map(_kind_of, some))

    def put(self, name: str, record: Record) -> None:
        """A record into its file, a drop into the drops."""
        if isinstance(record, Drop):
            self._write["drops"]([record])
            self.drops[f"{record.stage}: {record.reason}"] += 1
        else:
            self._write[name]([record])
            self.counts[name] += 1
            if isinstance(record, Target):
                self.kinds[record.kind] += 1


def ingest(
    name: str,
    root: Path,
    out: Path,
    track: Track = SILENT,
    options: Mapping[str, str] | None = None,
) -> Books:
    """The raw release at `root` becomes samples, or dialogues, and drops in `out`.

    An archive (zip or tar) is unpacked into `out/release`. `options` are kept for later stages.
    """
    source = _source(name, options or {})
    what, kind = ingesting.makes(source)
    if not root.exists():
        raise Usage(f"{root}: expected the raw release of {name}, got nothing there")
    if out.resolve().is_relative_to(root.resolve()):
        raise Usage(
            f"{out}: expected a folder outside the release, got one in {root}; name another"
        )
    seen = Unique()
    with store.new_or_there(out), store.lock(out), _Sink(out, (what,), "ingest") as sink:
        root = _unpacked(source, root, out / "release")
        rows: Iterator[Any] = track(ingesting.ingest(source, root))
        while some := list(islice(rows, AT_ONCE)):
            seen.add([row.id for row in some])
            sink.put_all({kind: what}, some)
        twice = seen.twice(lambda: (row.id for row in ingesting.ingest(source, root)))
        if twice is not None:
            raise BadRecord(f"{root}: {name} gives the id {twice!r} to two of its rows")
        unknown = {why.partition(": ")[2] for why in sink.drops} - set(source.reasons)
        if unknown:
            raise Unbalanced(f"ingest: dropped for {sorted(unknown)}, none of its reasons")
        books = Books(
            source=name, root=seen_from(out, root), licence=source.licence, paper=source.paper,
            counts={"rows": len(seen), **sink.counts}, drops=dict(sorted(sink.drops.items())),
            options=dict(options or {}),
        )  # fmt: skip
        _forget(out, FOLLOWING[what])
    return _close(out, books)


def label(out: Path, track: Track = SILENT) -> Books:
    """Samples become targets, healthy photos and drops."""
    books, source = _open(out, "samples")
    with store.lock(out), _Sink(out, ("targets", "healthy"), "label") as sink:
        ledger, seen, label_all = Ledger("label", source.reasons), Unique(), labelling.label(source)
        rows = track(_read(out, "samples", Sample), books.counts.get("samples"))
        while some := list(islice(rows, AT_ONCE)):
            seen.add([sample.id for sample in some])
            made = label_all(some)
            ledger.settle(some, made)
            sink.put_all({Target: "targets", Healthy: "healthy"}, made)
        twice = seen.twice(lambda: (sample.id for sample in _read(out, "samples", Sample)))
        if twice is not None:
            raise Unbalanced(f"label: two input records have the id {twice!r}")
        _agree(out, books, "samples", ledger.close().incoming)
        _reopen(out, books, "label")
        _forget(out, ("annotations.jsonl",))
    return _close(out, _counted(books, sink, "label"))


def annotate(
    out: Path,
    model: str = "source",
    track: Track = SILENT,
    asking: detected.Asking | None = None,
) -> Books:
    """Targets get the boxes their release holds, or those a model draws, or become drops."""
    books, source = _open(out, "targets")
    if asking is None and model not in ANNOTATORS:
        raise Usage(f"annotate has no model {model!r}; it has: {', '.join(ANNOTATORS)}")
    samples = {sample.id: sample for sample in _read(out, "samples", Sample)}
    report = detected.Report()
    with store.lock(out), _Sink(out, ("annotations",), "annotate") as sink:
        ledger = Ledger("annotate", (*source.reasons, *annotating.REASONS, *detected.REASONS))
        targets = ledger.incoming(track(_read(out, "targets", Target), books.counts.get("targets")))
        if asking is not None:
            made = detected.detect(asking, targets, samples, _root(out, books), report)
        else:
            by = source.annotate if model == "source" else annotating.leaf_box
            made = annotating.annotate(by, targets, samples, _root(out, books))
        for record in ledger.outgoing(made, parent=_target_of):
            sink.put("annotations", record)
        _agree(out, books, "targets", ledger.close().incoming)
        _reopen(out, books, "annotate")
    counted = _counted(books, sink, "annotate")
    boxes = dict(sorted(report.boxes.items()) + sorted(report.targets.items()))
    return _close(out, msgspec.structs.replace(counted, boxes=boxes))


def labelled(out: Path) -> composing.Labelled:
    """What `label` and `annotate` left in a folder, and `split` where it ran, for `compose`.

    Of samples only what `compose` needs is kept: photos, licence, split and group.
    """
    books, source = _open(out, "annotations")
    targets = tuple(_read(out, "targets", Target))
    healthy = tuple(_read(out, "healthy", Healthy))
    parents = {each.sample for each in targets} | {each.sample for each in healthy}
    made = composing.Labelled(
        samples={
            sample.id: composing.slim(sample)
            for sample in _read(out, "samples", Sample)
            if sample.id in parents
        },
        targets=targets,
        healthy=healthy,
        annotations={mark.id: mark for mark in _read(out, "annotations", Annotation)},
        exhaustive=source.exhaustive,
        root=_root(out, books),
        name=books.source,
        places=_places(out),
    )
    for name in ("targets", "healthy", "annotations"):
        _agree(out, books, name, len(getattr(made, name)))
    return made


def _places(out: Path) -> dict[str, Place] | None:
    path = out / "splits.jsonl"
    if not path.is_file():
        return None
    return {place.id: place for place in store.read_unique(path, Place)}


def samples(out: Path) -> Iterator[Sample]:
    """What `ingest` made, in order; `Refused` at the end where it is not all that was counted."""
    books, _ = _open(out, "samples")
    count = 0
    for sample in _read(out, "samples", Sample):
        count += 1
        yield sample
    _agree(out, books, "samples", count)


def root(out: Path) -> Path:
    """The folder of the release that was ingested; `Usage` where it is no longer there."""
    books, _ = _open(out, "samples")
    return _root(out, books)


def line(books: Books, out: Path) -> str:
    """What a person reads when a stage ends."""
    made = ", ".join(f"{count} {name}" for name, count in books.counts.items())
    lost = ", ".join(f"{reason} {count}" for reason, count in books.drops.items())
    return f"{books.source}: {made}; dropped: {lost or 'none'}. In {out}"


def _source(name: str, options: Mapping[str, str]) -> Source | DialogueSource:
    module: Any = open_room(sources, name)
    if not options:
        source: Source | DialogueSource = module.SOURCE
        return source
    if not hasattr(module, "open_source"):
        raise Usage(f"--source-args: expected none for {name}, got {', '.join(options)}")
    opened: Source | DialogueSource = module.open_source(options)
    return opened


def _unpacked(source: Source | DialogueSource, root: Path, release: Path) -> Path:
    """The release's folder: the one given, or what its archive or its parquet files hold.

    Of an archive it is the one top folder in it, if there is but one.
    """
    column: str = getattr(source, "photo_column", "")
    packed = archives.is_archive(root)
    if not packed and not (column and shards.found(root)):
        return root
    if release.exists():  # of an earlier ingest, whose samples point into it
        _forget(release.parent, ("manifest.json",))
        rmtree(release)
    if not packed:
        shards.unpack(root, release, column)
        return release
    archives.unpack(root, release)
    inside = list(release.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else release


def _open(out: Path, needs: str) -> tuple[Books, Source]:
    path = out / "manifest.json"
    found = path.is_file() and (out / "dialogues.jsonl").is_file()
    if not path.is_file() or not (found or (out / f"{needs}.jsonl").is_file()):
        raise Usage(f"{out}: expected {needs}.jsonl and manifest.json; run `{MAKER[needs]}` first")
    raw = migrations.document(path.read_bytes(), path, "ingest")
    try:
        books = msgspec.convert(raw, Books)
    except msgspec.ValidationError as error:
        raise BadRecord(f"{path}: expected what `ingest` writes, got: {error}") from None
    source = _source(books.source, books.options)
    if isinstance(source, DialogueSource):
        raise Usage(f"{out}: expected samples, got dialogues; run `fieldtruth facts {out}`")
    return books, source


def seen_from(out: Path, root: Path) -> str:
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


_why: Callable[[Drop], tuple[str, str]] = attrgetter("stage", "reason")
_kind_of: Callable[[Target], str] = attrgetter("kind")


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
        kinds=books.kinds if "label" in earlier else {},
    )


def _counted(books: Books, sink: _Sink, stage: str) -> Books:
    before = _before(books, stage)
    return msgspec.structs.replace(
        books,
        counts=before.counts | dict(sink.counts),
        drops=dict(sorted(sink.drops.items())),
        kinds=before.kinds | dict(sorted(sink.kinds.items())),
    )


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
