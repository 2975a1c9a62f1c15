"""Questions to experts without the answer, and their answers back, without a server."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.builders import plain, question

from fieldtruth.agreement import Answer
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import Question
from fieldtruth.stages.adjudicate import adjudicate
from fieldtruth.stages.review import answers, blind
from fieldtruth.store import read

OPTIONS = ["Rust", "Scab", "Late blight", "Mildew"]


def asked(name: str, **changes: Any) -> Question:
    """A question about `a.png` of the paper p1."""
    fields = {"images": ["a.png"], "options": OPTIONS, "group": "p1", "crop": "soybean"} | changes
    return msgspec.convert(question(name, **fields), Question)


def sent(folder: Path, some: list[Question], **settings: Any) -> Path:
    for at, name in enumerate(("a.png", "b.png")):
        plain(folder / "photos" / name, at)
    blind.send(some, folder / "photos", folder / "sent", blind.Settings(**settings))
    return folder / "sent"


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_no_byte_of_the_folder_depends_on_the_key(tmp_path: Path) -> None:
    """Whatever the answers are, and whatever else a record holds, the same folder goes out."""
    one = [asked(f"q{at}", answer="ABCD"[at]) for at in range(4)]
    other = [
        asked(
            f"q{at}", answer="DABC"[at], evidence=["KEY: the pustules"], facts=["KEY"],
            domain="KEY", challenge="KEY", crop="KEY", qtype="KEY", background="KEY",
            source="KEY", licence="KEY",
        )
        for at in range(4)
    ]  # fmt: skip
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    first, second = tree(sent(tmp_path / "x", one)), tree(sent(tmp_path / "y", other))
    assert first == second
    assert set(first) >= {"tasks.json", "config.xml", "project.json", "sent.jsonl"}
    whole = b"".join(first.values())
    for trace in (b"KEY", b'answer":', b"evidence", b"correct", b"generated"):
        assert trace not in whole, trace


def test_options_keep_their_order_and_are_not_told_apart(tmp_path: Path) -> None:
    folder = sent(tmp_path, [asked("q", answer="C")])
    (task,) = json.loads((folder / "tasks.json").read_text())
    assert task.keys() == {"data"}
    assert task["data"]["ask"] == "What is it?\nA. Rust\nB. Scab\nC. Late blight\nD. Mildew"
    config = (folder / "config.xml").read_text()
    assert [f'alias="{letter}"' in config for letter in "ABCDE"] == [True] * 4 + [False]
    assert 'show_collab_predictions": false' in (folder / "project.json").read_text()


def test_a_background_is_shown_when_that_is_asked_for(tmp_path: Path) -> None:
    some = [asked("q", background="Seen in June.")]
    assert b"June" not in tree(sent(tmp_path / "bare", some))["tasks.json"]
    assert b"June" in tree(sent(tmp_path / "told", some, context=True))["tasks.json"]


def test_what_is_drawn() -> None:
    some = [
        asked(f"p{paper}f{figure}q{at}", images=[f"p{paper}f{figure}.png"], group=f"p{paper}")
        for paper in range(4)
        for figure in range(2)
        for at in range(8)
    ]
    assert len(blind.drawn(some, blind.Settings())) == 64
    one = blind.drawn(some, blind.Settings(per_figure=1))
    assert len({each.images for each in one}) == len(one) == 8
    some_papers = blind.drawn(some, blind.Settings(want=32))
    assert len({each.group for each in some_papers}) == 2  # whole papers at a time
    assert blind.drawn(some[::-1], blind.Settings(want=32)) == some_papers
    assert blind.drawn(some, blind.Settings(want=32, seed=1)) != some_papers


@pytest.mark.parametrize(
    "wrong", [{"want": 0}, {"per_figure": 0}, {"annotators": 1}]
)  # fmt: skip
def test_settings_that_make_no_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(Usage, match="expected at least"):
        blind.Settings(**wrong)  # type: ignore[arg-type]


def test_open_questions_are_not_adjudicated(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="expected questions with options"):
        sent(tmp_path, [asked("q", form="open", options=None, answer="rust")])


# --- back ----------------------------------------------------------------------------------------


def ticked(name: str, *values: str) -> dict[str, Any]:
    return {
        "type": "choices", "from_name": name, "to_name": "ask", "value": {"choices": list(values)}
    }  # fmt: skip


def export(folder: Path, told: dict[str, list[tuple[int | None, list[dict[str, Any]]]]]) -> Path:
    """A server's export: question -> (person, result) in the order they were made."""
    tasks = {each["data"]["task"]: each for each in json.loads((folder / "tasks.json").read_text())}
    rows = []
    for line in (folder / "sent.jsonl").read_text().splitlines():
        row = json.loads(line)
        made = [
            {
                "id": at, "completed_by": who, "result": result, "updated_at": f"2026-0{at + 1}",
                "was_cancelled": result == [ticked("skip")],
            }
            for at, (who, result) in enumerate(told.get(row["question"], []))
        ]  # fmt: skip
        rows.append({"data": tasks[row["id"]]["data"], "annotations": made, "drafts": []})
    path = folder.parent / "export.json"
    path.write_text(json.dumps(rows))
    return path


def letter(said: str) -> list[dict[str, Any]]:
    return [ticked("answer", said)]


