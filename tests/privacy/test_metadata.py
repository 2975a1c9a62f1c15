"""Photos that tell where or by whom they were taken, as cameras and programs write it."""

from pathlib import Path

import pytest
from PIL import ExifTags, Image, PngImagePlugin

from fieldtruth.privacy.metadata import tells

Base, Gps = ExifTags.Base, ExifTags.GPS
PHOTO = Image.new("RGB", (8, 8), (10, 120, 30))


def with_exif(path: Path, fields: dict[int, object], gps: dict[int, object] | None = None) -> Path:
    exif = Image.Exif()
    for tag, value in fields.items():
        exif[tag] = value
    if gps:
        exif.get_ifd(ExifTags.IFD.GPSInfo).update(gps)
    PHOTO.save(path, exif=exif)
    return path


@pytest.mark.parametrize(
    ("fields", "gps", "told"),
    [
        ({}, {}, ()),
        ({Base.Make: "Phone", Base.DateTime: "2024:07:12 11:00:00"}, {}, ()),
        ({}, {Gps.GPSLatitude: (39.0, 17.0, 0.0), Gps.GPSLatitudeRef: "N"}, ("place",)),
        ({}, {Gps.GPSAltitude: 12.0}, ()),
        ({Base.Artist: "Jane Roe"}, {}, ("person",)),
        ({Base.Artist: "   "}, {}, ()),
        ({Base.Copyright: "J. Roe"}, {Gps.GPSLongitude: (76.0, 36.0, 0.0)}, ("place", "person")),
        ({Base.XPAuthor: "Jane".encode("utf-16-le")}, {}, ("person",)),
    ],
)
def test_what_exif_tells(
    tmp_path: Path, fields: dict[int, object], gps: dict[int, object], told: tuple[str, ...]
) -> None:
    assert tells(with_exif(tmp_path / "a.jpg", fields, gps)) == told


def test_what_a_png_tells(tmp_path: Path) -> None:
    for name, told in (("Author", ("person",)), ("Software", ())):
        texts = PngImagePlugin.PngInfo()
        texts.add_text(name, "Jane Roe")
        PHOTO.save(tmp_path / "a.png", pnginfo=texts)
        assert tells(tmp_path / "a.png") == told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("<dc:creator><rdf:li>Jane</rdf:li></dc:creator>", ("person",)),
        ("<exif:GPSLatitude>39,17N</exif:GPSLatitude>", ("place",)),
        ("<dc:format>image/jpeg</dc:format>", ()),
    ],
)
def test_what_xmp_tells(tmp_path: Path, words: str, told: tuple[str, ...]) -> None:
    PHOTO.save(tmp_path / "a.jpg", xmp=f"<x:xmpmeta>{words}</x:xmpmeta>".encode())
    assert tells(tmp_path / "a.jpg") == told


def test_what_is_no_photo(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"\xff\xd8\xff\xe1\x00\x10Exif\x00\x00broken")
    (tmp_path / "b.jpg").write_text("no photo")
    assert (tells(tmp_path / "a.jpg"), tells(tmp_path / "b.jpg")) == ((), ())
    assert tells(tmp_path / "none.jpg") == ()
