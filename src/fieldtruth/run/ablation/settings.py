"""The recipe of an ablation.

    name = "tiny"
    base = "../out/tiny-base/last"     what every row is trained from
    work = "../out/ablation"           checkpoints and replies, until a row is done
    out = "../ablation"                what is kept: replies, scores, the table
    [benchmarks.drawn]                 a frozen benchmark: its path and protocols, +CONTROL too
    [sft]                              the training of all rows, as `train sft` has it
    [grpo]                             what rows that are paid for answers share (`train grpo`)
    [ask]                              options of the model that is asked: max_pixels, batch
    [rows.mixed]                       a row: its examples, its seeds, the row it is held against

Paths are relative to the recipe. A row without examples is the base itself, or the row that it
comes after. What stands under [rows.NAME.sft], [rows.NAME.grpo] or [rows.NAME.ask] stands over what
all rows share; a row with a table [rows.NAME.grpo], be it an empty one, is trained by `train grpo`.
"""

from collections.abc import Iterator, Mapping, Sequence
from os.path import normpath
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from fieldtruth.faults import Usage
from fieldtruth.grading import open_protocol
from fieldtruth.records import Record
from fieldtruth.run import tables
from fieldtruth.stages.grpo import Grpo
from fieldtruth.stages.sft import Sft, with_preset

Name = Annotated[str, Meta(pattern="^[A-Za-z0-9_][A-Za-z0-9_-]*$")]  # part of a folder's name
OURS = ("base", "train", "out", "seed")  # settings of the training that the rows give


class Asked(Record, frozen=True, kw_only=True):
    """A frozen benchmark, and how it is asked about: PROTOCOL or PROTOCOL+CONTROL."""

    path: str
    protocols: tuple[str, ...]


class Row(Record, frozen=True, kw_only=True):
    """One line of the table. `note` says in a few words what it is.

    `train`: folders of `compose --training`; none for a model that is asked as it is. `base`
    stands in place of the recipe's; `after` is a row whose weights stand there, those of the same
    seed or of its only one: its best checkpoint or its last, as `which` says. `versus` are the rows
    that it is compared with, seed by seed, or with their one seed. `model` is the backend that is
    asked, `files` its options that are paths: a model that is not trained here is a row too.
    """

    train: tuple[str, ...] = ()
    seeds: Annotated[tuple[int, ...], Meta(min_length=1)] = (0,)
    versus: tuple[Name, ...] = ()
    base: str | None = None
    after: Name | None = None
    which: Literal["best", "last"] = "best"
    sft: Mapping[str, Any] = {}
    grpo: Mapping[str, Any] | None = None
    ask: Mapping[str, str | int | float | bool] = {}
    model: str = "transformers"
    files: Mapping[str, str] = {}
    note: str = ""


class Ablation(Record, frozen=True, kw_only=True):
    """All rows. `seed` keys what a control draws; a row's own seeds key its training."""

    name: Name
    out: str
    work: str
    benchmarks: Annotated[Mapping[Name, Asked], Meta(min_length=1)]
    rows: Annotated[Mapping[Name, Row], Meta(min_length=1)]
    base: str | None = None
    seed: int = 0
    sft: Mapping[str, Any] = {}
    grpo: Mapping[str, Any] = {}
    ask: Mapping[str, str | int | float | bool] = {}
    note: str = ""


class Opened(NamedTuple):
    """A recipe and the folder that its paths are relative to."""

    ablation: Ablation
    folder: Path

    def at(self, path: str) -> Path:
        """Where a path of the recipe lies."""
        return Path(normpath(self.folder / Path(path).expanduser()))

    @property
    def out(self) -> Path:
        """The folder of what is kept."""
        return self.at(self.ablation.out)

    def base(self, row: Row) -> str:
        """The base of a row: a folder, or the hub name that it is; "" where there is none."""
        said = row.base or self.ablation.base or ""
        if not said:
            return ""
        local = self.at(said).exists() or said.startswith((".", "~", "/"))
        return str(self.at(said)) if local else said

    def tuning(self, row: Row, seed: int, out: Path, base: str | None = None) -> Sft:
        """What `train sft` is told for a row."""
        given = with_preset({**self.ablation.sft, **row.sft})
        return msgspec.convert(self._placed(given, row, (seed, out, base)), Sft)

    def learning(self, row: Row, seed: int, out: Path, base: str | None = None) -> Grpo:
        """What `train grpo` is told for a row."""
        given = {**self.ablation.grpo, **(row.grpo or {})}
        return msgspec.convert(self._placed(given, row, (seed, out, base)), Grpo)

    def _placed(
        self, given: Mapping[str, Any], row: Row, own: tuple[int, Path, str | None]
    ) -> dict[str, Any]:
        seed, out, base = own
        base = self.base(row) if base is None else base
        paths = {
            name: [str(self.at(each)) for each in given.get(name, ())] for name in ("val", "tests")
        }
        train = [str(self.at(each)) for each in row.train]
        return {**given, **paths, "base": base, "train": train, "out": str(out), "seed": seed}

    def parent(self, row: Row, seed: int) -> tuple[str, Row, int] | None:
        """The row that one comes after, with its seed; None where it begins with a base."""
        if row.after is None:
            return None
        parent = self.ablation.rows[row.after]
        return row.after, parent, seed if seed in parent.seeds else parent.seeds[0]


