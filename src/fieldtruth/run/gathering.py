"""The steps of a recipe up to what is composed: draw, ingest, label, annotate, split, compose.

Each source has a folder, and each stage files of its own in it. Stage by stage over all sources,
so that what is cheap has ended well before a detector is begun. `split` and a training mixture
look at all sources at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.models.colour import leaf
from fieldtruth.records import Sample
from fieldtruth.run import annotating, composing, splitting, workspace
from fieldtruth.run.recipe import Annotate, Compose, Draw, Opened, Recipe, Splits
from fieldtruth.run.steps import Bar, Places, Step, text
from fieldtruth.sources import drawn
from fieldtruth.sources.drawn.planning import Look
from fieldtruth.stages import split as parting

FEWEST = 12  # photos to draw on: fewer do not make a training and a test split
PLACED = (splitting.SPLITS, splitting.LEAKAGE)


@dataclass(frozen=True, slots=True)
class Origin:
    """A source of the recipe: what it is opened with, its release, and its folder of the run.

    `name` is empty for that of [ingest]; `path` is the release as the recipe writes it.
    """

    name: str
    source: str
    options: Mapping[str, str]
    annotate: Annotate
    path: str | None
    root: Path
    folder: Path

    @property
    def told(self) -> dict[str, object]:
        """What every stage opens the source with."""
        return {"source": self.source, "options": dict(self.options)}

    def file(self, name: str) -> Path:
        """One of the files that the stages leave in its folder."""
        return self.folder / f"{name}.jsonl"

    def step(self, stage: str) -> str:
        """The name of a step over it."""
        return f"{stage} {self.name}".rstrip()


def gather(opened: Opened, places: Places) -> tuple[list[Step], list[Origin]]:
    """The steps up to `split`, and the sources whose releases are there.

    A source that is `optional` and not there is a step that is skipped. Raises `Usage` where all
    of them are.
    """
    recipe = opened.recipe
    found, steps = _origins(opened, places)
    if recipe.draw is not None:
        steps.append(_draw(opened, recipe.draw, places))
    for stage in (_ingest, _label):
        steps += map(stage, found)
    steps += [_annotate(opened, each) for each in found]
    if recipe.split is not None:
        steps.append(_split(recipe, recipe.split, found))
    return steps, found


def _origins(opened: Opened, places: Places) -> tuple[list[Origin], list[Step]]:
    recipe = opened.recipe
    if recipe.ingest is not None:
        one = recipe.ingest
        root = places.leaves if one.path is None else opened.at(one.path)
        only = Origin(
            "", one.source, one.options, recipe.annotate, one.path, root, places.source("")
        )
        return [only], []
    found: list[Origin] = []
    skipped: list[Step] = []
    for name, each in recipe.sources.items():
        root = opened.at(each.path)
        origin = Origin(
            name, each.source or name, each.options, each.annotate or recipe.annotate, each.path,
            root, places.source(name),
        )  # fmt: skip
        if root.exists() or not each.optional:
            found.append(origin)
        else:
            why = f"its release is not there: {root}"
            skipped.append(Step("ingest", origin.step("ingest"), {}, {}, (), _nothing, skipped=why))
    if not found:
        paths = ", ".join(str(opened.at(each.path)) for each in recipe.sources.values())
        raise Usage(
            f"expected the release of at least one source, got none at {paths}; name where one "
            "lies with --set sources.NAME.path=DIR"
        )
    return found, skipped


def _nothing(_: Bar) -> str:
    return ""


def _draw(opened: Opened, wanted: Draw, places: Places) -> Step:
    seed = opened.recipe.seed
    onto = None if wanted.onto is None else opened.at(wanted.onto)
    look = Look(size=wanted.size, new=wanted.new)
    told: dict[str, object] = {
        "leaves": wanted.leaves, "test": wanted.test, "size": look.size, "new": look.new,
    }  # fmt: skip

    def work(bar: Bar) -> str:
        if onto is None:
            count = drawn.draw(
                places.leaves, leaves=wanted.leaves, seed=seed, held_out_share=wanted.test,
                look=look,
            )  # fmt: skip
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
        "draw", "draw", {"seed": seed, **({} if onto else told)},
        {} if onto is None else {"photos": onto}, (places.leaves,), work,
        clears=(places.out / "photos",),
    )  # fmt: skip


def _leaf_of(photo: Image) -> NDArray[np.bool_]:
    return leaf.find_leaf(leaf.lab(np.asarray(photo)))


def _ingest(origin: Origin) -> Step:
    name, folder = origin.step("ingest"), origin.folder

    def work(bar: Bar) -> str:
        made = workspace.ingest(origin.source, origin.root, folder, bar(name), origin.options)
        return workspace.line(made, folder)

    return Step(
        "ingest", name, {**origin.told, "path": origin.path}, {"release": origin.root},
        (origin.file("samples"),), work,
    )  # fmt: skip


def _label(origin: Origin) -> Step:
    name, folder = origin.step("label"), origin.folder

    def work(bar: Bar) -> str:
        return workspace.line(workspace.label(folder, bar(name)), folder)

    return Step(
        "label", name, origin.told, {"samples": origin.file("samples")},
        (origin.file("targets"), origin.file("healthy")), work,
    )  # fmt: skip


def _annotate(opened: Opened, origin: Origin) -> Step:
    name, folder, wanted = origin.step("annotate"), origin.folder, origin.annotate
    files = {option: opened.at(path) for option, path in wanted.files.items()}
    given = {option: text(value) for option, value in wanted.options.items()}
    prompts = None if wanted.prompts is None else opened.at(wanted.prompts)
    job = annotating.Job(
        model=wanted.model,
        options=given | {option: str(path) for option, path in files.items()},
        rules=wanted.rules,
        prompts=prompts,
        cache=None if wanted.cache is None else opened.at(wanted.cache),
        allow_errors=wanted.allow_errors,
        engine=wanted.engine,
        workers=wanted.workers,
    )

    def work(bar: Bar) -> str:
        made = annotating.annotate(folder, job, bar(name))
        annotating.check(made, folder, job)
        return annotating.line(made, folder)

    inputs = {each: origin.file(each) for each in ("samples", "targets")}
    inputs |= {"release": origin.root} | {f"option {key}": path for key, path in files.items()}
    inputs |= {} if prompts is None else {"prompts": prompts}
    config = {**origin.told, "model": wanted.model, "its options": given, "rules": wanted.rules}
    return Step("annotate", name, config, inputs, (origin.file("annotations"),), work)


def _split(recipe: Recipe, wanted: Splits, found: Sequence[Origin]) -> Step:
    shares = wanted.shares or parting.Settings().shares
    settings = parting.Settings(
        radius=wanted.radius, flips=wanted.flips, seed=recipe.seed, shares=shares
    )
    folders = [each.folder for each in found]

    def work(bar: Bar) -> str:
        return parting.line(splitting.split(folders, settings, bar("split")))

    inputs = {each.step("samples"): each.file("samples") for each in found}
    inputs |= {each.step("release"): each.root for each in found}
    config = {"radius": wanted.radius, "flips": wanted.flips, "seed": recipe.seed,
              "shares": dict(shares)}  # fmt: skip
    outputs = tuple(folder / name for folder in folders for name in PLACED)
    return Step("split", "split", config, inputs, outputs, work)


def compose_items(recipe: Recipe, name: str, origin: Origin, places: Places) -> Step:
    """The items of a benchmark, of one source."""
    split, seed, items = recipe.freeze[name].split, recipe.seed, places.items(name)

    def work(bar: Bar) -> str:
        made = composing.compose_items(origin.folder, items, split, seed, bar(f"compose {name}"))
        return composing.composed_line(made, items)

    config = {**origin.told, "split": split, "seed": seed}
    outputs = (items, items.with_name(f"{items.stem}.drops.jsonl"))
    step = Step("compose", f"compose {name}", config, {}, outputs, work)
    return _composed(recipe, step, [origin])


def compose_training(recipe: Recipe, found: Sequence[Origin], places: Places) -> Iterator[Step]:
    """The training mixtures, each over all sources."""
    for name, wanted in recipe.compose.items():
        yield _mixture(recipe, (name, wanted), found, places)


def _mixture(
    recipe: Recipe, named: tuple[str, Compose], found: Sequence[Origin], places: Places
) -> Step:
    name, wanted = named
    told = {
        key: getattr(wanted, key)
        for key in ("candidates", "healthy", "wrong_target", "assume_absent", "space")
    }
    mix, out = composing.mixture(wanted.split, recipe.seed, told), places.training(name)

    def work(bar: Bar) -> str:
        folders = [each.folder for each in found]
        made = composing.compose_training(folders, out, mix, bar(f"compose {name}"))
        return composing.training_line(made, out)

    config = {"sources": [each.told for each in found], "split": wanted.split,
              "seed": recipe.seed, **told}  # fmt: skip
    step = Step("compose", f"compose {name}", config, {}, (out,), work)
    return _composed(recipe, step, found)


def _composed(recipe: Recipe, step: Step, found: Sequence[Origin]) -> Step:
    """The step with all that `compose` reads; splits that this recipe did not make are removed."""
    names = ["samples", "targets", "healthy", "annotations"]
    names += ["splits"] if recipe.split is not None else []
    inputs = {each.step(name): each.file(name) for each in found for name in names}
    inputs |= {each.step("release"): each.root for each in found}
    stale = tuple(each.folder / name for each in found for name in PLACED)
    return replace(
        step,
        config={**step.config, "grouped": recipe.split is not None},
        inputs=inputs,
        clears=() if recipe.split is not None else stale,
    )