def test_there_and_back_to_gold(tmp_path: Path) -> None:
    names = ["both", "key", "three", "flag", "later", "skip", "draft", "beyond", "nobody", "one"]
    some = [
        asked(name, answer="A", crop="cotton" if name == "key" else "soybean") for name in names
    ]
    folder = sent(tmp_path, some)
    note = {"type": "textarea", "from_name": "note", "to_name": "ask", "value": {"text": ["dark"]}}
    path = export(folder, {
        "both": [(12, letter("B")), (7, letter("B"))],
        "key": [(7, letter("A")), (12, letter("C"))],
        "three": [(7, letter("B")), (12, letter("C"))],
        "flag": [(7, [*letter("A"), ticked("flag", "ambiguous"), note]), (12, letter("A"))],
        "later": [(7, letter("D")), (12, letter("A")), (7, letter("A"))],
        "skip": [(7, [ticked("skip")]), (12, letter("A"))],
        "draft": [(7, []), (12, letter("A"))],
        "beyond": [(7, letter("E")), (12, letter("A"))],
        "one": [(7, letter("A"))],
    })  # fmt: skip
    out = tmp_path / "out"
    made = answers.receive(path, folder, some, tmp_path / "photos", out)
    assert made.experts == {"A": "7", "B": "12"}
    assert (made.tasks, made.answered, made.flagged) == (10, 6, 2)
    assert made.drops == {"no_answer": 1, "not_annotated": 1, "one_expert": 1, "unusable": 1}
    assert made.flags == {"ambiguous": 1, "skipped": 1}
    rows = {each.id: each for each in read(out / "A.jsonl", Answer)}
    assert (rows["flag"].answer, rows["flag"].note) == (None, "ambiguous: dark")
    assert rows["later"].answer == "A"
    settled = adjudicate(out / "A.jsonl", out / "B.jsonl", out / "key.jsonl")
    gold = {each.id: each.answer for each in settled.gold}
    assert gold == {"both": "B", "key": "A", "later": "A"}
    assert {each.id: each.reason for each in settled.dropped} == {
        "flag": "flagged", "skip": "flagged", "three": "three_way",
    }  # fmt: skip
    assert sorted(settled.strata) == ["cotton", "soybean"]


def test_a_set_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    some = [asked("q")]
    folder = sent(tmp_path, some)
    path = export(folder, {"q": [(1, letter("A")), (2, letter("A"))]})
    photos, out = tmp_path / "photos", tmp_path / "out"
    for other in (asked("q", question="What else?"), asked("q", options=OPTIONS[::-1])):
        with pytest.raises(Refused, match="words, options and photos"):
            answers.receive(path, folder, [other], photos, out)
    with pytest.raises(Refused, match="got none of 1 questions: q"):
        answers.receive(path, folder, [asked("p")], photos, out)
    answers.receive(path, folder, [asked("q", answer="D")], photos, out)  # the key may change
    plain(photos / "a.png", 9)
    with pytest.raises(Refused, match="words, options and photos"):
        answers.receive(path, folder, some, photos, tmp_path / "again")


def test_it_has_to_be_clear_who_the_two_are(tmp_path: Path) -> None:
    some = [asked("q")]
    folder = sent(tmp_path, some)
    path = export(folder, {"q": [(who, letter("A")) for who in (1, 2, 3)]})
    photos = tmp_path / "photos"
    with pytest.raises(Usage, match="annotations of 1, 2, 3; say which two"):
        answers.receive(path, folder, some, photos, tmp_path / "out")
    for people in (["1"], ["1", "4"]):
        with pytest.raises(Usage, match="expected two experts"):
            answers.receive(path, folder, some, photos, tmp_path / "out", people)
    made = answers.receive(path, folder, some, photos, tmp_path / "out", ["3", "1"])
    assert made.experts == {"A": "1", "B": "3"}


def test_what_no_name_is_on_is_nobodys_answer(tmp_path: Path) -> None:
    """Two annotations without a person may be one person's."""
    some = [asked("q"), asked("r")]
    folder = sent(tmp_path, some)
    path = export(folder, {
        "q": [(1, letter("A")), (2, letter("A"))], "r": [(1, letter("A")), (None, letter("B"))],
    })  # fmt: skip
    photos = tmp_path / "photos"
    made = answers.receive(path, folder, some, photos, tmp_path / "out")
    assert (made.experts, made.answered, made.drops) == (
        {"A": "1", "B": "2"}, 1, {"nameless": 1},
    )  # fmt: skip
    path = export(folder, {"q": [(None, letter("A")), (1, letter("A"))]})
    with pytest.raises(Usage, match="expected two experts, got annotations of 1; say"):
        answers.receive(path, folder, some, photos, tmp_path / "again")


def test_what_is_no_export(tmp_path: Path) -> None:
    folder = sent(tmp_path, [asked("q")])
    (tmp_path / "e.json").write_text("{}")
    with pytest.raises(BadRecord, match="list of tasks"):
        answers.receive(tmp_path / "e.json", folder, [asked("q")], tmp_path / "photos", tmp_path)
    with pytest.raises(Usage, match="what `review blind` made"):
        answers.receive(tmp_path / "e.json", tmp_path, [asked("q")], tmp_path, tmp_path / "out")
