"""Items and questions as people write them, and how each becomes the record it stands for.

What the photo itself tells (hash, size, group) may be left out or null; what is given must agree
with the photo. Every fault is a `BadRecord` that begins with file, line and id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import asdict

from fieldtruth import store, taxonomy
from fieldtruth.faults import BadRecord
from fieldtruth.images import Facts
from fieldtruth.records import AskLevel, Box, Item, Kind, Level, Question, Record

# A line with one of these fields, which items do not have, is a question.
_OF_QUESTIONS = {"form", "question", "options", "answer", "images", "qtype"}


class ItemDraft(Record, frozen=True, kw_only=True):
    """An `Item` as people write it."""

    id: str
    image: str
    image_sha256: str | None = None
    width: int | None = None
    height: int | None = None
    source: str
    licence: str
    crop: str | None = None
    kind: Kind | None = None
    label: str | None = None
    level: Level
    boxes: tuple[Box, ...] = ()
    query: str | None = None
    absent_query: str | None = None
    candidates: tuple[str, ...] | None = None
    group: str | None = None
    ask_level: AskLevel | None = None
    ask_kind: Kind | None = None


class QuestionDraft(Record, frozen=True, kw_only=True):
    """A `Question` as people write it."""

    id: str
    form: Literal["mcq", "open"]
    images: tuple[str, ...] = ()
    question: str
    options: tuple[str, ...] | None = None
    answer: str
    facts: tuple[str, ...] = ()
    domain: str | None = None
    challenge: str | None = None
    crop: str | None = None
    qtype: str | None = None
    group: str | None = None
    evidence: tuple[str, ...] = ()
    source: str
    licence: str
    background: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A draft, and where it stands: `FILE:LINE (id 'x')`."""

    draft: ItemDraft | QuestionDraft
    where: str

    @property
    def images(self) -> tuple[str, ...]:
        """The photos it names, as written."""
        return (self.draft.image,) if isinstance(self.draft, ItemDraft) else self.draft.images


def read_drafts(path: Path) -> list[Line]:
    """Every line of a file of items or of questions; the fields of the first line tell which."""
    kind = _kind(path)
    store.fields_once(path)
    lines = [
        Line(draft, f"{path}:{number} (id {draft.id!r})")
        for number, draft in enumerate(store.read_unique(path, kind), start=1)
    ]
    for line in lines:
        if not line.draft.licence.strip():
            raise BadRecord(
                f"{line.where}: expected the licence the photo is given out under, got a blank "
                "one; name it, or write 'unknown' and the photo is kept by reference only"
            )
    return lines


def _kind(path: Path) -> type[ItemDraft] | type[QuestionDraft]:
    with store.open_existing(path) as file:
        first = file.readline(store.LINE_LIMIT).removeprefix(b"\xef\xbb\xbf")
    if not first:
        raise BadRecord(f"{path}: expected items or questions, one a line, got an empty file")
    try:
        fields = msgspec.json.decode(first)
    except (ValueError, RecursionError):
        return ItemDraft  # reading the line will say what is wrong with it
    return (
        QuestionDraft if isinstance(fields, dict) and fields.keys() & _OF_QUESTIONS else ItemDraft
    )


def finish(line: Line, seen: Sequence[Facts], places: Sequence[str], group: str) -> Item | Question:
    """The record of a draft. `seen` and `places` (where they will lie) run parallel to `images`."""
    try:
        if isinstance(line.draft, QuestionDraft):
            return Question(**(asdict(line.draft) | {"images": tuple(places), "group": group}))
        _agree(line.draft, seen[0])
        item = _item(line.draft, seen[0], places[0], group)
        check_names(item)
    except ValueError as error:
        raise BadRecord(f"{line.where}: {error}; correct the line") from None
    return item


def _item(draft: ItemDraft, seen: Facts, place: str, group: str) -> Item:
    of_photo = {"image_sha256": seen.sha256, "width": seen.width, "height": seen.height}
    return as_given(msgspec.structs.replace(draft, **of_photo), seen, place, group)


def as_given(draft: ItemDraft, seen: Facts, place: str, group: str) -> Item:
    """The item of a draft, with what it leaves out told by its photo, and what it gives as given.

    Raises `ValueError` where it is no item.
    """
    told = {
        "image_sha256": seen.sha256, "width": seen.width, "height": seen.height,
        "query": draft.label,
    }  # fmt: skip
    filled = {name: value for name, value in told.items() if getattr(draft, name) is None}
    return Item(**(asdict(draft) | filled | {"image": place, "group": group}))


def _agree(draft: ItemDraft, seen: Facts) -> None:
    """Hash and size, where given, must be the photo's."""
    given = draft.image_sha256
    if given is not None and given.lower() != seen.sha256:
        raise ValueError(
            f"expected image_sha256 {seen.sha256} (of {draft.image!r} as it lies there), got "
            f"{given!r}; another photo, or an edited one"
        )
    for side in ("width", "height"):
        if getattr(draft, side) not in (None, getattr(seen, side)):
            raise ValueError(
                f"expected {side} {getattr(seen, side)} (of {draft.image!r} turned upright), got "
                f"{getattr(draft, side)}"
            )


def check_names(item: Item) -> None:
    """Raises `ValueError` where two names of one thing are rivals (design, section 2, rule 9)."""
    label, offered = item.label, item.candidates or ()
    for a, b in combinations(offered, 2):
        if taxonomy.conflict(a, b, item.crop):
            raise ValueError(f"expected candidates that exclude each other, got {a!r} and {b!r}")
    if label is None:
        return
    if item.query is not None and not taxonomy.same(item.query, label):
        raise ValueError(f"expected query to name the label {label!r}, got {item.query!r}")
    if item.absent_query is not None and taxonomy.conflict(item.absent_query, label, item.crop):
        raise ValueError(
            f"expected an absent_query that is certainly not on the image, got "
            f"{item.absent_query!r} beside the label {label!r}"
        )
    if offered and not any(taxonomy.same(name, label) for name in offered):
        raise ValueError(f"expected the label {label!r} among the candidates, got {offered}")
