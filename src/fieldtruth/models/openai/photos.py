"""A photo's file -> what is sent of it: its own bytes wherever a server sees in them what we see.

Servers differ in what they make of EXIF orientation, transparency, 16-bit channels, animation and
rare formats, and a box on a photo that lies on its side is a wrong box. Such a photo, and only
such a one, is decoded by the policy of `images` and sent anew: as JPEG (quality 95, full colour)
where it was a JPEG, as PNG otherwise. The kind is read from the bytes, never from the name.
"""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from fieldtruth.faults import Unreadable

_HEAD = 65536  # bytes in which EXIF and transparency are announced, if they are


@dataclass(frozen=True, slots=True)
class Photo:
    """What is sent: `size` bytes of the file at `path`, or of `data` where it was encoded anew."""

    kind: str  # image/jpeg, image/png, image/webp
    size: int
    path: Path
    data: bytes | None = None


def glance(path: Path) -> tuple[Photo, bool]:
    """The photo as its file is, and whether it has to be encoded anew (see `anew`).

    Raises `Unreadable` where there is no such file, or an empty one.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            size = file.seek(0, 2)
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: expected a photo, got: {error}") from None
    if not head:
        raise Unreadable(f"{path}: expected a photo, got a file of 0 bytes")
    if head.startswith(b"\xff\xd8\xff"):
        return Photo("image/jpeg", size, path), b"Exif\0\0" in head and _turned(path)
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return Photo("image/png", size, path), _odd_png(head) or (b"eXIf" in head and _turned(path))
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Photo("image/webp", size, path), _odd_webp(head)
    return Photo("image/png", size, path), True


def anew(photo: Photo) -> Photo:
    """The photo decoded, upright, RGB, and encoded again. Raises `Unreadable`."""
    from fieldtruth.images import open_upright

    picture = open_upright(photo.path)
    file = BytesIO()
    if photo.kind == "image/jpeg":
        picture.save(file, "JPEG", quality=95, subsampling=0)
    else:
        picture.save(file, "PNG")
    kind = photo.kind if photo.kind == "image/jpeg" else "image/png"
    data = file.getvalue()
    return Photo(kind, len(data), photo.path, data)


def _odd_png(head: bytes) -> bool:
    """16-bit or transparent (PNG, third edition, 11.2.1: depth at byte 24, colour type at 25)."""
    return len(head) < 26 or head[24] == 16 or head[25] in (4, 6) or b"tRNS" in head


def _odd_webp(head: bytes) -> bool:
    """With EXIF, transparency or animation (RFC 9649: an extended file, or a lossless with alpha).

    The bit for alpha is the 29th after the signature byte of a lossless stream.
    """
    return head[12:16] == b"VP8X" or (
        head[12:16] == b"VP8L" and (len(head) < 25 or head[24] & 16 != 0)
    )


def _turned(path: Path) -> bool:
    from fieldtruth.images import turned

    return turned(path)
