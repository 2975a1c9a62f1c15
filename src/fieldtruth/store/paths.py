"""Paths that come from outside, and the hash of what lies at one."""

import os
import re
import unicodedata
from hashlib import file_digest
from pathlib import Path

from fieldtruth.faults import Refused

_DRIVE = re.compile(r"^[A-Za-z]:")


def unsafe(relative: str) -> str | None:
    """Why a relative path may not be used as written, or None. Looks at the text only."""
    if not relative:
        return "an empty path"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in relative):
        return "a control character"
    if "\\" in relative:
        return "a backslash"
    if relative.startswith("/") or _DRIVE.match(relative):
        return "an absolute path"
    if ".." in relative.split("/"):
        return "a step up ('..')"
    raw = relative.encode(errors="surrogatepass")
    if len(raw) > 1024 or max(map(len, raw.split(b"/"))) > 255:  # file systems' limits
        return "a name too long"
    return None


def inside(root: Path, relative: str, where: str = "") -> Path:
    """`root / relative`, once it is certain that it stays within `root`; the file need not exist.

    `where` names the record the path comes from (`FILE:LINE (id 'x')`) for the message. Raises
    `Refused` for an absolute path, `..`, a backslash, a drive letter, a control character, and a
    symlink anywhere on the way that leads out of `root` (`root` itself may be a symlink).
    """
    reason = unsafe(relative)
    path = root / relative if reason is None else root
    if reason is None and _leads_out(root, relative):
        reason = "a symlink that leads out of it"
    if reason is not None:
        prefix = f"{where}: " if where else ""
        raise Refused(
            f"{prefix}expected a path inside {root}, got {relative!r}: {reason}; "
            "copy the file into the folder and name it from there"
        )
    return path


def same_name(relative: str) -> str:
    """What a path is on a system that knows no case and one Unicode form: equal there, one file.

    >>> same_name("IMG/Caf\u00e9.JPG") == same_name("img/cafe\u0301.jpg")
    True
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", relative).casefold())


def _leads_out(root: Path, relative: str) -> bool:
    home = os.path.realpath(root)
    step = Path(root)
    for part in relative.split("/"):
        step = step / part
        if step.is_symlink() and not Path(os.path.realpath(step)).is_relative_to(home):
            return True
    return False


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, 64 hex digits, read as a stream."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
