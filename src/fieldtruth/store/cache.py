"""Replies that were paid for once, shared by every stage, run and process that points here.

One small file per reply, named by the SHA-256 of everything that made it:

    CACHE/3f/3f9a....json    {"key": {...}, "text": "...", "finish": "stop", "sha256": "..."}

Files and not a database: lab caches lie on network folders that several machines write at once,
where SQLite's write-ahead log does not work and its locks often do not. A rename needs no lock; a
process killed at any byte leaves at most a hidden `.part`; an entry can be read, grepped and
deleted by hand. Nothing is flushed to the disk: an entry that a power cut tore does not match its
hash and is a miss, not a reply.

Never kept: an error, blank words. Half a reply never becomes `Words`, so it cannot come here.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from fieldtruth.faults import Usage
from fieldtruth.records import Record
from fieldtruth.store.lines import replacing

_FORM = "1"  # of an entry; it is part of its name


class Key(Record, frozen=True, kw_only=True):
    """Everything that may change a reply. `images` are the SHA-256 of the photos' bytes, in order.

    `version` is the backend's, so it covers its own settings; `parameters` holds whatever else
    was sent with this one request.
    """

    model: str
    version: str
    prompt: str
    images: tuple[str, ...] = ()
    parameters: Mapping[str, str] = {}

    @property
    def digest(self) -> str:
        """64 hex digits that differ wherever any part of the key does."""
        raw = msgspec.json.encode(self, order="deterministic")
        return sha256(_FORM.encode() + raw).hexdigest()


class Kept(Record, frozen=True, kw_only=True):
    """A reply as it was kept: its key, the words, and a hash that a torn file does not have."""

    key: Key
    text: str
    finish: Literal["stop", "length"]
    sha256: str


class Cache:
    """Replies in `folder`, which is made when it is not there; `Usage` when it cannot be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error) from error

    def get(self, key: Key) -> Kept | None:
        """The reply, or None where there is none; a file that is not whole counts as none."""
        path = self._path(key)
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=Kept)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from error
        except (ValueError, RecursionError):
            return None
        whole = kept.key == key and kept.sha256 == _hash(kept.text, kept.finish)
        return kept if whole else None

    def put(self, key: Key, text: str, finish: str) -> bool:
        """Keep a reply; False where it is none to keep (an error, or blank words).

        Of two processes that put the same key the later wins; readers see one or the other, whole.
        `CannotWrite` where the disk is full, `Usage` where the folder cannot be written.
        """
        if finish not in ("stop", "length") or not text.strip():
            return False
        entry = {"key": key, "text": text, "finish": finish, "sha256": _hash(text, finish)}
        try:
            with replacing(self._path(key), durable=False) as file:
                file.write(msgspec.json.encode(entry) + b"\n")
        except OSError as error:
            raise self._unusable(error) from error
        return True

    def _path(self, key: Key) -> Path:
        digest = key.digest
        return self.folder / digest[:2] / f"{digest}.json"

    def _unusable(self, error: OSError) -> Usage:
        return Usage(
            f"{self.folder}: expected a folder for the reply cache that can be read and written, "
            f"got: {error}; mend that, or name another folder"
        )


def _hash(text: str, finish: str) -> str:
    return sha256(f"{finish}:{text}".encode(errors="surrogatepass")).hexdigest()
