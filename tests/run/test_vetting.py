"""Figures and passages to people and back: two judge, a third decides where they differ."""

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import openpyxl
import pytest
from tests.books import fill, heads, numbers
from tests.builders import leaf

from fieldtruth import store
from fieldtruth.faults import Refused, Usage
from fieldtruth.papers.evidence import Evidence, Passage
from fieldtruth.papers.records import Figure, Paper
from fieldtruth.records import Drop
from fieldtruth.run import evidencing, picturing, vetting
from fieldtruth.run.questioning import Writer
from fieldtruth.run.verifying import Job, line, receive, send
from fieldtruth.run.workspace import Books
from fieldtruth.stages import verification
from fieldtruth.stages.verification import Verified

HOSTILE = "<script>alert(1)</script>"


def figure(root: Path, at: int) -> Figure:
    leaf(root / f"images/f{at}.png", [(10 + at, 10, 30, 30)], at)
    return Figure(
        id=f"paper:fig-{at}", paper="paper", number=str(at), label=f"Fig. {at}",
        caption=f"Fig. {at}. Soybean rust in plot {at}. {HOSTILE}", page=at, box=(0, 0, 9, 9),
        page_width=99, page_height=99, caption_page=at, caption_box=(0, 9, 9, 12), where="below",
        image=f"images/f{at}.png", image_sha256=store.sha256(root / f"images/f{at}.png"),
        width=10, height=10, dpi=50, group="paper",
    )  # fmt: skip


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """Six figures of one paper, as `figures` leaves them."""
    root = tmp_path / "figures"
    (root / "images").mkdir(parents=True)
    (tmp_path / "pdfs").mkdir()
    store.write(root / "figures.jsonl", [figure(root, at) for at in range(1, 7)])
    paper = Paper(
        id="paper", file="a.pdf", sha256="0" * 64, pages=9, words=9, language="en", title="Rust"
    )
    store.write(root / "papers.jsonl", [paper])
    books = Books(source="papers", root="../pdfs", licence="", paper="",
                  counts={"papers": 1, "figures": 6}, drops={})  # fmt: skip
    (root / "manifest.json").write_bytes(msgspec.json.encode(books))
    return root


@pytest.fixture
def told(cut: Path, tmp_path: Path) -> Path:
    """Two passages of the first figure, one of the second, none of the others."""
    root = tmp_path / "evidence"
    root.mkdir()
    said = {1: ("Rust is seen in Fig. 1.", "It was warm."), 2: ("Fig. 2 shows less.",)}
    some = [
        Evidence(
            id=f"paper:fig-{at}", figure_type="disease symptoms", type_by="rules",
            passages=tuple(Passage(text=each, page=3, by="rules") for each in said.get(at, ())),
        )
        for at in range(1, 7)
    ]  # fmt: skip
    store.write(root / "evidence.jsonl", some)
    for name in ("figures.jsonl", "papers.jsonl"):
        (root / name).write_bytes((cut / name).read_bytes())
    found = evidencing.Found(
        root="../figures", counts=evidencing.counts(some), types={"disease symptoms": 6}, drops={},
        by="rules", inputs={},
    )  # fmt: skip
    (root / "manifest.json").write_bytes(msgspec.json.encode(found))
    return root


def two(folder: Path, out: Path) -> Path:
    job = Job(questions=folder, annotators=("anna", "ben"), third="cora")
    made = send(job, out)
    assert f"{made.rows} rows for {made.rows} {made.what}s" in line(made, out)
    return out


def back(
    sent: Path, out: Path, said: dict[str, Sequence[tuple[int, str]]]
) -> tuple[Verified, dict[str, str]]:
    """What comes back, and what was dropped, by its id."""
    made = receive([fill(sent / f"{who}.xlsx", some) for who, some in said.items()], sent, out)
    drops = {each.sample: each.reason for each in store.read(out / "drops.jsonl", Drop)}
    return made, drops


def test_figures_out(cut: Path, tmp_path: Path) -> None:
    sent = two(cut, tmp_path / "sent")
    assert {each.name for each in sent.iterdir()} == {
        "anna.xlsx", "ben.xlsx", "figures.html", "sent.jsonl", "sent-questions.jsonl",
        "source.json",
    }  # fmt: skip
    page = (sent / "figures.html").read_text()
    assert page.count("<figure") == 6
    assert "<h1>6 figures</h1>" in page
    assert HOSTILE not in page
    assert "plot 6" in page
    assert openpyxl.load_workbook(sent / "anna.xlsx").sheetnames == ["figures", "how to"]
    assert heads(sent / "anna.xlsx") == [
        "no", "place", "caption", "relevance", "consistency", "quality", "read", "remark",
    ]  # fmt: skip


