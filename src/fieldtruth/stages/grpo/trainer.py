"""TRL's `GRPOTrainer`, told what to do, with our prompts, our rewards and our checkpoints.

This module imports the trainer's libraries: it is opened when a run begins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from datasets import Dataset
from torch import cat
from torch.nn.functional import pad
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from fieldtruth.models.transformers import loading
from fieldtruth.models.transformers.loading import Weights
from fieldtruth.stages.grpo.paying import Payer
from fieldtruth.stages.grpo.prompts import Shown
from fieldtruth.stages.grpo.settings import Grpo
from fieldtruth.tuning import learning, parts
from fieldtruth.tuning.judging import Judge, Judged, Rest, arguments, run

__all__ = ["Asked", "Judge", "Rest", "Tuner", "open_tuner", "run"]

# TRL's names for what a row of the history holds beside what the payer saw.
NAMES = {
    "kl": "kl", "entropy": "entropy", "clip_ratio/region_mean": "clipped",
    "frac_reward_zero_std": "zero_spread", "reward_std": "spread",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """The prompts of a run in their order, and what is made of the replies to them.

    `longest`: tokens of the longest prompt. `look` is handed the history after each step, and says
    whether to stop.
    """

    shown: Shown
    order: Sequence[int]
    payer: Payer
    longest: int
    look: Callable[[Sequence[dict[str, Any]]], bool]


class Tuner(Judged, GRPOTrainer):  # type: ignore[misc]
    """Rounds of replies, steps made of them, checkpoints and validations of one run."""

    def __init__(self, rest: Rest, payer: Payer, **others: Any) -> None:
        """`others` are TRL's."""
        self.rest, self._payer = rest, payer
        super().__init__(reward_funcs=payer, **others)

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        """TRL's; then the photos of a round, one for each reply, are let go from the GPU."""
        made = super()._generate_and_score_completions(inputs)
        if made.get("pixel_values") is not None:
            made["pixel_values"] = made["pixel_values"].cpu()
        return made

    def compute_loss(self, model: Any, inputs: Any, *given: Any, **named: Any) -> Any:
        """TRL's, with the photos of the batch; shows it to whoever looks on."""
        if inputs.get("pixel_values") is not None:
            photos = inputs["pixel_values"].to(self.accelerator.device)
            inputs = {**inputs, "pixel_values": photos}
        if self.rest.seen is not None:
            self.rest.seen.batch(inputs)
        return super().compute_loss(model, inputs, *given, **named)

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: Any,
        attention_mask: Any,
        logits_to_keep: int,
        *given: Any,
        **named: Any,
    ) -> Any:
        """TRL's; on a CPU in parts of like length, each cut behind the longest of its replies.

        In a round the longest reply has ten times the tokens of most. Behind an end nothing counts:
        what is cut there is zero in what comes back.
        """
        batch = {**named, "input_ids": input_ids, "attention_mask": attention_mask}
        if not parts.can_be_parted(batch) or named.get("compute_aux_loss"):
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, *given, **named
            )
        batch["batch_size"] = None  # TRL's own parts, of the batch as it lies
        lengths = attention_mask[:, -logits_to_keep:].sum(dim=1)
        order, found = lengths.argsort(stable=True), []
        for rows in order.split(parts.PART):
            cut = logits_to_keep - max(int(lengths[rows].max()), 1)
            theirs = parts.of_rows(batch, rows, input_ids.shape[1] - cut)
            made = super()._get_per_token_logps_and_entropies(
                model, theirs.pop("input_ids"), theirs.pop("attention_mask"), logits_to_keep - cut,
                **{**theirs, "num_images": [1] * len(rows)},
            )  # fmt: skip
            found.append([None if each is None else pad(each, (0, cut)) for each in made])
        back = order.argsort()
        return tuple(
            None if each[0] is None else cat(each)[back] for each in zip(*found, strict=True)
        )

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """TRL's figures under one name each, and what the payer saw, as they were counted."""
        theirs = self._metrics["train"]  # a figure for each round, or for each batch of a step
        told = {ours: fmean(theirs[name]) for name, ours in NAMES.items() if theirs.get(name)}
        theirs.clear()
        super().log({**logs, **told, **self._payer.take()}, start_time)


class _Watching(TrainerCallback):  # type: ignore[misc]
    """Looks at the history after each step; validates the base before the first.

    It stops at the end of a round: from within one a run cannot go on.
    """

    def __init__(self, tuner: Tuner, asked: Asked, updates: int) -> None:
        self._tuner, self._asked, self._updates = tuner, asked, updates

    def on_train_begin(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
        if not state.global_step:
            self._tuner.judge(0)

    def on_log(self, _: Any, state: Any, control: Any, *__: Any, **___: Any) -> None:
        if self._asked.look(state.log_history) and not state.global_step % self._updates:
            control.should_save = control.should_training_stop = True


def open_tuner(
    settings: Grpo, weights: Weights, device: str, processor: Any, asked: Asked, rest: Rest
) -> Tuner:
    """A trainer that is ready to begin, or to go on.

    Raises `Usage` where no weight of the model is one that the settings train.
    """
    learning.free(settings, weights.model)
    processor.tokenizer.padding_side = "left"
    order = Dataset.from_dict({"row": list(asked.order)}).with_transform(asked.shown)
    try:
        tuner = Tuner(
            rest, asked.payer,
            model=weights.model,
            args=_arguments(settings, device, asked, rest.checkpoints.folder),
            train_dataset=order,
            processing_class=processor,
            peft_config=learning.lora(settings),
            optimizers=(learning.optimizer(settings, weights.model), None),
        )  # fmt: skip
    except ValueError as error:
        told = learning.no_such_layers(settings, error)
        if told is None:
            raise
        raise told from None
    learning.eyes_learn(settings, tuner.model)
    if tuner.ref_model is not None:
        base = Weights(tuner.ref_model, weights.kind, weights.dtype)
        loading.quicken(base, device, settings.patches)
    tuner.add_callback(_Watching(tuner, asked, settings.updates))
    return tuner


def _arguments(settings: Grpo, device: str, asked: Asked, folder: Path) -> Any:
    batches = settings.prompts * settings.replies // settings.batch  # of a round
    rounds = len(asked.order) // settings.prompts
    vllm = {
        "use_vllm": True, "vllm_mode": "colocate",
        # vLLM tells probabilities among the tokens that top-p and top-k leave. Held against those
        # among all, as TRL corrects the loss by, a long reply would count for next to nothing.
        "vllm_importance_sampling_correction": False,
        "vllm_gpu_memory_utilization": settings.vllm_memory,
        "vllm_max_model_length": asked.longest + settings.budget,
    }  # fmt: skip
    return arguments(
        GRPOConfig, settings, device,
        output_dir=str(folder),
        steps_per_generation=batches,
        gradient_accumulation_steps=batches // settings.updates,
        num_generations=settings.replies,
        max_steps=rounds * settings.updates,
        max_completion_length=settings.budget,
        temperature=settings.temperature,
        top_p=settings.top_p,
        top_k=settings.top_k,
        beta=settings.beta,
        loss_type="grpo",  # a mean over replies: each of TRL's others weighs them by their length
        importance_sampling_level="sequence",
        epsilon=settings.clip_low,
        epsilon_high=settings.clip_high,
        shuffle_dataset=False,  # the order is drawn by ours, and does not end with a pass
        **(vllm if settings.vllm else {}),
    )  # fmt: skip
