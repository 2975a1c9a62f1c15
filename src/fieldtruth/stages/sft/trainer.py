"""TRL's `SFTTrainer`, told what to do, with our batches, our checkpoints and our validation.

This module imports the trainer's libraries: it is opened when a run begins.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from math import ceil
from pathlib import Path
from typing import Any

from datasets import Dataset
from peft import LoraConfig
from torch.nn import functional
from transformers import PrinterCallback, TrainerCallback
from trl import SFTConfig, SFTTrainer

from fieldtruth.faults import Usage
from fieldtruth.models.transformers import muon
from fieldtruth.models.transformers.answering import Speaker
from fieldtruth.models.transformers.encoding import IGNORED
from fieldtruth.models.transformers.loading import Weights, precision
from fieldtruth.records import Example
from fieldtruth.stages.sft.checkpoints import Checkpoints
from fieldtruth.stages.sft.rows import Shown, Taught
from fieldtruth.stages.sft.settings import Sft
from fieldtruth.stages.sft.validating import answered, graded

_EYES = ("visual", "vision")  # in the names of the weights that see, whatever the kind of model


@dataclass(frozen=True, slots=True)
class Judge:
    """The validation examples and how they are asked about."""

    examples: Sequence[tuple[Example, Path]]
    speak: Callable[[Any], Speaker]
    size: int


class Tuner(SFTTrainer):  # type: ignore[misc]
    """Steps, checkpoints and validations of one run."""

    def __init__(self, checkpoints: Checkpoints, judge: Judge | None, **others: Any) -> None:
        """`judge` is None where there is nothing to validate on; `others` are TRL's."""
        self._checkpoints, self._judge = checkpoints, judge
        super().__init__(**others)
        # TRL divides by the tokens of all batches of a step only where the model's own loss would,
        # which Qwen-VL's says it would not: batches would weigh alike, whatever their length.
        self.model_accepts_loss_kwargs = True
        bare = self.accelerator.unwrap_model(self.model)
        bare = getattr(bare, "get_base_model", lambda: bare)()
        self._chooses = "logits_to_keep" in signature(type(bare).forward).parameters

    def compute_loss(self, model: Any, inputs: Any, *given: Any, **named: Any) -> Any:
        """TRL's, where it looks at the tokens of the replies alone: on a GPU.

        On a CPU it works out, twice, what the model makes of every token of every prompt; here
        only of the places at which some reply of the batch has one. The loss is the same.
        """
        labels = inputs["labels"]
        plain = not given and not named.get("return_outputs")
        if not plain or labels.device.type != "cpu" or not self._chooses:
            return super().compute_loss(model, inputs, *given, **named)
        asked = {name: each for name, each in inputs.items() if name != "labels"}
        following = labels[:, 1:]
        taught = following != IGNORED
        places = taught.any(dim=0).nonzero().flatten()
        logits = model(**asked, logits_to_keep=places, use_cache=False).logits
        total = functional.cross_entropy(
            logits.flatten(0, 1).float(), following[:, places].flatten(), ignore_index=IGNORED,
            reduction="sum",
        )  # fmt: skip
        count = named.get("num_items_in_batch")  # of all batches of a step
        return total / (taught.sum() if count is None else count)

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """None: a card that nobody filled in says nothing. `train.json` says it."""

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        step = self.state.global_step
        with self._checkpoints.saving(step):
            super()._save_checkpoint(model, trial)
        self.judge(step)
        self._checkpoints.thin()

    def planned(self) -> int:
        """How many steps the run takes, as the trainer counts them."""
        if self.args.max_steps > 0:
            return int(self.args.max_steps)
        batches: int = len(self.get_train_dataloader())
        each = max(ceil(batches / int(self.args.gradient_accumulation_steps)), 1)
        return ceil(float(self.args.num_train_epochs) * each)

    def judge_again(self, step: int) -> None:
        """Validate the last checkpoint where a process was killed before it could."""
        if self._judge is not None and self._checkpoints.judgement(step) is None:
            self._load_from_checkpoint(str(self._checkpoints.at(step)))
            self.judge(step)

    def judge(self, step: int) -> None:
        """Validate the weights as they are, unless the checkpoint of that step has been."""
        if self._judge is None or self._checkpoints.judgement(step) is not None:
            return
        model = self.accelerator.unwrap_model(self.model)
        model.eval()
        words = answered(self._judge.speak(model), self._judge.examples, self._judge.size)
        model.train()
        examples = [example for example, _ in self._judge.examples]
        self._checkpoints.judged(graded(step, examples, words))


