"""One process at a time on one file or folder."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from fieldtruth.faults import Busy, CannotWrite
from fieldtruth.store.room import make_folder, possible, room

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold `path` (a file or folder, there or not) for this process; `Busy` names who has it.

    The lock is an empty-looking file `NAME.lock` beside `path` that says who holds it. Where the
    system has `flock` it is let go when the process ends, however it ends; elsewhere the file's
    being there is the lock, and after a crash a person has to delete it (the message says so).
    """
    named = path if path.name not in ("", "..") else path.resolve()  # `.` has no name
    beside = named.with_name(named.name + ".lock")
    with room(beside), possible(path):
        make_folder(beside.parent)
        handle = _by_flock(path, beside)
        if handle is None:
            handle = by_existence(path, beside)
    try:
        with room(beside):
            os.ftruncate(handle, 0)
            os.write(handle, _holder().encode())
        yield
    finally:
        # Removed before it is let go: who opened it meanwhile finds that it is gone and retries.
        with suppress(OSError):
            beside.unlink()
        os.close(handle)


@contextmanager
def spare(path: Path) -> Iterator[BinaryIO]:
    """A hidden file beside `path` that takes its place when the block succeeds, else goes.

    No other process writes it. Where the system has `flock`, one that a killed process left is
    taken over, so there are never more leftovers than were being written at one time. Only a
    plain file is replaced: for root, a rename would put a file where a device was (`/dev/null`).
    """
    if path.exists() and not path.is_file():
        raise CannotWrite(
            f"{path}: expected a file or nothing there, got a folder or a device; name another"
        )
    with possible(path):
        part, handle = _spare(path)
    file = os.fdopen(handle, "wb", buffering=2**20)
    try:
        yield file
        file.flush()
        if fcntl is None:
            file.close()  # Windows renames no open file
        part.replace(path)
    except BaseException:  # whatever stops the block, Ctrl-C too: nothing half-written stays
        if fcntl is None:
            with suppress(OSError):
                file.close()
        part.unlink(missing_ok=True)
        raise
    finally:
        file.close()  # only now may another process have the name


def _spare(path: Path) -> tuple[Path, int]:
    for number in count():
        part = path.with_name(f".{path.name}.{number}.part")
        handle = _alone(part)
        if handle is not None:
            return part, handle
    raise AssertionError("counting never ends")


def _alone(part: Path) -> int | None:
    """The file, empty and open, once it is certain that no living process writes it."""
    new = True
    try:
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        new = False
        try:
            handle = os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except OSError:  # gone meanwhile, of another user, or no plain file
            return None
    if _holds(handle, otherwise=new) and _is_still(part, handle):
        os.ftruncate(handle, 0)
        return handle
    os.close(handle)
    return None


def _holds(handle: int, *, otherwise: bool) -> bool:
    """Whether this process has the lock of an open file; `otherwise` where there is no `flock`."""
    if fcntl is None:
        return otherwise
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return otherwise
    return True


def _holder() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


def _by_flock(path: Path, beside: Path) -> int | None:
    """An open, locked file; None where the system or file system has no `flock`."""
    if fcntl is None:
        return None
    while True:
        handle = os.open(beside, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise _busy(path, beside, "wait for it to end, or stop it") from None
        except OSError:
            os.close(handle)
            beside.unlink(missing_ok=True)
            return None
        if _is_still(beside, handle):
            return handle
        os.close(handle)


def by_existence(path: Path, beside: Path) -> int:
    """The lock where there is no `flock`: the file was not there, and now it is."""
    try:
        return os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        todo = f"wait for it to end; if it no longer runs, delete {beside}"
        raise _busy(path, beside, todo) from None


def _is_still(beside: Path, handle: int) -> bool:
    """Whether the open file is the one at that path, not one removed while we waited."""
    try:
        there = beside.stat()
    except FileNotFoundError:
        return False
    mine = os.fstat(handle)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


def _busy(path: Path, beside: Path, todo: str) -> Busy:
    try:
        holder = beside.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        holder = ""
    who = holder or "another process"
    return Busy(f"{path}: expected no other process at work here, got {who}; {todo}")
