"""Annotate with a model: open it, read the recipe's prompts, keep what it said.

Replies go through a cache in the folder (`replies/`, or the one given), by photo, prompt, model and
bounds: what was asked once is not asked again, by a later run or by another row with the same
photo and label. Failed calls are kept out of it, so the next run asks them again.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import msgspec

from fieldtruth import models, store
from fieldtruth.box_rules import Name
from fieldtruth.faults import TooManyFailed, Usage
from fieldtruth.records import Record
from fieldtruth.rooms import names, open_room
from fieldtruth.run import workspace
from fieldtruth.run.cached import Cached
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.spread import Engine, open_model
from fieldtruth.stages.annotate import detected

FAILED = "annotate: model_failed"


class Job(Record, frozen=True, kw_only=True):
    """Who draws the boxes and by which rules; `prompts` is a TOML file of prompts and cues."""

    model: str
    options: Mapping[str, str] = {}
    rules: Name = "published"
    prompts: Path | None = None
    cache: Path | None = None
    allow_errors: float = 0.0  # share of failed targets that still ends well
    engine: Engine = "local"
    workers: int | None = None


class Prompts(Record, frozen=True, kw_only=True):
    """By label, or `label@crop`: whole prompts for a detector, and how a symptom looks."""

    prompts: Mapping[str, str] = {}
    cues: Mapping[str, str] = {}


def rules_of(said: str) -> Name:
    """`--rules` as it was typed."""
    if said not in get_args(Name):
        raise Usage(f"--rules: expected {' or '.join(get_args(Name))}, got {said!r}")
    return "ours" if said == "ours" else "published"


def annotate(out: Path, job: Job, track: Track = SILENT) -> workspace.Books:
    """Every target gets boxes or a drop. See `check` for calls that failed."""
    if job.model in workspace.ANNOTATORS:
        if job.options or job.prompts or job.cache:
            raise Usage(
                f"{job.model} is no model that is asked: expected no --model-args, --prompts or "
                "--cache"
            )
        return workspace.annotate(out, job.model, track)
    if job.model not in names(models):
        has = ", ".join(dict.fromkeys((*workspace.ANNOTATORS, *names(models))))
        raise Usage(f"annotate has no model {job.model!r}; it has: {has}")
    said = read_prompts(job.prompts)
    room = open_room(models, job.model)
    options = {**getattr(room, "ANNOTATE", {}), **job.options}
    model = open_model(job.model, options, job.engine, job.workers)
    asking = detected.Asking(
        model=Cached(job.model, model, store.Cache(job.cache or out / "replies")),
        by=f"{job.model} {model.version}",
        rules=job.rules,
        prompts=said.prompts,
        cues=said.cues,
    )
    return workspace.annotate(out, job.model, track, asking)


def check(books: workspace.Books, out: Path, job: Job) -> None:
    """Raise `TooManyFailed` where more calls failed than are allowed.

    The files are whole and right then too; the same command asks only for what failed.
    """
    failed, owed = books.drops.get(FAILED, 0), books.counts["targets"]
    if failed > job.allow_errors * owed:
        raise TooManyFailed(
            f"{out}: {failed} of {owed} targets could not be asked about, more than the share "
            f"{job.allow_errors:g} that is allowed; drops.jsonl says why; the same command asks "
            "for these alone"
        )


def line(books: workspace.Books, out: Path) -> str:
    """What a person reads: what each rule took, where a model drew, and the closing line."""
    closing = workspace.line(books, out)
    if not books.boxes:
        return closing
    said = ", ".join(f"{what.partition(': ')[2]} {count}" for what, count in books.boxes.items())
    return f"boxes and targets: {said}\n{closing}"


def read_prompts(path: Path | None) -> Prompts:
    """The file's tables; `Usage` where it cannot be read as such."""
    if path is None:
        return Prompts()
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Prompts)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise Usage(
            f'{path}: expected TOML with [prompts] and [cues], text by label or "label@crop", '
            f"got: {error}"
        ) from None
