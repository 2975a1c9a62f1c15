"""What is asked of a row of each kind: examples, items, questions, conversations."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os.path import normpath
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord
from fieldtruth.formats import chat
from fieldtruth.formats.chat import shown
from fieldtruth.records import Example, Space
from fieldtruth.stages.check import answers, items, questions, tells
from fieldtruth.stages.check.photos import Photos, Tests
from fieldtruth.stages.check.problems import Found, repeated


@dataclass
class Desk:
    """What the rows of one file are held against, and what was seen of them so far."""

    file: Path
    images: Path | None
    photos: Photos
    tests: Tests
    budget: int
    space: Space | None
    ids: dict[str, int] = field(default_factory=dict)
    groups: dict[str, tuple[str, int]] = field(default_factory=dict)  # photo -> group, row
    choices: tells.Tally = field(default_factory=tells.Tally)

    @property
    def root(self) -> Path:
        """Where relative paths begin, unless examples say it of each source."""
        return self.images or store.root_beside(self.file.parent) or self.file.parent

    @cached_property
    def roots(self) -> dict[str, Path]:
        """Where the photos of each source lie, as the manifest beside the examples says."""
        return roots(self.file.parent)


class _Manifest(msgspec.Struct):
    """What is needed of `manifest.json` to find photos; whether the rest holds is not asked."""

    roots: dict[str, str] = {}


def roots(folder: Path) -> dict[str, Path]:
    """The folders of photos that a folder of examples names; none where it has no manifest."""
    path = folder / store.MANIFEST
    if not path.is_file():
        return {}
    try:
        told = msgspec.json.decode(path.read_bytes(), type=_Manifest)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path}: expected what `compose --training` wrote, got: {error}") from None
    here = folder.resolve()
    return {source: Path(normpath(here / root)) for source, root in told.roots.items()}


Rule = Callable[[int, Mapping[str, Any], Desk], Iterator[Found]]


def kind_of(value: Mapping[str, Any]) -> tuple[str, str]:
    """Which kind a row is of, and which shape of that kind; `unknown` where it is none."""
    if {"parent", "protocol", "prompt", "answer"} <= value.keys():
        return "examples", "examples"
    if "question" in value and value.keys() & questions.BESIDE:
        return "questions", "questions"
    if value.keys() >= items.NEEDED:
        return "items", "items"
    name = chat.shape(value)
    return ("chat", name) if name else ("unknown", "")


def of_example(number: int, value: Mapping[str, Any], desk: Desk) -> Iterator[Found]:
    """A row of `compose --training`: it declares its own box space, size, split and group."""
    try:
        row = msgspec.convert(value, Example)
    except msgspec.ValidationError as error:
        yield Found("bad_row", f"expected an Example: {error}")
        return
    yield from repeated(row.id, number, desk.ids)
    yield from answers.literal(row.prompt, "the prompt")
    if not row.prompt.strip():
        yield Found("empty_prompt", "expected a prompt, got a blank one")
    size = (row.width, row.height)
    reading, found = answers.answer(row.answer, row.space, size, boxes_only=True)
    yield from found
    yield from answers.too_long(row.answer, desk.budget)
    if row.kind != "object":  # whatever is to be found may be called as it is
        own = [row.label, row.query, *(row.candidates or ()), *reading.labels]
        yield from answers.labels(dict.fromkeys(filter(None, own)), row.crop)
    yield from _photo_of(row, desk)


def _photo_of(row: Example, desk: Desk) -> Iterator[Found]:
    if row.split == "test":
        yield Found("test_image", "its split is test")
    known = list(desk.tests.of_hash(row.image_sha256))
    yield from known or desk.tests.of_group(row.source, row.group)
    root = desk.images or desk.roots.get(row.source)
    if root is None:
        yield Found("image_missing", f"nobody says where {shown(row.source)} lies: give --images")
        return
    seen = desk.photos.look(root, row.image)
    yield from (each for each in seen.found if each.problem != "test_image" or not known)
    if seen.size is not None and seen.size != (row.width, row.height):
        width, height = seen.size
        yield Found(
            "wrong_size",
            f"expected {row.width} x {row.height} pixels, the photo has {width} x {height}",
        )


def of_chat(number: int, value: Mapping[str, Any], desk: Desk) -> Iterator[Found]:
    """A conversation: turns, placeholders, photos, and the boxes in the assistant's last words."""
    name = value.get("id")
    if isinstance(name, str | int) and not isinstance(name, bool):
        yield from repeated(str(name), number, desk.ids)
    try:
        row = chat.parse(value)
    except ValueError as error:
        yield Found("bad_row", str(error))
        return
    yield from _turns(row)
    yield from _placeholders(row)
    looks = [desk.photos.look(desk.root, each, anywhere=True) for each in row.images]
    for look in dict.fromkeys(looks):
        yield from look.found
    said = row.turns[-1]
    if said.role == "assistant" and not said.calls:
        space = desk.space or row.space or "norm1000"
        size = looks[0].size if len(looks) == 1 else None
        reading, found = answers.answer(said.text, space, size, boxes_only=False)
        yield from found
        yield from answers.labels(dict.fromkeys(reading.labels))
    for turn in row.turns:
        if turn.role == "assistant":
            yield from answers.too_long(turn.text, desk.budget)


