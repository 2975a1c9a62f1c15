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
    [scrub]  [facts]  [questions]      in place of the last four, for a source of dialogues
    [papers]  [evidence]  [questions]  in place of all of these, for a folder of papers
    [freeze.NAME]                      a benchmark: its split and version
    [train.NAME]                       a model fitted on a benchmark
    [predict]                          the benchmark that is asked about, under which protocols
    [models.NAME]                      a model that is asked
    [score]  [report]

Paths are relative to the recipe's folder. A key that is not known is refused, so that a slip of
the pen never becomes a default. `--set a.b=value` replaces one setting and is read as if it stood
in the file.
"""

from collections.abc import Mapping, Sequence
from os.path import normpath
from pathlib import Path
from typing import Literal, NamedTuple

from fieldtruth.box_rules import Name as Rules
from fieldtruth.faults import Usage
from fieldtruth.records import Record, Space, Split
from fieldtruth.run import tables, troubles
from fieldtruth.run.spread import Engine
from fieldtruth.sources.drawn.planning import AS_EVER, New

Name = str  # of a benchmark or model: part of a file's name


class Draw(Record, frozen=True, kw_only=True):
    """Leaves to draw; with `onto`, symptoms on the photos of real leaves in that folder.

    `test` is the share of leaves that are the test split, `new` what it has of its own, `size` the
    side of square photos; see `sources.drawn.planning.Look`.
    """

    leaves: int = 240
    onto: str | None = None
    test: float = 0.3
    size: int | None = None
    new: tuple[New, ...] = AS_EVER.new


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


class Scrub(Record, frozen=True, kw_only=True):
    """Personal data out of dialogues; see `fieldtruth scrub --help`.

    `because` says why names of people need not be looked for, where nobody is there to do it.
    """

    names: Literal["auto", "presidio", "rules"] = "auto"
    faces: bool = False
    because: str | None = None


class Facts(Record, frozen=True, kw_only=True):
    """Who reads the dialogues: `rules`, or a model; see `fieldtruth facts --help`."""

    model: str = "rules"
    options: Mapping[str, str | int | float | bool] = {}
    cache: str | None = None  # a folder of replies; beside the source's files if not given
    allow_errors: float = 0.0


class Papers(Record, frozen=True, kw_only=True):
    """A folder of PDFs, and which of them are taken; see `fieldtruth screen --help`.

    `references` are exports of searches; `dpi` is that of the figures.
    """

    path: str
    references: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    crops: tuple[str, ...] = ()
    any_kind: bool = False
    licence: str = "unknown"
    dpi: float = 200.0


class Evidence(Record, frozen=True, kw_only=True):
    """Who looks for what papers say of their figures; see `fieldtruth evidence --help`."""

    model: str = "rules"
    options: Mapping[str, str | int | float | bool] = {}
    cache: str | None = None  # a folder of replies; beside what is made if not given
    allow_errors: float = 0.0


class Questions(Record, frozen=True, kw_only=True):
    """How questions are made of facts or figures; see `fieldtruth questions --help`.

    `model` writes wrong answers, or all questions of figures, where it is not `rules`. `choices`:
    how many options; of several numbers each can be frozen.
    """

    want: int | None = None
    per_group: int | None = None  # one of a conversation, eight of a figure
    faces: bool = False
    choices: tuple[int, ...] = (4,)
    model: str = "rules"
    options: Mapping[str, str | int | float | bool] = {}
    cache: str | None = None
    allow_errors: float = 0.0


class Freeze(Record, frozen=True, kw_only=True):
    """One benchmark: the photos of a split, composed and frozen.

    They lie in one place: where there are several sources, `source` says which of them. Of
    [questions] it is those with so many `choices`, the first number if not given.
    """

    split: Split
    version: str
    source: Name | None = None
    choices: int | None = None
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
    """A server that gives the right answer, to the first so many of the items, and then dies.

    Of questions alone is `says`: the words that it answers all of them with instead.
    """

    dies_at: float = 1.0  # as a share of the items
    says: str | None = None


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
    runs: int = 1  # how often each model is asked; of questions alone
    context: str | None = None  # what is told with a question; see `fieldtruth predict --help`


class Score(Record, frozen=True, kw_only=True):
    """How the replies are scored; see `fieldtruth score --help`."""

    allow_missing: float = 0.0
    unit: Literal["group", "image"] = "group"
    matching: Literal["greedy", "hungarian", "maximum"] = "greedy"
    pairs: tuple[str, ...] = ()  # BASE=TUNED, of questions alone


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
    scrub: Scrub = Scrub()  # of dialogues
    facts: Facts | None = None
    papers: Papers | None = None
    evidence: Evidence = Evidence()  # of papers' figures
    questions: Questions | None = None
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
    recipe = tables.converted(tables.read(path, settings, Recipe), Recipe, path)
    for trouble in troubles.all_of(recipe):
        raise Usage(f"{path}: {trouble}")
    return Opened(recipe, path.parent)
