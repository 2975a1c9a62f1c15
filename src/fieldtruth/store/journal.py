"""Work that can be killed and goes on where it was: append now, order and rename at the end."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Generic, Self, TypeVar

import msgspec

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Record
from fieldtruth.store.explain import explain
from fieldtruth.store.lines import line_of, replacing
from fieldtruth.store.locks import lock
from fieldtruth.store.room import room

SYNC_EVERY = 2.0  # seconds between flushes to the disk; a killed process loses nothing even so

R = TypeVar("R", bound=Record)


class _Begun(Record, frozen=True, kw_only=True):
    """The first line of a journal: what its records were made with."""

    fingerprint: dict[str, str]


class Journal(Generic[R]):
    """Records appended one by one to `PATH.journal` until `finish` writes `PATH` whole.

    `fingerprint` names everything that may change a record (model version, benchmark digest,
    protocol, config); a journal begun under another one is refused with `Usage`. Of records with
    one key the last counts, so a failed one can be tried again. Use it as a context manager: it
    holds the lock of `path` (`Busy` for a second process). `note` says what was repaired, or is
    None. In memory it keeps a key and a position per record, not the records.

        with Journal(out, Prediction, {"model": "colour 1"}, key=attrgetter("item")) as journal:
            for item in items:
                if item.id not in journal:
                    journal.append(ask(item))
            journal.finish(item.id for item in items)
    """

    def __init__(
        self,
        path: Path,
        kind: type[R],
        fingerprint: Mapping[str, str],
        *,
        key: Callable[[R], str] = attrgetter("id"),
    ) -> None:
        self.path = path
        self.journal = path.with_name(path.name + ".journal")
        self.note: str | None = None
        self._kind = kind
        self._decode = msgspec.json.Decoder(kind).decode
        self._fingerprint = dict(fingerprint)
        self._key = key
        self._at: dict[str, int] = {}  # key -> where its last line begins
        self._held = ExitStack()
        self._synced = 0.0

    def __enter__(self) -> Self:
        with room(self.journal), ExitStack() as held:
            held.enter_context(lock(self.path))
            self._file: BinaryIO = held.enter_context(self.journal.open("a+b", buffering=0))
            self._reopen()
            self._reader = held.enter_context(self.journal.open("rb"))
            self._held = held.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._held:
            if not self._file.closed:
                os.fsync(self._file.fileno())

    def __contains__(self, key: str) -> bool:
        return key in self._at

    def __len__(self) -> int:
        return len(self._at)

    def done(self) -> Iterator[R]:
        """The records that count, in the order in which they were written."""
        for place in sorted(self._at.values()):
            yield self._decode(self._line(place))

    def append(self, record: R) -> None:
        """Add a record; once this returns, killing the process does not lose it.

        Raises `CannotWrite` where there is no room; what was appended before is kept.
        """
        self._file.seek(0, os.SEEK_END)
        place = self._file.tell()
        self._put(line_of(record, self._decode))
        self._at[self._key(record)] = place

    def finish(self, order: Iterable[str]) -> int:
        """Write the final file in the order of these keys and remove the journal; how many.

        The keys must be those of the records, each once; `ValueError` names one that is not.
        """
        left = dict(self._at)
        with replacing(self.path) as file:
            for key in order:
                if key not in left:
                    raise ValueError(f"{self.path}: {key!r} is not done, or ordered twice")
                file.write(self._line(left.pop(key)))
            if left:
                raise ValueError(f"{self.path}: done but not ordered: {min(left)!r}")
        self._file.close()
        self._reader.close()
        self.journal.unlink()
        return len(self._at)

    def _line(self, place: int) -> bytes:
        self._reader.seek(place)
        return self._reader.readline()

    def _put(self, line: bytes) -> None:
        left = memoryview(line)
        with room(self.journal):
            try:
                while left:  # an unbuffered write may take only a part
                    left = left[self._file.write(left) :]
            except OSError:
                self._file.truncate(self._file.tell() - (len(line) - len(left)))
                raise
            now = time.monotonic()
            if now - self._synced > SYNC_EVERY:
                os.fsync(self._file.fileno())
                self._synced = now

    def _reopen(self) -> None:
        """Find what is done; cut a last line that a crash broke off; refuse another fingerprint."""
        place = 0
        with self.journal.open("rb") as file:
            for number, line in enumerate(file, start=1):
                whole = line.endswith(b"\n")
                if not self._take(number, line, place, whole=whole):
                    self.note = f"{self.journal}:{number}: a record broken off by a crash was cut"
                    self._file.truncate(place)
                    break
                place += len(line)
                if not whole:  # only its line end was lost; the record is there
                    self._put(b"\n")
                    break
        if place == 0:
            self._put(msgspec.json.encode(_Begun(fingerprint=self._fingerprint)) + b"\n")

    def _take(self, number: int, line: bytes, place: int, *, whole: bool) -> bool:
        """Enter one line; False when it is broken and the last, `BadRecord` when not the last."""
        try:
            if number == 1:
                self._compare(msgspec.json.decode(line, type=_Begun).fingerprint)
            else:
                self._at[self._key(self._decode(line))] = place
        except (ValueError, RecursionError) as error:
            if not whole:
                return False
            reason = explain(line, _Begun if number == 1 else self._kind, error)
            raise BadRecord(f"{self.journal}:{number}{reason}") from None
        return True

    def _compare(self, begun: Mapping[str, str]) -> None:
        names = sorted(begun.keys() | self._fingerprint.keys())
        differ = [name for name in names if begun.get(name) != self._fingerprint.get(name)]
        if differ:
            told = "; ".join(
                f"{name}: begun with {begun.get(name)!r}, now {self._fingerprint.get(name)!r}"
                for name in differ
            )
            raise Usage(
                f"{self.journal}: expected unfinished work of the same settings, got {told}; "
                "go on with the settings it was begun with, name another output file, or "
                "delete the journal to begin anew"
            )
