"""Pascal VOC: pixels counted from 1, healthy photos kept, hostile XML refused."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders import frozen, healthy_row, item, row

from fieldtruth import store
from fieldtruth.faults import BadRecord
from fieldtruth.formats import voc
from fieldtruth.stages.export import export


def xml(*objects: str, size: tuple[int, int] = (100, 80)) -> str:
    return (
        f"<annotation><folder>x</folder><filename>a.jpg</filename><size><width>{size[0]}</width>"
        f"<height>{size[1]}</height><depth>3</depth></size>{''.join(objects)}</annotation>"
    )


def thing(x1: object, y1: object, x2: object, y2: object, name: str = "rust") -> str:
    return (
        f"<object><name>{name}</name><bndbox><xmin>{x1}</xmin><ymin>{y1}</ymin>"
        f"<xmax>{x2}</xmax><ymax>{y2}</ymax></bndbox></object>"
    )


def saved(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("base", "said", "box"),
    [
        (1, (1, 1, 100, 80), (0, 0, 100, 80)),  # the whole photo
        (1, (11, 21, 11, 21), (10, 20, 11, 21)),  # one pixel
        (1, (11.5, 21, 30.25, 40), (10.5, 20, 30.25, 40)),
        (1, (1, 1, 101, 81), (0, 0, 100, 80)),  # one who counted otherwise: cut
        (0, (0, 0, 100, 80), (0, 0, 100, 80)),
        (0, (10, 20, 30, 40), (10, 20, 30, 40)),
        (0, (-1, -0.5, 30, 40), (0, 0, 30, 40)),
    ],
)
def test_boxes_by_their_first_pixel(
    tmp_path: Path, base: voc.Base, said: tuple[float, float, float, float], box: tuple[float, ...]
) -> None:
    made = voc.read(saved(tmp_path / "a.xml", xml(thing(said[0], said[1], said[2], said[3]))), base)
    assert made.bad == ()
    assert [each.box for each in made.objects] == [box]


@pytest.mark.parametrize(
    ("base", "said"),
    [
        (1, thing(0, 1, 10, 10)),  # counted from 0 after all
        (1, thing(1, 1, 102, 10)),
        (1, thing(5, 1, 4, 10)),
        (0, thing(5, 1, 5, 10)),
        (0, thing(-2, 1, 5, 10)),
        (1, thing("x", 1, 5, 10)),
        (1, thing("", 1, 5, 10)),
        (1, thing("nan", 1, 5, 10)),
        (1, thing("1e999", 1, 5, 10)),
        (1, thing(1, 1, 5, 10, name=" ")),
        (1, "<object><name>rust</name></object>"),
    ],
)
def test_an_object_that_cannot_be_used_is_named(tmp_path: Path, base: voc.Base, said: str) -> None:
    made = voc.read(saved(tmp_path / "a.xml", xml(thing(2, 2, 5, 5), said)), base)
    assert len(made.objects) == 1
    assert [bad.place for bad in made.bad] == ["object[1]"]


def test_a_photo_without_objects_or_size_is_read(tmp_path: Path) -> None:
    made = voc.read(saved(tmp_path / "a.xml", xml(size=(0, 0))))
    assert (made.filename, made.folder, made.width, made.objects) == ("a.jpg", "x", None, ())


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1 if n else str()};" * 10}">' for n in range(9))
    + "]><annotation><filename>&a8;</filename></annotation>"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "document type"),
        (
            '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
            "<annotation><filename>&x;</filename></annotation>",
            "document type",
        ),
        (
            '<!DOCTYPE a SYSTEM "http://169.254.169.254/a.dtd"><annotation/>',
            "document type",
        ),
        ("<annotation><filename>&x;</filename></annotation>", "undefined entity"),
        ("<a>" * 20 + "</a>" * 20, "deeper than 16"),
        ("<annotation>" + "<a/>" * 50_001 + "</annotation>", "more than 50,000"),
        ("<annotation><filename>a.jpg</filename>", "no element found"),
        ("", "no element found"),
        ("a,b,c", "syntax error"),
        ("<html></html>", "expected an <annotation>"),
        ('<?xml version="1.0" encoding="martian"?><annotation/>', "unknown encoding"),
        ("<annotation>\x00</annotation>", "not well-formed"),
    ],
)
def test_hostile_or_other_xml_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadRecord, match=said) as caught:
        voc.read(saved(tmp_path / "a.xml", text))
    assert str(caught.value).startswith(str(tmp_path / "a.xml"))
    assert "\n" not in str(caught.value)


def test_a_huge_file_is_not_parsed(tmp_path: Path) -> None:
    saved(tmp_path / "a.xml", "<annotation>" + " " * (17 << 20))
    with pytest.raises(BadRecord, match="16,777,216 bytes"):
        voc.read(tmp_path / "a.xml")


sides = st.integers(0, 500) | st.floats(0, 500)
printed = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn"))).map(
    str.strip
)


@st.composite
def annotations(draw: st.DrawFn) -> voc.Voc:
    objects = []
    for name in draw(st.lists(printed.filter(bool), max_size=4)):
        (x1, x2), (y1, y2) = (
            sorted(draw(st.lists(sides, min_size=2, max_size=2, unique=True))) for _ in "xy"
        )
        box = (float(x1), float(y1), float(x2), float(y2))
        objects.append(voc.Object(name=name, box=box, difficult=draw(st.booleans())))
    return voc.Voc(
        filename=draw(printed), folder=draw(printed), width=500, height=500, objects=tuple(objects)
    )


@pytest.mark.parametrize("base", [0, 1])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=annotations())
def test_a_file_comes_back_as_it_was(tmp_path: Path, base: voc.Base, made: voc.Voc) -> None:
    wide = [each for each in made.objects if min(_lengths(each.box)) > 1e-6]
    made = voc.Voc(
        filename=made.filename, folder=made.folder, width=500, height=500, objects=tuple(wide)
    )
    voc.write(tmp_path / "a.xml", made, base)
    back = voc.read(tmp_path / "a.xml", base)
    assert back.bad == ()
    assert (back.filename, back.folder) == (made.filename, made.folder)
    assert (back.width, back.height) == (500, 500)
    assert [(each.name, each.difficult) for each in back.objects] == [
        (each.name, each.difficult) for each in made.objects
    ]
    for one, other in zip(back.objects, made.objects, strict=True):
        assert one.box == pytest.approx(other.box, abs=1e-12 if base else 0)


def _lengths(box: tuple[float, float, float, float]) -> tuple[float, float]:
    return box[2] - box[0], box[3] - box[1]


def test_whole_numbers_are_written_as_tradition_has_them(tmp_path: Path) -> None:
    (made,) = voc.from_items([item(boxes=((10.0, 20.0, 30.0, 40.5),))])
    voc.write(tmp_path / "a.xml", made)
    text = (tmp_path / "a.xml").read_text()
    assert "<xmin>11</xmin><ymin>21</ymin><xmax>30</xmax><ymax>40.5</ymax>" in text
    assert "<folder>images</folder>" in text
    assert "<filename>a.jpg</filename>" in text


def test_markup_in_a_label_is_text(tmp_path: Path) -> None:
    label = "<img src=x onerror=alert(1)> & ]]>\x07"
    made = voc.Voc(filename="a.jpg", objects=(voc.Object(name=label, box=(0.0, 0.0, 1.0, 1.0)),))
    voc.write(tmp_path / "a.xml", made)
    assert voc.read(tmp_path / "a.xml").objects[0].name == label.replace("\x07", "\ufffd")


def test_a_benchmark_is_exported_healthy_photos_too(tmp_path: Path) -> None:
    rows = [row("p0"), row("p1", label="late blight"), healthy_row("h0")]
    bench = frozen(tmp_path / "bench", rows)
    made = export("voc", bench, tmp_path / "out")
    assert (made.rows, made.photos, made.absent) == (3, 2, 0)
    files = sorted((tmp_path / "out/annotations").iterdir())
    read = [voc.read(path) for path in files]
    for path, each in zip(files, read, strict=True):
        photo = tmp_path / "out" / each.folder / each.filename
        assert photo.stem == path.stem
        assert photo.is_file()
    shown = {tuple(each.name for each in photo.objects) for photo in read}
    assert shown == {("early blight", "late blight"), ()}
    kept = {each.box for photo in read for each in photo.objects}
    assert kept == {box for each in store.open_bench(bench).items for box in each.boxes}
