"""The recipe of an ablation.

    name = "tiny"
    base = "../out/tiny-base/last"     what every row is trained from
    work = "../out/ablation"           checkpoints and replies, until a row is done
    out = "../ablation"                what is kept: replies, scores, the table
    [benchmarks.drawn]                 a frozen benchmark: its path and protocols, +CONTROL too
    [sft]                              the training of all rows, as `train sft` has it
    [ask]                              options of the model that is asked: max_pixels, batch
    [rows.mixed]                       a row: its examples, its seeds, the row it is held against

Paths are relative to the recipe. A row without examples is the base itself. What stands under
[rows.NAME.sft] or [rows.NAME.ask] stands over what all rows share.
"""

from collections.abc import Iterator, Mapping, Sequence
from os.path import normpath
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from fieldtruth.faults import Usage
from fieldtruth.grading import open_protocol
from fieldtruth.records import Record
from fieldtruth.run import tables
from fieldtruth.stages.sft import Sft, with_preset

Name = Annotated[str, Meta(pattern="^[A-Za-z0-9_][A-Za-z0-9_-]*$")]  # part of a folder's name
OURS = ("base", "train", "out", "seed")  # settings of `train sft` that the rows give


class Asked(Record, frozen=True, kw_only=True):
    """A frozen benchmark, and how it is asked about: PROTOCOL or PROTOCOL+CONTROL."""

    path: str
    protocols: tuple[str, ...]


class Row(Record, frozen=True, kw_only=True):
    """One line of the table. `note` says in a few words what it is.

    `train`: folders of `compose --training`; none for a model that is asked as it is. `base`
    stands in place of the recipe's. `versus` are the rows that it is compared with, seed by seed,
    or with their one seed. `model` is the backend that is asked, `files` its options that are
    paths: a model that is not trained here is a row too.
    """

    train: tuple[str, ...] = ()
    seeds: Annotated[tuple[int, ...], Meta(min_length=1)] = (0,)
    versus: tuple[Name, ...] = ()
    base: str | None = None
    sft: Mapping[str, Any] = {}
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

    def tuning(self, row: Row, seed: int, out: Path) -> Sft:
        """What `train sft` is told for a row."""
        given = with_preset({**self.ablation.sft, **row.sft})
        train = [str(self.at(each)) for each in row.train]
        given |= {"base": self.base(row), "train": train, "out": str(out), "seed": seed}
        for name in ("val", "tests"):
            given[name] = [str(self.at(each)) for each in given.get(name, ())]
        return msgspec.convert(given, Sft)


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
    for table, given in (("sft", ablation.sft), *(
        (f"rows.{name}.sft", row.sft) for name, row in ablation.rows.items()
    )):  # fmt: skip
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
    if row.model != "transformers":
        if row.train:
            yield f"rows.{name}.train: expected none, for {row.model} is not trained here"
        return
    if not opened.base(row):
        yield f"rows.{name}: expected `base`, of the recipe or of the row"
    if not row.train and len(row.seeds) > 1:
        yield f"rows.{name}.seeds: expected one, for nothing is trained; got {row.seeds}"
    try:
        opened.tuning(row, 0, Path()) if row.train else None
    except (msgspec.ValidationError, Usage) as error:
        yield f"rows.{name}.sft: {error}"
