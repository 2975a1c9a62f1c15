"""The photo in 4 x 4 tiles, in another order: texture without the shape of the plant.

Tiles are of the floor size, as published (agroground.md, section 14); what is left over at the
right and the bottom stays where it is, so every pixel is still there (the published control loses
it). The order is drawn for each item. The truth is the item's own: recognition is the number to
read; the true boxes are still those of the photo before it was cut, so numbers on places say
little here.
"""

import numpy as np

from fieldtruth.controls.contract import Control, Pixels

SIDE = 4  # tiles a side


def _shuffled(photo: Pixels, rng: np.random.Generator) -> Pixels:
    high, wide = photo.shape[0] // SIDE, photo.shape[1] // SIDE
    inner = photo[: high * SIDE, : wide * SIDE].reshape(SIDE, high, SIDE, wide, 3)
    tiles = inner.swapaxes(1, 2).reshape(SIDE * SIDE, high, wide, 3)
    mixed = tiles[rng.permutation(SIDE * SIDE)].reshape(SIDE, SIDE, high, wide, 3)
    shown = photo.copy()
    shown[: high * SIDE, : wide * SIDE] = mixed.swapaxes(1, 2).reshape(high * SIDE, wide * SIDE, 3)
    return shown


CONTROL = Control(photo=_shuffled)
