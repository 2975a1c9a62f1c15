"""Supervised fine-tuning: examples in, weights out, through TRL and PEFT.

    settings     what a run is told, and the presets of the papers
    talks        conversations by number, where there are no boxes to learn
    trainer      TRL's trainer, told what to do

A run that was killed goes on from its last checkpoint and comes to the same losses and the same
weights as if it had not been. `OUT/run.json` says which run lies there, `OUT/train.json` what came
of it.

Started by torchrun or `accelerate launch`, each process trains on its share of every step, which
then holds as many times the examples; all validate, the first one writes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from math import isfinite, isqrt
from pathlib import Path
from typing import Any, TypeVar

from fieldtruth import pretrained, store
from fieldtruth.faults import Usage
from fieldtruth.models.transformers import loading, ranks
from fieldtruth.models.transformers.answering import Speaker, room_for
from fieldtruth.models.transformers.first_step import FirstStep
from fieldtruth.models.transformers.loading import Caps
from fieldtruth.models.transformers.processor import open_processor
from fieldtruth.records import Record
from fieldtruth.stages.sft.settings import PRESETS, Sft, with_preset
from fieldtruth.stages.sft.talks import Talks
from fieldtruth.tuning import work
from fieldtruth.tuning.rows import Rows, apart
from fieldtruth.tuning.validating import Validation, graded, selector
from fieldtruth.tuning.work import Track

__all__ = ["PRESETS", "Sft", "Trained", "line", "train", "with_preset"]

T = TypeVar("T")
Tell = Callable[[str], None]


class Trained(Record, frozen=True, kw_only=True):
    """`train.json`: what a run was told and what came of it. No dates and no paths of photos.

    `run` is the fingerprint of what it was told. `history` has a row a step: step, epoch, loss,
    grad_norm (but where half precision overflowed), learning_rate. `best` and `last` are steps;
    `select` is what they were compared by, "" where there was nothing to validate on.
    """

    run: str
    base: str
    base_weights: str
    examples: int
    val_examples: int
    steps: int
    weights: int  # that were trained, as numbers
    caps: Caps
    eval_caps: Caps
    select: str
    best: int
    last: int
    history: list[dict[str, float]]
    validations: list[Validation]
    notes: tuple[str, ...]
    versions: dict[str, str]


def train(settings: Sft, track: Track, tell: Tell, seen: FirstStep | None = None) -> Trained:
    """Fine-tune to the end, from wherever an earlier process of the same run stopped.

    `seen` looks on at each step.

    Raises `Usage` where a setting, the base or the examples cannot be used, or where another run
    lies in `out`; `Refused` where validation examples are trained on, or for the split test;
    `CannotWrite` where there is no room; `Busy` where another process is at it.
    """
    pretrained.load_trl()
    device = work.device_of(settings.device)
    rows = _trained_on(settings)
    val = work.rows_of(settings.val) if settings.val else None
    if val is not None and isinstance(rows, Rows):
        apart(rows, val)
    out = Path(settings.out)
    with ExitStack() as held, pretrained.hushed():
        ranks.first(lambda: held.enter_context(store.lock(out)))
        run = _Work(settings, device, rows, val, tell if ranks.leads() else _mute)
        done = ranks.first(lambda: work.finished(out, run.run, run.checkpoints, Trained))
        shown = track if ranks.leads() else _silent
        made = done if done is not None else run.do(shown, seen)
        ranks.wait()  # one that ended before the others read what it told them would take it along
        return made


def _mute(_: str) -> None:
    pass


def _silent(records: Iterable[T], total: int | None = None) -> Iterator[T]:  # noqa: ARG001
    return iter(records)


class _Work:
    """One run, opened."""

    def __init__(
        self, settings: Sft, device: str, rows: Rows | Talks, val: Rows | None, tell: Tell
    ) -> None:
        self.settings, self.rows = settings, rows
        seen = (settings.min_pixels, settings.max_pixels)
        judged = (settings.eval_min_pixels or seen[0], settings.eval_max_pixels or seen[1])
        self.work = work.Work(settings, device, rows, val, work.Eyes(seen, judged))
        self.notes = tuple(self._noted())
        for note in self.notes:
            tell(note)
        shown = [each for each, _ in self.work.shown]
        self.select = selector(settings.select, shown) if shown else ""
        self.checkpoints = self.work.checkpoints(self.select)
        self.run = self.work.fingerprint()

    def _noted(self) -> Iterator[str]:
        """What a reader of the numbers has to know."""
        base = self.settings.base
        caps, own = self.work.caps, loading.cap(open_processor(base), None, None, base)
        if caps.most and own.most and caps.most < own.most:
            yield (
                f"photos are shown at no more than {caps.most:,} pixels ({isqrt(caps.most)} x "
                f"{isqrt(caps.most)}; this base takes {own.most:,}): small symptoms may vanish; "
                "max_pixels in the recipe sets it"
            )
        if self.work.val_caps != self.work.caps:
            yield (
                f"trained on photos of {self.work.caps} and validated on {self.work.val_caps}: "
                "scores at another resolution than that of training are of both"
            )
        if ranks.count() > 1:
            told = self.settings
            yield (
                f"{ranks.count()} processes: {told.batch} x {told.accumulate} x {ranks.count()} = "
                f"{told.batch * told.accumulate * ranks.count()} examples a step"
            )
        if self.work.val is None:
            yield "no val: nothing is validated, and best is last"

    def do(self, track: Track, seen: FirstStep | None) -> Trained:
        """Train what is left, publish, and say what came of it."""
        from fieldtruth.stages.sft import trainer

        there = self.work
        ranks.first(lambda: work.begin(there.out, self.run, self.checkpoints))
        steps = self.checkpoints.steps()
        judge = self._judge(trainer) if there.shown else None
        tuner = trainer.open_tuner(
            self.settings, there.weights, there.device, there.processor, self.rows,
            trainer.Rest(self.checkpoints, judge, seen),
        )  # fmt: skip
        total, done = tuner.planned(), steps[-1] if steps else 0
        if done < total:
            left = track(range(done, total), total - done)
            trainer.run(tuner, left, self.checkpoints.at(done) if done else None)
        else:
            tuner.judge_again(done)
        learnt = sum(each.numel() for each in tuner.model.parameters() if each.requires_grad)
        return ranks.first(lambda: self._ended(total, learnt))

    def _ended(self, total: int, learnt: int) -> Trained:
        """Make the results, say what came of it, and only then let go of the checkpoints."""
        there, told = self.work, self.settings
        chosen = self.checkpoints.publish(told.base)
        made = Trained(
            run=self.run, base=told.base, base_weights=there.base_weights,
            examples=len(self.rows), val_examples=len(there.shown), steps=total, weights=learnt,
            caps=there.caps, eval_caps=there.val_caps, select=self.select, best=chosen["best"],
            last=chosen["last"], history=_losses(self.checkpoints.history()),
            validations=self.checkpoints.judgements(), notes=self.notes, versions=work.versions(),
        )  # fmt: skip
        work.end(there.out, made, self.checkpoints)
        return made

    def _judge(self, trainer: Any) -> Any:
        told, processor, device = self.settings, self.work.val_processor, self.work.device
        budget = told.budget or room_for(processor.tokenizer, self.work.space)
        return trainer.Judge(
            self.work.shown, lambda model: Speaker(model, processor, device, budget),
            told.val_batch, graded,
        )  # fmt: skip


def _trained_on(settings: Sft) -> Rows | Talks:
    """Folders of examples, or files of conversations; `Usage` for some of each."""
    files = [Path(each) for each in settings.train if Path(each).is_file()]
    if not files:
        return work.rows_of(settings.train, settings.limit)
    if len(files) < len(settings.train) or settings.val:
        raise Usage(
            f"train: expected files of conversations alone, got {files[0]} beside folders of "
            "examples; nothing is validated on conversations either: leave val out"
        )
    return Talks(files, settings.limit)


def _losses(history: Sequence[dict[str, Any]]) -> list[dict[str, float]]:
    """A row a step, of what means the same after a resume; what is no number is left out."""
    kept = ("step", "epoch", "loss", "grad_norm", "learning_rate")
    return [
        {name: float(row[name]) for name in kept if name in row and isfinite(row[name])}
        for row in history
        if "loss" in row
    ]


def line(done: Trained, out: str) -> str:
    """For people: how far, how the loss went, and which checkpoints are kept."""
    first, final = done.history[0]["loss"], done.history[-1]["loss"]
    parts = [f"{done.steps:,} steps on {done.examples:,} examples: loss {first:.3g} -> {final:.3g}"]
    values = {each.step: each.by(done.select) for each in done.validations}
    for name, step in (("best", done.best), ("last", done.last)):
        value = values.get(step)
        told = f" ({done.select} {value:.3f})" if value is not None else ""
        parts.append(f"{name} is step {step}{told}")
    return f"{'; '.join(parts)}. In {out}"
