"""Export: a frozen benchmark, or a folder of training examples, in a format of other tools.

benchmarks  items or questions, whole or a folder for each licence
training    examples for a trainer, with the photos that may be handed on
spaces      examples asked and answered in another box space
licences    rows told apart by the licence they are given out under
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from fieldtruth import formats, store
from fieldtruth.faults import Usage
from fieldtruth.formats.contract import Exported, Exporter, Trainer
from fieldtruth.records import Space
from fieldtruth.rooms import names, open_room
from fieldtruth.stages.export import benchmarks, training
from fieldtruth.store.examples import EXAMPLES, open_examples

__all__ = ["Options", "export", "line"]

Job = Callable[[Path], Exported]  # writes all of it into an empty folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to export.

    `fetched`: photos that may not be handed on go along where they are here; keep such an export
    to yourself. `by_licence`: a folder for each licence, with an index. Of examples only: `space`,
    another box space to ask and answer in; `images`, the folder of the photos of all sources.
    """

    fetched: bool = False
    by_licence: bool = False
    space: str | None = None
    images: Path | None = None


def export(name: str, source: Path, out: Path, options: Options | None = None) -> Exported:
    """Write a benchmark or a folder of examples to `out`, a new or empty folder.

    The folder appears whole or not at all. Raises `Refused` when the source does not verify, or
    is a test split and the format a trainer's; `Usage` for a format that does not take it or when
    `out` holds files.
    """
    how, name, out = options or Options(), name.lower().replace("-", "_"), out.resolve()
    module = open_room(formats, name)
    write = _of_examples if (source / EXAMPLES).is_file() else _of_benchmark
    job = write(module, name, source, how)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    if out.is_relative_to(source.resolve()):
        raise Usage(
            f"{out}: expected a place outside the benchmark or examples {source}; name another"
        )
    with store.drafting(out) as part:
        made = job(part)
        store.publish(part, out)
    return made


def line(made: Exported, out: Path) -> str:
    """What was written, in one line for people."""
    apart = f", {made.absent} left out (kept by reference only)" if made.absent else ""
    parted = f", in {len(made.licences)} folders by licence" if made.licences else ""
    return f"{made.rows} rows with {made.photos} photos{apart}{parted}: {out}"


def _of_benchmark(module: ModuleType, name: str, source: Path, how: Options) -> Job:
    if not hasattr(module, "EXPORT") and not (source / store.MANIFEST).is_file():
        raise Usage(
            f"{source}: expected a folder with {EXAMPLES}, as `compose --training` makes it, got "
            "none there"
        )
    write: Exporter = _offered(module, name, "EXPORT", "benchmarks")
    if how.space is not None or how.images is not None:
        raise Usage(f"--space, --images: expected a folder of examples, got {source}")
    inside = getattr(module, "PHOTOS_INSIDE", False)
    job = benchmarks.Job(write, store.open_bench(source), how.fetched, inside)
    return partial(benchmarks.write, job, by_licence=how.by_licence)


def _of_examples(module: ModuleType, name: str, source: Path, how: Options) -> Job:
    trainer: Trainer = _offered(module, name, "TRAINING", "examples")
    space = next((each for each in get_args(Space) if each == how.space), None)
    if space != how.space:
        known = ", ".join(get_args(Space))
        raise Usage(f"--space: expected one of {known}, got {how.space!r}")
    examples = open_examples(source, how.images)
    job = training.Job(name, trainer, examples, space, how.fetched)
    return partial(training.write, job, by_licence=how.by_licence)


def _offered(module: ModuleType, name: str, what: str, whose: str) -> Any:
    found = getattr(module, what, None)
    if found is None:
        able = [each for each in names(formats) if hasattr(open_room(formats, each), what)]
        raise Usage(f"{name}: expected a format that {whose} are exported to ({', '.join(able)})")
    return found
