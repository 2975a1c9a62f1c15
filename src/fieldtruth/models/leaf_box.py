"""A baseline: one box around the leaf, and always a name. It never says that nothing is there.

    --model leaf_box --model-args "label=leaf rust"

`label` is what it says whenever that is among the names offered: give the majority label of the
training split. Without it, or where it is not offered, the first name offered is said. What a
model adds is what it scores above this.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from PIL import Image

from fieldtruth.faults import Usage
from fieldtruth.models.colour import leaf
from fieldtruth.models.contract import Opener, Request, Words, by_photo, known_options, say
from fieldtruth.records import Space

RULE = 2  # add one when the same photo may be answered with another box


class LeafBox:
    """Finds the leaf, boxes it, names it; boxes in pixels of the upright photo."""

    space: Space = "pixel"

    def __init__(self, label: str | None) -> None:
        self._label = label
        self.version = f"leaf_box-{RULE}-{label or 'first'}"

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request; a photo that cannot be opened is an error."""
        return by_photo(requests, self._answer)

    def _answer(self, photo: Image.Image, request: Request) -> str:
        small = leaf.shrink(photo, leaf.COARSE)
        mask = leaf.find_leaf(leaf.lab(np.asarray(small)))
        x1, y1, x2, y2 = leaf.leaf_box(mask)
        across, down = photo.width / small.width, photo.height / small.height
        return say([(x1 * across, y1 * down, x2 * across, y2 * down)], self._name(request))

    def _name(self, request: Request) -> str:
        if self._label is not None and self._label in request.names:
            return self._label
        return request.names[0] if request.names else (self._label or "")


def _open(options: Mapping[str, str]) -> LeafBox:
    known_options("leaf_box", options, ("label",))
    if options.get("label") == "":
        raise Usage("label: expected the name to say, got an empty one")
    return LeafBox(options.get("label"))


OPEN: Opener = _open
