"""Export: a benchmark, training examples or training questions, in a format of other tools.

benchmarks  items or questions, whole or a folder for each licence
training    examples for a trainer, with the photos that may be handed on
questions   questions for a trainer: photo, question, options, reply, and nothing else
run_config  the settings of a run of LLaMA-Factory over such a folder
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
from fieldtruth.formats.contract import Exported, Exporter, QuestionTrainer, Trainer
from fieldtruth.records import Space
from fieldtruth.rooms import names, open_room
from fieldtruth.stages.export import benchmarks, questions, run_config, training
from fieldtruth.stages.export.run_config import Tuned
from fieldtruth.store.examples import EXAMPLES, open_examples

__all__ = ["Options", "Tuned", "export", "line"]

Job = Callable[[Path], Exported]  # writes all of it into an empty folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to export.

    `fetched`: photos that may not be handed on go along where they are here; keep such an export
    to yourself. `by_licence`: a folder for each licence, with an index. Of examples only: `space`,
    another box space to ask and answer in. `images`: the folder of the photos of examples of all
    sources, or of a file of questions. Of questions only: `split` of a file, `protocol` to ask with
    (`choice` and `open` by form, else), `tuned` for a configuration of LLaMA-Factory beside them.
    """

    fetched: bool = False
    by_licence: bool = False
    space: str | None = None
    images: Path | None = None
    split: str | None = None
    protocol: str | None = None
    tuned: Tuned | None = None

    @property
    def of_questions(self) -> bool:
        """Whether anything is said that is for questions alone."""
        return (self.split, self.protocol, self.tuned) != (None, None, None)


def export(name: str, source: Path, out: Path, options: Options | None = None) -> Exported:
    """Write a benchmark, a folder of examples or a set of questions to `out`, new or empty.

    The folder appears whole or not at all. Raises `Refused` when the source does not verify, or
    is a test split and the format a trainer's; `Usage` for a format that does not take it or when
    `out` holds files.
    """
    how, name, out = options or Options(), name.lower().replace("-", "_"), out.resolve()
    module = open_room(formats, name)
    job = _road(module, source, how)(module, name, source, how)
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


def _road(module: ModuleType, source: Path, how: Options) -> Callable[..., Job]:
    """Which of the three a source is; `Usage` for options of another."""
    if (source / EXAMPLES).is_file() or not (source.is_file() or _frozen(source)):
        road = _of_examples if (source / EXAMPLES).is_file() else _of_benchmark
    elif not hasattr(module, "QUESTIONS"):
        road = _of_benchmark
    else:
        return _of_questions
    if how.of_questions:
        raise Usage(
            f"--split, --protocol, --model: expected questions and a trainer's format, got {source}"
        )
    return road


def _frozen(source: Path) -> bool:
    return (source / store.MANIFEST).is_file() and (source / store.QUESTIONS).is_file()


def _of_questions(module: ModuleType, name: str, source: Path, how: Options) -> Job:
    if how.space is not None:
        raise Usage(f"--space: expected a folder of examples, got questions: {source}")
    if how.tuned is not None and name != "llama_factory":
        raise Usage(f"--model: expected the format llama_factory, got {name}")
    found = questions.open_set(source, how.images, how.split)
    trainer: QuestionTrainer = module.QUESTIONS
    job = questions.Job(name, trainer, found, how.protocol, how.fetched)

    def write(part: Path) -> Exported:
        made = questions.write(job, part, by_licence=how.by_licence)
        if how.tuned is not None:
            for data in sorted(part.rglob("dataset_info.json")):
                run_config.write(how.tuned, found.split, data.parent)
        return made

    return write


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
