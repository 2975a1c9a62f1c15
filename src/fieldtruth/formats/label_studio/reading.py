"""What a Label Studio server exported: `JSON` (everything) or `JSON_MIN` (a row an annotation).

Percent of the photo become pixels of the upright photo, rounded to a thousandth, since the way
there and back costs the last digits. A rotated rectangle becomes the box around it, and one that
sticks out is cut; both are remarked. What cannot be a box in percent of the photo that was sent
(pixels, another photo, a photo turned in the browser) makes its annotation unusable, with why:
nothing is guessed. Skipped annotations, drafts, and several annotations of a task all come back.
JSON_MIN leaves skipped tasks, turned photos and drafts out; ask the server for JSON.
"""

from collections.abc import Iterator, Mapping
from math import cos, hypot, radians, sin
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord
from fieldtruth.formats.label_studio.writing import (
    ANSWER,
    BOX,
    FLAG,
    LEVEL,
    NOTE,
    REASON,
    TARGET,
    VERDICT,
)
from fieldtruth.records import Box, Record

MOST_BYTES = 1 << 30
SLACK = 1.0  # percent that a hand may draw beyond the edge of the photo by; more is another unit


class Annotated(Record, frozen=True, kw_only=True):
    """One annotation of one task. Boxes are pixels of the upright photo; `faults` spoil it."""

    task: str
    number: int  # the server's
    who: str  # the server's number of the person
    at: str
    seconds: float | None = None
    skipped: bool = False
    draft: bool = False
    ground_truth: bool = False
    boxes: tuple[Box, ...] = ()
    choices: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    note: str = ""
    remarks: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class Returned(Record, frozen=True, kw_only=True):
    """All of a file: annotations by task, and what does not belong.

    `unknown` rows have no task of ours, `twice` tasks stand in several rows.
    """

    tasks: dict[str, tuple[Annotated, ...]]
    unknown: int
    twice: tuple[str, ...]


class _Value(msgspec.Struct):
    x: float | None = None
    y: float | None = None
    width: float | None = None
    height: float | None = None
    rotation: float = 0.0
    rectanglelabels: list[str] = []
    choices: list[str] = []
    text: list[str] | str = ""


class _Region(msgspec.Struct):
    type: str
    value: _Value
    from_name: str = ""
    original_width: int | None = None
    original_height: int | None = None
    image_rotation: float | None = 0


class _Annotation(msgspec.Struct):
    id: int = 0
    result: list[_Region] = []
    completed_by: int | dict[str, Any] | None = None
    was_cancelled: bool = False
    ground_truth: bool = False
    created_at: str = ""
    updated_at: str = ""
    lead_time: float | None = None


class _Draft(msgspec.Struct):
    id: int = 0
    result: list[_Region] = []
    updated_at: str = ""
    annotation: int | None = None


class _Task(msgspec.Struct):
    data: dict[str, Any]
    annotations: list[_Annotation] = []
    drafts: list[Any] = []


def read(path: Path, sizes: Mapping[str, tuple[int, int]]) -> Returned:
    """The annotations of the tasks in `sizes` (task -> width, height of the upright photo).

    Raises `Usage` where there is no file and `BadRecord` where it is no export of a server, or
    has no row of these tasks.
    """
    rows = _rows(path)
    tasks: dict[str, tuple[Annotated, ...]] = {}
    seen: dict[str, list[int]] = {}
    unknown = 0
    for number, row in enumerate(rows):
        where = f"{path}: row {number}"
        full = isinstance(row.get("data"), dict)
        key = (row["data"] if full else row).get("task")
        if not isinstance(key, str) or key not in sizes:
            unknown += 1
            continue
        try:
            made = tuple(_full(row, key, sizes[key]) if full else _flat(row, key, sizes[key]))
        except msgspec.ValidationError as error:
            raise BadRecord(
                f"{where} (task {key}): expected Label Studio's, got: {error}"
            ) from None
        tasks[key] = tasks.get(key, ()) + made
        seen.setdefault(key, []).append(number if full else 0)  # JSON_MIN has a row an annotation
    if rows and not tasks:
        raise BadRecord(
            f"{path}: expected rows of the tasks that were sent, got none in {len(rows)}"
        )
    twice = tuple(sorted(key for key, at in seen.items() if len(set(at)) > 1))
    return Returned(tasks=tasks, unknown=unknown, twice=twice)


def _rows(path: Path) -> list[dict[str, Any]]:
    with store.open_existing(path) as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise BadRecord(f"{path}: expected at most {MOST_BYTES:,} bytes, got more; export in parts")
    try:
        return msgspec.json.decode(raw, type=list[dict[str, Any]])
    except (ValueError, RecursionError) as error:
        raise BadRecord(
            f"{path}: expected the list of tasks that Label Studio exports as JSON or JSON_MIN, "
            f"got: {error}"
        ) from None


def _full(row: Mapping[str, Any], key: str, size: tuple[int, int]) -> Iterator[Annotated]:
    task = msgspec.convert(row, _Task)
    for each in task.annotations:
        yield _annotated(each, key, size)
    for raw in task.drafts:
        if not isinstance(raw, dict):  # some exports have drafts' numbers only
            continue
        draft = msgspec.convert(raw, _Draft)
        if draft.annotation is None:  # else it is an edit that was not saved
            told = _Annotation(id=draft.id, result=draft.result, updated_at=draft.updated_at)
            yield msgspec.structs.replace(_annotated(told, key, size), draft=True)