class _Watch(TrainerCallback):  # type: ignore[misc]
    """Counts steps on a bar; validates a checkpoint that a killed process left unjudged."""

    def __init__(self, tuner: Tuner, ticks: Iterator[Any]) -> None:
        self._tuner, self._ticks = tuner, ticks

    def on_train_begin(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
        if state.global_step:
            self._tuner.judge(state.global_step)

    def on_step_end(self, *_: Any, **__: Any) -> None:
        next(self._ticks, None)


def open_tuner(
    settings: Sft, weights: Weights, device: str, processor: Any, rows: Shown, rest: "Rest"
) -> Tuner:
    """A trainer that is ready to begin, or to go on.

    Raises `Usage` where no weight of the model is one that the settings train.
    """
    speaker = Speaker(weights.model, processor, device, 1)
    teach = Taught(rows, speaker.encoder, speaker.pad, settings.length)
    lora = _lora(settings)
    if lora is None:
        _free(settings, weights)
    try:
        return Tuner(
            rest.checkpoints,
            rest.judge,
            model=weights.model,
            args=_arguments(settings, device, rest.checkpoints.folder),
            data_collator=teach,
            train_dataset=Dataset.from_dict({"row": range(len(rows))}),
            processing_class=processor,
            peft_config=lora,
            optimizers=(_optimizer(settings, weights.model), None),
        )
    except ValueError as error:
        if "arget modules" not in str(error):
            raise
        raise Usage(
            f"targets: expected a regular expression of some of the model's layers, got "
            f"{settings.target_modules!r}, which names none"
        ) from None


@dataclass(frozen=True, slots=True)
class Rest:
    """Where checkpoints go and what judges them."""

    checkpoints: Checkpoints
    judge: Judge | None


def run(tuner: Tuner, ticks: Iterator[Any], since: Path | None) -> None:
    """Train to the end from a checkpoint or from the beginning.

    Raises `CannotWrite` where a checkpoint found no room; `Unreadable` for a photo, `Usage` for an
    example, that cannot be trained on. What was saved before stays.
    """
    tuner.remove_callback(PrinterCallback)
    tuner.add_callback(_Watch(tuner, ticks))
    tuner.train(resume_from_checkpoint=str(since) if since else None)


def _lora(settings: Sft) -> Any:
    if not settings.rank:
        return None
    return LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=settings.target_modules,
        bias="none",
    )


def _free(settings: Sft, weights: Weights) -> None:
    """Without LoRA all weights learn, but for the eyes where those are frozen."""
    for name, each in weights.model.named_parameters():
        sees = any(part in name for part in _EYES)
        each.requires_grad_(settings.vision == "trained" or not sees)


def _optimizer(settings: Sft, model: Any) -> Any:
    """None where it is TRL's own, AdamW."""
    if settings.optimizer == "adamw":
        return None
    return muon.optimizer(model, settings.rate, settings.decay)


def _arguments(settings: Sft, device: str, folder: Path) -> Any:
    dtype = precision(device, settings.dtype)
    on_gpu = device.startswith("cuda")
    recompute = on_gpu if settings.recompute is None else settings.recompute
    made = SFTConfig(
        output_dir=str(folder),
        per_device_train_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulate,
        num_train_epochs=settings.epochs,
        max_steps=settings.steps or -1,
        learning_rate=settings.rate,
        lr_scheduler_type=settings.schedule,
        warmup_steps=settings.warmup,
        weight_decay=settings.decay,
        max_grad_norm=settings.clip,
        seed=settings.seed,
        data_seed=settings.seed,
        use_cpu=not on_gpu,
        bf16=dtype == "bfloat16",
        fp16=dtype == "float16",
        gradient_checkpointing=recompute,
        max_length=None,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="steps",
        save_steps=settings.save_every,
        eval_strategy="no",
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        dataloader_num_workers=settings.workers,
        dataloader_pin_memory=on_gpu,
    )
    if made.n_gpu > 1:
        made._n_gpu = 1  # the first one, whatever else is there
    return made
