"""Control: items and photos become what a control shows of them; everything else stays.

A control of the question changes the item that the prompt is made from. A control of the photo
draws anew what the item's photo is, upright, keyed by (seed, control, item), and writes it without
loss: whoever is asked opens a file as ever, and a cache of replies sees another photo.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from fieldtruth import draws
from fieldtruth.controls.contract import Control, Pixels
from fieldtruth.faults import Unreadable, Usage
from fieldtruth.grading import Instruction
from fieldtruth.records import Item, Question
from fieldtruth.store import inside, room


@dataclass(frozen=True, slots=True)
class Shown:
    """`items` as they are asked about, their `image` within `folder`.

    `broken`: why an item's photo could not be changed, by the item's id; such an item is not
    among `items`, and is an error, never a reply.
    """

    folder: Path
    items: list[Item] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ShownQuestions:
    """`questions` as they are asked, their `images` within `folder`; `broken` as in `Shown`."""

    folder: Path
    questions: list[Question] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)


def show(
    items: Iterable[Item], instruction: Instruction, folder: Path, into: Path, key: tuple[int, str]
) -> Shown:
    """What a person would be shown of these items, which the instruction suits.

    `folder` is the benchmark's; changed photos are put in `into` as PNG named by their content.
    `key` is the seed and the control's name. Raises `Usage` where `into` cannot be written,
    `CannotWrite` where the disk is full.
    """
    asked = [item for item in map(instruction.asked, items) if item is not None]
    if not instruction.changes_photo:
        return Shown(folder, asked)
    shown = Shown(into)
    for item in asked:
        try:
            data = _changed(item, instruction, folder, key)
        except Unreadable as fault:
            shown.broken[item.id] = str(fault)
            continue
        digest = sha256(data).hexdigest()
        _put(into / f"{digest}.png", data)
        shown.items.append(replace(item, image=f"{digest}.png", image_sha256=digest))
    return shown


def show_questions(
    questions: Iterable[Question], control: Control, folder: Path, into: Path, key: tuple[int, str]
) -> ShownQuestions:
    """What a person would be shown of these questions: other photos, or none. See `show`."""
    if control.bare:
        return ShownQuestions(folder, [replace(each, images=()) for each in questions])
    shown = ShownQuestions(into)
    for each in questions:
        try:
            images = [
                _photo(inside(folder, image), control, (*key, f"{each.id} {at}"))
                for at, image in enumerate(each.images)
            ]
        except Unreadable as fault:
            shown.broken[each.id] = str(fault)
            continue
        names = [f"{sha256(data).hexdigest()}.png" for data in images]
        for name, data in zip(names, images, strict=True):
            _put(into / name, data)
        shown.questions.append(replace(each, images=tuple(names)))
    return shown


def _changed(item: Item, instruction: Instruction, folder: Path, key: tuple[int, str]) -> bytes:
    return _photo(inside(folder, item.image), instruction.control, (*key, item.id))


def _photo(path: Path, control: Control | None, key: tuple[int, str, str]) -> bytes:
    """The photo as the control shows it, as PNG; `key` is the seed, its name, and the record."""
    from PIL import Image

    from fieldtruth.images import open_upright

    seed, name, record = key
    pixels: Pixels = np.asarray(open_upright(path))
    if control is not None and control.photo is not None:
        pixels = control.photo(pixels, draws.rng(seed, f"control {name}", record))
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=1)
    return file.getvalue()


def _put(path: Path, data: bytes) -> None:
    """One photo may serve many items: it is written once."""
    try:
        with room(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_bytes(data)
    except OSError as error:
        raise Usage(
            f"{path.parent}: expected room for the photos a control shows, got: {error}; "
            "make some, and run the same command again"
        ) from None
