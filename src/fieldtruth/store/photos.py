"""Photos that are handed on: where they go, named by what they hold, and copied as looked at."""

from hashlib import sha256 as sha256_of
from pathlib import Path, PurePosixPath

from fieldtruth.faults import Refused

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")


def place_of(identity: str, name: str) -> str:
    """Where a photo of this SHA-256 goes below a folder: `images/HASH.jpg`, safe on any system.

    >>> place_of("0123456789abcdef" * 4, "Leaf 1/IMG.JPG")
    'images/0123456789abcdef0123456789abcdef.jpg'
    """
    suffix = PurePosixPath(name).suffix.lower()
    return f"images/{identity[:32]}{suffix if suffix in SUFFIXES else ''}"


def copy_as(source: Path, target: Path, identity: str) -> None:
    """Copy and hash in one reading, so that what is kept is what was looked at.

    Raises `Refused` where the file no longer has the SHA-256 `identity`, or is not there.
    """
    target.parent.mkdir(exist_ok=True)
    digest = sha256_of()
    try:
        with source.open("rb") as read, target.open("wb") as written:
            while chunk := read.read(1 << 20):
                digest.update(chunk)
                written.write(chunk)
    except FileNotFoundError:
        raise Refused(f"{source}: expected a photo, got nothing there; bring it back") from None
    if digest.hexdigest() != identity:
        raise Refused(
            f"{source}: expected the photo as it was looked at (SHA-256 {identity[:12]}...), got "
            "another; it changed meanwhile: start again from there"
        )
