"""Steps, checkpoints and validations of one run, whichever of TRL's trainers makes the steps.

This module imports the trainer's libraries: it is opened when a run begins.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from transformers import PrinterCallback, TrainerCallback

from fieldtruth.faults import Fault
from fieldtruth.models.contract import Words
from fieldtruth.models.transformers import ranks
from fieldtruth.models.transformers.answering import Speaker
from fieldtruth.models.transformers.first_step import FirstStep
from fieldtruth.models.transformers.loading import precision
from fieldtruth.pretrained import no_memory
from fieldtruth.records import Example
from fieldtruth.tuning.checkpoints import Checkpoints
from fieldtruth.tuning.validating import Validation, answered

A = TypeVar("A")
Grade = Callable[[int, Sequence[Example], Sequence[Words]], Validation]


@dataclass(frozen=True, slots=True)
class Judge:
    """The validation examples, how they are asked about, and what is made of the replies."""

    examples: Sequence[tuple[Example, Path]]
    speak: Callable[[Any], Speaker]
    size: int
    grade: Grade


@dataclass(frozen=True, slots=True)
class Rest:
    """Where checkpoints go, what judges them, and what looks on."""

    checkpoints: Checkpoints
    judge: Judge | None
    seen: FirstStep | None = None


class Judged:
    """Stands before one of TRL's trainers: whole checkpoints, each of them validated.

    `rest` holds where they go; its judge is None where there is nothing to validate on.
    """

    rest: Rest
    args: Any
    accelerator: Any
    model: Any
    state: Any

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """None: a card that nobody filled in says nothing. `train.json` says it."""

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        step = self.state.global_step
        with self.rest.checkpoints.saving(step) if ranks.leads() else nullcontext():
            super()._save_checkpoint(model, trial)  # type: ignore[misc]
            ranks.wait()  # each process adds its random state
        self.judge(step)
        ranks.first(self.rest.checkpoints.thin)

    def judge_again(self, step: int) -> None:
        """Validate the last checkpoint where a process was killed before it could."""
        if self.rest.judge is not None and self.rest.checkpoints.judgement(step) is None:
            self._load_from_checkpoint(  # type: ignore[attr-defined]
                str(self.rest.checkpoints.at(step))
            )
            self.judge(step)

    def judge(self, step: int) -> None:
        """Validate the weights as they are, unless the checkpoint of that step has been."""
        judge = self.rest.judge
        if judge is None or self.rest.checkpoints.judgement(step) is not None:
            return
        model = self.accelerator.unwrap_model(self.model)
        model.eval()
        words = answered(judge.speak(model), ranks.shared(judge.examples), judge.size)
        model.train()
        whole = ranks.gathered(words, len(judge.examples))
        examples = [example for example, _ in judge.examples]
        ranks.first(lambda: self.rest.checkpoints.judged(judge.grade(step, examples, whole)))


class Ticks(TrainerCallback):  # type: ignore[misc]
    """Counts steps on a bar; validates a checkpoint that a killed process left unjudged."""

    def __init__(self, tuner: Judged, ticks: Iterator[Any]) -> None:
        self._tuner, self._ticks = tuner, ticks

    def on_train_begin(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
        """Before the first step of this process."""
        if state.global_step:
            self._tuner.judge(state.global_step)

    def on_pre_optimizer_step(self, *_: Any, model: Any, **__: Any) -> None:
        """Between the gradients and the optimizer."""
        if self._tuner.rest.seen is not None:
            self._tuner.rest.seen.gradients(model)

    def on_log(self, args: Any, state: Any, *_: Any, logs: Any = None, **__: Any) -> None:
        """Before a checkpoint is saved: raises `Fault` where the weights are no numbers any more.

        In half precision the step is passed over whose gradient is none.
        """
        for name in ("loss", *(() if args.fp16 else ("grad_norm",))):
            value = (logs or {}).get(name)
            if value is not None and not isfinite(value):
                raise Fault(
                    f"{args.output_dir}: expected a {name} that is a number at step "
                    f"{state.global_step}, got {value}; lower rate or clip in the recipe and name "
                    "another out (what was saved before this step stays)"
                )

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """After each step of the optimizer."""
        next(self._ticks, None)


def arguments(kind: Callable[..., A], told: Any, device: str, **own: Any) -> A:
    """What TRL is told of an `Sft` as of a `Grpo`, in one of its records; `own` beside it.

    Of several GPUs a process has one: it would show each a part of every batch otherwise.
    """
    dtype, on_gpu = precision(device, told.dtype), device.startswith("cuda")
    recompute = on_gpu if told.recompute is None else told.recompute
    made: Any = kind(
        per_device_train_batch_size=told.batch,
        learning_rate=told.rate,
        lr_scheduler_type=told.schedule,
        warmup_steps=told.warmup,
        weight_decay=told.decay,
        max_grad_norm=told.clip,
        seed=told.seed,
        data_seed=told.seed,
        use_cpu=not on_gpu,
        bf16=dtype == "bfloat16",
        fp16=dtype == "float16",
        gradient_checkpointing=recompute,
        gradient_checkpointing_kwargs={"use_reentrant": False} if recompute else None,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="steps",
        save_steps=told.save_every,
        eval_strategy="no",
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=on_gpu,
        **own,
    )
    if made.n_gpu > 1:
        made._n_gpu = 1  # the first one, whatever else is there
    found: A = made
    return found


def run(tuner: Any, ticks: Iterator[Any], since: Path | None) -> None:
    """Train to the end from a checkpoint or from the beginning.

    Raises `CannotWrite` where a checkpoint found no room; `Unreadable` for a photo, `Usage` for an
    example, that cannot be trained on; `Fault` where a step has no memory, or no numbers any more.
    What was saved before stays.
    """
    tuner.remove_callback(PrinterCallback)
    tuner.add_callback(Ticks(tuner, ticks))
    try:
        tuner.train(resume_from_checkpoint=str(since) if since else None)
    except (MemoryError, RuntimeError) as error:
        if not no_memory(error):
            raise
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        step = tuner.state.global_step + 1
        raise Fault(
            f"{tuner.args.output_dir}: expected memory for step {step}, got: {why}; "
            "free some and give the same command again (it goes on from the last "
            "checkpoint), or lower batch or max_pixels in the recipe and name another out"
        ) from error
