"""Broken JSON of a release, mended where its meaning is plain, and a note of how.

Talks were gathered by scripts: Python's own writing of a list (`{'a': None}`), a comma too many,
line ends inside a text, NaN, a file cut off in its last row. Each is mended for its row alone. What
is still no JSON costs its row and nothing else; nothing is guessed.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord

LARGEST = 2**31  # bytes of a file that is read whole
_COMMA = re.compile(r",(?=\s*[\]}])")
_BOM = b"\xef\xbb\xbf"


class Read(NamedTuple):
    """One row: its number from 1, what it holds, how it was mended; or why it is none."""

    number: int
    row: dict[str, Any] | None
    note: str = ""
    why: str = ""


def rows(path: Path, first: str) -> Iterator[Read]:
    """The rows of a file: a JSON list, or an object a line. `first` is the first field of each.

    Raises `BadRecord` for a file that is too large, or holds no row at all.
    """
    with store.open_existing(path) as file:
        raw = file.read(LARGEST + 1).removeprefix(_BOM)
    if len(raw) > LARGEST:
        raise BadRecord(f"{path}: expected at most {LARGEST} bytes, got more; split the file")
    try:
        whole: list[msgspec.Raw] | None = msgspec.json.decode(raw, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        whole = None
    if whole is not None:
        for number, each in enumerate(whole, start=1):
            yield _row(number, bytes(each).decode())
        return
    text = raw.decode("utf-8", errors="replace")
    begins = [match.start() for match in re.finditer(rf"\{{\s*[\"']{first}[\"']\s*:", text)]
    if not begins:
        raise BadRecord(f"{path}: expected rows that begin with {first!r}, got none")
    for number, (start, end) in enumerate(zip(begins, [*begins[1:], len(text)], strict=True), 1):
        yield _row(number, text[start:end].rstrip().rstrip(",]").rstrip())


def mended(text: str) -> tuple[Any, str]:
    """What a text of JSON holds, and how it was mended, `""` where it was not.

    Raises `ValueError` where it is beyond that.

    >>> mended('{"a": 1,}'), mended("{'a': None}"), mended('{"a": 1}')
    (({'a': 1}, 'a comma too many'), ({'a': None}, 'written as Python'), ({'a': 1}, ''))
    """
    try:
        return msgspec.json.decode(text), ""
    except (msgspec.DecodeError, RecursionError):
        pass
    for note, less in (
        ("NaN, or line ends in a text", text),
        ("a comma too many", _COMMA.sub("", text)),
    ):
        try:
            return json.loads(less, strict=False, parse_constant=lambda _: None), note
        except (ValueError, RecursionError):
            continue
    try:
        return ast.literal_eval(text), "written as Python"
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"expected JSON, got: {type(error).__name__}") from None


def _row(number: int, text: str) -> Read:
    try:
        row, note = mended(text)
    except ValueError as error:
        return Read(number, None, why=str(error))
    if not isinstance(row, dict):
        return Read(number, None, why=f"expected an object, got a {type(row).__name__}")
    return Read(number, row, note)
