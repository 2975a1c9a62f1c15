"""`questions`, `review questions` and `review verified` from the command line."""

import json
from pathlib import Path

from tests.stages.talks import folder
from tests.test_cli import asked, out_of


def test_from_facts_to_what_is_kept(tmp_path: Path) -> None:
    talks = folder(tmp_path)
    out = tmp_path / "asked"
    made = out_of(0, "questions", talks, "--out", out, "--want", 6, "--options", "4,5", "--seed", 2)
    assert made["funnel"]["questions"] == 6
    assert made["options"] == [4, 5]
    assert (out / "questions-5.jsonl").is_file()
    told = out_of(0, "check", out / "questions.jsonl", "--images", tmp_path / "photos")
    assert (told["kind"], told["rows"], told["problems"]) == ("questions", 12, [])
    sent = tmp_path / "sent"
    people = ("--annotator", "anna", "--annotator", "ben", "--overlap", 1)
    handed = out_of(0, "review", "questions", out, "--dialogues", talks, *people, "--out", sent)
    assert handed["rows"] == 6
    assert sum(handed["annotators"].values()) == 6
    books = [sent / f"{name}.xlsx" for name in ("anna", "ben")]
    back = tmp_path / "back"
    kept = out_of(0, "review", "verified", *books, "--sent", sent, "--out", back)
    assert (kept["kept"], kept["drops"]) == (0, {"not read": 6})
    assert json.loads((back / "verification.json").read_text()) == kept


def test_what_people_read(tmp_path: Path) -> None:
    talks = folder(tmp_path)
    said = asked(0, "questions", talks, "--out", tmp_path / "asked").stdout
    assert "dialogues" in said.splitlines()[0]
    assert "questions, each as a choice and open" in said.splitlines()[-1]
    again = asked(2, "questions", talks, "--out", tmp_path / "asked")
    assert "expected no such folder or an empty one" in again.output


def test_words_that_cannot_be_used(tmp_path: Path) -> None:
    talks = folder(tmp_path)
    for words, told in (
        (("--options", "4,x"), "--options: expected numbers"),
        (("--options", "9"), "--options: expected one or more of 2 to 6"),
        (("--want", "0"), "--want: expected at least 1"),
        (("--cache", str(tmp_path)), "--model: expected a model"),
        (("--model", "gone"), "models has no 'gone'"),
    ):
        result = asked(2, "questions", talks, "--out", tmp_path / "asked", *words)
        assert told in result.output
    assert not (tmp_path / "asked").exists()
