"""Questions to people and back: nothing in words is ever code, and nobody's silence is a yes."""

import itertools
import re
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.builders import leaf

from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import Dialogue, Question, Turn
from fieldtruth.stages.verification import (
    CONDITIONS,
    Row,
    Sent,
    Ticks,
    line,
    read,
    render,
    rows,
    settle,
    write,
)
from fieldtruth.stages.verification.page import marked
from fieldtruth.stages.verification.workbook import CLEARED, COLUMNS, TICKED, safe

HOSTILE = "<img src=x onerror=alert(1)>"
WORSE = f"{HOSTILE}\"'</title></style></pre><script>alert(2)</script>{{{{7*7}}}}{{% x %}}"
FORMULAS = ("=cmd|'/C calc'!A0", "=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "=HYPERLINK(1)")


def question(name: str, form: str = "mcq", **changes: Any) -> Question:
    given: dict[str, Any] = {
        "id": f"{name}:{form}", "form": form, "images": ("a.png",), "question": "What is it?",
        "options": ("rust", "scab", "wilt", "smut") if form == "mcq" else None,
        "answer": "B" if form == "mcq" else "scab", "facts": (), "domain": "disease",
        "challenge": None, "crop": None, "qtype": "species", "group": name,
        "evidence": ("it is scab",), "source": "s", "licence": "CC0",
    }  # fmt: skip
    return Question(**(given | changes))


def pairs(count: int) -> list[Question]:
    return [question(f"d:{n}:species", form) for n in range(count) for form in ("mcq", "open")]


def some_rows(count: int = 3, people: tuple[str, ...] = ("anna",), **more: Any) -> list[Row]:
    return rows(pairs(count), people, more.get("overlap"), more.get("seed", 0))


# --- rows --------------------------------------------------------------------------------------


def test_both_forms_are_one_row() -> None:
    found = some_rows(12)
    assert [row.sent.id for row in found] == [f"{n:02}" for n in range(1, 13)]
    assert all(len(row.forms) == len(row.sent.questions) == 2 for row in found)
    assert found[0].sent.questions == ("d:0:species:mcq", "d:0:species:open")
    assert found[0].truth == "scab"
    alone = rows([question("x")], ("anna",), None, 0)
    assert alone[0].truth == "scab"


def test_rows_are_shared_out() -> None:
    people = ("anna", "ben", "cora")
    found = some_rows(60, people, overlap=2)
    assert {len(row.sent.annotators) for row in found} == {2}
    counts = {who: sum(who in row.sent.annotators for row in found) for who in people}
    assert all(25 <= n <= 55 for n in counts.values()), counts
    assert [row.sent for row in found] == [row.sent for row in some_rows(60, people, overlap=2)]
    one = some_rows(1, people, overlap=2)
    assert one[0].sent.annotators == found[0].sent.annotators  # whatever else is sent


@pytest.mark.parametrize(
    "people",
    [(), ("anna", "Anna"), ("../anna",), ("an na",), ("",), ("änna",), ("a/b",), ("a.b",)],
)
def test_names_that_make_no_files(people: tuple[str, ...]) -> None:
    with pytest.raises(Usage, match="--annotator"):
        some_rows(1, people)


def test_more_eyes_than_people() -> None:
    with pytest.raises(Usage, match="--overlap"):
        some_rows(1, ("anna",), overlap=2)


# --- the page ----------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Every tag with its attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def test_nothing_in_the_page_is_code(tmp_path: Path) -> None:
    leaf(tmp_path / "a.png")
    asked = [
        question("d:0:species", form, question=WORSE, background=WORSE, qtype=WORSE,
                 facts=(WORSE,), evidence=(HOSTILE, WORSE), images=("a.png", "b<.png"),
                 **({"options": (WORSE, "b", "c")} if form == "mcq" else {"answer": WORSE}))
        for form in ("mcq", "open")
    ]  # fmt: skip
    turns = (Turn(speaker="grower", text=WORSE), Turn(speaker="expert", text=f"x {WORSE} y"))
    talk = Dialogue(id="d:0", source="s", turns=turns, title=WORSE, group="g", licence="CC0")
    page = render(rows(asked, ("anna",), None, 0), {"d:0": talk}, tmp_path).decode()
    seen = Tags(page)
    tags = {tag for tag, _ in seen.tags}
    assert not tags & {"script", "iframe", "object", "form", "link", "base"}
    assert sum(tag == "img" for tag, _ in seen.tags) == 1
    for _, attributes in seen.tags:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/jpeg;base64,"))
    assert "{{7*7}}" in seen.words
    assert "default-src 'none'" in page
    assert seen.words.count("alert(2)") == 8
    marks = [tag for tag, _ in seen.tags if tag == "mark"]
    assert len(marks) == 3  # the legend, and what the answer rests on in both turns


def test_a_photo_that_cannot_be_shown_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"no photo")
    images = ("gone.png", "x.png", "../a.png")
    page = render(rows([question("q", images=images)], ("anna",), None, 0), {}, tmp_path).decode()
    assert "Photo 1: it cannot be opened (missing)" in page
    assert "Photo 2: it cannot be opened" in page
    assert "Photo 3: its path leaves the folder of the photos" in page
    nowhere = render(rows([question("q")], ("anna",), None, 0), {}, None).decode()
    assert "nobody said where it lies" in nowhere
    assert "The conversation is not at hand." in nowhere


