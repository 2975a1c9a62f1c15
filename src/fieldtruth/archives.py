"""Archives from outside, unpacked into a folder of their own or refused by name.

Every member is looked at before anything is written: a name that is absolute, steps up, holds a
backslash or a control character; a link, a device, a pipe, a sparse file; two members that are
one file on a system without case or with one Unicode form; a file where another member needs a
folder; a member under a password; a member, or the whole, that unpacks to more than it may (a
bomb). What is then written is held to what was announced. A release is there whole or not at all.
"""

import bz2
import gzip
import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from fieldtruth import store
from fieldtruth.faults import Refused, Unreadable, Usage
from fieldtruth.records import Record

_BLOCK = 1 << 20
# What the readers raise on broken archives.
_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))


class Limits(Record, frozen=True, kw_only=True):
    """What an archive may unpack to. Photos hardly pack; only masks and text do."""

    bytes: int = 64 << 30
    members: int = 2_000_000
    ratio: int = 200  # unpacked over packed, of one member and of the whole
    small: int = 64 << 20  # bytes up to which no ratio is asked: an empty mask packs 1,000 to 1


class Unpacked(Record, frozen=True, kw_only=True):
    """What was written."""

    files: int
    bytes: int


class _Member(Record, frozen=True, kw_only=True):
    """One entry as the archive announces it; `wrong` says why it may not be written at all."""

    name: str
    folder: bool
    bytes: int
    packed: int | None = None  # known in a zip
    wrong: str | None = None


def is_archive(path: Path) -> bool:
    """Whether the file is a zip or a tar (plain, gz, bz2, xz), by its content."""
    if not path.is_file():
        return False
    try:
        return zipfile.is_zipfile(path) or _is_tar(path)
    except _BROKEN:
        return False


def unpack(archive: Path, folder: Path, limits: Limits | None = None) -> Unpacked:
    """Write the archive's files as `folder`, which must not be there yet.

    Raises `Refused` naming the member that may not be written, before anything is, `Unreadable`
    for a broken archive or none, `Usage` where the folder is there or the disk too small, `Busy`
    where another process unpacks there, and `CannotWrite` where the disk fills up meanwhile.
    """
    limits = limits or Limits()
    if folder.exists():
        raise Usage(f"{folder}: expected no such folder yet; name another or remove it")
    if not is_archive(archive):
        raise Unreadable(f"{archive}: expected a zip or tar archive, got something else")
    with _readable(archive):
        total = _check(archive, list(_members(archive, limits)), limits)
    folder.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder.parent).free
    if total.bytes > free:
        raise Usage(f"{folder}: expected {total.bytes:,} bytes of free disk, got {free:,}")
    with store.drafting(folder) as made:
        with _readable(archive), store.room(folder):
            for member, stream in _contents(archive, limits):
                _write(member, stream, made, archive)
        store.publish(made, folder)
    return total


