"""The steps of a recipe in the order of the work: what each reads, makes, and hangs on.

A stage is one step or several: one for each source, benchmark, model, or model under a protocol.
Nothing is done here; `execute` does the steps that are not done yet. `gathering` has the steps up
to what is composed, this file all after them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path

from fieldtruth import protocols, store
from fieldtruth.faults import Refused, Usage
from fieldtruth.grading import open_protocol
from fieldtruth.models.scripted import Line
from fieldtruth.records import Item
from fieldtruth.rooms import open_room
from fieldtruth.run import (
    asking,
    conversing,
    from_papers,
    gathering,
    results,
    terminal,
    training,
    workspace,
)
from fieldtruth.run.gathering import Origin
from fieldtruth.run.recipe import Freeze, Model, Opened, Predict, Recipe, Score, Train
from fieldtruth.run.steps import Bar, Places, Step, text
from fieldtruth.stages import freeze as freezing
from fieldtruth.stages.score import Options
from fieldtruth.store.fetch import fetch

DIED = "connection refused"


def steps(opened: Opened, out: Path) -> Iterator[Step]:
    """Every step of a recipe whose results go to `out`; each after those it hangs on."""
    recipe, places = opened.recipe, Places(out)
    if recipe.papers is not None:
        yield from from_papers.steps(opened, places)
        return
    if recipe.questions is not None:
        yield from conversing.steps(opened, places)
        return
    gathered, found = gathering.gather(opened, places)
    yield from gathered
    yield from gathering.compose_training(recipe, found, places)
    for name, bench in recipe.freeze.items():
        origin = _origin(opened, name, bench, found)
        yield gathering.compose_items(recipe, name, origin, places)
        yield _freeze(recipe, (name, bench), origin, places)
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


def _origin(opened: Opened, name: str, bench: Freeze, found: Sequence[Origin]) -> Origin:
    """The source of a benchmark's photos; `Usage` where its release is not there."""
    named = [each for each in found if bench.source in (None, each.name)]
    if not named:
        root = opened.at(opened.recipe.sources[bench.source or ""].path)
        raise Usage(f"freeze.{name}.source: expected the release of {bench.source} at {root}")
    return named[0]


def _freeze(recipe: Recipe, wanted: tuple[str, Freeze], origin: Origin, places: Places) -> Step:
    name, bench = wanted
    items, out = places.items(name), places.bench(name)
    about = freezing.About(
        published=bench.published, creator=bench.creator, url=bench.url, cite=bench.cite
    )
    made_with = {
        "recipe": recipe.name,
        "seed": str(recipe.seed),
        "source": origin.source,
        "annotate": origin.annotate.model,
        "split": bench.split,
    }
    called = bench.name or f"{recipe.name}-{name}"

    def work(_: Bar) -> str:
        images = workspace.root(origin.folder)
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
    return Step(
        "freeze", f"freeze {name}", config, {"items": items, "release": origin.root}, (out,), work
    )


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
    given = {option: text(value) for option, value in model.options.items()}
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
