"""The steps of a recipe in the order of the work: what each reads, makes, and hangs on.

    OUT/leaves/  source/  items/  bench/NAME/  models/NAME.json  replies/MODEL.PROTOCOL.jsonl
    OUT/results/score.json  report.html

A stage is one step or several: one for each benchmark, model, or model under a protocol. Nothing
is done here; `execute` does the steps that are not done yet.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image

from fieldtruth import protocols, store
from fieldtruth.faults import Refused, Usage
from fieldtruth.grading import open_protocol
from fieldtruth.models.colour import leaf
from fieldtruth.models.scripted import Line
from fieldtruth.records import Item, Sample
from fieldtruth.rooms import open_room
from fieldtruth.run import asking, results, terminal, training, workspace
from fieldtruth.run.progress import Track
from fieldtruth.run.recipe import Draw, Freeze, Model, Opened, Predict, Recipe, Score, Train
from fieldtruth.sources import drawn
from fieldtruth.stages import freeze as freezing
from fieldtruth.stages.score import Options
from fieldtruth.store.fetch import fetch

STAGES = (
    "draw", "ingest", "label", "annotate", "compose", "freeze", "train", "predict", "score",
    "report",
)  # fmt: skip
FEWEST = 12  # photos to draw on: fewer do not make a training and a test split
DIED = "connection refused"

Bar = Callable[[str], Track]
Work = Callable[[Bar], str]  # does a step; what a person reads when it ends


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of work. It is done anew when `config`, an input's content or the code changes.

    `outputs` may stay away only where `optional`. What is in `clears`, and `outputs`, is removed
    before the work begins, unless the same work was cut short and `resumes`.
    """

    stage: str
    name: str
    config: Mapping[str, object]
    inputs: Mapping[str, Path]
    outputs: tuple[Path, ...]
    work: Work
    clears: tuple[Path, ...] = ()
    optional: bool = False
    resumes: bool = False


@dataclass(frozen=True, slots=True)
class Places:
    """Where everything of a run lies."""

    out: Path
    leaves: Path = field(init=False)
    source: Path = field(init=False)
    results: Path = field(init=False)
    page: Path = field(init=False)

    def __post_init__(self) -> None:
        for name in ("leaves", "source", "results"):
            object.__setattr__(self, name, self.out / name)
        object.__setattr__(self, "page", self.out / "report.html")

    def items(self, name: str) -> Path:
        """The composed items of a benchmark."""
        return self.out / "items" / f"{name}.jsonl"

    def bench(self, name: str) -> Path:
        """The folder of a frozen benchmark."""
        return self.out / "bench" / name

    def fitted(self, name: str) -> Path:
        """What training a model leaves behind."""
        return self.out / "models" / f"{name}.json"

    def replies(self, model: str, protocol: str) -> Path:
        """The predictions file of a model under a protocol."""
        return self.out / "replies" / f"{model}.{protocol}.jsonl"


def steps(opened: Opened, out: Path) -> Iterator[Step]:
    """Every step of a recipe whose results go to `out`; each after those it hangs on."""
    recipe, places = opened.recipe, Places(out)
    root = places.leaves if recipe.ingest.path is None else opened.at(recipe.ingest.path)
    if recipe.draw is not None:
        yield _draw(opened, recipe.draw, places)
    yield from _gather(recipe, root, places)
    for name, bench in recipe.freeze.items():
        yield _compose(recipe, name, root, places)
        yield _freeze(recipe, (name, bench), root, places)
    for name, fit in recipe.train.items():
        yield _train(opened, name, fit, places)
    if recipe.predict is not None:
        for protocol in recipe.predict.protocols:
            for name, model in recipe.models.items():
                yield _predict(opened, recipe.predict, (name, model), protocol, places)
        if recipe.score is not None:
            yield _score(recipe, recipe.predict, recipe.score, places)
            if recipe.report is not None:
                yield _report(recipe, recipe.predict, recipe.report.note, places)


def _draw(opened: Opened, wanted: Draw, places: Places) -> Step:
    seed = opened.recipe.seed
    onto = None if wanted.onto is None else opened.at(wanted.onto)

    def work(bar: Bar) -> str:
        if onto is None:
            count = drawn.draw(places.leaves, leaves=wanted.leaves, seed=seed)
            return f"{count} photos of {wanted.leaves} leaves drawn"
        looked = places.out / "photos"
        workspace.ingest("folder", onto, looked, bar("look at photos"))
        samples = store.read(looked / "samples.jsonl", Sample)
        found = [store.inside(onto, sample.images[0]) for sample in samples]
        if len(found) < FEWEST:
            raise Usage(
                f"{onto}: expected at least {FEWEST} photos, got {len(found)} readable ones"
            )
        count = drawn.draw_on(found, places.leaves, _leaf_of, seed=seed)
        return f"symptoms drawn on {count} photos"

    return Step(
        "draw", "draw", {"seed": seed} | ({} if onto else {"leaves": wanted.leaves}),
        {} if onto is None else {"photos": onto}, (places.leaves,), work,
        clears=(places.out / "photos",),
    )  # fmt: skip


