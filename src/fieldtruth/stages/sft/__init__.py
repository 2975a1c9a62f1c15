"""Supervised fine-tuning: examples in, weights out, through TRL and PEFT.

    settings     what a run is told, and the presets of the papers
    rows         examples by number; batches with the loss on the right replies alone
    talks        conversations by number, where there are no boxes to learn
    trainer      TRL's trainer, told what to do
    validating   checkpoints asked about the validation examples, and graded as `score` grades
    checkpoints  whole or not there; the best and the last

A run that was killed goes on from its last checkpoint and comes to the same losses and the same
weights as if it had not been. `OUT/run.json` says which run lies there, `OUT/train.json` what came
of it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from fieldtruth import pretrained, store
from fieldtruth.faults import Usage
from fieldtruth.models.transformers import loading
from fieldtruth.models.transformers.answering import Speaker, room_for
from fieldtruth.models.transformers.card import Card
from fieldtruth.models.transformers.loading import Caps
from fieldtruth.models.transformers.processor import open_processor
from fieldtruth.models.transformers.settings import space_of
from fieldtruth.records import Record
from fieldtruth.stages.sft.checkpoints import Checkpoints
from fieldtruth.stages.sft.rows import Rows, apart
from fieldtruth.stages.sft.settings import PRESETS, Sft, with_preset
from fieldtruth.stages.sft.talks import Talks
from fieldtruth.stages.sft.validating import Validation, selector

__all__ = ["PRESETS", "Sft", "Trained", "line", "train", "with_preset"]

RUN = "run.json"
TRAINED = "train.json"
T = TypeVar("T")
Tell = Callable[[str], None]


class Track(Protocol):
    """Shows how far an iteration is."""

    def __call__(self, records: Iterable[T], total: int | None = None) -> Iterator[T]: ...


class Trained(Record, frozen=True, kw_only=True):
    """`train.json`: what a run was told and what came of it. No dates and no paths of photos.

    `run` is the fingerprint of what it was told. `history` has a row a step: step, epoch, loss,
    grad_norm, learning_rate. `best` and `last` are steps; `select` is what they were compared by,
    "" where there was nothing to validate on.
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


def train(settings: Sft, track: Track, tell: Tell) -> Trained:
    """Fine-tune to the end, from wherever an earlier process of the same run stopped.

    Raises `Usage` where a setting, the base or the examples cannot be used, or where another run
    lies in `out`; `Refused` where validation examples are trained on, or for the split test;
    `CannotWrite` where there is no room; `Busy` where another process is at it.
    """
    pretrained.load_trl()
    device = _device(settings.device)
    rows = _trained_on(settings)
    val = _rows(settings.val) if settings.val else None
    if val is not None and isinstance(rows, Rows):
        apart(rows, val)
    out = Path(settings.out)
    with store.lock(out), pretrained.hushed():
        work = _Work(settings, device, rows, val, tell)
        done = work.finished()
        return done if done is not None else work.do(track)