@contextmanager
def _readable(archive: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN as fault:
        raise Unreadable(
            f"{archive}: expected a whole archive, got a broken one ({fault}); download it again"
        ) from fault


def _is_tar(path: Path) -> bool:
    with _opened(path, None) as stream:
        head = stream.read(512)
    return len(head) == 512 and head[257:262] == b"ustar"


def _check(archive: Path, members: list[_Member], limits: Limits) -> Unpacked:
    """What the members come to; `Refused` at the first that may not be written."""
    seen: dict[str, tuple[PurePosixPath, bool]] = {}
    total = files = 0
    for member in members:
        wrong = member.wrong or store.unsafe(member.name) or _bomb(member, limits)
        wrong = wrong or _twin(member, seen)
        if wrong is not None:
            raise _refused(archive, member.name, wrong)
        total += member.bytes
        files += not member.folder
    packed = archive.stat().st_size
    if total > limits.bytes or (total > limits.small and total > limits.ratio * packed):
        said = f"a bomb: {total:,} bytes out of {packed:,}"
        raise _refused(archive, "all of it", said)
    return Unpacked(files=files, bytes=total)


def _bomb(member: _Member, limits: Limits) -> str | None:
    if member.bytes < 0 or member.bytes > limits.bytes:
        return f"a bomb: {member.bytes:,} bytes"
    packed = member.packed
    if packed is not None and member.bytes > max(limits.small, limits.ratio * packed):
        return f"a bomb: {member.bytes:,} bytes out of {packed:,}"
    return None


def _twin(member: _Member, seen: dict[str, tuple[PurePosixPath, bool]]) -> str | None:
    """Why a member, or a folder above it, cannot be told from an earlier one; notes it in `seen`.

    `seen` maps what a path is on a system without case to its spelling and whether it is a file.
    """
    path = PurePosixPath(member.name)
    for step in (path, *path.parents[:-1]):
        is_file = step is path and not member.folder
        spelling, was_file = seen.setdefault(store.same_name(str(step)), (step, is_file))
        if spelling is step:
            continue
        if spelling != step:
            return f"it and {str(spelling)!r} are one where case or Unicode forms do not count"
        if is_file or was_file:
            return "two members of that name, one a file at least"
    return None


def _refused(archive: Path, name: str, wrong: str) -> Refused:
    return Refused(
        f"{archive}: expected files that stay in their folder and can be told apart, got "
        f"{name!r}: {wrong}; nothing was written"
    )


def _members(archive: Path, limits: Limits) -> Iterator[_Member]:
    for count, (member, _) in enumerate(_entries(archive, limits), start=1):
        if count > limits.members:
            raise _refused(archive, member.name, f"member {count:,}, beyond the most allowed")
        yield member


def _contents(archive: Path, limits: Limits) -> Iterator[tuple[_Member, IO[bytes] | None]]:
    for member, open_it in _entries(archive, limits):
        if member.folder:
            yield member, None
        else:
            with open_it() as stream:
                yield member, stream


def _entries(archive: Path, limits: Limits) -> Iterator[tuple[_Member, Any]]:
    """Each member with a function that opens it, to be called before the next is asked for."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if info.orig_filename != "./":
                    yield _zipped(info), lambda info=info: packed.open(info)
        return
    with (
        _opened(archive, limits) as stream,
        tarfile.open(fileobj=stream, mode="r|", bufsize=_BLOCK) as tar,
    ):
        for entry in tar:
            if entry.name == "." and entry.isdir():  # `tar c .` names the folder itself
                continue
            yield _tarred(entry), lambda entry=entry: tar.extractfile(entry)
        if stream.count < tar.offset + tarfile.BLOCKSIZE:  # tarfile takes this for the end
            raise EOFError("it ends without the mark of its end")


def _zipped(info: zipfile.ZipInfo) -> _Member:
    kind = stat.S_IFMT(info.external_attr >> 16)
    wrong = None
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        wrong = "a link" if kind == stat.S_IFLNK else "something that is no file"
    elif info.flag_bits & 1:
        wrong = "a file under a password"
    # As it is stored: `filename` has lost what follows a NUL.
    name = info.orig_filename.removesuffix("/")
    return _Member(
        name=name.removeprefix("./"),
        folder=info.is_dir(),
        bytes=info.file_size,
        packed=info.compress_size,
        wrong=wrong,
    )


def _tarred(entry: tarfile.TarInfo) -> _Member:
    wrong = None
    if entry.issym() or entry.islnk():
        wrong = f"a link to {entry.linkname!r}"
    elif entry.issparse():
        wrong = "a sparse file"
    elif not (entry.isfile() or entry.isdir()):
        wrong = "a device or a pipe"
    name = entry.name.removeprefix("./")
    return _Member(name=name, folder=entry.isdir(), bytes=entry.size, wrong=wrong)


class _Counted:
    """A stream that is read from start to end, held to what the archive may unpack to."""

    def __init__(self, stream: IO[bytes], most: int, name: str) -> None:
        self._stream, self._most, self._name = stream, most, name
        self.count = 0

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        if self.count > self._most:
            raise _refused(Path(self._name), "all of it", "a bomb: it unpacks to too much")
        return data


@contextmanager
def _opened(path: Path, limits: Limits | None) -> Iterator[Any]:
    """The tar's bytes, unpacked; counted where `limits` are given."""
    with path.open("rb") as raw:
        head = raw.read(6)
        raw.seek(0)
        opener = next((how for magic, how in _PACKED if head.startswith(magic)), None)
        stream: Any = raw if opener is None else opener(raw, "rb")
        if limits is None:
            yield stream
            return
        most = max(limits.small, limits.ratio * path.stat().st_size) if opener else limits.bytes
        yield _Counted(stream, min(most, limits.bytes) + _BLOCK, str(path))


def _write(member: _Member, stream: IO[bytes] | None, made: Path, archive: Path) -> None:
    place = store.inside(made, member.name, str(archive))
    (place if stream is None else place.parent).mkdir(parents=True, exist_ok=True)
    if stream is None:
        return
    left = member.bytes
    with place.open("xb") as file:
        while chunk := stream.read(_BLOCK):
            left -= len(chunk)
            if left < 0:
                raise _refused(archive, member.name, "more bytes than it announced")
            file.write(chunk)
    if left:
        raise EOFError(f"{member.name}: {left:,} bytes fewer than announced")
    os.chmod(place, 0o644)  # noqa: PTH101 - one call; an archive does not set rights here
