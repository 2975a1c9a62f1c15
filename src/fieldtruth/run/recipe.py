"""A recipe: one TOML file that says what every stage of a run is to do.

    name = "mine"                      what benchmarks and pages are called
    seed = 7                           every draw is keyed by it
    out = "../out/mine"                the folder of everything that is made
    [draw]                             leaves to draw, or symptoms to draw on photos `onto`
    [ingest]                           the source and where its release lies; or, for several,
    [sources.NAME]                     the same for each of them
    [annotate]                         who draws the boxes, where a source does not say
    [split]                            the photos of all sources into train, val and test together
    [compose.NAME]                     a training mixture over all sources
    [freeze.NAME]                      a benchmark: its split and version
    [train.NAME]                       a model fitted on a benchmark
    [predict]                          the benchmark that is asked about, under which protocols
    [models.NAME]                      a model that is asked
    [score]  [report]

Paths are relative to the recipe's folder. A key that is not known is refused, so that a slip of
the pen never becomes a default. `--set a.b=value` replaces one setting and is read as if it stood
in the file.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from os.path import normpath
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from fieldtruth.faults import Usage
from fieldtruth.records import Record, Space, Split
from fieldtruth.run import tables
from fieldtruth.run.spread import Engine
from fieldtruth.stages.annotate.rules import Name as Rules

Name = str  # of a benchmark or model: part of a file's name
_LETTERS = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@")


class Draw(Record, frozen=True, kw_only=True):
    """Leaves to draw; with `onto`, symptoms on the photos of real leaves in that folder."""

    leaves: int = 240
    onto: str | None = None


class Ingest(Record, frozen=True, kw_only=True):
    """Which source, and where its release lies; no path where [draw] makes it."""

    source: str
    path: str | None = None
    options: Mapping[str, str] = {}


class Annotate(Record, frozen=True, kw_only=True):
    """Who draws the boxes: `source` for the release's own, or a model; see `annotate --help`.

    The `files` are options of the model that are paths; what is in them counts as an input, and so
    do `prompts`. `engine` and `workers` change no byte of what comes out.
    """

    model: str = "source"
    options: Mapping[str, str | int | float | bool] = {}
    files: Mapping[str, str] = {}
    rules: Rules = "published"
    prompts: str | None = None
    cache: str | None = None  # a folder of replies; beside the source's files if not given
    allow_errors: float = 0.0
    engine: Engine = "local"
    workers: int | None = None


class Source(Record, frozen=True, kw_only=True):
    """One of several sources; `source` is the table's name if not given.

    One that is `optional` is left out, and said to be, where its release is not there. `annotate`
    stands in place of the recipe's own.
    """

    path: str
    source: str | None = None
    options: Mapping[str, str] = {}
    annotate: Annotate | None = None
    optional: bool = False


class Splits(Record, frozen=True, kw_only=True):
    """How photos are put into groups and splits; see `fieldtruth split --help`."""

    radius: int = 6
    flips: bool = False
    shares: Mapping[Split, float] = {}  # as the command has them if none are given


class Compose(Record, frozen=True, kw_only=True):
    """One training mixture; what is not given is as `fieldtruth compose --training` has it."""

    split: Literal["train", "val"] = "train"
    candidates: float | None = None
    healthy: float | None = None
    wrong_target: float | None = None
    assume_absent: bool | None = None
    space: Space | None = None


class Freeze(Record, frozen=True, kw_only=True):
    """One benchmark: the photos of a split, composed and frozen.

    They lie in one place: where there are several sources, `source` says which of them.
    """

    split: Split
    version: str
    source: Name | None = None
    name: str | None = None  # RECIPE-KEY if not given
    published: str | None = None
    creator: str | None = None
    url: str | None = None
    cite: str | None = None


class Train(Record, frozen=True, kw_only=True):
    """A model of this tool fitted on a benchmark."""

    on: Name
    also: str | None = None  # a frozen training benchmark besides: its folder
    model: Literal["colour"] = "colour"


class Script(Record, frozen=True, kw_only=True):
    """A server that gives the right answer, to the first so many of the items, and then dies."""

    dies_at: float = 1.0  # as a share of the items


class Model(Record, frozen=True, kw_only=True):
    """A model that is asked; its replies are filed under the table's name.

    Options may also come from what the recipe made: `fitted` names a [train] table, `majority_of`
    a benchmark whose commonest label becomes `label`, `script` a table of right answers. The
    `files` are options that are paths; what is in them counts as an input.
    """

    backend: str
    options: Mapping[str, str | int | float | bool] = {}
    files: Mapping[str, str] = {}
    fitted: Name | None = None
    majority_of: Name | None = None
    script: Script | None = None
    allow_errors: float = 0.0  # share of failed calls that still counts as done


class Predict(Record, frozen=True, kw_only=True):
    """The benchmark that all models are asked about, under which protocols.

    `cache` is a folder of replies: what is in it is not asked again, even where a change makes
    the stage run anew. Give one wherever a reply costs something.
    """

    benchmark: Name
    protocols: tuple[str, ...]
    skip_unsuited: bool = False  # leave out a protocol that can ask about no item, instead of fail
    cache: str | None = None


class Score(Record, frozen=True, kw_only=True):
    """How the replies are scored; see `fieldtruth score --help`."""

    allow_missing: float = 0.0
    unit: Literal["group", "image"] = "group"
    matching: Literal["greedy", "hungarian", "maximum"] = "greedy"


class Report(Record, frozen=True, kw_only=True):
    """The page; `note` is what a reader must know about the truth."""

    note: str | None = None


class Recipe(Record, frozen=True, kw_only=True):
    """Every setting of a run."""

    name: str
    out: str
    seed: int = 0
    draw: Draw | None = None
    ingest: Ingest | None = None
    sources: Mapping[Name, Source] = {}
    annotate: Annotate = Annotate()
    split: Splits | None = None
    compose: Mapping[Name, Compose] = {}
    freeze: Mapping[Name, Freeze] = {}
    train: Mapping[Name, Train] = {}
    predict: Predict | None = None
    models: Mapping[Name, Model] = {}
    score: Score | None = None
    report: Report | None = None


class Opened(NamedTuple):
    """A recipe and the folder that its paths are relative to."""

    recipe: Recipe
    folder: Path

    def at(self, path: str) -> Path:
        """Where a path of the recipe lies, without the `..` that would stand in every message."""
        return Path(normpath(self.folder / path))


def read(path: Path, settings: Sequence[str] = ()) -> Opened:
    """The recipe in a file with some settings (`a.b=value`) replaced.

    Raises `Usage` naming file and key for what is not TOML, not a setting, of another type, or
    names something that the recipe does not have.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Usage(f"{path}: expected a recipe, got: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Usage(f"{path}: expected a recipe in TOML, got: {error}") from None
    for setting in settings:
        tables.put(raw, setting, Recipe)
    recipe = _converted(raw, path)
    for trouble in _troubles(recipe):
        raise Usage(f"{path}: {trouble}")
    return Opened(recipe, path.parent)


def _converted(raw: dict[str, Any], path: Path) -> Recipe:
    for trouble in tables.unknown(raw, Recipe):
        raise Usage(f"{path}: {trouble}")
    try:
        return msgspec.convert(raw, Recipe)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        what = what.replace("Object missing required field", "expected the setting")
        key = where.rstrip("`").lstrip(".") or "the recipe"
        raise Usage(f"{path}: {key}: {what[0].lower()}{what[1:]}") from None


def _troubles(recipe: Recipe) -> Iterator[str]:
    """What types cannot say: names that must be there, and shares."""
    for table in ("sources", "compose", "freeze", "train", "models"):
        for name in getattr(recipe, table):
            if not name or name.startswith(".") or set(name) - _LETTERS:
                yield f"[{table}.{name}]: expected a name of letters, digits and -_.@, got {name!r}"
    yield from _origins(recipe)
    if recipe.predict is None and (recipe.score or recipe.models):
        yield "expected [predict], which [models] and [score] need"
    if recipe.report is not None and recipe.score is None:
        yield "expected [score], which [report] needs"
    yield from _names(recipe)
    for key, share in _shares(recipe):
        if not 0 <= share <= 1:  # false for NaN as well
            yield f"{key}: expected a share from 0 to 1, got {share}"


def _origins(recipe: Recipe) -> Iterator[str]:
    """Where the photos come from, and that something is made of them."""
    if (recipe.ingest is None) == (not recipe.sources):
        yield "expected either [ingest] or [sources.NAME], got both or neither"
    elif recipe.ingest is None and recipe.draw is not None:
        yield "[draw]: expected [ingest] beside it, whose photos it draws; got [sources.NAME]"
    elif recipe.ingest is not None and (recipe.draw is None) == (recipe.ingest.path is None):
        yield "expected either [draw] or ingest.path, so that the photos come from one place"
    if not recipe.freeze and not recipe.compose:
        yield "expected at least one [freeze.NAME] or [compose.NAME], got none"
    both = sorted(set(recipe.freeze) & set(recipe.compose))
    if both:
        yield f"[compose.{both[0]}]: expected a name of its own, got that of a [freeze.NAME]"
    for name, bench in recipe.freeze.items():
        if bench.source is None and len(recipe.sources) > 1:
            yield f"freeze.{name}.source: expected which of the [sources.NAME], got none"
    yield from _doubled(recipe)


def _doubled(recipe: Recipe) -> Iterator[str]:
    """Two tables of one dataset, whose photos could not be told apart."""
    first: dict[str, Name] = {}
    for name, each in recipe.sources.items():
        other = first.setdefault(each.source or name, name)
        if other != name:
            yield (
                f"[sources.{name}]: expected a source of its own, got the one of "
                f"[sources.{other}]; put the photos of both under one folder"
            )


def _shares(recipe: Recipe) -> Iterator[tuple[str, float]]:
    """Every setting that is a share."""
    yield "annotate.allow_errors", recipe.annotate.allow_errors
    for name, source in recipe.sources.items():
        if source.annotate is not None:
            yield f"sources.{name}.annotate.allow_errors", source.annotate.allow_errors
    for name, mixture in recipe.compose.items():
        for key in ("candidates", "healthy", "wrong_target"):
            yield f"compose.{name}.{key}", getattr(mixture, key) or 0
    for name, model in recipe.models.items():
        yield f"models.{name}.allow_errors", model.allow_errors
        if model.script is not None:
            yield f"models.{name}.script.dies_at", model.script.dies_at
    if recipe.score is not None:
        yield "score.allow_missing", recipe.score.allow_missing


def _names(recipe: Recipe) -> Iterator[str]:
    """A table of this recipe that another one names, and that has to be there."""
    named = {f"train.{name}.on": (each.on, "freeze") for name, each in recipe.train.items()}
    if recipe.predict is not None:
        named["predict.benchmark"] = (recipe.predict.benchmark, "freeze")
        if not recipe.predict.protocols:
            yield "predict.protocols: expected at least one, got none"
        if not recipe.models:
            yield "expected at least one [models.NAME] to ask, got none"
    for name, model in recipe.models.items():
        yield from _twice(name, model)
        if model.fitted is not None:
            named[f"models.{name}.fitted"] = (model.fitted, "train")
        if model.majority_of is not None:
            named[f"models.{name}.majority_of"] = (model.majority_of, "freeze")
    named |= {
        f"freeze.{name}.source": (bench.source, "sources")
        for name, bench in recipe.freeze.items()
        if bench.source is not None
    }
    for key, (name, table) in named.items():
        if name not in getattr(recipe, table):
            has = ", ".join(getattr(recipe, table)) or "none"
            yield f"{key}: expected a [{table}.NAME] of this recipe ({has}), got {name!r}"


def _twice(name: str, model: Model) -> Iterator[str]:
    """An option that more than one setting of a model gives."""
    made = {
        "files": set(model.files),
        "fitted": {"fitted"} if model.fitted is not None else set(),
        "majority_of": {"label"} if model.majority_of is not None else set(),
        "script": {"table", "space"} if model.script is not None else set(),
    }
    given = set(model.options)
    for setting, options in made.items():
        for option in sorted(given & options):
            yield f"models.{name}.{setting}: the option {option!r} is given twice"
        given |= options
