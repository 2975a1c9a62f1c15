"""What lies beside weights that were trained here: what they belong to and how they were shown.

A file `fieldtruth.json` in the folder of an adapter, of a fully trained model or of a merged one.
Whoever opens the folder gets the space and the pixel caps it was trained with, if nobody says
otherwise; and an adapter is not put on another base than its own.
"""

from pathlib import Path
from typing import Literal

import msgspec

from fieldtruth.faults import BadRecord
from fieldtruth.records import Record, Space
from fieldtruth.store import replacing

NAME = "fieldtruth.json"


class Card(Record, frozen=True, kw_only=True):
    """`base` is what was trained on, as it was named; `base_weights` the hash of its weights.

    `min_pixels` and `max_pixels` bound the area that photos were resized to; null where the kind
    of model has no such bounds. `step` is the optimizer step that the weights are of.
    """

    method: Literal["lora", "full", "merged"]
    base: str
    base_weights: str
    space: Space
    min_pixels: int | None
    max_pixels: int | None
    step: int


def read_card(folder: Path) -> Card | None:
    """The card in a folder, or None where there is none; `BadRecord` where it cannot be read."""
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Card)
    except msgspec.DecodeError as error:
        raise BadRecord(f"{path}: expected what training writes there, got: {error}") from None


def write_card(folder: Path, card: Card) -> None:
    """Write it whole or not at all."""
    with replacing(folder / NAME) as file:
        file.write(msgspec.json.format(msgspec.json.encode(card), indent=1) + b"\n")