def _flat(row: Mapping[str, Any], key: str, size: tuple[int, int]) -> Iterator[Annotated]:
    """A row of JSON_MIN: each tag's values under its name."""
    if row.get("annotation_id") is None:  # a task that nobody has annotated
        return
    result: list[dict[str, Any]] = []
    for value in msgspec.convert(row.get(BOX) or [], list[Any]):
        of = {"type": "rectanglelabels", "from_name": BOX, "value": value}
        sizes = ("original_width", "original_height")
        result.append(of | ({n: value.get(n) for n in sizes} if isinstance(value, dict) else {}))
    if NOTE in row:
        result.append({"type": "textarea", "from_name": NOTE, "value": {"text": row[NOTE]}})
    for name in (LEVEL, VERDICT, REASON, ANSWER, FLAG):
        if name in row:  # a word, or {"choices": [words]} where there are several
            said = row[name].get("choices") if isinstance(row[name], dict) else [row[name]]
            result.append({"type": "choices", "from_name": name, "value": {"choices": said}})
    told = {
        "id": row["annotation_id"], "completed_by": row.get("annotator"), "result": result,
        "created_at": row.get("created_at") or "", "updated_at": row.get("updated_at") or "",
        "lead_time": row.get("lead_time"),
    }  # fmt: skip
    yield _annotated(msgspec.convert(told, _Annotation), key, size)


def _annotated(told: _Annotation, key: str, size: tuple[int, int]) -> Annotated:
    boxes: list[Box] = []
    remarks: list[str] = []
    faults: list[str] = []
    choices: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    count = 0
    for region in told.result:
        if region.type == "choices":
            choices[region.from_name] = tuple(region.value.choices)
        elif region.type == "textarea":
            text = region.value.text
            notes += [text] if isinstance(text, str) else text
        else:
            count += 1
            fault = _fault(region, size)
            box = None if fault else _box(region.value, size, f"box {count}", remarks)
            faults += [f"box {count}: {fault}"] if fault else []
            boxes += [box] if box else []
    by = told.completed_by
    who = by.get("id", "") if isinstance(by, dict) else "" if by is None else by
    return Annotated(
        task=key, number=told.id, who=str(who), at=told.updated_at or told.created_at,
        seconds=told.lead_time, skipped=told.was_cancelled, ground_truth=told.ground_truth,
        boxes=tuple(boxes), choices=choices, note="\n".join(filter(None, notes)),
        remarks=tuple(remarks), faults=tuple(faults),
    )  # fmt: skip


def _fault(region: _Region, size: tuple[int, int]) -> str:
    """Why a region is no rectangle in percent of the photo that was sent; "" where it is one."""
    value = region.value
    if region.type not in ("rectanglelabels", "rectangle"):
        return f"expected a rectangle, got {region.type}"
    if set(value.rectanglelabels) - {TARGET}:
        return f"expected the label {TARGET!r}, got {', '.join(value.rectanglelabels)!r}"
    if region.image_rotation:
        return f"the photo was turned by {region.image_rotation:g} degrees in the browser"
    shown = (region.original_width or size[0], region.original_height or size[1])
    if shown != size:
        return f"drawn on {shown[0]}x{shown[1]}, but the photo is {size[0]}x{size[1]}"
    corner, sides = (value.x, value.y), (value.width, value.height)
    if None in (*corner, *sides):
        return "expected x, y, width and height"
    numbers = [each for each in (*corner, *sides) if each is not None]
    if max(numbers) > 100 + SLACK or min(numbers[:2]) < -100 or min(numbers[2:]) < 0:
        told = ", ".join(f"{each:g}" for each in numbers)
        return f"expected percent of the photo from 0 to 100, got {told} (pixels?)"
    return ""


def _box(value: _Value, size: tuple[int, int], name: str, remarks: list[str]) -> Box | None:
    """The box in pixels; None, with a remark, where nothing is left of it."""
    (width, height), turn = size, radians(value.rotation)
    x, y = (value.x or 0) / 100 * width, (value.y or 0) / 100 * height
    across, down = (value.width or 0) / 100 * width, (value.height or 0) / 100 * height
    # Turned clockwise about its upper left corner, in pixels: percents are not square.
    steps = [(a, b) for a in (0.0, across) for b in (0.0, down)]
    if value.rotation:
        remarks.append(f"{name}: rotated by {value.rotation:g} degrees; the box around it")
        steps = [(a * cos(turn) - b * sin(turn), a * sin(turn) + b * cos(turn)) for a, b in steps]
    xs, ys = [x + a for a, _ in steps], [y + b for _, b in steps]
    drawn = (min(xs), min(ys), max(xs), max(ys))
    cut = (max(drawn[0], 0.0), max(drawn[1], 0.0), min(drawn[2], width), min(drawn[3], height))
    if hypot(*(a - b for a, b in zip(cut, drawn, strict=True))) > 1e-6 * (width + height):
        remarks.append(f"{name}: sticks out of the photo; cut")
    box = tuple(round(side, 3) for side in cut)
    if not (box[0] < box[2] and box[1] < box[3]):
        remarks.append(f"{name}: no area; left out")
        return None
    return box[0], box[1], box[2], box[3]
