"""The workbook of one person: a row a question, figure or passage, and boxes that are ticked until
they are cleared.

Nothing that came from outside is ever a formula: every cell holds text, marked as such, and
characters that XML cannot hold are left out. A row counts once its box `read` is ticked, so
that what nobody looked at is not taken for clean.

Reading is wary: a workbook is a zip, so it is held to a size before it is opened; formulas are
never worked out; every row has to be one that was sent to this person, once.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import LETTERS, Record
from fieldtruth.stages.verification.sent import SHEETS, Row, Sent, Sheet

TICKED, CLEARED = "☑", "☐"
READ = "read"
ABOUT = "how to"


def columns(sheet: Sheet) -> tuple[str, ...]:
    """The head of the sheet of a kind."""
    return (*sheet.heads, *sheet.conditions, READ, "remark")


TALKS = SHEETS["talks"]
COLUMNS = columns(TALKS)
_BOX = 13  # characters wide
_WIDTHS = {
    "no": 6, "type": 14, "question": 38, "background": 26, "answer": 34, "options": 44, READ: 8,
    "remark": 30, "place": 26, "caption": 70, "found by": 10, "passage": 70,
}  # fmt: skip
_YES = {TICKED, "☒", "✓", "✔", "x", "true", "yes", "y", "1", "ja", "wahr"}
_NO = {CLEARED, "", "false", "no", "n", "0", "nein", "falsch"}
_MOST = 256 << 20  # bytes that a workbook may unpack to
_LONGEST = 32_000  # characters of a cell; Excel takes 32,767
# XML 1.0 has no such characters; a lone half of a pair is none either.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Ticks(Record, frozen=True, kw_only=True):
    """What one person says of one row. `conditions` runs parallel to the row's."""

    row: str
    annotator: str
    conditions: tuple[bool, ...]
    read: bool
    remark: str = ""

    @property
    def clean(self) -> bool:
        """Whether every box is still ticked."""
        return all(self.conditions)


def write(path: Path, rows: Sequence[Row], annotator: str) -> None:
    """The workbook of a person. `Usage` where openpyxl is not installed."""
    openpyxl = _openpyxl()
    book = openpyxl.Workbook(write_only=False)
    sheet = book.active
    kind = rows[0].sent.sheet if rows else TALKS
    sheet.title = kind.tab
    sheet.append(columns(kind))
    for at, row in enumerate(rows, start=2):
        for column, text in enumerate(_cells(row), start=1):
            _put(sheet.cell(at, column), text)
    _dress(sheet, len(rows), kind)
    _about(book, rows, annotator)
    stream = BytesIO()
    book.save(stream)
    path.write_bytes(_timeless(stream.getvalue()))