def _leaf_of(photo: Image) -> NDArray[np.bool_]:
    return leaf.find_leaf(leaf.lab(np.asarray(photo)))


def _gather(recipe: Recipe, root: Path, places: Places) -> Iterator[Step]:
    """ingest, label, annotate: one folder, each stage with files of its own in it."""
    folder = places.source
    files = {
        name: folder / f"{name}.jsonl" for name in ("samples", "targets", "healthy", "annotations")
    }
    source, options = recipe.ingest.source, dict(recipe.ingest.options)
    told = _source(recipe)
    yield Step(
        "ingest", "ingest", {**told, "path": recipe.ingest.path},
        {"release": root}, (files["samples"],),
        lambda bar: workspace.line(
            workspace.ingest(source, root, folder, bar("ingest"), options), folder
        ),
    )  # fmt: skip
    yield Step(
        "label", "label", told, {"samples": files["samples"]},
        (files["targets"], files["healthy"]),
        lambda bar: workspace.line(workspace.label(folder, bar("label")), folder),
    )  # fmt: skip
    model = recipe.annotate.model
    yield Step(
        "annotate", "annotate", {**told, "model": model},
        {"samples": files["samples"], "targets": files["targets"], "release": root},
        (files["annotations"],),
        lambda bar: workspace.line(workspace.annotate(folder, model, bar("annotate")), folder),
    )  # fmt: skip


def _source(recipe: Recipe) -> dict[str, object]:
    """What every stage opens the source with."""
    return {"source": recipe.ingest.source, "options": dict(recipe.ingest.options)}


def _compose(recipe: Recipe, name: str, root: Path, places: Places) -> Step:
    split, seed, items = recipe.freeze[name].split, recipe.seed, places.items(name)

    def work(bar: Bar) -> str:
        made = workspace.compose_items(places.source, items, split, seed, bar(f"compose {name}"))
        return workspace.composed_line(made, items)

    made = ("samples", "targets", "healthy", "annotations")
    inputs = {each: places.source / f"{each}.jsonl" for each in made} | {"release": root}
    outputs = (items, items.with_name(f"{items.stem}.drops.jsonl"))
    return Step(
        "compose", f"compose {name}",
        {**_source(recipe), "split": split, "seed": seed},
        inputs, outputs, work,
    )  # fmt: skip


def _freeze(recipe: Recipe, wanted: tuple[str, Freeze], root: Path, places: Places) -> Step:
    name, bench = wanted
    items, out = places.items(name), places.bench(name)
    about = freezing.About(
        published=bench.published, creator=bench.creator, url=bench.url, cite=bench.cite
    )
    made_with = {
        "recipe": recipe.name,
        "seed": str(recipe.seed),
        "source": recipe.ingest.source,
        "annotate": recipe.annotate.model,
        "split": bench.split,
    }
    called = bench.name or f"{recipe.name}-{name}"

    def work(_: Bar) -> str:
        images = workspace.root(places.source)
        settings = freezing.Settings(
            name=called, version=bench.version, split=bench.split, config=made_with, about=about
        )
        made = freezing.freeze(items, images, out, settings)
        # Photos that may not be handed on are only referenced; this run needs them here.
        missing = fetch(out, images)
        if missing:
            raise Refused(f"{images}: expected the photos that were frozen, lacks {missing[0]}")
        return freezing.line(made, out)

    config = {"name": called, "version": bench.version, **about.given(), **made_with}
    return Step("freeze", f"freeze {name}", config, {"items": items, "release": root}, (out,), work)


def _train(opened: Opened, name: str, wanted: Train, places: Places) -> Step:
    also = [] if wanted.also is None else [opened.at(wanted.also)]
    sets = [places.bench(wanted.on), *also]

    def work(_: Bar) -> str:
        made = training.fit_colour(sets, places.fitted(name))
        return f"colour fitted on {made.items} photos"

    inputs = dict(zip(("benchmark", "also"), sets, strict=False))
    return Step("train", f"train {name}", {"model": "colour"}, inputs, (places.fitted(name),), work)


