"""The benchmark's photos as small JPEGs inside the page, each once, within a size that mails.

A photo that several cards show is stored once and drawn by reference. Boxes are not painted into
it: they are SVG above it, in pixels of the full upright image, so that they stay crisp.
"""

from base64 import b64encode
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from fieldtruth import images
from fieldtruth.faults import Refused, Unreadable
from fieldtruth.records import Item
from fieldtruth.store import Bench

SIDE = 480  # pixels of the longer side on the page
QUALITY = 70  # JPEG; lesions of the smallest kept size (0.02 % of the photo) still show
ROOM = 2_600_000  # characters of data URIs in one page, which keeps it under 4 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo:
    """`key` is where it lies in the page; None with the reason where it cannot be shown."""

    key: str | None
    reason: str = ""
    size: tuple[int, int] = (0, 0)  # in which it is drawn


class Album:
    """The photos of one page. `shown` maps each key to (width, height, data URI)."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._photos: dict[str, Photo] = {}
        self._left = ROOM
        self.shown: dict[str, tuple[int, int, str]] = {}

    def photo(self, item: Item) -> Photo:
        """The item's photo, taken into the page when first asked for."""
        if item.id not in self._photos:
            self._photos[item.id] = self._take(item.image, (item.width, item.height))
        return self._photos[item.id]

    def picture(self, image: str) -> Photo:
        """A photo by its path in the benchmark, with which nothing is drawn on it."""
        if image not in self._photos:
            self._photos[image] = self._take(image, None)
        return self._photos[image]

    def _take(self, image: str, size: tuple[int, int] | None) -> Photo:
        try:
            path = self._bench.photo(image)
            if not path.is_file():
                return Photo(key=None, reason="The photo is not in the benchmark's folder.")
            uri, small = _data_uri(path)
        except Unreadable:
            return Photo(key=None, reason="The photo cannot be opened.")
        except Refused:
            return Photo(key=None, reason="The photo's path leaves the benchmark's folder.")
        if len(uri) > self._left:
            return Photo(key=None, reason="Left out to keep the page small.")
        self._left -= len(uri)
        key = f"photo-{len(self.shown) + 1}"
        self.shown[key] = (*(size or small), uri)
        return Photo(key=key, size=size or small)


def _data_uri(path: Path) -> tuple[str, tuple[int, int]]:
    """The photo upright, without EXIF, as a JPEG data URI; and its size, at most `SIDE`."""
    small = images.open_upright(path)
    small.thumbnail((SIDE, SIDE))
    stream = BytesIO()
    small.save(stream, "JPEG", quality=QUALITY, optimize=True)
    return "data:image/jpeg;base64," + b64encode(stream.getvalue()).decode("ascii"), small.size
