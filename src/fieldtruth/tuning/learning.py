"""Which weights of a model learn: LoRA beside its layers, or its own; and by which optimizer."""

import re
from typing import Any, Literal, Protocol

from fieldtruth.faults import Usage
from fieldtruth.models.transformers import muon
from fieldtruth.pretrained import load_peft

# The language model's own layers, whatever stands before them; never those of the eyes.
LANGUAGE = r".*language_model.*\.(q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)"
_SEES = ("visual", "vision")  # in the names of the weights that see, whatever the kind of model
EYES = (
    rf".*({'|'.join(_SEES)}).*\.(qkv|attn\.proj|linear_fc1|linear_fc2|q_proj|k_proj|v_proj|out_proj"
    r"|fc1|fc2|gate_proj|up_proj|down_proj)"
)


class Learning(Protocol):
    """What a run is told. `rank` 0: the weights themselves; `targets`: a regular expression."""

    @property
    def rank(self) -> int: ...
    @property
    def alpha(self) -> int: ...
    @property
    def dropout(self) -> float: ...
    @property
    def targets(self) -> str | None: ...
    @property
    def vision(self) -> Literal["frozen", "trained"]: ...
    @property
    def optimizer(self) -> Literal["adamw", "muon"]: ...
    @property
    def rate(self) -> float: ...
    @property
    def decay(self) -> float: ...


def target_modules(settings: Learning) -> str:
    """The layers that get LoRA weights; `Usage` for what is no regular expression."""
    if settings.targets is not None:
        try:
            re.compile(settings.targets)
        except re.error as error:
            raise Usage(
                f"targets: expected a regular expression, got {settings.targets!r}: {error}"
            ) from None
        return settings.targets
    return f"{LANGUAGE}|{EYES}" if settings.vision == "trained" else LANGUAGE


def lora(settings: Learning) -> Any:
    """What PEFT is told, or None where the weights themselves learn."""
    if not settings.rank:
        return None
    return load_peft().LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=target_modules(settings),
        bias="none",
    )


def free(settings: Learning, model: Any) -> None:
    """Without LoRA all weights learn, but for the eyes where those are frozen."""
    if settings.rank:
        return
    for name, each in model.named_parameters():
        sees = any(part in name for part in _SEES)
        each.requires_grad_(settings.vision == "trained" or not sees)


def eyes_learn(settings: Learning, model: Any) -> None:
    """Raise `Usage` where the eyes are to learn and none of their weights does."""
    learns = any(
        each.requires_grad and any(part in name for part in _SEES)
        for name, each in model.named_parameters()
    )
    if settings.vision == "trained" and not learns:
        raise Usage(
            "vision: expected layers of the eyes that can learn, got none that is known by its "
            "name in this kind of model; name them in targets, or say vision = 'frozen'"
        )


def optimizer(settings: Learning, model: Any) -> Any:
    """None where it is TRL's own, AdamW.

    Raises `Usage` for Muon with LoRA, whose weights are not there yet: none of them would learn.
    """
    if settings.optimizer == "adamw":
        return None
    if settings.rank:
        raise Usage(
            f"optimizer: expected adamw with LoRA (rank {settings.rank}), got muon, which is for "
            "all weights of a small model; say optimizer = 'adamw', or rank = 0"
        )
    return muon.optimizer(model, settings.rate, settings.decay)


def no_such_layers(settings: Learning, error: ValueError) -> Usage | None:
    """What to say where PEFT found none of the layers; None where the error is another one."""
    if "arget modules" not in str(error):
        return None
    return Usage(
        f"targets: expected a regular expression of some of the model's layers, got "
        f"{target_modules(settings)!r}, which names none"
    )
