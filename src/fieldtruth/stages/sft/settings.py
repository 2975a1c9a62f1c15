"""What a fine-tuning run is told: the base, the examples, LoRA, the optimizer, the resolution.

Defaults are AgroGround's (appendix D; reference, section 12, "SFT"): LoRA of rank 64 and alpha 128
on attention and MLP of the language model, the eyes frozen, learning rate 1e-4 on a cosine after
3 % of warm-up, 32 examples a step, one epoch, photos of at most 50,176 pixels.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from fieldtruth.faults import Usage
from fieldtruth.models.transformers.settings import Patches, Precision
from fieldtruth.records import Record, Space

Share = Annotated[float, Meta(ge=0, lt=1)]
Count = Annotated[int, Meta(ge=1)]
Average = Literal["token", "square", "sample"]

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "agroground": {},
    # AgMMU's fine-tuning on its knowledge base (section 4.5, appendix C; the rank is LLaVA's).
    "agmmu": {
        "rank": 128, "alpha": 256, "dropout": 0.05, "rate": 2e-4, "schedule": "cosine",
        "warmup": 0.03, "batch": 16, "accumulate": 4, "epochs": 2.0, "decay": 0.0,
        "min_pixels": None, "max_pixels": None,
    },
    # PlantXpert's adaptation (paper; reference, section 19): its photos are not capped.
    "plantxpert": {
        "rank": 16, "alpha": 32, "dropout": 0.05, "rate": 1e-4, "schedule": "cosine",
        "warmup": 0.03, "batch": 1, "accumulate": 4, "epochs": 3.0, "min_pixels": None,
        "max_pixels": None,
    },
}  # fmt: skip


class Sft(Record, frozen=True, kw_only=True):
    """One run. Paths are as the recipe's reader resolved them.

    `base`: a folder or hub name. `train` and `val`: folders that `compose --training` made, of the
    splits train and val; `train` may be files of conversations instead, which teach no boxes.
    `limit`: only so many examples of each folder of `train`, the first; they lie in a drawn order.
    `rank` 0 trains the weights themselves instead of LoRA; `targets` is a regular expression over
    module names. `vision`: whether the eyes learn too. `steps` stands in place of `epochs`. `batch`
    is examples at a time, `accumulate` how often before a step. `rate` is the learning rate,
    `warmup` a share of the steps. `optimizer` muon is for all weights of a small model: its
    matrices learn by Muon, the rest by AdamW. `min_pixels`, `max_pixels`: the area photos are
    resized to; as the base's processor has it if null. `eval_*`: the same when validating, if it
    is to differ. A checkpoint is saved, and validated on at most `val_limit` examples, every
    `save_every` steps; the best by `select` (PROTOCOL.METRIC) and the last are kept.
    `average`: what the loss is the mean of. Where tokens weigh alike, whether to answer at all is
    decided in a hundredth of it: an empty list has three, the boxes of a dense photo two hundred.
    `sample` lets replies weigh alike, `square` is between (a reply of n tokens weighs as their
    root, as in InternVL 2.5's training).
    `budget`: tokens that a reply may take; as many as thirty boxes take if null. `length`: tokens
    of an example, photo included, beyond which the run is refused. `tests`: frozen benchmarks whose
    photos may not be among the examples.
    """

    base: str
    train: tuple[str, ...]
    out: str
    val: tuple[str, ...] = ()
    limit: Count | None = None
    space: Space | None = None
    rank: Annotated[int, Meta(ge=0)] = 64
    alpha: Count = 128
    dropout: Share = 0.05
    targets: str | None = None
    vision: Literal["frozen", "trained"] = "frozen"
    epochs: Annotated[float, Meta(gt=0)] = 1.0
    steps: Count | None = None
    batch: Count = 4
    accumulate: Count = 8
    rate: Annotated[float, Meta(gt=0)] = 1e-4
    schedule: Literal["cosine", "linear", "constant", "constant_with_warmup"] = "cosine"
    warmup: Share = 0.03
    optimizer: Literal["adamw", "muon"] = "adamw"
    decay: Annotated[float, Meta(ge=0)] = 0.0
    clip: Annotated[float, Meta(gt=0)] = 1.0
    min_pixels: Count | None = 784
    max_pixels: Count | None = 50_176
    eval_min_pixels: Count | None = None
    eval_max_pixels: Count | None = None
    length: Count = 4096
    budget: Count | None = None
    average: Average = "token"
    save_every: Count = 500
    val_limit: Count | None = None
    val_batch: Count = 8
    select: str | None = None
    seed: int = 0
    device: str = "auto"
    dtype: Precision = "auto"
    patches: Patches = "auto"
    recompute: bool | None = None  # activations anew on the way back: memory for time; on a GPU
    workers: Annotated[int, Meta(ge=0)] = 0  # processes that prepare photos
    tests: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.train:
            raise ValueError("expected at least one folder of examples to train on, got none")


def with_preset(table: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe's table over the preset that it names; `Usage` for one that there is not."""
    given = dict(table)
    name = given.pop("preset", "agroground")
    if name not in PRESETS:
        raise Usage(f"preset: expected one of {', '.join(PRESETS)}, got {name!r}")
    return {**PRESETS[name], **given}
