"""Rows of a raw question-answer release: JSON lists read in pieces, tables, and the photos beside.

A release is hostile until proven otherwise: a row that is not what it should be costs itself only
(`Bad`), and a row with a field that nobody has heard of ends the reading with `BadRecord`, for then
the release is another one than the source was written for.
"""

import csv
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast

import msgspec
import numpy as np

from fieldtruth import store, taxonomy
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import LETTERS, Drop, Kind, Record, Sample
from fieldtruth.taxonomy.lexicon import words_in
from fieldtruth.unique import hashes_of

PIECE = 2**16  # bytes; the rows of a larger piece do not stay in the processor's cache
LONGEST = 5  # words of a text that can be a label; more is a sentence
TRIES = 64  # places where a piece may end that are tried before more is read
_BROKEN = (msgspec.DecodeError, RecursionError)  # the second of brackets without end
_BOM = b"\xef\xbb\xbf"

Row = TypeVar("Row", bound=msgspec.Struct)
Wrong = Literal["no_photo", "unsafe_path"]


class Settings(Record, frozen=True, kw_only=True):
    """`--source-args` of a question-answer set. `photos=optional` routes rows without their photos,
    so that a release can be counted before its photos are fetched."""

    licence: str = "not stated"
    photos: Literal["needed", "optional"] = "needed"


class Bad(NamedTuple):
    """A row that is not what the source's rows are, and why."""

    why: str


def read_list(path: Path, kind: type[Row], piece: int = PIECE) -> Iterator[tuple[int, Row | Bad]]:
    """The rows of a file that is one JSON list, each with its number from 1, in bounded memory.

    `kind` forbids unknown fields; `piece` is how many bytes are read at a time. Raises `BadRecord`
    naming the file, the row and the field for a field that `kind` does not have, and naming the
    file and the row before it for broken JSON.
    """
    for first, some in read_lists(path, kind, piece):
        yield from enumerate(some, first)


def read_lists(
    path: Path, kind: type[Row], piece: int = PIECE
) -> Iterator[tuple[int, Sequence[Row | Bad]]]:
    """`read_list` for a million rows: some thousand at a time, with the number of the first."""
    first = 1
    for some in _pieces(path, kind, piece):
        if some and isinstance(some[0], msgspec.Raw):
            yield (
                first,
                [
                    _alone(raw, kind, f"{path}: row {number}")
                    for number, raw in enumerate(some, first)
                ],
            )
        else:
            yield first, cast("list[Row]", some)
        first += len(some)


def _pieces(path: Path, kind: type[Row], size: int) -> Iterator[list[Row] | list[msgspec.Raw]]:
    """The rows in lists of some thousand; raw where one of a list is not a `kind`."""
    typed, raw = msgspec.json.Decoder(list[kind]), msgspec.json.Decoder(list[msgspec.Raw])  # type: ignore[valid-type]

    def split(text: bytes) -> tuple[list[Row] | list[msgspec.Raw], int] | None:
        """The rows of the longest piece tried that is whole, and where it ends.

        A list that can be decoded has every string and bracket in it closed, so it ends between
        two rows and nowhere else.
        """
        for end in _ends(text):
            piece = b"[" + text[:end] + b"]"
            try:
                return typed.decode(piece), end
            except _BROKEN:
                try:
                    return raw.decode(piece), end
                except _BROKEN:
                    continue
        return None

    with store.open_existing(path) as file:
        rest = file.read(size).removeprefix(_BOM).lstrip()
        if not rest.startswith(b"["):
            raise BadRecord(f"{path}: expected a JSON list of rows, got {rest[:40]!r}")
        rest, count = rest[1:], 0
        while more := file.read(size):
            rest += more
            if len(rest) > store.LINE_LIMIT:
                raise BadRecord(f"{path}: row {count + 1}: expected a row, got one too long")
            found = split(rest)
            if found is not None:
                rows, end = found
                count += len(rows)
                yield rows
                rest = rest[end:].lstrip()[1:]  # the comma
        yield _last(rest, typed, raw, f"{path}: after row {count}")


def _ends(text: bytes) -> Iterator[int]:
    """Where a row may end: after a `}` that a comma and a `{` follow; the last first."""
    at = len(text)
    for _ in range(TRIES):
        at = text.rfind(b"{", 0, at)
        if at < 0:
            return
        before = text[max(0, at - 200) : at].rstrip()
        if before.endswith(b",") and before[:-1].rstrip().endswith(b"}"):
            gap = text[max(0, at - 200) : at]
            yield at - len(gap) + len(before[:-1].rstrip())


