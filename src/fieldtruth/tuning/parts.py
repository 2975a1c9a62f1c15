"""A batch in parts of like length: on a CPU, padding costs as much time as words do.

Of the replies to 32 photos the longest has ten times the tokens of most. What is worked out of a
row does not depend on those beside it, so sums over the parts are those over the batch.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fieldtruth.pretrained import load_torch

PART = 8  # rows
PHOTOS, GRIDS, TOKENS, KINDS = "pixel_values", "image_grid_thw", "input_ids", "mm_token_type_ids"


def can_be_parted(batch: Mapping[str, Any]) -> bool:
    """Whether it lies on a CPU, in more rows than a part has, each with one photo or all without.

    As many photos as rows are not enough: of two talks the first may have both.
    """
    ids, grids = batch[TOKENS], batch.get(GRIDS)
    if ids.device.type != "cpu" or len(ids) <= PART:
        return False
    if grids is None:
        return batch.get(PHOTOS) is None
    kinds = batch.get(KINDS)  # of tokens: 0 is of words
    if kinds is None or len(grids) != len(ids):
        return False
    # Photos lie in the order of their rows, so they are one to a row where the sizes agree.
    tokens, patches = (kinds > 0).sum(dim=1), grids.prod(dim=1)
    return bool((tokens * patches.sum() == patches * tokens.sum()).all())


def parted(batch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Parts of a batch that is padded on the right, each cut behind its longest row."""
    lengths = batch["attention_mask"].sum(dim=1)
    for rows in lengths.argsort(stable=True).split(PART):
        yield of_rows(batch, rows, int(lengths[rows].max()))


def of_rows(batch: Mapping[str, Any], rows: Any, end: int) -> dict[str, Any]:
    """Some rows [k] of a batch with their photos, of [rows, tokens] the first `end` tokens.

    What has no rows, and so holds for the whole batch, is taken as it is.
    """
    shape = batch[TOKENS].shape
    made = {
        name: each[rows, :end] if getattr(each, "shape", ())[:2] == shape else each
        for name, each in batch.items()
    }
    if batch.get(GRIDS) is not None:
        photos = batch[PHOTOS].split(batch[GRIDS].prod(dim=1).tolist())
        theirs = load_torch().cat([photos[row] for row in rows.tolist()])
        made |= {PHOTOS: theirs, GRIDS: batch[GRIDS][rows]}
    return made
