"""What a model from nothing is told: its examples, its size, and how its eyes are warmed up.

The defaults are those of a small model that learns on one core (tiny-vlm.md, sections 2 and 3).
"""

from typing import Annotated

from msgspec import Meta

from fieldtruth.records import Record

Count = Annotated[int, Meta(ge=1)]

PATCH, MERGE = 16, 2  # Qwen3-VL's own: a token of a photo stands for 32 x 32 pixels
CELL = PATCH * MERGE


class Scratch(Record, frozen=True, kw_only=True):
    """One model. Paths are as the recipe's reader resolved them.

    `train`: folders that `compose --training` made; words and truth are taken from them. `width`,
    `layers` and `heads` are of the language model; `eyes`, `eye_layers` and `eye_heads` of what
    sees. A photo is resized to about `side` times `side` pixels. `steps` of `batch` photos at the
    learning rate `rate` warm the eyes up; 0 leaves them as they were drawn.
    """

    train: tuple[str, ...]
    out: str
    width: Count = 192
    layers: Count = 4
    heads: Count = 4
    eyes: Count = 128
    eye_layers: Count = 4
    eye_heads: Count = 2
    side: Annotated[int, Meta(ge=CELL)] = 256
    steps: Annotated[int, Meta(ge=0)] = 600
    batch: Count = 32
    rate: Annotated[float, Meta(gt=0)] = 1.5e-3
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        if not self.train:
            raise ValueError("expected at least one folder of examples to learn from, got none")
        for whole, parts, what in (
            (self.width, self.heads, "width"), (self.eyes, self.eye_heads, "eyes"),
        ):  # fmt: skip
            if whole % (4 * parts):
                raise ValueError(
                    f"expected {what} in {parts} heads of a multiple of 4, got {whole}"
                )
        if self.width // self.heads < 12:
            raise ValueError(f"expected heads at least 12 wide, got {self.width // self.heads}")
        if self.side % CELL:
            raise ValueError(f"expected a side that is a multiple of {CELL}, got {self.side}")

    @property
    def grid(self) -> int:
        """Patches along a side."""
        return self.side // PATCH
