"""What a control is: the very same instruction, with one thing about the question changed.

A control asks with the base protocol's own prompt and is read by the base protocol's own reader
(agroground.md, section 14: other wordings and other parsers made the published controls
no match for the numbers beside them). It changes the photo's pixels, or the item that the
prompt is made from. `NAME+CONTROL` is the protocol's name; the control's file ends in
`CONTROL = Control(...)`. What it draws, it draws from the generator it is handed, which is keyed
by seed, control and item: a resumed run is the same run.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from fieldtruth.records import Item

Pixels = NDArray[np.uint8]  # (height, width, 3), RGB, upright


def _as_it_is(item: Item) -> Item:
    return item


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One control.

    `question`: the item as it is asked about, or None where this control cannot be asked of it.
    `photo`: its pixels as they are shown, of the same shape; None: the photo as it is.
    `absent`: what is asked for is not on the photo, so the one right answer is the empty one and
    only `wrong_target_abstention` has anything to measure. Otherwise the truth is the item's own.
    `leads`: metrics that a table of this control begins with, before the protocol's own.
    `questions`: it is asked of the questions of a question benchmark too: of those that have
    photos, which are changed by `photo`, or left out where it is `bare`.
    """

    question: Callable[[Item], Item | None] = _as_it_is
    photo: Callable[[Pixels, np.random.Generator], Pixels] | None = None
    absent: bool = False
    leads: tuple[str, ...] = ()
    questions: bool = False
    bare: bool = False


def rotated(item: Item, by: int) -> Item | None:
    """The item with the name at place `by` of its list first; None where it has no list."""
    names = item.candidates
    return None if names is None else replace(item, candidates=names[by:] + names[:by])
