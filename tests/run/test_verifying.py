"""From questions to workbooks and back, as files."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import openpyxl
import pytest
from tests.stages.talks import folder

from fieldtruth import store
from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Dialogue, Drop, Question
from fieldtruth.run import verifying
from fieldtruth.run.questioning import Writer, questions
from fieldtruth.run.verifying import Job, receive, send
from fieldtruth.stages.freeze import Settings as Freezing
from fieldtruth.stages.freeze import freeze
from fieldtruth.stages.questions import Settings
from fieldtruth.stages.verification import CONDITIONS
from fieldtruth.stages.verification.workbook import CLEARED, COLUMNS, READ, TICKED


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("talks")
    questions(folder(root), root / "asked", Settings(want=8), Writer())
    return root / "asked"


@pytest.fixture
def sent(asked: Path, tmp_path: Path) -> Path:
    job = Job(questions=asked, annotators=("anna", "ben"), dialogues=asked.parent / "talks")
    made = send(job, tmp_path / "sent")
    assert (made.rows, made.questions, made.annotators) == (8, 16, {"anna": 8, "ben": 8})
    return tmp_path / "sent"


def fill(path: Path, clear: Callable[[int, str], bool] = lambda _, __: False) -> Path:
    """Every row read; a box is cleared where `clear(row, condition)` says so."""
    book = openpyxl.load_workbook(path)
    sheet = book["questions"]
    for row in range(2, sheet.max_row + 1):
        sheet.cell(row, COLUMNS.index(READ) + 1).value = TICKED
        for name in CONDITIONS:
            if clear(row - 1, name):
                sheet.cell(row, COLUMNS.index(name) + 1).value = CLEARED
    book.save(path)
    return path


def test_out_and_back(sent: Path, tmp_path: Path) -> None:
    page = (sent / "questions.html").read_text()
    assert page.count("<figure") == 8
    assert "We see it." in page
    anna = fill(sent / "anna.xlsx", lambda row, name: row == 3 and name == "certainty")
    ben = fill(sent / "ben.xlsx", lambda row, name: row in (3, 5) and name == "feasibility")
    made = receive([anna, ben], sent, tmp_path / "back")
    assert (made.rows, made.kept, made.questions) == (8, 6, 12)
    assert made.drops == {"certainty": 1, "feasibility": 1}
    kept = list(store.read(tmp_path / "back/questions.jsonl", Question))
    drops = list(store.read(tmp_path / "back/drops.jsonl", Drop))
    handed = {q.id for q in store.read(sent / "sent-questions.jsonl", Question)}
    assert {q.id for q in kept} | {d.parent for d in drops} == handed
    assert len(kept) + len(drops) == 16
    report = json.loads((tmp_path / "back/verification.json").read_text())
    assert report["agreement"]["feasibility"]["n"] == 8


def test_what_comes_back_freezes(sent: Path, asked: Path, tmp_path: Path) -> None:
    books = [fill(sent / f"{who}.xlsx") for who in ("anna", "ben")]
    receive(books, sent, tmp_path / "back")
    settings = Freezing(name="talks", version="1")
    freeze(tmp_path / "back/questions.jsonl", asked.parent / "photos", tmp_path / "bench", settings)
    bench = store.open_bench(tmp_path / "bench")
    assert len(bench.questions) == 16
    job = Job(questions=tmp_path / "bench", annotators=("cora",))
    made = send(job, tmp_path / "again")
    assert made.rows == 8
    assert (tmp_path / "again/questions.html").read_text().count("<figure") == 8


def test_nobody_read_it(sent: Path, tmp_path: Path) -> None:
    made = receive([sent / "anna.xlsx", fill(sent / "ben.xlsx")], sent, tmp_path / "back")
    assert (made.kept, made.drops) == (0, {"not read": 8})
    made = receive([sent / "anna.xlsx", sent / "ben.xlsx"], sent, tmp_path / "one", least=1)
    assert made.kept == 8
    with pytest.raises(Usage, match="--least"):
        receive([sent / "ben.xlsx"], sent, tmp_path / "none", least=0)


def test_one_persons_workbook_twice(sent: Path, tmp_path: Path) -> None:
    twin = tmp_path / "copy.xlsx"
    twin.write_bytes((sent / "anna.xlsx").read_bytes())
    with pytest.raises(Usage, match="each person's workbook once"):
        receive([sent / "anna.xlsx", twin], sent, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_workbook_of_another_export(sent: Path, asked: Path, tmp_path: Path) -> None:
    send(Job(questions=asked, annotators=("anna",), seed=1), tmp_path / "other")
    with pytest.raises(Refused, match="of this export"):
        receive([tmp_path / "other/anna.xlsx"], sent, tmp_path / "back")


def test_what_is_not_there(asked: Path, tmp_path: Path) -> None:
    job = Job(questions=asked / "questions.jsonl", annotators=("anna",), images=tmp_path / "no")
    with pytest.raises(Usage, match="--images"):
        send(job, tmp_path / "sent")
    with pytest.raises(Usage, match="run `questions` first"):
        send(Job(questions=tmp_path, annotators=("anna",)), tmp_path / "sent")
    with pytest.raises(Usage, match=r"no sent\.jsonl"):
        receive([], tmp_path, tmp_path / "back")
    (tmp_path / "none.jsonl").touch()
    with pytest.raises(Usage, match="expected questions"):
        send(Job(questions=tmp_path / "none.jsonl", annotators=("anna",)), tmp_path / "sent")


def test_the_same_bytes_again(asked: Path, tmp_path: Path) -> None:
    job = Job(questions=asked, annotators=("anna",), dialogues=asked.parent / "talks")
    for name in "ab":
        send(job, tmp_path / name)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["anna.xlsx", "questions.html", "sent-questions.jsonl", "sent.jsonl"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert verifying.line(send(job, tmp_path / "c"), tmp_path / "c").startswith("8 rows for 16")


def test_a_talk_with_personal_data_is_shown_to_nobody(asked: Path, tmp_path: Path) -> None:
    talks = tmp_path / "talks"
    shutil.copytree(asked.parent / "talks", talks)
    rows = list(store.read(talks / "dialogues.jsonl", Dialogue))
    loud = [
        msgspec.structs.replace(
            each, turns=(msgspec.structs.replace(each.turns[0], text="Mail me: a.b@c.org"),)
        )
        for each in rows
    ]
    store.write(talks / "dialogues.jsonl", loud)
    with pytest.raises(Refused, match="still holds personal data"):
        send(Job(questions=asked, annotators=("anna",), dialogues=talks), tmp_path / "sent")
    assert not (tmp_path / "sent").exists()
