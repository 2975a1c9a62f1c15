"""The backend's options, and the box space in which each kind of model writes."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from fieldtruth.faults import Usage
from fieldtruth.records import Record, Space

Precision = Literal["auto", "float32", "bfloat16", "float16"]
Prompt = Literal["own", "vision_reasoner", "seg_zero"]
Patches = Literal["auto", "on", "off"]

# By `model_type` of the weights (peers.md, "Box spaces to support by name"). What is not here has
# to be told: guessing from the numbers in a reply would be choosing by the truth.
SPACES: Mapping[str, Space] = {
    "qwen2_vl": "norm1000",
    "qwen2_5_vl": "pixel_resized",
    "qwen3_vl": "norm1000",
    "qwen3_vl_moe": "norm1000",
    "internvl": "norm1000",
}


class Settings(Record, frozen=True, kw_only=True):
    """What was asked for on the command line.

    `space`: the box space it writes in; its kind's, or its card's, if not given. `max_new_tokens`:
    of a reply; as many as thirty boxes take if not given. `min_pixels` and `max_pixels` bound the
    area that a photo is resized to; those it was trained at, or its processor's, if not given.
    `batch` is in requests. `dtype` auto is bfloat16 on a GPU that has it, else float32.
    `temperature` 0 takes the likeliest token; above it, tokens are drawn, keyed by `seed` and the
    request. `prompt_file` holds other words for a template, with `{Question}` in them. `patches`:
    see `on_cpu`.
    """

    path: str
    adapter: str | None = None
    space: Space | None = None
    prompt: Prompt = "own"
    prompt_file: str | None = None
    max_new_tokens: Annotated[int, Meta(ge=1)] | None = None
    min_pixels: Annotated[int, Meta(ge=1)] | None = None
    max_pixels: Annotated[int, Meta(ge=1)] | None = None
    batch: Annotated[int, Meta(ge=1)] = 8
    device: str = "auto"
    dtype: Precision = "auto"
    temperature: Annotated[float, Meta(ge=0)] = 0.0
    seed: int = 0
    patches: Patches = "auto"


def space_of(kind: str, said: Space | None) -> Space:
    """What was said, or the space of that kind of model; `Usage` where it is not known."""
    if said is not None:
        return said
    if kind not in SPACES:
        raise Usage(
            f"space: expected the box space that a model of the kind {kind!r} writes in (known: "
            f"{', '.join(sorted(SPACES))}), got none; give it, as space=norm1000"
        )
    return SPACES[kind]