class _Work:
    """One run, opened."""

    def __init__(
        self, settings: Sft, device: str, rows: Rows | Talks, val: Rows | None, tell: Tell
    ) -> None:
        self._settings, self._device, self._rows, self._val = settings, device, rows, val
        self._out = Path(settings.out)
        options = {"attn_implementation": "eager"} if device == "cpu" else {}
        # Weights that learn are held in full; a base under LoRA only has to be read.
        dtype = settings.dtype if settings.rank else "float32"
        self._weights = loading.load(settings.base, device, dtype, **options)
        loading.quicken(self._weights, device, settings.patches)
        self._processor, self._caps = self._eyes(settings.min_pixels, settings.max_pixels)
        self._val_eyes = self._eyes(
            settings.eval_min_pixels or settings.min_pixels,
            settings.eval_max_pixels or settings.max_pixels,
        )
        self._space()
        self.notes = tuple(self._noted())
        for note in self.notes:
            tell(note)
        shown = val.head(settings.val_limit) if val else []
        self._shown = shown
        self._select = selector(settings.select, [each for each, _ in shown]) if shown else ""
        self._base_weights = pretrained.weights_of(settings.base)
        card = Card(
            method="lora" if settings.rank else "full", base=settings.base,
            base_weights=self._base_weights, space=self._written, min_pixels=self._caps.least,
            max_pixels=self._caps.most, step=0,
        )  # fmt: skip
        self._checkpoints = Checkpoints(self._out, card, self._select)
        self._run = self._fingerprint()

    def _eyes(self, least: int | None, most: int | None) -> tuple[Any, Caps]:
        processor = open_processor(self._settings.base)
        return processor, loading.cap(processor, least, most, self._settings.base)

    def _space(self) -> None:
        """Raise `Usage` where the examples are written in another space than the model writes."""
        space = self._written = space_of(self._weights.kind, self._settings.space)
        if self._rows.space not in (None, space) or (self._val and space != self._val.space):
            raise Usage(
                f"train: expected examples in {space}, the box space of the base, got them in "
                f"{self._rows.space}{f' and {self._val.space}' if self._val else ''}; compose "
                f"them with --space {space}, or say space = {self._rows.space!r} if it is to learn "
                "that"
            )
        for processor, caps in ((self._processor, self._caps), self._val_eyes):
            loading.same_rule(space, caps, processor, self._settings.base)

    def _noted(self) -> Iterator[str]:
        """What a reader of the numbers has to know."""
        if self._val_eyes[1] != self._caps:
            yield (
                f"trained on photos of {self._caps} and validated on {self._val_eyes[1]}: scores "
                "at another resolution than that of training are of both"
            )
        if self._val is None:
            yield "no val: nothing is validated, and best is last"

    def _fingerprint(self) -> str:
        """Differs where settings, examples, base or caps do; not where they only lie elsewhere."""
        told = msgspec.structs.asdict(self._settings)
        for path in ("base", "train", "val", "out", "tests", "workers", "val_batch"):
            del told[path]
        told |= {
            "base_weights": self._base_weights,
            "train": self._rows.digests,
            "val": self._val.digests if self._val else (),
            "device": self._device,
        }
        raw = msgspec.json.encode(told, order="deterministic")
        return sha256(raw).hexdigest()[:16]

    def finished(self) -> Trained | None:
        """What came of this run if it is done; `Usage` where another one lies there."""
        path = self._out / RUN
        begun = (self._out / TRAINED).is_file() or self._checkpoints.steps()
        if path.is_file() and begun:  # one that came to no checkpoint is no loss
            lies = msgspec.json.decode(path.read_bytes(), type=dict[str, str]).get("run")
            if lies != self._run:
                raise Usage(
                    f"{self._out}: holds another run (its base, examples or settings differ); "
                    "name another out, or remove it"
                )
        elif not path.is_file() and self._out.is_dir() and any(self._out.iterdir()):
            raise Usage(f"{self._out}: expected an empty folder, or the run to go on with")
        done = self._out / TRAINED
        if not done.is_file():
            return None
        self._checkpoints.remove()
        return msgspec.json.decode(done.read_bytes(), type=Trained)

    def do(self, track: Track) -> Trained:
        """Train what is left, publish, and say what came of it."""
        with store.replacing(self._out / RUN) as file:
            file.write(msgspec.json.encode({"run": self._run}) + b"\n")
        from fieldtruth.stages.sft import trainer

        self._checkpoints.clear()
        steps = self._checkpoints.steps()
        judge = self._judge(trainer) if self._shown else None
        tuner = trainer.open_tuner(
            self._settings, self._weights, self._device, self._processor, self._rows,
            trainer.Rest(self._checkpoints, judge),
        )  # fmt: skip
        total, done = tuner.planned(), steps[-1] if steps else 0
        if done < total:
            left = track(range(done, total), total - done)
            trainer.run(tuner, left, self._checkpoints.at(done) if done else None)
        else:
            tuner.judge_again(done)
        learnt = sum(each.numel() for each in tuner.model.parameters() if each.requires_grad)
        return self._ended(total, learnt)

    def _ended(self, total: int, learnt: int) -> Trained:
        """Make the results, say what came of it, and only then let go of the checkpoints."""
        chosen = self._checkpoints.publish(self._settings.base)
        told = Trained(
            run=self._run, base=self._settings.base, base_weights=self._base_weights,
            examples=len(self._rows), val_examples=len(self._shown), steps=total, weights=learnt,
            caps=self._caps, eval_caps=self._val_eyes[1], select=self._select,
            best=chosen["best"], last=chosen["last"], history=_losses(self._checkpoints.history()),
            validations=self._checkpoints.judgements(), notes=self.notes, versions=_versions(),
        )  # fmt: skip
        with store.replacing(self._out / TRAINED) as file:
            file.write(msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n")
        self._checkpoints.remove()
        return told

    def _judge(self, trainer: Any) -> Any:
        processor, _ = self._val_eyes
        budget = self._settings.budget or room_for(processor.tokenizer, self._written)
        return trainer.Judge(
            self._shown,
            lambda model: Speaker(model, processor, self._device, budget),
            self._settings.val_batch,
        )


def _device(said: str) -> str:
    """The CPU or the first GPU, in this process alone; `Usage` for any other."""
    device = pretrained.pick_device(said)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise Usage("train sft: expected one process, got several; start it without a launcher")
    if device not in ("cpu", "cuda", "cuda:0"):
        raise Usage(
            f"device: expected cpu or cuda to train on, got {device!r}; choose a GPU with "
            "CUDA_VISIBLE_DEVICES=N"
        )
    return device


def _rows(folders: Sequence[str], limit: int | None = None) -> Rows:
    return Rows([store.open_examples(Path(each)) for each in folders], limit)


def _trained_on(settings: Sft) -> Rows | Talks:
    """Folders of examples, or files of conversations; `Usage` for some of each."""
    files = [Path(each) for each in settings.train if Path(each).is_file()]
    if not files:
        return _rows(settings.train, settings.limit)
    if len(files) < len(settings.train) or settings.val:
        raise Usage(
            f"train: expected files of conversations alone, got {files[0]} beside folders of "
            "examples; nothing is validated on conversations either: leave val out"
        )
    return Talks(files, settings.limit)


def _losses(history: Sequence[dict[str, Any]]) -> list[dict[str, float]]:
    """A row a step, of what means the same after a resume."""
    kept = ("step", "epoch", "loss", "grad_norm", "learning_rate")
    return [
        {name: float(row[name]) for name in kept if name in row} for row in history if "loss" in row
    ]


def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("torch", "transformers", "trl", "peft", "accelerate")}


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
