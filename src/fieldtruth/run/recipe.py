"""A recipe: one TOML file that says what every stage of a run is to do.

    name = "mine"                      what benchmarks and pages are called
    seed = 7                           every draw is keyed by it
    out = "../out/mine"                the folder of everything that is made
    [draw]                             leaves to draw, or symptoms to draw on photos `onto`
    [ingest]                           the source and where its release lies
    [annotate]                         who draws the boxes
    [freeze.NAME]                      a benchmark: its split and version
    [train.NAME]                       a model fitted on a benchmark
    [predict]                          the benchmark that is asked about, under which protocols
    [models.NAME]                      a model that is asked
    [score]  [report]

Paths are relative to the recipe's folder. A key that is not known is refused, so that a slip of
the pen never becomes a default. `--set a.b=value` replaces one setting and is read as if it stood
in the file.
"""

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from os.path import normpath
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import inspect

from fieldtruth.faults import Usage
from fieldtruth.records import Record, Split

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
    """Who draws the boxes: `source` for the release's own."""

    model: str = "source"


class Freeze(Record, frozen=True, kw_only=True):
    """One benchmark: the photos of a split, composed and frozen."""

    split: Split
    version: str
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
    ingest: Ingest
    annotate: Annotate = Annotate()
    freeze: Mapping[Name, Freeze]
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
        _put(raw, setting)
    recipe = _converted(raw, path)
    for trouble in _troubles(recipe):
        raise Usage(f"{path}: {trouble}")
    return Opened(recipe, path.parent)


def _converted(raw: dict[str, Any], path: Path) -> Recipe:
    kind = inspect.type_info(Recipe)
    for trouble in _unknown(raw, kind, ()):
        raise Usage(f"{path}: {trouble}")
    try:
        return msgspec.convert(raw, Recipe)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        what = what.replace("Object missing required field", "expected the setting")
        key = where.rstrip("`").lstrip(".") or "the recipe"
        raise Usage(f"{path}: {key}: {what[0].lower()}{what[1:]}") from None


def _put(raw: dict[str, Any], setting: str) -> None:
    """Replace one setting in what the file says, as its type asks."""
    key, equals, value = setting.partition("=")
    try:
        nested = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        nested = {}
    if not equals or "\n" in key or not nested:
        raise Usage(f"--set: expected key=value with a key such as draw.leaves, got {setting!r}")
    steps: list[str] = []
    inner: Any = nested
    while isinstance(inner, dict):
        ((step, inner),) = inner.items()
        steps.append(step)
    kind: inspect.Type | None = inspect.type_info(Recipe)
    place = raw
    for number, step in enumerate(steps):
        fields, inner_kind = _inside(kind)
        if fields is None and inner_kind is None:
            raise Usage(f"--set {setting}: {'.'.join(steps[:number])} is no table of settings")
        if fields is not None and step not in fields:
            raise Usage(f"--set: {_no_such(steps[:number], step, list(fields))}")
        kind = fields[step] if fields is not None else inner_kind
        if number + 1 < len(steps):
            place = place.setdefault(step, {})
            if not isinstance(place, dict):
                raise Usage(f"--set {setting}: {'.'.join(steps[: number + 1])} is no table")
    place[steps[-1]] = _typed(value, kind, setting)


def _typed(value: str, kind: inspect.Type | None, setting: str) -> object:
    """The words after `=` as what the setting is: text as it stands, a list parted by commas."""
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    if any(isinstance(each, inspect.StrType | inspect.LiteralType) for each in kinds):
        return value
    if any(isinstance(each, inspect.VarTupleType) for each in kinds):
        return [part.strip() for part in value.split(",") if part.strip()]
    targets: dict[type, type] = {
        inspect.IntType: int, inspect.FloatType: float, inspect.BoolType: bool,
    }  # fmt: skip
    for each in kinds:
        if type(each) in targets:
            wanted = targets[type(each)]
            try:
                return msgspec.convert(value, wanted, strict=False)
            except msgspec.ValidationError:
                told = {int: "a whole number", float: "a number", bool: "true or false"}[wanted]
                raise Usage(f"--set {setting}: expected {told}, got {value!r}") from None
    raise Usage(f"--set {setting}: this is a table of settings; set one in it")


def _unknown(raw: object, kind: inspect.Type | None, where: Sequence[str]) -> Iterator[str]:
    """Every key that is no setting, with the settings there are."""
    fields, inner = _inside(kind)
    if not isinstance(raw, Mapping) or (fields is None and inner is None):
        return
    for key, value in raw.items():
        if fields is not None and key not in fields:
            yield _no_such(where, key, list(fields))
        else:
            yield from _unknown(value, fields[key] if fields is not None else inner, (*where, key))


def _inside(
    kind: inspect.Type | None,
) -> tuple[dict[str, inspect.Type] | None, inspect.Type | None]:
    """The settings of a table by name, or the one kind that all its values have, or neither."""
    for each in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if isinstance(each, inspect.StructType):
            return {field.name: field.type for field in each.fields}, None
        if isinstance(each, inspect.DictType):
            return None, each.value_type
    return None, None


def _no_such(where: Sequence[str], key: str, known: Sequence[str]) -> str:
    table = f"[{'.'.join(where)}]" if where else "the recipe"
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{table} has no setting {key!r}{hint}; it has: {', '.join(known)}"


def _troubles(recipe: Recipe) -> Iterator[str]:
    """What types cannot say: names that must be there, and shares."""
    for table in ("freeze", "train", "models"):
        for name in getattr(recipe, table):
            if not name or name.startswith(".") or set(name) - _LETTERS:
                yield f"[{table}.{name}]: expected a name of letters, digits and -_.@, got {name!r}"
    if (recipe.draw is None) == (recipe.ingest.path is None):
        yield "expected either [draw] or ingest.path, so that the photos come from one place"
    if not recipe.freeze:
        yield "expected at least one [freeze.NAME], got none"
    if recipe.predict is None and (recipe.score or recipe.models):
        yield "expected [predict], which [models] and [score] need"
    if recipe.report is not None and recipe.score is None:
        yield "expected [score], which [report] needs"
    yield from _names(recipe)
    shares = {f"models.{name}.allow_errors": m.allow_errors for name, m in recipe.models.items()}
    shares |= {f"models.{n}.script.dies_at": m.script.dies_at
               for n, m in recipe.models.items() if m.script}  # fmt: skip
    shares |= {"score.allow_missing": recipe.score.allow_missing} if recipe.score else {}
    for key, share in shares.items():
        if not 0 <= share <= 1:  # false for NaN as well
            yield f"{key}: expected a share from 0 to 1, got {share}"


def _names(recipe: Recipe) -> Iterator[str]:
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
