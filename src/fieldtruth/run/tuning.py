"""Train a model of photos and words as a recipe says: its table [sft], its files checked first.

    [sft]
    preset = "agroground"                  or plantxpert; what is set beside it stands over it
    base = "Qwen/Qwen3-VL-2B-Instruct"     a folder or a hub name
    train = ["../out/mixture"]             folders of `compose --training`
    val = ["../out/mixture-val"]
    out = "../out/sft"

Or make a small one from nothing first, and give it to [sft] as its base with rank = 0:

    [scratch]
    train = ["../out/mixture"]
    out = "../out/base"

Or go on from a fine-tuned model, paid for its answers:

    [grpo]
    base = "../out/sft-merged"
    train = ["../out/mixture"]
    val = ["../out/mixture-val"]
    out = "../out/grpo"
    mix = { wrong_target = 0.12 }

Every setting is described at `stages.sft.settings.Sft`, `stages.scratch.settings.Scratch` and
`stages.grpo.settings.Grpo`. Paths are relative to the recipe.
"""

import tomllib
from collections.abc import Callable, Sequence
from os.path import normpath
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec

from fieldtruth import store
from fieldtruth.faults import TooManyFailed, Usage
from fieldtruth.models.transformers.first_step import FirstStep
from fieldtruth.models.transformers.settings import Precision
from fieldtruth.records import Record
from fieldtruth.run import tables
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.stages import check, grpo, scratch, sft
from fieldtruth.stages import merge as merging
from fieldtruth.stages.grpo import Grpo
from fieldtruth.stages.scratch import Scratch

_OTHERS = {"rows": "train ablation", "ingest": "run", "sources": "run"}
_SHOWN = 3  # problems of a training file that are told
T = TypeVar("T")
Told = TypeVar("Told", sft.Sft, Grpo)


def read(path: Path, settings: Sequence[str] = ()) -> sft.Sft:
    """The [sft] of a recipe with some settings (`sft.rate=1e-5`) replaced, paths resolved.

    Raises `Usage` naming file and key for what is not TOML, not a setting or of another type.
    """
    table = sft.with_preset(_table(path, settings, "sft"))
    return _resolved(_as(sft.Sft, table, f"{path}: sft"), path)


def read_grpo(path: Path, settings: Sequence[str] = ()) -> Grpo:
    """The [grpo] of a recipe, likewise."""
    return _resolved(_as(Grpo, _table(path, settings, "grpo"), f"{path}: grpo"), path)


def read_scratch(path: Path, settings: Sequence[str] = ()) -> Scratch:
    """The [scratch] of a recipe, likewise."""
    found = _as(Scratch, _table(path, settings, "scratch"), f"{path}: scratch")
    at = _beside(path)
    return msgspec.structs.replace(found, out=at(found.out), train=tuple(map(at, found.train)))


def _table(path: Path, settings: Sequence[str], name: str) -> dict[str, Any]:
    _no_other(path, name)
    table = tables.read(path, settings, _Whole).get(name)
    if not isinstance(table, dict):
        raise Usage(f"{path}: expected a table [{name}], got none")
    return table


def _no_other(path: Path, name: str) -> None:
    """Raise `Usage` for a recipe that another command takes, by the tables that only those have."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):  # told where it is read
        return
    command = next((command for table, command in _OTHERS.items() if table in raw), None)
    if command is not None:
        raise Usage(
            f"{path}: expected a recipe of a training, with a table [{name}], got one for: "
            f"fieldtruth {command} {path}"
        )


def _as(kind: type[T], table: dict[str, Any], where: str) -> T:
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        what, _, key = str(error).partition(" - at `$")
        raise Usage(f"{where}{key.rstrip('`')}: {what[0].lower()}{what[1:]}") from None


def _resolved(told: Told, recipe: Path) -> Told:
    """With its paths from where one stands; a base that is no folder is the name of one."""
    at, base = _beside(recipe), told.base
    local = (recipe.parent / Path(base).expanduser()).is_dir()
    return msgspec.structs.replace(
        told,
        base=at(base) if local or base.startswith((".", "~")) else base,
        out=at(told.out),
        train=tuple(map(at, told.train)),
        val=tuple(map(at, told.val)),
        tests=tuple(map(at, told.tests)),
    )


def _beside(recipe: Path) -> Callable[[str], str]:
    """Paths of a recipe, from where one stands."""
    return lambda path: normpath(recipe.parent / Path(path).expanduser())


class _Preset(sft.Sft, frozen=True, kw_only=True):
    preset: str = "agroground"


class _Whole(Record, frozen=True, kw_only=True):
    """What a recipe of training may hold."""

    sft: _Preset | None = None
    scratch: Scratch | None = None
    grpo: Grpo | None = None


def train(
    settings: sft.Sft,
    track: Track = SILENT,
    tell: Callable[[str], None] | None = None,
    seen: FirstStep | None = None,
) -> sft.Trained:
    """Check every folder of examples, then fine-tune on them; `seen` looks on at each step.

    Raises `TooManyFailed` where an example would spoil the run, naming the first; and what
    `sft.train` raises.
    """
    _checked((*settings.train, *settings.val), settings.tests)
    return sft.train(settings, track, tell or (lambda _: None), seen)


def learn(
    settings: Grpo,
    track: Track = SILENT,
    tell: Callable[[str], None] | None = None,
    seen: FirstStep | None = None,
) -> grpo.Trained:
    """Check every folder of examples, then let a model answer them and learn from its rewards."""
    _checked((*settings.train, *settings.val), settings.tests)
    return grpo.train(settings, track, tell or (lambda _: None), seen)


def make(
    settings: Scratch, track: Track = SILENT, tell: Callable[[str], None] | None = None
) -> scratch.Made:
    """Check every folder of examples, then make a small model from nothing; raises likewise."""
    _checked(settings.train)
    return scratch.make(settings, track, tell or (lambda _: None))


def _checked(folders: Sequence[str], benchmarks: Sequence[str] = ()) -> None:
    tests = tuple(Path(each) for each in benchmarks)
    for folder in folders:
        if not Path(folder).is_file():  # the split test and a changed folder are refused
            store.open_examples(Path(folder))
        report = check.check(Path(folder), check.Settings(tests=tests))
        if report.problems:
            first = [
                f"row {each.row}: {each.problem}: {each.detail}"
                for each in report.problems[:_SHOWN]
            ]
            raise TooManyFailed(
                f"{folder}: expected examples without a problem, got {len(report.problems):,} "
                f"({'; '.join(first)}); see all with: fieldtruth check {folder}"
            )


def line(done: sft.Trained, settings: sft.Sft) -> str:
    """What a person reads when `train sft` ends."""
    return sft.line(done, settings.out)


def grpo_line(done: grpo.Trained, settings: Grpo) -> str:
    """What a person reads when `train grpo` ends."""
    return grpo.line(done, settings.out)


def scratch_line(made: scratch.Made, settings: Scratch) -> str:
    """What a person reads when `train scratch` ends."""
    return scratch.line(made, settings.out)


def merge(adapter: Path, out: Path, base: str | None, dtype: str) -> merging.Merged:
    """Merge LoRA weights into their base; see `stages.merge`."""
    said = next((each for each in get_args(Precision) if each == dtype), None)
    if said is None:
        raise Usage(f"--dtype: expected one of {', '.join(get_args(Precision))}, got {dtype!r}")
    return merging.merge(str(adapter), out, base, said)


def merged_line(made: merging.Merged, out: Path) -> str:
    """What a person reads when `train merge` ends."""
    return merging.line(made, out)