def _timeless(packed: bytes) -> bytes:
    """A workbook without the time it was made at, so that two of one content are byte-equal."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(packed)) as given, zipfile.ZipFile(out, "w") as made:
        for name in given.namelist():
            raw = given.read(name)
            if name == "docProps/core.xml":
                raw = re.sub(rb">\d{4}-\d\d-\d\dT[^<]*<", b">2020-01-01T00:00:00Z<", raw)
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, raw)
    return out.getvalue()


def _cells(row: Row) -> Iterator[str]:
    first, choice = row.forms[0], row.choice
    options = "" if choice is None else "\n".join(
        f"{letter}. {option}{'  ← right' if letter == choice.answer else ''}"
        for letter, option in zip(LETTERS, choice.options or (), strict=False)
    )  # fmt: skip
    shown = {
        "no": row.sent.id, "type": first.qtype or "", "question": first.question,
        "background": first.background, "answer": row.truth, "options": options,
    }  # fmt: skip
    yield from (shown[what] for what in row.sent.sheet.heads.values())
    yield from (TICKED for _ in row.sent.conditions)
    yield from (CLEARED, "")


def _put(cell: Any, text: str) -> None:
    """Text and nothing else: never a formula, a number or a date."""
    cell.value = safe(text)
    cell.data_type = "s"  # openpyxl takes what begins with "=" for a formula
    cell.quotePrefix = True
    cell.number_format = "@"


def safe(text: str) -> str:
    """A text that a cell can hold."""
    return _NOT_XML.sub("", text)[:_LONGEST]


def _dress(sheet: Any, count: int, kind: Sheet) -> None:
    """Widths, wrapped lines, a head that stays, boxes to choose from, red where one is cleared."""
    from openpyxl.formatting.rule import CellIsRule
    from openpyxl.styles import Alignment, Font, PatternFill, Protection
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    boxes = DataValidation(
        type="list", formula1=f'"{TICKED},{CLEARED}"', allow_blank=False, showErrorMessage=True,
        errorTitle="A box", error=f"{TICKED} where it holds, {CLEARED} where it does not.",
    )  # fmt: skip
    sheet.add_data_validation(boxes)
    for at, name in enumerate(columns(kind), start=1):
        letter = get_column_letter(at)
        sheet.column_dimensions[letter].width = _WIDTHS.get(name, _BOX)
        head = sheet.cell(1, at)
        head.font = Font(bold=True, color="FFFFFF")
        head.fill = PatternFill("solid", fgColor="17603F")
        box = name in kind.conditions or name == READ
        for row in range(2, count + 2):
            cell = sheet.cell(row, at)
            cell.alignment = Alignment(
                wrap_text=True, vertical="top", horizontal="center" if box else None
            )
            cell.font = Font(size=16 if box else 10)
            cell.protection = Protection(locked=not (box or name == "remark"))
        if box and count:
            area = f"{letter}2:{letter}{count + 1}"
            boxes.add(area)
            red = PatternFill("solid", bgColor="F6C7B8")
            if name != READ:
                rule = CellIsRule(operator="equal", formula=[f'"{CLEARED}"'], fill=red)
                sheet.conditional_formatting.add(area, rule)
    sheet.freeze_panes = "D2"
    sheet.protection.sheet = True  # without a password: against slips, not against people
    sheet.protection.formatColumns = False
    sheet.protection.formatRows = False


def _about(book: Any, rows: Sequence[Row], annotator: str) -> None:
    from openpyxl.styles import Alignment

    sheet = book.create_sheet(ABOUT)
    export = rows[0].sent.export if rows else ""
    kind = rows[0].sent.sheet if rows else TALKS
    lines = [
        ("annotator", annotator),
        ("export", export),
        ("", ""),
        ("what to do", f"Open the page {kind.page} and look at each {kind.what} there. A box is "
         f"{TICKED} as long as its condition holds: choose {CLEARED} where it does not. Tick "
         f"“{READ}” when you are done with a row; rows without it are not counted."),
        *kind.conditions.items(),
        (READ, "You looked at all that the page shows of this row."),
    ]  # fmt: skip
    for at, (name, text) in enumerate(lines, start=1):
        _put(sheet.cell(at, 1), name)
        _put(sheet.cell(at, 2), text)
        sheet.cell(at, 2).alignment = Alignment(wrap_text=True, vertical="top")
    sheet.column_dimensions["A"].width = 16
    sheet.column_dimensions["B"].width = 90
    sheet.protection.sheet = True


def read(path: Path, sent: dict[str, Sent]) -> list[Ticks]:
    """What a person ticked, in the order of the rows.

    Raises `Usage` for what is no workbook, `Refused` for one that unpacks to too much or is of
    another export, `BadRecord` with sheet and row for a row that was not sent to this person, is
    there twice, or has a box that is neither ticked nor cleared.
    """
    openpyxl = _openpyxl()
    _within(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        tab = next(iter(sent.values())).sheet.tab if sent else TALKS.tab
        found = {name: list(book[name].iter_rows(values_only=True)) for name in (tab, ABOUT)}
        book.close()
    except KeyError as error:
        raise Usage(
            f"{path}: expected a sheet as `review questions` made it, got: {error}"
        ) from None
    except (ValueError, TypeError, OSError, EOFError, AttributeError, zipfile.BadZipFile,
            SyntaxError, IndexError) as error:  # fmt: skip
        raise Usage(f"{path}: expected an XLSX workbook, got: {error}") from None
    about = {_text(row[0]): _text(row[1]) for row in found[ABOUT] if len(row) > 1}
    who, export = about.get("annotator", ""), about.get("export", "")
    if export not in {each.export for each in sent.values()}:
        raise Refused(f"{path}: expected a workbook of this export, got one of {export!r}")
    return list(_ticks(path, found[tab], who, sent))


def _within(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(each.file_size for each in packed.infolist())
    except (OSError, zipfile.BadZipFile) as error:
        raise Usage(f"{path}: expected an XLSX workbook, got: {error}") from None
    if size > _MOST:
        raise Refused(f"{path}: expected at most {_MOST:,} bytes unpacked, got {size:,}")


def _ticks(
    path: Path, found: Sequence[tuple[Any, ...]], who: str, sent: dict[str, Sent]
) -> Iterator[Ticks]:
    head = [_text(each) for each in found[0]] if found else []
    kind = next((each.sheet for each in sent.values()), TALKS)
    conditions, tab = tuple(kind.conditions), kind.tab
    lacks = [each for each in ("no", *conditions, READ) if each not in head]
    if lacks:
        raise Usage(f"{path}: expected a column {lacks[0]!r} in the sheet {tab!r}, got none")
    place = {name: head.index(name) for name in head}
    seen: set[str] = set()
    for number, cells in enumerate(found[1:], start=2):
        values = [_text(each) for each in cells] + [""] * len(head)
        if not any(values):
            continue
        where = f"{path}: {tab}, row {number}"
        name = values[place["no"]]
        row = sent.get(name) or sent.get(name.zfill(len(next(iter(sent)))))
        if row is None or who not in (*row.annotators, row.third):
            raise BadRecord(f"{where}: expected a number that was sent to {who!r}, got {name!r}")
        if row.id in seen:
            raise BadRecord(f"{where}: expected each number once, got {name!r} again")
        seen.add(row.id)
        marks = [_box(values[place[each]], f"{where}, {each}") for each in (*conditions, READ)]
        remark = values[place["remark"]] if "remark" in place else ""
        yield Ticks(
            row=row.id, annotator=who, conditions=tuple(marks[:-1]), read=marks[-1], remark=remark
        )


def _box(text: str, where: str) -> bool:
    plain = text.strip().casefold()
    if plain in _YES or plain in _NO:
        return plain in _YES
    raise BadRecord(f"{where}: expected {TICKED} or {CLEARED}, got {text[:40]!r}")


def _text(value: object) -> str:
    """A cell as text: people's programs turn 001 into the number 1, and boxes into TRUE."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _openpyxl() -> ModuleType:
    try:
        import openpyxl
    except ModuleNotFoundError as missing:
        if missing.name != "openpyxl":
            raise
        raise Usage(
            "workbooks need openpyxl, which is not installed; pip install 'fieldtruth[sheets]'"
        ) from None
    return openpyxl  # type: ignore[no-any-return]
