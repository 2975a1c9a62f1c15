"""The rows of a file of JSON lines, or of one JSON list, each by itself: a bad one is told, and
reading goes on.

Memory holds one row. A list that breaks cannot be read on from there, since nobody knows where
the next row begins; that row says so.
"""

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from fieldtruth.faults import Usage
from fieldtruth.store.explain import twice
from fieldtruth.store.lines import LINE_LIMIT, open_existing

_BOM = b"\xef\xbb\xbf"
_BLANK = " \t\r\n"
_CHUNK = 1 << 20
_PARQUET = b"PAR1"


class Row(NamedTuple):
    """One row: its number from 1 (in a file of lines: the line), its object or what is wrong."""

    number: int
    value: dict[str, Any]
    fault: str = ""


def read(path: Path) -> Iterator[Row]:
    """Every row in order. `Usage` where there is no such file, or one that is not JSON."""
    with open_existing(path) as file:
        start = file.read(4)
        if start == _PARQUET:
            raise Usage(f"{path}: expected JSON lines or a JSON list, got parquet")
        file.seek(len(_BOM) if start.startswith(_BOM) else 0)
        begin = file.tell()
        is_list = file.read(4096).lstrip()[:1] == b"["
        file.seek(begin)
        yield from _of_list(file) if is_list else _of_lines(file)


def _of_lines(file: BinaryIO) -> Iterator[Row]:
    number = 0
    for line in iter(partial(file.readline, LINE_LIMIT), b""):
        number += 1
        if len(line) < LINE_LIMIT or line.endswith(b"\n"):
            yield _row(number, line)
            continue
        while line and not line.endswith(b"\n"):  # the rest of a line that is too long
            line = file.readline(LINE_LIMIT)
        yield Row(number, {}, f"expected a row of at most {LINE_LIMIT:,} bytes, got more")


def _row(number: int, raw: bytes) -> Row:
    if not raw.strip():
        return Row(number, {}, "expected a row, got a blank line")
    try:
        value = msgspec.json.decode(raw)
    except RecursionError:
        return Row(number, {}, "expected a row, got JSON nested too deeply")
    except ValueError as error:  # NaN, bytes that are not UTF-8 and half a surrogate among them
        return Row(number, {}, f"expected one JSON object, got broken JSON: {error}")
    if not isinstance(value, dict):
        return Row(number, {}, f"expected a JSON object, got {_kind(value)}")
    if (name := twice(raw)) is not None:
        return Row(number, {}, f"expected every field once, got {name!r} twice")
    return Row(number, value)


def _kind(value: object) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _of_list(file: BinaryIO) -> Iterator[Row]:
    """The elements of one list, cut out of the text as it is read."""
    text = _Text(file)
    text.peek()
    text.step()  # past the opening bracket
    number, follows = 0, text.peek()
    while follows != "]":
        number += 1
        raw = text.element()
        if raw is None:
            yield Row(number, {}, "expected a JSON object, got broken JSON; the rest was not read")
            return
        yield _row(number, raw.encode(errors="surrogateescape"))
        follows = text.peek()
        if follows not in (",", "]"):
            yield Row(number + 1, {}, "expected a comma or ']', got none; the rest was not read")
            return
        if follows == ",":
            text.step()
    text.step()
    if text.peek():
        yield Row(number + 1, {}, "expected the end of the file after its list, got more")


class _Text:
    """A text file read forward, holding no more than the element at hand."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decode = getincrementaldecoder("utf-8")(errors="surrogateescape").decode
        self._held, self._at, self._ended = "", 0, False
        self._raw = json.JSONDecoder().raw_decode

    def _more(self, size: int = _CHUNK) -> bool:
        """Read on; false at the end."""
        if self._ended:
            return False
        raw = self._file.read(size)
        self._ended = not raw
        self._held = self._held[self._at :] + self._decode(raw, final=not raw)
        self._at = 0
        return True

    def peek(self) -> str:
        """The next letter that is no blank; empty at the end."""
        while self._at < len(self._held) or self._more():
            if self._at < len(self._held) and self._held[self._at] not in _BLANK:
                return self._held[self._at]
            self._at += self._at < len(self._held)
        return ""

    def step(self) -> None:
        """Past the letter that `peek` showed."""
        self._at += 1

    def element(self) -> str | None:
        """The JSON value that comes next; None where it is broken or too long."""
        self.peek()
        size = _CHUNK
        while True:
            try:
                _, end = self._raw(self._held, self._at)
            except (ValueError, RecursionError):
                end = -1
            # A number at the very end of what is held may go on in what is not.
            if end >= 0 and (end < len(self._held) or self._ended):
                found, self._at = self._held[self._at : end], end
                return found
            if len(self._held) - self._at > LINE_LIMIT or not self._more(size):
                return None
            size = len(self._held)
