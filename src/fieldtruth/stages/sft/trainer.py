"""TRL's `SFTTrainer`, told what to do, with our batches, our checkpoints and our validation.

This module imports the trainer's libraries: it is opened when a run begins.
"""

from collections.abc import Mapping
from inspect import signature
from math import ceil
from pathlib import Path
from typing import Any

from datasets import Dataset
from torch.nn import functional
from trl import SFTConfig, SFTTrainer

from fieldtruth.models.transformers import ranks
from fieldtruth.models.transformers.answering import Speaker
from fieldtruth.models.transformers.encoding import IGNORED
from fieldtruth.models.transformers.loading import Weights
from fieldtruth.stages.sft.settings import Average, Sft
from fieldtruth.tuning import learning, parts
from fieldtruth.tuning.judging import Judge, Judged, Rest, arguments, run
from fieldtruth.tuning.rows import Shown, Taught

__all__ = ["Judge", "Rest", "Tuner", "open_tuner", "run"]

# A reply of n tokens weighs n to the power of 1 less this one.
POWERS: Mapping[Average, float] = {"token": 0.0, "square": 0.5, "sample": 1.0}


class Tuner(Judged, SFTTrainer):  # type: ignore[misc]
    """Steps, checkpoints and validations of one run."""

    def __init__(self, rest: Rest, average: Average, **others: Any) -> None:
        """`others` are TRL's."""
        self.rest, self._power = rest, POWERS[average]
        super().__init__(**others)
        # TRL divides by the tokens of all batches of a step only where the model's own loss would,
        # which Qwen-VL's says it would not: batches would weigh alike, whatever their length.
        self.model_accepts_loss_kwargs = True
        bare = self.accelerator.unwrap_model(self.model)
        bare = getattr(bare, "get_base_model", lambda: bare)()
        self._chooses = "logits_to_keep" in signature(type(bare).forward).parameters

    def compute_loss(self, model: Any, inputs: Any, *given: Any, **named: Any) -> Any:
        """TRL's, where it looks at the tokens of the replies alone, all alike: on a GPU.

        On a CPU it works out, twice, what the model makes of every token of every prompt, and of
        all that pads the short ones; here only of the places at which some reply has a token, in
        parts of like length. The loss is the same.
        """
        if self.rest.seen is not None:
            self.rest.seen.batch(inputs)
        labels = inputs["labels"]
        plain = not given and not named.get("return_outputs")
        ours = self._power or (labels.device.type == "cpu" and self._chooses)
        if not plain or not ours:
            return super().compute_loss(model, inputs, *given, **named)
        several = self.accelerator.num_processes > 1  # each then looks once, or none knows of it
        parted = not several and parts.can_be_parted(inputs)
        total = sum(
            self._summed(model, each) for each in (parts.parted(inputs) if parted else [inputs])
        )
        count = named.get("num_items_in_batch")  # of all batches of a step, on all devices
        if count is None:
            return total / weighed(labels[:, 1:], self._power).sum()
        spread = self.args.average_tokens_across_devices
        return total / count * (self.accelerator.num_processes if spread else 1)

    def _summed(self, model: Any, inputs: Mapping[str, Any]) -> Any:
        """The loss of a batch or of a part of one, summed over its tokens by their weights."""
        following = inputs["labels"][:, 1:]
        asked = {name: each for name, each in inputs.items() if name != "labels"}
        places = (following != IGNORED).any(dim=0).nonzero().flatten()
        kept = {"logits_to_keep": places} if self._chooses else {}
        logits = model(**asked, **kept, use_cache=False).logits
        if not self._chooses:
            logits = logits[:, places]
        each = functional.cross_entropy(
            logits.flatten(0, 1).float(), following[:, places].flatten(), ignore_index=IGNORED,
            reduction="none",
        )  # fmt: skip
        return (each * weighed(following, self._power)[:, places].flatten()).sum()

    def _get_num_items_in_batch(self, batch_samples: Any, device: Any) -> Any:
        """What the losses of a step's batches are divided by: the sum of their tokens' weights."""
        if not self._power:
            return super()._get_num_items_in_batch(batch_samples, device)
        count = sum(weighed(each["labels"][:, 1:], self._power).sum() for each in batch_samples)
        if self.args.average_tokens_across_devices and self.args.world_size > 1:
            count = self.accelerator.gather(count.to(device)).sum()
        return count.to(device)

    def planned(self) -> int:
        """How many steps the run takes, as the trainer counts them."""
        if self.args.max_steps > 0:
            return int(self.args.max_steps)
        batches: int = len(self.get_train_dataloader())
        each = max(ceil(batches / int(self.args.gradient_accumulation_steps)), 1)
        return ceil(float(self.args.num_train_epochs) * each)


def weighed(following: Any, power: float) -> Any:
    """Labels [replies, tokens] -> what each token weighs in the loss; nothing where ignored."""
    taught = following != IGNORED
    lengths = taught.sum(dim=1, keepdim=True).clamp(min=1)
    return taught * lengths.float() ** -power


def open_tuner(
    settings: Sft, weights: Weights, device: str, processor: Any, rows: Shown, rest: Rest
) -> Tuner:
    """A trainer that is ready to begin, or to go on.

    Raises `Usage` where no weight of the model is one that the settings train.
    """
    speaker = Speaker(weights.model, processor, device, 1)
    teach = Taught(rows, speaker.encoder, speaker.pad, settings.length)
    for number in rows.heaviest():  # one that is too long is found now, and not hours later
        teach([{"row": number}])
    learning.free(settings, weights.model)
    try:
        tuner = Tuner(
            rest,
            settings.average,
            model=weights.model,
            args=_arguments(settings, device, rest.checkpoints.folder),
            data_collator=teach,
            train_dataset=Dataset.from_dict({"row": range(len(rows))}),
            processing_class=processor,
            peft_config=learning.lora(settings),
            optimizers=(learning.optimizer(settings, weights.model), None),
        )
    except ValueError as error:
        told = learning.no_such_layers(settings, error)
        if told is None:
            raise
        raise told from None
    learning.eyes_learn(settings, tuner.model)
    return tuner


def _arguments(settings: Sft, device: str, folder: Path) -> Any:
    on_gpu = device.startswith("cuda")
    return arguments(
        SFTConfig, settings, device,
        output_dir=str(folder),
        gradient_accumulation_steps=settings.accumulate,
        num_train_epochs=settings.epochs,
        max_steps=settings.steps or -1,
        # Photos are not in every batch of talks: then the eyes, where they learn, get no gradient.
        ddp_find_unused_parameters=settings.vision == "trained",
        ddp_backend=None if on_gpu or ranks.count() == 1 else "gloo",
        max_length=None,
        dataset_kwargs={"skip_prepare_dataset": True},
        dataloader_num_workers=settings.workers,
    )  # fmt: skip
