"""What a training step did to a model, looked at between the gradients and the optimizer.

A trainer hands over each batch, and the model once its gradients are there. Told apart are weights
that are to learn and got a gradient; the first matrices of LoRA, which get none as long as the
second are zero; and weights that should rest and did not.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fieldtruth.models.transformers.encoding import IGNORED
from fieldtruth.pretrained import load_torch
from fieldtruth.records import Record

_WAITING = ("lora_A", "lora_embedding_A")  # of them the gradient is that of what is still zero
_EYES = ("visual", "vision")  # in the names of weights that see, whatever the kind of model


class Range(Record, frozen=True, kw_only=True):
    """Of a number for each example."""

    least: int
    mean: float
    most: int


class Learning(Record, frozen=True, kw_only=True):
    """Weight tensors by what became of them; `weights` and `eyes` count numbers that learn.

    `waiting` are first matrices of LoRA without a gradient, `resting` others that are to learn and
    got none, `leaked` frozen ones that got one.
    """

    weights: int
    eyes: int
    learning: int
    waiting: int
    resting: tuple[str, ...]
    leaked: tuple[str, ...]


class FirstStep:
    """Collects what one step is made of and what it does."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._ids: list[Any] = []
        self._taught: list[int] = []
        self._image: int | None = None
        self.learning: Learning | None = None

    def __len__(self) -> int:
        """Examples that were seen."""
        return len(self._ids)

    def batch(self, made: Mapping[str, Any]) -> None:
        """A batch as it goes to the model: whole texts, or prompts and replies apart."""
        for ids, there in (
            zip(made["input_ids"], made["attention_mask"], strict=True)
            if "input_ids" in made
            else _joined(made)
        ):
            self._ids.append(ids[there.bool()].cpu())
        if "completion_mask" in made:
            self._taught += made["completion_mask"].sum(dim=1).tolist()
        if "labels" in made:
            self._taught += (made["labels"] != IGNORED).sum(dim=1).tolist()

    def gradients(self, model: Any) -> None:
        """The model with the gradients of the whole step."""
        bare = getattr(model, "module", model)
        config = getattr(bare, "config", None)
        names = ("image_token_id", "image_token_index")
        self._image = next(
            (found for name in names if (found := getattr(config, name, None))), None
        )
        self.learning = look(bare)

    @property
    def tokens(self) -> Range | None:
        """Of an example, its photo and its right reply included; None where none was seen."""
        return _range([len(ids) for ids in self._ids])

    @property
    def image_tokens(self) -> Range | None:
        """Of an example's photos."""
        return _range([int((ids == self._image).sum()) for ids in self._ids])

    @property
    def taught(self) -> Range | None:
        """Of an example's right replies."""
        return _range(self._taught)


def _joined(made: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    torch = load_torch()
    parts = [
        [made[f"{part}_{what}"] for part in ("prompt", "completion")] for what in ("ids", "mask")
    ]
    ids, masks = (torch.cat(each, dim=1) for each in parts)
    return zip(ids, masks, strict=True)


def look(model: Any) -> Learning:
    """What became of every weight of a model that has its gradients."""
    found: dict[str, list[str]] = {"learning": [], "waiting": [], "resting": [], "leaked": []}
    weights, eyes = 0, 0
    for name, each in model.named_parameters():
        moved = each.grad is not None and bool((each.grad != 0).any())  # so is what is no number
        if not each.requires_grad:
            found["leaked"] += [name] if moved else []
            continue
        weights += each.numel()
        eyes += each.numel() if any(part in name for part in _EYES) else 0
        waits = any(part in name for part in _WAITING)
        found["learning" if moved else "waiting" if waits else "resting"].append(name)
    return Learning(
        weights=weights, eyes=eyes, learning=len(found["learning"]), waiting=len(found["waiting"]),
        resting=tuple(found["resting"]), leaked=tuple(found["leaked"]),
    )  # fmt: skip


def _range(numbers: list[int]) -> Range | None:
    if not numbers:
        return None
    return Range(least=min(numbers), mean=sum(numbers) / len(numbers), most=max(numbers))
