"""Pascal VOC: one XML file a photo, with its size and its boxes.

    <annotation><folder/><filename/><source><database/></source>
      <size><width/><height/><depth/></size><segmented>0</segmented>
      <object><name/><pose/><truncated/><difficult/>
        <bndbox><xmin/><ymin/><xmax/><ymax/></bndbox></object></annotation>

Pixels are counted from 1 by tradition, and `xmax`, `ymax` name the last pixel inside: so a box
(x1, y1, x2, y2) of ours, counted from 0 with its far edge outside, is written as
(x1 + 1, y1 + 1, x2, y2), and read back so. Many tools count from 0 and write the edges themselves:
`base=0` reads and writes those. Nothing in a file says which; a 0 in one counted from 1 is bad.
Fractions are written out, though few tools read them.

What VOC cannot hold is lost: an item's id, kind, crop, level, group, hash, licence, query, absent
query and candidates, and which of two items of one photo a box belongs to. What it keeps: every
photo with its size, healthy ones as photos without objects, and every box with its class. For all
of it, export COCO.

XML from outside is hostile: a document type is refused (entities are made there), nothing outside
the file is opened, and its size, depth and number of elements are limited.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from xml.parsers import expat
from xml.sax.saxutils import escape

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.formats.contract import Classes, Exported, Exporter, copy_photos
from fieldtruth.records import Box, Item, Record
from fieldtruth.store import Bench

FOLDER = "annotations"
SLACK = 1.0  # pixels that a box may stick out by, as rounding makes it; it is cut
MOST_BYTES = 16 << 20
MOST_DEPTH = 16
MOST_ELEMENTS = 50_000  # an object has about 12

Base = Literal[0, 1]


class Object(Record, frozen=True, kw_only=True):
    """One named box, (x1, y1, x2, y2) in pixels counted from 0, far edge outside."""

    name: str
    box: Box
    difficult: bool = False


class Bad(Record, frozen=True, kw_only=True):
    """An object that cannot be used: its place (`object[2]`) and why."""

    place: str
    detail: str


class Voc(Record, frozen=True, kw_only=True):
    """One file, about `folder/filename`. A size is None where it does not say, or says 0."""

    filename: str
    folder: str = ""
    width: int | None = None
    height: int | None = None
    objects: tuple[Object, ...] = ()
    bad: tuple[Bad, ...] = ()


# --- reading -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Node:
    name: str
    text: list[str] = field(default_factory=list)
    children: list["_Node"] = field(default_factory=list)

    def find(self, *path: str) -> "_Node | None":
        """The first node along these names."""
        node = self
        for name in path:
            found = next((child for child in node.children if child.name == name), None)
            if found is None:
                return None
            node = found
        return node

    def said(self, *path: str) -> str:
        """The text there, stripped; empty where there is none."""
        node = self.find(*path)
        return "".join(node.text).strip() if node else ""


class _Hostile(ValueError):
    pass


def read(path: Path, base: Base = 1) -> Voc:
    """One annotation file. Raises `BadRecord` naming the line where it is not VOC, or hostile."""
    with store.open_existing(path) as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise BadRecord(f"{path}: expected at most {MOST_BYTES:,} bytes of XML, got more")
    root = _parse(raw, path)
    if root.name != "annotation":
        raise BadRecord(f"{path}: expected an <annotation>, got <{root.name[:40]}>")
    sides = [_side(root.said("size", name)) for name in ("width", "height")]
    objects: list[Object] = []
    bad: list[Bad] = []
    for number, node in enumerate(child for child in root.children if child.name == "object"):
        made = _object(node, base, sides)
        if isinstance(made, Object):
            objects.append(made)
        else:
            bad.append(Bad(place=f"object[{number}]", detail=made))
    return Voc(
        filename=root.said("filename"), folder=root.said("folder"),
        width=sides[0], height=sides[1], objects=tuple(objects), bad=tuple(bad),
    )  # fmt: skip


def _parse(raw: bytes, path: Path) -> _Node:
    """The elements as a tree; attributes, comments and instructions are passed over."""
    top = _Node("")
    stack = [top]
    elements = count(1)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def start(name: str, _: dict[str, str]) -> None:
        node = _Node(name)
        if len(stack) > MOST_DEPTH:
            raise _Hostile(f"elements nested deeper than {MOST_DEPTH}")
        stack[-1].children.append(node)
        if next(elements) > MOST_ELEMENTS:
            raise _Hostile(f"more than {MOST_ELEMENTS:,} elements")
        stack.append(node)

    def end(_: str) -> None:
        stack.pop()

    def text(data: str) -> None:
        stack[-1].text.append(data)

    def refuse(*_: Any) -> None:
        raise _Hostile("a document type, which could define entities")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(raw, True)
    except (expat.ExpatError, _Hostile, LookupError, ValueError) as error:
        raise BadRecord(
            f"{path}:{parser.CurrentLineNumber}: expected Pascal VOC XML, got: {error}"
        ) from None
    return top.children[0]


def _side(said: str) -> int | None:
    number = _number(said)
    return int(number) if number is not None and number > 0 and number == int(number) else None


def _number(said: str) -> float | None:
    try:
        number = float(said)
    except ValueError:
        return None
    return number if isfinite(number) and len(said) < 40 else None


def _object(node: _Node, base: Base, sides: Sequence[int | None]) -> Object | str:
    """The box, cut to the photo, or what is wrong with it."""
    name = node.said("name")
    if not name:
        return "expected a <name>, got none"
    words = [node.said("bndbox", side) for side in ("xmin", "ymin", "xmax", "ymax")]
    numbers = [_number(word) for word in words]
    if any(number is None for number in numbers):
        return f"{name[:80]!r}: expected four numbers in <bndbox>, got {words}"
    x1, y1, x2, y2 = (number for number in numbers if number is not None)
    x1, y1 = x1 - base, y1 - base
    right, bottom = (side if side is not None else float("inf") for side in sides)
    if min(x1, y1) < -SLACK + base or x2 > right + SLACK or y2 > bottom + SLACK:
        return f"{name[:80]!r}: the box {words}, counted from {base}, is not on the photo"
    box = (max(x1, 0.0), max(y1, 0.0), min(x2, float(right)), min(y2, float(bottom)))
    if not (box[0] < box[2] and box[1] < box[3]):
        return f"{name[:80]!r}: the box {words} has no area"
    return Object(name=name, box=box, difficult=node.said("difficult") in ("1", "true", "True"))


# --- writing -----------------------------------------------------------------------------------


def write(path: Path, voc: Voc, base: Base = 1) -> None:
    """Write one file that `read` gives back, fractions to within a millionth of a millionth."""
    lines = [
        "<annotation>",
        f"  <folder>{_text(voc.folder)}</folder>",
        f"  <filename>{_text(voc.filename)}</filename>",
        "  <source><database>Unknown</database></source>",
        f"  <size><width>{voc.width or 0}</width><height>{voc.height or 0}</height>"
        "<depth>3</depth></size>",
        "  <segmented>0</segmented>",
    ]
    for each in voc.objects:
        x1, y1, x2, y2 = each.box
        sides = zip(("xmin", "ymin", "xmax", "ymax"), (x1 + base, y1 + base, x2, y2), strict=True)
        bounds = "".join(f"<{name}>{_figure(value)}</{name}>" for name, value in sides)
        lines += [
            "  <object>",
            f"    <name>{_text(each.name)}</name>",
            "    <pose>Unspecified</pose><truncated>0</truncated>"
            f"<difficult>{int(each.difficult)}</difficult>",
            f"    <bndbox>{bounds}</bndbox>",
            "  </object>",
        ]
    with store.replacing(path) as file:
        file.write("\n".join([*lines, "</annotation>", ""]).encode())


def _text(words: str) -> str:
    """A text as XML holds it: what XML has no way to write (most controls) becomes U+FFFD."""
    shown = "".join(letter if _is_xml(ord(letter)) else "\ufffd" for letter in words)
    return escape(shown, {"\r": "&#13;"})


def _is_xml(code: int) -> bool:
    return code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF


def _figure(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


# --- items -------------------------------------------------------------------------------------


def from_items(items: Iterable[Item]) -> list[Voc]:
    """One file a photo, in order of the photo's path, with the boxes of all its items."""
    every = list(items)
    files, classes = dict[str, Voc](), Classes(every)
    for item in sorted(every, key=lambda item: (item.image, item.id)):
        known = files.get(item.image)
        path = PurePosixPath(item.image)
        above = "" if path.parent == PurePosixPath() else str(path.parent)
        voc = known or Voc(filename=path.name, folder=above, width=item.width, height=item.height)
        mine = tuple(Object(name=classes.of(item), box=box) for box in item.boxes)
        files[item.image] = msgspec.structs.replace(voc, objects=voc.objects + mine)
    return list(files.values())


def export(bench: Bench, folder: Path, *, fetched: bool) -> Exported:
    """Write `annotations/PHOTO.xml` and the photos into `folder`; see what is lost, above."""
    if not bench.items:
        raise Usage(f"{bench.folder}: expected items with boxes, got questions; export parquet")
    for voc in from_items(bench.items):
        write(folder / FOLDER / PurePosixPath(voc.filename).with_suffix(".xml"), voc)
    photos, absent = copy_photos(bench, folder, fetched=fetched)
    return Exported(rows=len(bench.items), photos=photos, absent=absent)


EXPORT: Exporter = export
