"""What a photo's own metadata tells of where and by whom it was taken.

A photo is handed on byte for byte, since its bytes are its identity, and what a phone wrote into it
goes along. So one that tells a place or a person is not handed on; its owner takes that out first.
"""

import re
from pathlib import Path

from PIL import ExifTags, Image, ImageFile, IptcImagePlugin

_PERSON = (
    ExifTags.Base.Artist, ExifTags.Base.Copyright, ExifTags.Base.XPAuthor,
    ExifTags.Base.CameraOwnerName,
)  # fmt: skip
_PLACE = (ExifTags.GPS.GPSLatitude, ExifTags.GPS.GPSLongitude, ExifTags.GPS.GPSDestLatitude)
_BY_LINE = ((2, 80), (2, 110), (2, 116), (2, 118))  # IPTC: who made it, gave it, owns it, answers
_PLACES = ((2, 90), (2, 92))  # IPTC: city and what is finer
_XMP_PERSON = re.compile(rb"<dc:(?:creator|rights)\b|\bCameraOwnerName\b|\bphotoshop:Credit\b")
_XMP_PLACE = re.compile(rb"\bGPSL(?:at|ong)itude\b|\bIptc4xmpCore:Location\b|\bphotoshop:City\b")
_TEXT = frozenset({"author", "artist", "copyright", "creator"})  # of a PNG


def tells(path: Path) -> tuple[str, ...]:
    """`place` and `person`, as far as it tells them; nothing for what is no photo."""
    try:
        with Image.open(path) as photo:
            found = {**_exif(photo), **_other(photo)}
    except (OSError, ValueError, SyntaxError, KeyError, TypeError, Image.DecompressionBombError):
        return ()
    return tuple(kind for kind in ("place", "person") if found.get(kind))


def _exif(photo: Image.Image) -> dict[str, bool]:
    exif = photo.getexif()
    within = exif.get_ifd(ExifTags.IFD.Exif)
    gps = exif.get_ifd(ExifTags.IFD.GPSInfo)
    found = {}
    if any(gps.get(tag) for tag in _PLACE):
        found["place"] = True
    if any(_said(part.get(tag)) for part in (exif, within) for tag in _PERSON):
        found["person"] = True
    return found


def _other(photo: ImageFile.ImageFile) -> dict[str, bool]:
    """XMP, IPTC, and the texts of a PNG."""
    xmp = photo.info.get("xmp") or photo.info.get("XML:com.adobe.xmp") or b""
    raw = xmp if isinstance(xmp, bytes) else str(xmp).encode()
    iptc = IptcImagePlugin.getiptcinfo(photo) or {}
    texts = {str(name).casefold() for name, told in photo.info.items() if _said(told)}
    found = {}
    if _XMP_PLACE.search(raw) or any(tag in iptc for tag in _PLACES):
        found["place"] = True
    if _XMP_PERSON.search(raw) or any(tag in iptc for tag in _BY_LINE) or texts & _TEXT:
        found["person"] = True
    return found


def _said(value: object) -> bool:
    """Whether anything stands in a field; cameras fill some with blanks."""
    text = value.decode("utf-16-le", "ignore") if isinstance(value, bytes) else str(value or "")
    return bool(text.strip("\0 "))
