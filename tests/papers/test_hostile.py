"""PDFs that mean harm, or that somebody broke: named and left out, whatever they do."""

import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    DictionaryObject,
    NameObject,
    RectangleObject,
    TextStringObject,
)
from tests.papers import by_reportlab
from tests.papers.answers import prose

from fieldtruth import store
from fieldtruth.papers import pdf
from fieldtruth.papers.layout import Crop, Failed, Layout, Limits
from fieldtruth.papers.records import Paper
from fieldtruth.papers.worker import Reader
from fieldtruth.records import Drop
from fieldtruth.run import screening
from fieldtruth.stages.figures import find
from fieldtruth.stages.screen import Settings


def _good() -> bytes:
    sheet = by_reportlab.Sheet()
    sheet.text(60, 80, 470, prose(4))
    sheet.page()
    return sheet.done()


def _written(writer: PdfWriter) -> bytes:
    stream = BytesIO()
    writer.write(stream)
    return stream.getvalue()


def _encrypted() -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(_good())))
    writer.encrypt("secret", algorithm="RC4-128")
    return _written(writer)


def _objects(*bodies: bytes) -> bytes:
    """A file of these objects, numbered from 1, with a right cross-reference table."""
    raw, places = b"%PDF-1.4\n", []
    for at, body in enumerate(bodies, start=1):
        places.append(len(raw))
        raw += b"%d 0 obj\n%s\nendobj\n" % (at, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(bodies) + 1, len(raw)
    raw += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return raw + b"trailer <</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, start)


def _no_pages() -> bytes:
    return _objects(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>")


def _tree_loop() -> bytes:
    """A tree of pages that is its own child."""
    return _objects(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>")


def _xref_loop() -> bytes:
    """A cross-reference table whose earlier version is itself."""
    raw = _objects(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>")
    start = raw.index(b"xref\n0")
    return raw.replace(b"/Root 1 0 R>>", b"/Root 1 0 R /Prev %d>>" % start)


def _stream(data: bytes, more: bytes = b"") -> bytes:
    packed = zlib.compress(data, 9)
    return b"<</Length %d/Filter/FlateDecode%s>>stream\n%s\nendstream" % (len(packed), more, packed)


def _page(
    content: bytes, resources: bytes = b"", box: bytes = b"0 0 595 842", *more: bytes
) -> bytes:
    return _objects(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox["
        + box
        + b"]/Contents 4 0 R/Resources<<"
        + resources
        + b">>>>",
        _stream(content),
        *more,
    )


def _form_loop() -> bytes:
    """A form that draws itself twice."""
    form = _stream(
        b"/F Do /F Do",
        b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F 5 0 R>>>>",
    )
    return _page(b"/F Do", b"/XObject<</F 5 0 R>>", b"0 0 595 842", form)


def _huge_page() -> bytes:
    return _page(b"0 0 14000 14000 re f", b"", b"0 0 14400 14400")


def _script() -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(_good())))
    writer.root_object[NameObject("/OpenAction")] = DictionaryObject(
        {
            NameObject("/S"): NameObject("/JavaScript"),
            NameObject("/JS"): TextStringObject("app.alert('here'); while (true) {}"),
        }
    )
    return _written(writer)


def _picture_bomb() -> bytes:
    """An image that says it is 60,000 x 60,000, of 64 KB of noughts."""
    image = _stream(
        b"\0" * (1 << 16),
        b"/Type/XObject/Subtype/Image/Width 60000/Height "
        b"60000/ColorSpace/DeviceRGB/BitsPerComponent 8",
    )
    return _page(b"500 0 0 500 0 0 cm /I Do", b"/XObject<</I 5 0 R>>", b"0 0 595 842", image)


def _nought() -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(_good())))
    page = writer.pages[0]
    page[NameObject("/MediaBox")] = RectangleObject((0, 0, 0, 0))
    return _written(writer)


def _locked(user: str, algorithm: str) -> Callable[[], bytes]:
    """A paper that only its owner may print, or that nobody opens without a password."""

    def make() -> bytes:
        writer = PdfWriter(clone_from=PdfReader(BytesIO(_good())))
        writer.encrypt(user, owner_password="owner", algorithm=algorithm)
        return _written(writer)

    return make


def _unknown_lock() -> bytes:
    """Encrypted by a handler that no reader has."""
    good = _page(b"BT ET")
    lock = b"/Encrypt <</Filter/Adobe.APS/V 4/R 4/Length 128>> /ID [<00><00>]"
    return good.replace(b"trailer <<", b"trailer <<" + lock)


def _no_kids() -> bytes:
    """A count of three pages, and none of them."""
    return _objects(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 3>>")


def _sized(width: int, height: int) -> Callable[[], bytes]:
    return lambda: _page(b"0 0 99 99 re f", b"", b"0 0 %d %d" % (width, height))


FAILS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "password RC4": ("encrypted", _encrypted),
    "password AES-256": ("encrypted", _locked("secret", "AES-256")),
    "password AES-128": ("encrypted", _locked("secret", "AES-128")),
    "unknown handler": ("encrypted", _unknown_lock),
    "no pages": ("no pages", _no_pages),
    "no kids": ("broken", _no_kids),
    "cut off": ("broken", lambda: _good()[:300]),
    "empty": ("broken", lambda: b""),
    "a web page": ("broken", lambda: b"<html>not found</html>" * 50),
    "noughts": ("broken", lambda: bytes(4000)),
    "vast page": ("page size", _sized(200_000, 842)),
    "vast both ways": ("page size", _sized(200_000, 200_000)),
}
PASSES: dict[str, Callable[[], bytes]] = {
    "script": _script,
    "huge page": _huge_page,
    "picture bomb": _picture_bomb,
    "no size": _nought,
    "owner's lock RC4": _locked("", "RC4-128"),
    "owner's lock AES-128": _locked("", "AES-128"),
    "owner's lock AES-256": _locked("", "AES-256"),
}


@pytest.mark.slow
def test_what_cannot_be_read_is_named_and_the_next_one_is_read(tmp_path: Path) -> None:
    good = tmp_path / "good.pdf"
    good.write_bytes(_good())
    with Reader() as reader:
        for name, (reason, make) in FAILS.items():
            path = tmp_path / f"{name}.pdf"
            path.write_bytes(make())
            got = reader.look(path)
            assert isinstance(got, Failed), name
            assert got.reason == reason, (name, got)
            assert isinstance(reader.look(good), Layout)


@pytest.mark.slow
def test_a_folder_of_them_is_screened_and_each_is_a_drop(tmp_path: Path) -> None:
    """The whole road: one drop for each with its reason, and the one good paper beside them."""
    folder = tmp_path / "pdfs"
    folder.mkdir()
    for name, (_, make) in FAILS.items():
        (folder / f"{name}.pdf").write_bytes(make())
    (folder / "blank.pdf").write_bytes(_page(b"0 0 99 99 re f"))
    (folder / "good.pdf").write_bytes(_locked("", "AES-256")())
    screening.screen(folder, tmp_path / "out", Settings(any_kind=True))
    drops = {each.sample: each for each in store.read(tmp_path / "out" / "drops.jsonl", Drop)}
    wanted = {f"{name}.pdf": reason for name, (reason, _) in FAILS.items()}
    copies = {name for name, each in drops.items() if each.reason == "duplicate"}
    assert copies == set()
    assert {name: each.reason for name, each in drops.items()} == wanted | {"blank.pdf": "no words"}
    assert drops["vast page.pdf"].detail == "page 1 is 200,000 x 842 points"
    (paper,) = store.read(tmp_path / "out" / "papers.jsonl", Paper)
    assert paper.file == "good.pdf"


def test_words_are_read_without_a_password_where_only_its_owner_needs_one(tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    path.write_bytes(_locked("", "AES-256")())
    got = pdf.look(path, Limits(), ink=False)
    assert isinstance(got, Layout)
    said = " ".join(line.text for line in got.pages[0].lines)
    assert "Seed was sown in the first week of May" in said


def test_one_page_that_cannot_be_shown_is_a_miss_and_the_rest_is_read(tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(_good())))
    writer.add_blank_page(200_000, 842)
    path = tmp_path / "one.pdf"
    path.write_bytes(_written(writer))
    got = pdf.look(path, Limits())
    assert isinstance(got, Layout)
    assert [page.shown for page in got.pages] == [True, False]
    told = [(each.page, each.what) for each in find(got).missed]
    assert told == [(2, "a page that cannot be shown")]


@pytest.mark.slow
def test_what_means_harm_does_none(tmp_path: Path) -> None:
    with Reader(Limits(seconds=60, memory=2 << 30)) as reader:
        for name, make in PASSES.items():
            path = tmp_path / f"{name}.pdf"
            path.write_bytes(make())
            assert isinstance(reader.look(path), Layout), name
        path = tmp_path / "loop.pdf"
        reader.limits = Limits(seconds=10, memory=1 << 30)
        for make in (_tree_loop, _xref_loop, _form_loop):
            path.write_bytes(make())
            assert isinstance(reader.look(path), Layout | Failed)


@pytest.mark.slow
def test_limits_hold(tmp_path: Path) -> None:
    path = tmp_path / "good.pdf"
    path.write_bytes(_good())
    writer = PdfWriter()
    for _ in range(3):
        writer.add_blank_page(100, 100)
    many = tmp_path / "many.pdf"
    many.write_bytes(_written(writer))
    with Reader(Limits(pages=2, bytes=3000)) as reader:
        assert reader.look(many) == Failed(reason="too many pages", detail="3 pages")
        (tmp_path / "long.pdf").write_bytes(_good() + b"%" * 4000)
        got = reader.look(tmp_path / "long.pdf")
        assert isinstance(got, Failed)
        assert got.reason == "too large"
    with Reader(Limits(seconds=0.0)) as reader:
        late = reader.look(path)
        assert isinstance(late, Failed)
        assert late.reason == "timed out"


@pytest.mark.slow
def test_a_reader_that_dies_is_started_again(tmp_path: Path) -> None:
    path = tmp_path / "good.pdf"
    path.write_bytes(_good())
    with Reader() as reader:
        assert isinstance(reader.look(path), Layout)
        first = reader._process
        assert first is not None
        first.kill()
        first.wait()
        assert isinstance(reader.look(path), Layout)
        assert isinstance(reader.crop(path, 1, (60, 60, 200, 100), 72.0), Crop)