def test_a_third_decides_where_two_differ(cut: Path, tmp_path: Path) -> None:
    sent = two(cut, tmp_path / "sent")
    anna = [(2, "relevance"), (3, "quality"), (4, "consistency")]
    ben = [(2, "quality"), (5, "quality")]
    made, drops = back(sent, tmp_path / "first", {"anna": anna, "ben": ben})
    assert drops == {
        "paper:fig-2": "relevance", "paper:fig-3": "undecided", "paper:fig-4": "undecided",
        "paper:fig-5": "undecided",
    }  # fmt: skip
    assert (made.kept, made.undecided, made.decided) == (2, ("3", "4", "5"), 0)
    assert "3 rows wait for the third person" in verification.line(made)
    third = tmp_path / "first/cora.xlsx"
    assert numbers(third) == ["3", "4", "5"]  # and nothing of what the others said
    fill(third, [(1, "relevance")])
    books = [sent / "anna.xlsx", sent / "ben.xlsx", third]
    made = receive(books, sent, tmp_path / "back")
    left = [each.id for each in store.read(tmp_path / "back/figures.jsonl", Figure)]
    assert left == ["paper:fig-1", "paper:fig-4", "paper:fig-5", "paper:fig-6"]
    assert made.funnel == {
        "sent": 6, "relevance": 4, "consistency": 4, "quality": 4, "not read": 4, "undecided": 4,
    }  # fmt: skip
    assert (made.decided, made.undecided, made.drops) == (3, (), {"relevance": 2})
    assert made.agreement["clean"].n == 6
    # anna 1 0 0 0 1 1, ben 1 0 1 1 0 1: 6 of 12 pairs apart; 7 ones, 5 noughts
    assert made.agreement["clean"].value == pytest.approx(1 - 11 * 6 / (144 - 49 - 25))
    assert set(made.annotators) == {"anna", "ben"}
    assert not (tmp_path / "back/cora.xlsx").exists()


def test_what_comes_back_is_taken_by_the_next_step(cut: Path, tmp_path: Path) -> None:
    sent = two(cut, tmp_path / "sent")
    back(sent, tmp_path / "deep/back", {"anna": [(1, "quality")], "ben": [(1, "quality")]})
    root = tmp_path / "deep/back"
    figures = list(store.read_unique(root / "figures.jsonl", Figure))
    assert {each.name for each in (root / "images").iterdir()} == {
        f"f{at}.png" for at in range(2, 7)
    }
    assert all(store.sha256(root / each.image) == each.image_sha256 for each in figures)
    found = evidencing.evidence(root, tmp_path / "e", evidencing.Job())
    assert found.drops == {"changed": 5}  # its PDF is found to be not there, and nothing else


def test_passages(told: Path, tmp_path: Path) -> None:
    sent = two(told, tmp_path / "sent")
    page = (sent / "passages.html").read_text()
    assert "<h1>3 passages of 2 figures</h1>" in page
    assert page.count("<figure") == 2
    assert heads(sent / "ben.xlsx") == [
        "no", "found by", "passage", "place", "about", "faithful", "read", "remark",
    ]  # fmt: skip
    made, drops = back(
        sent, tmp_path / "back", {"anna": [(2, "about")], "ben": [(2, "about"), (2, "faithful")]}
    )
    assert drops == {"paper:fig-1:p02": "about"}
    assert (made.kept, made.what) == (2, "passage")
    kept = {each.id: each for each in store.read(tmp_path / "back/evidence.jsonl", Evidence)}
    assert [each.text for each in kept["paper:fig-1"].passages] == ["Rust is seen in Fig. 1."]
    assert [each.text for each in kept["paper:fig-2"].passages] == ["Fig. 2 shows less."]
    assert len(kept) == 6
    manifest = json.loads((tmp_path / "back/manifest.json").read_text())
    assert manifest["counts"]["passages"] == 2
    asked = picturing.questions(
        tmp_path / "back", tmp_path / "q", picturing.settings(None, 0), Writer()
    )
    assert asked.funnel["with evidence"] == 6


def test_without_a_third_one_is_enough_to_drop(cut: Path, tmp_path: Path) -> None:
    send(Job(questions=cut, annotators=("anna", "ben")), tmp_path / "sent")
    made, drops = back(tmp_path / "sent", tmp_path / "back", {"anna": [(1, "quality")], "ben": []})
    assert drops == {"paper:fig-1": "quality"}
    assert "undecided" not in made.funnel


def test_what_is_refused(cut: Path, told: Path, tmp_path: Path) -> None:
    for job, words in (
        (Job(questions=cut, annotators=("anna",), third="ben"), "--third: expected two people"),
        (Job(questions=cut, annotators=("anna", "ben"), third="Ben"), "each person once"),
        (Job(questions=cut, annotators=("anna",), dialogues=told), "leave out"),
        (Job(questions=cut, annotators=("anna",), images=tmp_path / "no"), "--images"),
    ):
        with pytest.raises(Usage, match=words):
            send(job, tmp_path / "sent")
    store.write(told / "evidence.jsonl", ())
    with pytest.raises(Usage, match="expected passages to look at"):
        send(Job(questions=told, annotators=("anna",)), tmp_path / "sent")
    (cut / "papers.jsonl").unlink()
    with pytest.raises(Usage, match="run `fieldtruth figures`"):
        send(Job(questions=cut, annotators=("anna",)), tmp_path / "sent")
    assert not (tmp_path / "sent").exists()


@pytest.mark.parametrize("name", ["figures.jsonl", "images/f1.png"])
def test_what_changed_since_it_was_handed_out(cut: Path, tmp_path: Path, name: str) -> None:
    sent = two(cut, tmp_path / "sent")
    with (cut / name).open("ab") as file:
        file.write(b"\n")
    with pytest.raises(Refused, match="expected the"):
        back(sent, tmp_path / "back", {"anna": [], "ben": []})
    assert not (tmp_path / "back").exists()


def test_which_folder_is_what(cut: Path, told: Path) -> None:
    assert vetting.kind_of(cut) == "screened"
    assert vetting.kind_of(told) == "passages"
    (told / "questions.jsonl").touch()
    assert vetting.kind_of(told) is None
