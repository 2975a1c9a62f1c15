"""The whole loop on a small set: photos, a frozen benchmark, three models, numbers, a report.

Without photos it draws leaves; with a folder of photos it uses those. Three models answer under
two protocols: `colour`, fitted on the training split; one box around the leaf with the majority
label; and a scripted server that answers perfectly until it dies half way, to show what that does
to a number when a failed call is taken for an empty answer.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image

from fieldtruth import protocols, store
from fieldtruth.faults import Usage
from fieldtruth.models.colour import leaf
from fieldtruth.models.scripted import Line
from fieldtruth.records import Item, Prediction, Sample
from fieldtruth.rooms import open_room
from fieldtruth.run import asking, results, terminal, training, workspace
from fieldtruth.run.progress import Track
from fieldtruth.sources import drawn
from fieldtruth.stages import freeze as freezing
from fieldtruth.stages.score import Options, score
from fieldtruth.store.fetch import fetch

LEAVES = 240
SEED = 7
PROTOCOLS = ("known_target", "candidates")
MARK = ".fieldtruth-demo"  # a folder that holds it may be made anew
HALF = 0.6  # share of items that may lack a reply: the dying server lacks half

DRAWN_NOTE = (
    "These leaves are drawn by this program: the numbers show that the machinery works, and "
    "nothing about the field."
)
LEAF_NOTE = (
    "Your photos came with class folders and without boxes. The truth here is one box around the "
    "leaf, found by machine and checked by nobody: read the naming and abstention columns, and "
    "take nothing from the columns about boxes."
)
PLANTED_NOTE = (
    "Your photos came without classes, so symptoms were drawn on half and more of them: the truth "
    "is exact for what was drawn, and only for that. Photos left as they were count as healthy; "
    "where yours are not, abstention and precision are worse here than they should be."
)
FEWEST = 12  # photos without classes: fewer do not make a training and a test split


@dataclass(frozen=True, slots=True)
class Made:
    """Two frozen benchmarks, and what a reader must know about their truth."""

    training: Path
    benchmark: Path
    note: str


def demo(
    out: Path, photos: Path | None, tell: Callable[[str], None], *, quiet: bool = False
) -> Path:
    """Everything in `out`; returns the report's path. `tell` gets the lines meant for a terminal.

    Raises `Usage` where `out` holds something that no demo made, or the photos cannot serve.
    """
    _begin(out)
    made = _own(photos, out, quiet=quiet) if photos else _drawn(out, quiet=quiet)
    bench = store.open_bench(made.benchmark)
    fit = training.fit_colour(made.training, out / "colour.json")
    tell(f"{len(bench.items)} photos frozen in {made.benchmark}; colour fitted on {fit.items}")
    replies = list(_replies(out, made, bench, quiet=quiet))
    options = Options(allow_missing=HALF)
    scores = results.score(made.benchmark, replies, options, out / "results")
    page = results.report(out / "results", out / "report.html", made.note)
    rows = [row for path in replies for row in store.read(path, Prediction)]
    naive = score(bench, rows, Options(as_published=True))
    tell("\n" + terminal.table(scores))
    tell("\nThe same replies, scored naively: a failed call is taken for an empty answer.")
    tell(terminal.naive_table(scores, naive))
    tell(f"\n{made.note}\nThe report, with the photos:")
    return page


def _begin(out: Path) -> None:
    if out.exists() and any(out.iterdir()) and not (out / MARK).is_file():
        raise Usage(
            f"{out}: expected an empty folder or one of an earlier demo; name another --out"
        )
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / MARK).touch()


def _drawn(out: Path, *, quiet: bool) -> Made:
    drawn.draw(out / "leaves", leaves=LEAVES, seed=SEED)
    return _frozen("drawn", out / "leaves", out, note=DRAWN_NOTE, boxes="source", quiet=quiet)


def _own(photos: Path, out: Path, *, quiet: bool) -> Made:
    """The user's photos: by their classes, or with drawn symptoms where they have none."""
    if not photos.is_dir():
        raise Usage(f"{photos}: expected a folder of leaf photos, got none there")
    sorted_out = out / "photos"
    workspace.ingest("folder", photos, sorted_out, Track("look at photos", quiet=quiet))
    counts = workspace.label(sorted_out).counts
    if counts["targets"]:
        return _frozen("folder", photos, out, note=LEAF_NOTE, boxes="leaf_box", quiet=quiet)
    samples = store.read(sorted_out / "samples.jsonl", Sample)
    found = [store.inside(photos, sample.images[0]) for sample in samples]
    if len(found) < FEWEST:
        raise Usage(f"{photos}: expected at least {FEWEST} photos, got {len(found)} readable ones")
    drawn.draw_on(found, out / "leaves", _leaf_of, seed=SEED)
    return _frozen("drawn", out / "leaves", out, note=PLANTED_NOTE, boxes="source", quiet=quiet)


def _leaf_of(photo: Image) -> NDArray[np.bool_]:
    return leaf.find_leaf(leaf.lab(np.asarray(photo)))


def _frozen(source: str, root: Path, out: Path, *, note: str, boxes: str, quiet: bool) -> Made:
    """A source's photos on the road that every source takes, to a training set and a benchmark."""

    def bar(label: str) -> Track:
        return Track(label, quiet=quiet)

    folder = out / "source"
    workspace.ingest(source, root, folder, bar("ingest"))
    workspace.label(folder, bar("label"))
    workspace.annotate(folder, boxes, bar("annotate"))
    for split, name in (("train", "training"), ("test", "benchmark")):
        items = out / f"{split}.jsonl"
        workspace.compose_items(folder, items, split, SEED, bar(f"compose {split}"))
        settings = freezing.Settings(name=f"{source}-{split}", version="demo", split=split)
        freezing.freeze(items, root, out / name, settings)
        fetch(out / name, root)  # photos of your own are referenced, not copied
    return Made(out / "training", out / "benchmark", note)


def _replies(out: Path, made: Made, bench: store.Bench, *, quiet: bool) -> Sequence[Path]:
    """Three models under each protocol that suits the benchmark."""
    majority = Counter(
        item.label for item in store.open_training(made.training).items if item.label
    ).most_common(1)[0][0]
    paths = []
    for protocol in PROTOCOLS:
        items = [
            item for item in bench.items if open_room(protocols, protocol).PROTOCOL.suits(item)
        ]
        if not items:
            continue
        table = out / f"server.{protocol}.jsonl"
        _script(items, protocol, table)
        for model, name, options in (
            ("colour", "colour", {"fitted": str(out / "colour.json")}),
            ("leaf_box", "one-leaf-box", {"label": majority}),
            ("scripted", "dying-server", {
                "table": str(table), "space": "pixel", "dies_after": str(len(items) // 2),
            }),
        ):  # fmt: skip
            job = asking.Job(
                benchmark=made.benchmark, model=model, options=options, protocol=protocol, name=name
            )
            path = out / f"{name}.{protocol}.jsonl"
            asking.predict(job, path, Track(f"{name}, {protocol}", quiet=quiet))
            paths.append(path)
    return paths


def _script(items: Sequence[Item], protocol: str, table: Path) -> None:
    """A server that always gives the right answer, as long as it lives."""
    ask = open_room(protocols, protocol).PROTOCOL
    store.write(table, (Line(id=item.id, text=ask.answer(item, "pixel")) for item in items))
