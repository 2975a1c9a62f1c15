"""Train a model of photos and words as a recipe says: its table [sft], its files checked first.

    [sft]
    preset = "agroground"                  or plantxpert; what is set beside it stands over it
    base = "Qwen/Qwen3-VL-2B-Instruct"     a folder or a hub name
    train = ["../out/mixture"]             folders of `compose --training`
    val = ["../out/mixture-val"]
    out = "../out/sft"

Every setting is described at `stages.sft.settings.Sft`. Paths are relative to the recipe.
"""

import tomllib
from collections.abc import Callable, Sequence
from os.path import normpath
from pathlib import Path
from typing import Any, get_args

import msgspec

from fieldtruth import store
from fieldtruth.faults import TooManyFailed, Usage
from fieldtruth.models.transformers.settings import Precision
from fieldtruth.records import Record
from fieldtruth.run import tables
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.stages import check, sft
from fieldtruth.stages import merge as merging

_SHOWN = 3  # problems of a training file that are told


class _Recipe(Record, frozen=True, kw_only=True):
    sft: dict[str, Any]


def read(path: Path, settings: Sequence[str] = ()) -> sft.Sft:
    """The [sft] of a recipe with some settings (`sft.rate=1e-5`) replaced, paths resolved.

    Raises `Usage` naming file and key for what is not TOML, not a setting or of another type.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Usage(f"{path}: expected a recipe, got: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Usage(f"{path}: expected a recipe in TOML, got: {error}") from None
    for setting in settings:
        tables.put(raw, setting, _Whole)
    for trouble in tables.unknown(raw, _Whole):
        raise Usage(f"{path}: {trouble}")
    table = raw.get("sft")
    if not isinstance(table, dict):
        raise Usage(f"{path}: expected a table [sft], got none")
    try:
        found = msgspec.convert(sft.with_preset(table), sft.Sft)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        raise Usage(f"{path}: sft{where.rstrip('`')}: {what[0].lower()}{what[1:]}") from None
    return _resolved(found, path.parent)


class _Preset(sft.Sft, frozen=True, kw_only=True):
    preset: str = "agroground"


class _Whole(Record, frozen=True, kw_only=True):
    """What a recipe of training may hold."""

    sft: _Preset


def _resolved(found: sft.Sft, folder: Path) -> sft.Sft:
    def at(path: str) -> str:
        return normpath(folder / Path(path).expanduser())

    local = (folder / Path(found.base).expanduser()).is_dir() or found.base.startswith((".", "~"))
    return msgspec.structs.replace(
        found,
        base=at(found.base) if local else found.base,
        out=at(found.out),
        train=tuple(map(at, found.train)),
        val=tuple(map(at, found.val)),
        tests=tuple(map(at, found.tests)),
    )


def train(
    settings: sft.Sft, track: Track = SILENT, tell: Callable[[str], None] | None = None
) -> sft.Trained:
    """Check every folder of examples, then fine-tune on them.

    Raises `TooManyFailed` where an example would spoil the run, naming the first; and what
    `sft.train` raises.
    """
    tests = tuple(Path(each) for each in settings.tests)
    for folder in (*settings.train, *settings.val):
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
    return sft.train(settings, track, tell or (lambda _: None))


def line(done: sft.Trained, settings: sft.Sft) -> str:
    """What a person reads when `train sft` ends."""
    return sft.line(done, settings.out)


def merge(adapter: Path, out: Path, base: str | None, dtype: str) -> merging.Merged:
    """Merge LoRA weights into their base; see `stages.merge`."""
    said = next((each for each in get_args(Precision) if each == dtype), None)
    if said is None:
        raise Usage(f"--dtype: expected one of {', '.join(get_args(Precision))}, got {dtype!r}")
    return merging.merge(str(adapter), out, base, said)


def merged_line(made: merging.Merged, out: Path) -> str:
    """What a person reads when `train merge` ends."""
    return merging.line(made, out)