def _turns(row: chat.Chat) -> Iterator[Found]:
    """Order, blank questions, and words that stand for a photo where they may not."""
    turns = row.turns[1:] if row.turns[0].role == "system" else row.turns
    expected = ["user", "assistant"] * (len(turns) // 2)
    if not turns or [turn.role for turn in turns] != expected:
        yield Found("roles", f"got {', '.join(turn.role for turn in row.turns)}")
    for turn in row.turns:
        if turn.role == "user" and not turn.text.replace(chat.TAG, "").strip():
            yield Found("empty_prompt", "the user says nothing")
        if turn.role == "assistant" and turn is row.turns[-1]:
            continue  # looked at with the answer
        words = turn.text
        if not row.structured and turn.role != "assistant":
            words = words.replace(chat.TAG, " ")
        yield from answers.literal(words, f"what the {turn.role} says")


def _placeholders(row: chat.Chat) -> Iterator[Found]:
    photos = len(row.images) - row.own
    if row.places != photos:
        yield Found("placeholders", f"{row.places} placeholders, {photos} photos")


def of_question(number: int, value: Mapping[str, Any], desk: Desk) -> Iterator[Found]:
    """A question of a set: its letter, options, words, facts, tells and photos."""
    row = questions.parse(value)
    if isinstance(row, Found):
        yield row
        return
    yield from repeated(row.id, number, desk.ids)
    yield from questions.words(row)
    yield from tells.of_row(row)
    desk.choices.add(row)
    for image in dict.fromkeys(row.images):
        look = desk.photos.look(desk.root, image)
        yield from look.found
        if row.group:
            group, first = desk.groups.setdefault(image, (row.group, number))
            if group != row.group:
                yield Found("shared_photo", f"{shown(image)} is of {shown(group)} in row {first}")
    if row.group:
        yield from desk.tests.of_group(row.source, row.group)


def of_item(number: int, value: Mapping[str, Any], desk: Desk) -> Iterator[Found]:
    """An item: its names, boxes and photo, as `freeze` will hold them against each other."""
    row = items.parse(value)
    if isinstance(row, Found):
        yield row
        return
    yield from repeated(row.id, number, desk.ids)
    yield from items.words(row)
    look = desk.photos.look(desk.root, row.image)
    yield from look.found
    yield from items.whole(row, look)
    if row.group:
        yield from desk.tests.of_group(row.source, row.group)


RULES: Mapping[str, Rule] = {
    "examples": of_example,
    "items": of_item,
    "questions": of_question,
    "chat": of_chat,
}
