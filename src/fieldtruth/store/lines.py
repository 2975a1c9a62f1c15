"""JSONL on disk: every line is one record, checked as it is read; a file is whole or not there.

Both ways stream, so memory stays flat whatever the length. A reader never skips a line: the
first that is not the record the file promises ends the reading with `BadRecord`.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from io import BytesIO
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
import numpy as np

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Record
from fieldtruth.store.explain import explain, named, twice, whose
from fieldtruth.store.locks import spare
from fieldtruth.store.room import make_folder, room

LINE_LIMIT = 64 * 2**20  # bytes; a longer line is no record but a file of another kind

R = TypeVar("R", bound=Record)

_BOM = b"\xef\xbb\xbf"
_BLOCK = 2**16  # bytes that are read at a time; what they hold stays in the processor's cache
_HELD = 256  # records that are written at a time
_ENCODER = msgspec.json.Encoder()


def read(path: Path, kind: type[R]) -> Iterator[R]:
    """The records of a JSONL file, in file order. A byte order mark and CRLF are tolerated.

    Raises `Usage` when there is no such file, and `BadRecord` naming file and line at the first
    line that is not a `kind`: unknown field, wrong type, NaN, a number out of range, JSON that
    is broken, bytes that are not UTF-8, a blank line.
    """
    return chain.from_iterable(_lists(path, kind))


def _lists(path: Path, kind: type[R]) -> Iterator[Iterable[R]]:
    """The records of some hundred lines at a time."""
    decode, number = msgspec.json.Decoder(kind).decode_lines, 0
    with open_existing(path) as file:
        for block in _blocks(file):
            lines, records = _one_a_line(block), None
            if lines:
                with suppress(ValueError, RecursionError):
                    records = decode(block)
            if records is not None and len(records) == lines:
                yield records
            else:
                yield _one_by_one(path, kind, block, number)
            number += lines or block.count(b"\n")


def _one_a_line(block: bytes) -> int:
    """How many lines a block has, where `{` begins every line and `}` ends it; else 0.

    No record can then go over the end of its line, so as many records as lines are one a line.
    """
    letters = np.frombuffer(block, np.uint8)
    ends = letters == ord("\n")
    between = ends[1:-1] & (letters[:-2] == ord("}")) & (letters[2:] == ord("{"))
    lines = int(np.count_nonzero(ends))
    whole = block.startswith(b"{") and block.endswith(b"}\n")
    return lines if whole and np.count_nonzero(between) == lines - 1 else 0


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """A file in pieces of whole lines, of `_BLOCK` bytes or one line longer than that."""
    rest = b""
    while more := file.read(_BLOCK):
        end = more.rfind(b"\n") + 1
        if end:
            yield rest + more[:end]
            rest = more[end:]
        else:
            rest += more
        if len(rest) >= LINE_LIMIT:  # `_one_by_one` refuses it
            break
    if rest:
        yield rest


def _one_by_one(path: Path, kind: type[R], block: bytes, number: int) -> Iterator[R]:
    """The records of a block after line `number`, each line on its own; `BadRecord` names it."""
    decode = msgspec.json.Decoder(kind).decode
    lines = iter(BytesIO(block).readline, b"")
    for at, line in enumerate(lines, start=number + 1):
        try:
            record = decode(line.removeprefix(_BOM) if at == 1 else line)
        except (ValueError, RecursionError) as error:
            reason = explain(line, kind, error, whole=len(line) < LINE_LIMIT)
            raise BadRecord(f"{path}:{at}{reason}") from None
        yield record


def read_unique(
    path: Path, kind: type[R], key: Callable[[R], str] = attrgetter("id")
) -> Iterator[R]:
    """`read`, and `BadRecord` naming both lines where two records have one key."""
    seen: dict[str, int] = {}
    for number, record in enumerate(read(path, kind), start=1):
        mine = key(record)
        first = seen.setdefault(mine, number)
        if first != number:
            raise BadRecord(
                f"{path}:{number} (id {mine!r}): expected an id of its own, got that of line "
                f"{first}; remove one of the two lines or rename one"
            )
        yield record


def fields_once(path: Path) -> None:
    """Raise `BadRecord` at the first line that has a field twice: `read` takes the last of them.

    For files that people write; it takes seven times as long as `read` does.
    """
    with open_existing(path) as file:
        for number, line in enumerate(iter(partial(file.readline, LINE_LIMIT), b""), start=1):
            if (name := twice(line)) is not None:
                raise BadRecord(
                    f"{path}:{number}{whose(line)}: expected every field once, got {name!r} twice; "
                    "keep one of the two"
                )


def write(path: Path, records: Iterable[Record]) -> int:
    """Write records, one a line, whole or not at all (see `writing`); returns how many."""
    count = 0
    with writing(path) as put:
        for record in records:
            put(record)
            count += 1
    return count


@contextmanager
def writing(path: Path) -> Iterator[Callable[[Record], None]]:
    """A function that adds a record to what takes the place of `path` when the block succeeds.

    Each line is read back before it counts, so that a NaN (which JSON cannot hold) or a value
    of another type than the class says is `BadRecord` here and not a surprise for the reader.
    Some hundred records are held and checked at once.
    """
    with writing_lists(path) as put_all:
        held: list[Record] = []

        def put(record: Record) -> None:
            if held and (len(held) == _HELD or type(record) is not type(held[0])):
                put_all(held)
                held.clear()
            held.append(record)

        yield put
        put_all(held)


@contextmanager
def writing_lists(path: Path) -> Iterator[Callable[[list[Any]], None]]:
    """`writing` for many records: the function takes a list of records of one class."""
    with replacing(path) as file:

        def put_all(records: list[Any]) -> None:
            if records:
                file.write(_lines_of(records))

        yield put_all


def _lines_of(records: list[Record]) -> bytes:
    """Records of one class as their lines; `BadRecord` names one that reads back as another."""
    decoder = _decoder(type(records[0]))
    with suppress(ValueError, TypeError, RecursionError):
        lines = _ENCODER.encode_lines(records)
        if decoder.decode_lines(lines) == records:
            return lines
    return b"".join(line_of(record, decoder.decode) for record in records)


@cache
def _decoder(kind: type[Record]) -> msgspec.json.Decoder[Record]:
    return msgspec.json.Decoder(kind)


def line_of(record: Record, decode: Callable[[bytes], Record]) -> bytes:
    """A record as its line, read back with `decode`; `BadRecord` when it is not the same again."""
    try:
        line = _ENCODER.encode(record)
        if decode(line) == record:
            return line + b"\n"
        reason = "got a value that JSON turns into another (NaN, or a list for a tuple)"
    except (ValueError, TypeError, RecursionError) as error:
        reason = f"got: {error}"
    raise BadRecord(
        f"{type(record).__name__}{named(record)} cannot be written: expected values that can be "
        f"read back, {reason}; repair the step that made it"
    )


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """A file to write in full that takes the place of `path` only when the block succeeds.

    Bytes go to a hidden `.part` file beside it (see `spare`), are flushed to the disk where it is
    to be `durable`, and one rename makes them visible. When the block raises, the `.part` is
    removed and `path` is as it was. Raises `CannotWrite` where there is no room.
    """
    with room(path):
        make_folder(path.parent)
        with spare(path) as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        if durable:
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a rename survives a power cut; where systems allow it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(handle)
    except OSError:  # nor do some network file systems flush them
        return
    finally:
        os.close(handle)


def open_existing(path: Path) -> BinaryIO:
    """Open a file that the user named, for reading; `Usage` when it is not there or no file."""
    if path.is_dir():
        raise Usage(f"{path}: expected a file, got a folder; name the file in it")
    try:
        return path.open("rb", buffering=2**20)
    except FileNotFoundError:
        raise Usage(f"{path}: expected a file, got nothing there; check the path") from None
    except (OSError, ValueError) as error:
        raise Usage(f"{path}: expected a file that can be read, got: {error}") from None
