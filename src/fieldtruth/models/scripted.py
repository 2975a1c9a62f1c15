"""Replies read from a table: the backend of tests and of the demo. It looks at no photo.

    --model scripted --model-args table=replies.jsonl,space=pixel,dies_after=40

Each line of the table is `{"id", "text", "finish", "error"}`; all but `id` may be left out. An id
without a line is an error, and so is every call after the first `dies_after`, as when a server
goes away half way.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import get_args

import msgspec

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.models.contract import Opener, Request, Words, failed, known_options
from fieldtruth.records import Finish, Record, Space


class Line(Record, frozen=True, kw_only=True):
    """One line of the table: the item's id and the words it is answered with."""

    id: str
    text: str = ""
    finish: Finish = "stop"
    error: str | None = None


class Scripted:
    """Answers each id with its line, until it dies."""

    def __init__(self, lines: Mapping[str, Line], space: Space, dies_after: int | None) -> None:
        self._lines = lines
        self._dies_after = dies_after
        self._asked = 0
        self.space: Space = space
        table = msgspec.json.encode([lines[name] for name in sorted(lines)])
        digest = sha256(f"{space}:".encode() + table).hexdigest()
        self.version = f"scripted-{digest[:16]}"  # dying changes no reply that it gives

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request; calls are counted over the life of this model."""
        for request in requests:
            self._asked += 1
            yield self._words(request.id)

    def _words(self, name: str) -> Words:
        if self._dies_after is not None and self._asked > self._dies_after:
            return failed("connection refused")
        line = self._lines.get(name)
        if line is None:
            return failed(f"no scripted reply for {name}")
        return Words(text=line.text, finish=line.finish, error=line.error)


def read_table(path: Path) -> dict[str, Line]:
    """The lines by id. `BadRecord` on a line that is not one, or on a second line for an id."""
    decoder = msgspec.json.Decoder(Line)
    lines: dict[str, Line] = {}
    try:
        rows = path.read_bytes().splitlines()
    except OSError as error:
        raise Usage(f"table={path}: expected a JSONL file of replies, got {error}") from error
    for number, row in enumerate(rows, start=1):
        if not row.strip():
            continue
        try:
            line = decoder.decode(row)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadRecord(
                f'{path}:{number}: expected {{"id", "text", "finish", "error"}}, got {error}'
            ) from error
        if line.id in lines:
            raise BadRecord(f"{path}:{number}: expected one line per id, got {line.id!r} again")
        lines[line.id] = line
    return lines


def _open(options: Mapping[str, str]) -> Scripted:
    known_options("scripted", options, ("dies_after", "space", "table"))
    if not options.get("table"):
        raise Usage("scripted needs --model-args table=FILE.jsonl, with lines {id, text}")
    said = options.get("space", "norm1000")
    space = next((known for known in get_args(Space) if known == said), None)
    if space is None:
        raise Usage(f"space: expected one of {', '.join(get_args(Space))}, got {said!r}")
    dies_after: int | None = None
    if "dies_after" in options:
        count = options["dies_after"]
        if not (count.isascii() and count.isdigit()):
            raise Usage(f"dies_after: expected a number of calls, 0 or more, got {count!r}")
        dies_after = int(count)
    return Scripted(read_table(Path(options["table"])), space, dies_after)


OPEN: Opener = _open
