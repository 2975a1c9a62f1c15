"""A row of items, composed or written by hand: what `freeze` would refuse, and what training would.

What `freeze` fills in (hash, size, group) may be left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from fieldtruth.drafts import ItemDraft, as_given, check_names
from fieldtruth.images import Facts
from fieldtruth.stages.check.answers import labels
from fieldtruth.stages.check.photos import Look
from fieldtruth.stages.check.problems import Found

NEEDED = frozenset({"image", "level"})  # no other kind of row has both


def parse(value: Mapping[str, Any]) -> ItemDraft | Found:
    """The item of a row, or why it is none."""
    try:
        return msgspec.convert(value, ItemDraft)
    except msgspec.ValidationError as error:
        return Found("bad_row", f"expected an Item: {error}")


def words(row: ItemDraft) -> Iterator[Found]:
    """What is wrong with its licence and its names."""
    if not row.licence.strip():
        yield Found("empty_text", "the licence; write 'unknown' where nobody knows it")
    if row.kind != "object":  # whatever is to be found may be called as it is
        own = (row.label, row.query, row.absent_query, *(row.candidates or ()))
        yield from labels(dict.fromkeys(filter(None, own)), row.crop)


def whole(row: ItemDraft, look: Look) -> Iterator[Found]:
    """What is wrong with it as a whole, in the light of its photo's size where that is known."""
    size = look.size
    if size is not None and (row.width or size[0], row.height or size[1]) != size:
        told = f"{row.width or size[0]} x {row.height or size[1]}"
        yield Found("wrong_size", f"expected {told} pixels, the photo has {size[0]} x {size[1]}")
    width, height = size or (row.width, row.height)
    if width and height:
        seen = Facts(width=width, height=height, sha256="", pixels="")
        try:
            check_names(as_given(row, seen, row.image, row.group or row.id))
        except ValueError as error:
            yield Found("bad_row", str(error))