def _predict(
    opened: Opened, asked: Predict, named: tuple[str, Model], protocol: str, places: Places
) -> Step:
    name, model = named
    out, bench = places.replies(name, protocol), places.bench(asked.benchmark)
    table = out.with_name(f"{out.stem}.table.jsonl")
    sealed = out.with_name(f"{out.stem}.manifest.json")
    inputs = {"benchmark": bench}
    if model.majority_of is not None:
        inputs["majority_of"] = places.bench(model.majority_of)
    files = {option: opened.at(path) for option, path in model.files.items()}
    if model.fitted is not None:
        files["fitted"] = places.fitted(model.fitted)
    given = {option: _text(value) for option, value in model.options.items()}
    config: dict[str, object] = {
        "backend": model.backend, "options": given, "protocol": protocol,
        "dies_at": model.script.dies_at if model.script else None,
        "seed": opened.recipe.seed if "+" in protocol else None,
    }  # fmt: skip

    def work(bar: Bar) -> str:
        if asked.skip_unsuited and not _suited(bench, protocol):
            return f"no item suits {protocol}; nothing asked"
        options = given | {option: str(path) for option, path in files.items()}
        if model.majority_of is not None:
            options["label"] = _majority(places.bench(model.majority_of))
        if model.script is not None:
            _script(_suited(bench, protocol), protocol, table, model.script.dies_at)
            options |= {"table": str(table), "space": "pixel"}
        job = asking.Job(
            benchmark=bench, model=model.backend, options=options, protocol=protocol, name=name,
            cache=None if asked.cache is None else opened.at(asked.cache), seed=opened.recipe.seed,
        )  # fmt: skip
        done = asking.predict(job, out, bar(f"{name}, {protocol}"))
        asking.check(done, model.allow_errors)
        return asking.line(done, out)

    return Step(
        "predict", f"predict {name} {protocol}", config, inputs | files,
        (out, sealed) + ((table,) if model.script else ()), work,
        clears=(out.with_name(f"{out.name}.journal"),), optional=asked.skip_unsuited, resumes=True,
    )  # fmt: skip


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _suited(bench: Path, protocol: str) -> list[Item]:
    instruction = open_protocol(protocol)
    return [item for item in store.open_bench(bench).items if instruction.suits(item)]


def _majority(bench: Path) -> str:
    labels = Counter(item.label for item in store.open_training(bench).items if item.label)
    if not labels:
        raise Usage(f"{bench}: expected a benchmark with labels, to say the commonest; got none")
    return labels.most_common(1)[0][0]


def _script(items: Sequence[Item], protocol: str, table: Path, dies_at: float) -> None:
    """The right answer for the first items, a dead server for the rest."""
    ask = open_room(protocols, protocol.partition("+")[0]).PROTOCOL
    alive = ceil(len(items) * dies_at)
    right = (Line(id=item.id, text=ask.answer(item, "pixel")) for item in items[:alive])
    dead = (Line(id=item.id, finish="error", error=DIED) for item in items[alive:])
    store.write(table, (*right, *dead))


def _score(recipe: Recipe, asked: Predict, wanted: Score, places: Places) -> Step:
    options = Options(
        allow_missing=wanted.allow_missing, unit=wanted.unit, matching=wanted.matching
    )
    replies = _all_replies(recipe, asked, places)

    def work(_: Bar) -> str:
        there = [path for path in replies.values() if path.exists()]
        return terminal.table(
            results.score(places.bench(asked.benchmark), there, options, places.results)
        )

    config = {"allow_missing": wanted.allow_missing, "unit": wanted.unit,
              "matching": wanted.matching}  # fmt: skip
    return Step(
        "score", "score", config, {"benchmark": places.bench(asked.benchmark), **replies},
        (places.results / results.RESULT,), work,
    )  # fmt: skip


def _all_replies(recipe: Recipe, asked: Predict, places: Places) -> dict[str, Path]:
    return {
        f"{name} {protocol}": places.replies(name, protocol)
        for protocol in asked.protocols
        for name in recipe.models
    }


def _report(recipe: Recipe, asked: Predict, note: str | None, places: Places) -> Step:
    return Step(
        "report", "report", {"note": note},
        {
            "benchmark": places.bench(asked.benchmark),
            "scores": places.results / results.RESULT,
            **_all_replies(recipe, asked, places),
        },
        (places.page,),
        lambda _: f"report: {results.report(places.results, places.page, note)}",
    )  # fmt: skip