@pytest.mark.parametrize(
    ("text", "evidence", "expected"),
    [
        ("abc", [], [("abc", False)]), ("", ["a"], []), ("abc", [""], [("abc", False)]),
        ("abc", ["abc"], [("abc", True)]), ("abc", ["x"], [("abc", False)]),
        ("abcd", ["ab", "bc"], [("abc", True), ("d", False)]),
        ("abab", ["ab"], [("ab", True), ("ab", False)]),
    ],
)  # fmt: skip
def test_what_is_marked(text: str, evidence: list[str], expected: list[tuple[str, bool]]) -> None:
    assert marked(text, evidence) == expected


# --- the workbook ------------------------------------------------------------------------------


def book(tmp_path: Path, found: list[Row], who: str = "anna") -> Path:
    write(tmp_path / f"{who}.xlsx", found, who)
    return tmp_path / f"{who}.xlsx"


def sent_of(found: list[Row]) -> dict[str, Sent]:
    return {row.sent.id: row.sent for row in found}


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula(text: str, tmp_path: Path) -> None:
    asked = question("q", question=text, background=text, qtype=text, options=(text, "b", "c"),
                     answer="A")  # fmt: skip
    path = book(tmp_path, rows([asked], ("anna",), None, 0))
    with zipfile.ZipFile(path) as packed:
        sheets = [packed.read(n) for n in packed.namelist() if "worksheets/sheet" in n]
    assert sheets
    assert not [each for each in sheets if b"<f>" in each or b"<f " in each]
    sheet = openpyxl.load_workbook(path)["questions"]
    cells = [cell for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} == {"s"}
    assert sheet.cell(2, 3).value.strip() == text.strip()
    assert sheet.cell(2, 3).quotePrefix


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\x00b\x1fc", "abc"), ("\ud800x", "x"), ("a\nb\tc", "a\nb\tc"), ("🌱", "🌱"),
     ("x" * 40_000, "x" * 32_000)],
)  # fmt: skip
def test_what_a_cell_holds(text: str, expected: str) -> None:
    assert safe(text) == expected