def _last(rest: bytes, typed: Any, raw: Any, where: str) -> Any:
    whole = b"[" + rest
    try:
        return typed.decode(whole)
    except _BROKEN:
        try:
            return raw.decode(whole)
        except _BROKEN as error:
            raise BadRecord(
                f"{where}: expected a JSON list of rows, got broken JSON ({error}); get the file "
                "again"
            ) from None


def _alone(raw: msgspec.Raw, kind: type[Row], where: str) -> Row | Bad:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        if "unknown field" in str(error):
            raise BadRecord(_unknown(where, error, kind.__struct_encode_fields__)) from None
        return Bad(str(error))
    except (*_BROKEN, UnicodeDecodeError) as error:
        return Bad(str(error))


def _unknown(where: str, error: object, known: Collection[str]) -> str:
    return (
        f"{where}: expected only the fields {', '.join(known)}, got: {error}; it is another release"
        " than this source reads"
    )


def read_table(
    path: Path, needs: Collection[str], knows: Collection[str]
) -> Iterator[tuple[int, dict[str, str] | Bad]]:
    """The rows of a CSV file as dicts, each with its number from 1 (the head is none).

    Raises `BadRecord` where the head lacks one of `needs` or has what is not one of `knows`,
    and where the file is not CSV in UTF-8. A row of another width is `Bad`.
    """
    # As of JSON: python's own bound, 131,072 letters, would end the reading at one long text.
    csv.field_size_limit(store.LINE_LIMIT)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            head = [name.strip() for name in next(reader, [])]
            unknown = [name for name in head if name not in knows]
            if set(needs) - set(head) or unknown or len(set(head)) < len(head):
                raise BadRecord(
                    f"{path}:1: expected the columns {', '.join(needs)} (and at most "
                    f"{', '.join(sorted(set(knows) - set(needs))) or 'no other'}), got "
                    f"{', '.join(head)}"
                )
            for number, row in enumerate(reader, start=1):
                if len(row) != len(head):
                    yield number, Bad(f"expected {len(head)} columns, got {len(row)}")
                else:
                    yield number, dict(zip(head, row, strict=True))
    except FileNotFoundError:
        raise Usage(f"{path}: expected a table, got nothing there") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadRecord(f"{path}: expected CSV in UTF-8, got: {error}") from None


class Photos:
    """Which photos lie below a folder of the release, by their paths in it: `there`, listed once.

    Raises `Refused` where the folder itself leads out of the release.
    """

    def __init__(self, root: Path, folder: str = "") -> None:
        top = store.inside(root, folder) if folder else root
        self._root = root
        self.there = frozenset(_files(top, f"{folder}/" if folder else "", root))
        hashes = hashes_of(self.there)
        # At least eight slots a photo: nearly all have one of their own. No hash of Python's is -1.
        self._slots = np.full(2 ** (8 * len(hashes)).bit_length(), -1, np.int64)
        self._slots[hashes & len(self._slots) - 1] = hashes

    def all_there(self, places: Sequence[str]) -> bool:
        """Whether each of some hundred places is a photo's.

        By the 64-bit hashes of the paths, side by side in one array: a set of so many strings lies
        all over the memory, and waiting for it takes four times as long. That a place which is not
        there has the hash of one that is happens once in some 10^13 places.
        """
        hashes = hashes_of(places)
        other = np.flatnonzero(self._slots[hashes & len(self._slots) - 1] != hashes)
        return self.there.issuperset([places[at] for at in other.tolist()])

    def wrong(self, places: Iterable[str]) -> tuple[Wrong, str]:
        """Why the first of these places that is no photo's cannot be had."""
        place = next(place for place in places if place not in self.there)
        unsafe = self.unsafe(place)
        return ("no_photo", place) if unsafe is None else ("unsafe_path", unsafe)

    def unsafe(self, place: str) -> str | None:
        """Why a place leads out of the release, None where it does not."""
        try:
            store.inside(self._root, place)
        except Refused as fault:
            return str(fault)
        return None

    def lost(self, places: Iterable[str], settings: "Settings") -> tuple[Wrong, str] | None:
        """What is wrong with the first of these places that will not do, None where all will.

        Where photos are optional, a place that leads out will not do, and one without a photo will.
        """
        for place in places:
            if place not in self.there:
                why, detail = self.wrong((place,))
                if why == "unsafe_path" or settings.photos == "needed":
                    return why, detail
        return None