def runs(ablation: Ablation) -> list[tuple[str, Row, int]]:
    """Every row with every seed, the first seed of all rows before the second of any."""
    most = max(len(row.seeds) for row in ablation.rows.values())
    return [
        (name, row, row.seeds[turn])
        for turn in range(most)
        for name, row in ablation.rows.items()
        if turn < len(row.seeds)
    ]


def read(path: Path, settings: Sequence[str] = ()) -> Opened:
    """The ablation in a file with some settings (`a.b=value`) replaced.

    Raises `Usage` naming file and key for what is not TOML, not a setting, of another type, or
    names something that the recipe does not have.
    """
    raw = tables.read(path, settings, Ablation)
    opened = Opened(tables.converted(raw, Ablation, path), path.parent)
    for trouble in _troubles(opened):
        raise Usage(f"{path}: {trouble}")
    return opened


def _troubles(opened: Opened) -> Iterator[str]:
    """What types cannot say."""
    ablation = opened.ablation
    for name, bench in ablation.benchmarks.items():
        for protocol in bench.protocols:
            open_protocol(protocol)
        if not bench.protocols:
            yield f"benchmarks.{name}.protocols: expected at least one, got none"
    tables = [("sft", ablation.sft), ("grpo", ablation.grpo)]
    for name, row in ablation.rows.items():
        tables += [(f"rows.{name}.sft", row.sft), (f"rows.{name}.grpo", row.grpo or {})]
        if row.sft and row.grpo is not None:
            yield f"rows.{name}.sft: expected it of a row without a table grpo, which trains it"
    for table, given in tables:
        for key in OURS:
            if key in given:
                yield f"{table}.{key}: expected it of the rows, not here"
    for name, row in ablation.rows.items():
        yield from _row_troubles(opened, name, row)


def _row_troubles(opened: Opened, name: str, row: Row) -> Iterator[str]:
    rows = opened.ablation.rows
    for versus in row.versus:
        if versus not in rows or versus == name:
            yield f"rows.{name}.versus: expected another row ({', '.join(rows)}), got {versus!r}"
        elif len(rows[versus].seeds) > 1 and not set(row.seeds) <= set(rows[versus].seeds):
            yield f"rows.{name}.seeds: expected seeds of {versus}, {rows[versus].seeds}"
    if len(set(row.seeds)) < len(row.seeds):
        yield f"rows.{name}.seeds: expected each once, got {row.seeds}"
    if row.model == "transformers":
        yield from _training_troubles(opened, name, row)
        return
    given = {"train": row.train, "after": row.after, "sft": row.sft, "grpo": row.grpo is not None}
    for table, there in given.items():
        if there:
            yield f"rows.{name}.{table}: expected none, for {row.model} is not trained here"


def _training_troubles(opened: Opened, name: str, row: Row) -> Iterator[str]:
    """What is wrong with a row that is trained here, or asked as it is."""
    yield from _lineage_troubles(opened, name, row)
    if not row.train and (row.sft or row.grpo is not None):
        yield f"rows.{name}.train: expected examples, for it says how it is trained; got none"
    if not row.train and len(row.seeds) > 1 and row.after is None:
        yield f"rows.{name}.seeds: expected one, for nothing is trained; got {row.seeds}"
    if not row.train:
        return
    told, make = ("sft", opened.tuning) if row.grpo is None else ("grpo", opened.learning)
    try:
        make(row, 0, Path())
    except (msgspec.ValidationError, Usage) as error:
        yield f"rows.{name}.{told}: {error}"


def _lineage_troubles(opened: Opened, name: str, row: Row) -> Iterator[str]:
    """What is wrong with the weights that a row begins with."""
    rows, seen, each = opened.ablation.rows, [name], row
    while each.after is not None:
        parent = rows.get(each.after)
        if parent is None or each.after in seen or not parent.train or each.base is not None:
            yield (
                f"rows.{seen[-1]}.after: expected a row that is trained and comes before it, and "
                f"no base beside it, got {each.after!r}"
            )
            return
        seen.append(each.after)
        each = parent
    if row.after is not None:
        seeds = rows[row.after].seeds
        if len(seeds) > 1 and not set(row.seeds) <= set(seeds):
            yield f"rows.{name}.seeds: expected seeds of {row.after}, {seeds}"
    if not opened.base(each):
        yield f"rows.{name}: expected `base`, of the recipe or of the row"
    if row.after is None and row.which != "best":
        yield f"rows.{name}.which: expected `after` beside it, got none"