def test_two_workbooks_of_one_set_are_byte_equal(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    one, two = book(tmp_path, some_rows(4)), book(tmp_path / "b", some_rows(4))
    assert one.read_bytes() == two.read_bytes()


def test_every_box_begins_ticked_and_no_row_read(tmp_path: Path) -> None:
    found = some_rows(2)
    ticks = read(book(tmp_path, found), sent_of(found))
    assert [each.row for each in ticks] == ["1", "2"]
    assert all(each.clean and not each.read and each.annotator == "anna" for each in ticks)
    sheet = openpyxl.load_workbook(tmp_path / "anna.xlsx")["questions"]
    boxes = sheet.data_validations.dataValidation[0]
    assert boxes.formula1 == f'"{TICKED},{CLEARED}"'
    columns = {COLUMNS[cell.min_col - 1] for cell in boxes.sqref.ranges}
    assert columns == {*CONDITIONS, "read"}
    assert sheet.protection.sheet
    locked = {COLUMNS[cell.column - 1]: cell.protection.locked for cell in sheet[2]}
    assert [name for name, is_locked in locked.items() if not is_locked] == [
        *CONDITIONS, "read", "remark",
    ]  # fmt: skip


def edited(path: Path, change: Callable[[Any], None]) -> Path:
    made = openpyxl.load_workbook(path)
    change(made)
    made.save(path)
    return path


@pytest.mark.parametrize(
    ("cell", "expected"),
    [(TICKED, True), (CLEARED, False), (True, True), (False, False), (1, True), (0, False),
     ("x", True), ("X", True), ("yes", True), ("no", False), (None, False), ("☒", True),
     (" TRUE ", True), (1.0, True)],
)  # fmt: skip
def test_what_a_box_says(cell: object, expected: bool, tmp_path: Path) -> None:  # noqa: FBT001
    found = some_rows(1)

    def change(made: Any) -> None:
        made["questions"].cell(2, COLUMNS.index("quality") + 1).value = cell
        made["questions"].cell(2, COLUMNS.index("remark") + 1).value = "=1+1"

    (ticks,) = read(edited(book(tmp_path, found), change), sent_of(found))
    assert ticks.conditions == (True, True, expected, True)


WRONG: dict[str, tuple[Callable[[Any], None], type[Exception], str]] = {
    "a box": (lambda b: b["questions"].__setitem__("G2", "perhaps"), BadRecord,
              "row 2, faithfulness: expected ☑ or ☐, got 'perhaps'"),
    "a number": (lambda b: b["questions"].__setitem__("A3", "77"), BadRecord,
                 "row 3: expected a number that was sent to 'anna', got '77'"),
    "twice": (lambda b: b["questions"].__setitem__("A3", "1"), BadRecord, "got '1' again"),
    "another's": (lambda b: b["how to"].__setitem__("B1", "ben"), BadRecord, "sent to 'ben'"),
    "another export": (lambda b: b["how to"].__setitem__("B2", "0"), Refused, "of this export"),
    "no sheet": (lambda b: b.remove(b["questions"]), Usage, "expected a sheet"),
    "no column": (lambda b: b["questions"].delete_cols(8), Usage, "a column 'certainty'"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_workbook_that_cannot_be_taken(name: str, tmp_path: Path) -> None:
    change, fault, words = WRONG[name]
    found = some_rows(3)
    path = edited(book(tmp_path, found), change)
    with pytest.raises(fault, match=re.escape(words)):
        read(path, sent_of(found))


@pytest.mark.parametrize("raw", [b"", b"PK\x03\x04 no", b"<html>", b"\0" * 99])
def test_what_is_no_workbook(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(raw)
    with pytest.raises(Usage, match="expected an XLSX workbook"):
        read(tmp_path / "a.xlsx", sent_of(some_rows(1)))


def test_a_zip_of_something_else_and_a_bomb(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("x.txt", "x")
    with pytest.raises(Usage):
        read(path, sent_of(some_rows(1)))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for n in range(3):
            packed.writestr(f"{n}", b"\0" * (100 << 20))
    with pytest.raises(Refused, match="unpacked"):
        read(path, sent_of(some_rows(1)))


def test_a_workbook_of_entities_is_not_expanded(tmp_path: Path) -> None:
    found = some_rows(1)
    path = book(tmp_path, found)
    with zipfile.ZipFile(path) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]>'.encode()
    for name in [each for each in files if "sheet" in each or "shared" in each.lower()]:
        head, _, rest = files[name].partition(b"?>")
        body = rest if head.startswith(b"<?xml") else files[name]
        files[name] = bomb + body.replace(b">What", b">&l11;What")
    with zipfile.ZipFile(path, "w") as packed:
        for name, raw in files.items():
            packed.writestr(name, raw)
    with pytest.raises(Usage, match="expected an XLSX workbook"):
        read(path, sent_of(found))


# --- verdicts ----------------------------------------------------------------------------------


def ticks(row: str, who: str, said: str = "++++", *, seen: bool = True, remark: str = "") -> Ticks:
    return Ticks(
        row=row, annotator=who, conditions=tuple(each == "+" for each in said), read=seen,
        remark=remark,
    )  # fmt: skip


VERDICTS: list[tuple[str, list[Ticks], int, str]] = [
    ("both clean", [ticks("1", "a"), ticks("1", "b")], 2, ""),
    ("one cleared", [ticks("1", "a"), ticks("1", "b", "++-+")], 2, "quality"),
    ("the first condition counts", [ticks("1", "a", "+-++"), ticks("1", "b", "-++-")], 2,
     "faithfulness"),
    ("one did not read it", [ticks("1", "a"), ticks("1", "b", seen=False)], 2, "not read"),
    ("one is enough", [ticks("1", "a"), ticks("1", "b", seen=False)], 1, ""),
    ("what was not read does not count", [ticks("1", "a"), ticks("1", "b", "----", seen=False)], 1,
     ""),
    ("nobody", [], 1, "not read"),
    ("cleared by the only one", [ticks("1", "a", "+++-")], 2, "feasibility"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "said", "least", "why"), VERDICTS)
def test_what_is_kept(name: str, said: list[Ticks], least: int, why: str) -> None:
    (row,) = some_rows(1, ("a", "b"))
    by_id = {each.id: each for each in row.forms}
    kept, drops, made = settle([row.sent], said, by_id, least)
    assert {each.reason for each in drops} == ({why} if why else set())
    assert len(kept) == (0 if why else 2)
    assert len(kept) + len(drops) == 2
    assert (made.rows, made.kept) == (1, 0 if why else 1)


def test_the_funnel_and_the_figures() -> None:
    found = some_rows(5, ("a", "b"))
    sent = [row.sent for row in found]
    by_id = {each.id: each for row in found for each in row.forms}
    said = [
        *(ticks(n, "a") for n in "1234"), ticks("1", "b"), ticks("2", "b", "+-++", remark="lab"),
        ticks("3", "b", "+--+"), ticks("4", "b", "++-+"), ticks("5", "a"),
    ]  # fmt: skip
    kept, drops, made = settle(sent, said, by_id, 2)
    assert made.funnel == {
        "sent": 5, "faithfulness": 5, "certainty": 3, "quality": 2, "feasibility": 2,
        "not read": 1,
    }  # fmt: skip
    assert made.cleared == {"faithfulness": 0, "certainty": 2, "quality": 2, "feasibility": 0}
    assert made.drops == {"certainty": 2, "quality": 1, "not read": 1}
    assert made.annotators == {"a": (5, 5), "b": (4, 1)}
    assert made.types == {"species": (5, 1)}
    assert len(kept) == 2
    assert {each.detail for each in drops if each.reason == "certainty"} == {"b: lab", "b"}
    assert "1 of 5 rows kept (2 questions)" in line(made)


def alpha(pairs: list[tuple[int, int]]) -> float:
    """Krippendorff's alpha of two raters with no gaps, from the coincidence matrix by hand."""
    o = dict.fromkeys(itertools.product((0, 1), repeat=2), 0.0)
    for a, b in pairs:
        o[a, b] += 1
        o[b, a] += 1
    n = {c: o[c, 0] + o[c, 1] for c in (0, 1)}
    total = n[0] + n[1]
    return 1 - (total - 1) * (o[0, 1] + o[1, 0]) / (total**2 - n[0] ** 2 - n[1] ** 2)


def test_agreement_is_that_of_the_rows_both_read() -> None:
    found = some_rows(6, ("a", "b"))
    sent = [row.sent for row in found]
    by_id = {each.id: each for row in found for each in row.forms}
    judged = [(1, 1), (1, 0), (0, 0), (1, 1), (0, 0)]
    said = [ticks(str(n), who, "++++" if pair[at] else "+++-")
            for n, pair in enumerate(judged, start=1) for at, who in enumerate("ab")]  # fmt: skip
    said.append(ticks("6", "a", "+++-"))
    _, _, made = settle(sent, said, by_id, 2)
    assert made.agreement["feasibility"].value == pytest.approx(alpha(judged))
    assert made.agreement["feasibility"].n == 5
    assert made.agreement["quality"].value is None  # nobody cleared it
    assert "not defined" in line(made)