def _files(top: Path, start: str, root: Path) -> Iterator[str]:
    """The files below a folder, `start` before their names; links that lead out are none."""
    home = os.path.realpath(root) + os.sep
    folders = [(os.fspath(top), start)]
    while folders:
        folder, here = folders.pop()
        try:
            entries = os.scandir(folder)
        except OSError:  # not there, or not to be looked at: its photos are missed by name
            continue
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, f"{here}{entry.name}/"))
                elif not entry.is_symlink() or (
                    os.path.realpath(entry.path).startswith(home) and entry.is_file()
                ):
                    yield here + entry.name


class Names:
    """Sample ids that are each one row's: a native id that comes again gets its place behind it.

    Where it is known which ids come more than once, `doubled` holds at least their hashes, and only
    rows of these ids are kept in memory.
    """

    def __init__(self, source: str, doubled: frozenset[int] | None = None) -> None:
        self._start, self._doubled = f"{source}:", doubled
        self._seen: dict[str, int] = {}

    def of(self, native: str, place: tuple[str, int], content: object) -> tuple[str, bool]:
        """The id, and whether the row is one that was there before, word for word.

        `place` is the file and the number of the row: the id of a row that has none of its own.
        `content` is hashable: all that tells two rows of one id apart.
        """
        own = native or place_name(*place)
        name = self._start + own
        if self._doubled is not None and hash(own) not in self._doubled:
            return name, False
        mine = hash(content)
        first = self._seen.setdefault(name, mine)
        if first is mine:
            return name, False
        return f"{name}#{place_name(*place)}", first == mine

    def once(self, natives: Collection[str]) -> bool:
        """Whether it is known of all these ids that each comes once."""
        doubled = self._doubled
        return doubled is not None and (not doubled or doubled.isdisjoint(map(hash, natives)))


def place_name(file: str, number: int) -> str:
    """The id of a row that has none of its own."""
    return f"{file}:{number}"


def letter_of(answer: str, options: Collection[str]) -> int | None:
    """Which option a letter names (`B`, `b.`, `(B)`), from 0; None where it names none."""
    text = answer.strip().strip("().:").upper()
    at = LETTERS.find(text) if len(text) == 1 else -1
    return at if 0 <= at < len(options) else None


@lru_cache(maxsize=65536)
def kind_of(name: str, crop: str | None, otherwise: Kind = "disease") -> Kind:
    """The kind of a label: the taxonomy's, else by the words of its name, else `otherwise`.

    >>> kind_of("Spider Mites", "tomato"), kind_of("Leaf Mold", "tomato"), kind_of("X Spot", None)
    ('pest', 'disease', 'disease')
    """
    known = taxonomy.resolve(name, crop).label
    if known is not None:
        return known.kind
    words = words_in(name)
    for kind in ("pest", "weed", "stress"):
        if kind in words:
            return kind
    return otherwise


def dropped(sample: Sample | str, stage: str, reason: str, detail: str = "") -> Drop:
    """The drop of a sample, or of a row of that id that became none."""
    name = sample if isinstance(sample, str) else sample.id
    return Drop(id=f"{name}:{stage}", sample=name, stage=stage, reason=reason, detail=detail)


def read_lines(path: Path, kind: type[Row]) -> Iterator[tuple[int, Row | Bad]]:
    """The rows of a file with one JSON object a line, each with its line's number; blanks aside.

    Raises as `read_list` does; a line that is no JSON is `Bad` and costs itself only.
    """
    with store.open_existing(path) as file:
        lines = iter(partial(file.readline, store.LINE_LIMIT), b"")
        for number, line in enumerate(lines, start=1):
            text = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
            if text:
                yield number, _line(text, kind, f"{path}:{number}")


def _line(text: bytes, kind: type[Row], where: str) -> Row | Bad:
    try:
        raw = msgspec.json.decode(text, type=msgspec.Raw)
    except (*_BROKEN, UnicodeDecodeError) as error:
        return Bad(f"expected JSON, got: {error}")
    return _alone(raw, kind, where)


def is_name(text: str) -> bool:
    """Whether a text can be a label: up to five words, and no list or sentence.

    >>> is_name("pale rings"), is_name("pale rings, small spots"), is_name("It is on the leaves.")
    (True, False, False)
    """
    plain = text.strip()
    return 0 < len(plain.split()) <= LONGEST and not any(mark in plain for mark in ",;:.!?")
