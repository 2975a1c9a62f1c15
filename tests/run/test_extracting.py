"""A folder of talks to facts: the files and books, and what a bad server does to them."""

import json
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tests.models.faulty import Answer, Ask, says, serving
from typer.testing import CliRunner, Result

from fieldtruth import cli, store
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import Dialogue, Drop, Fact, Turn
from fieldtruth.run import extracting
from fieldtruth.run.extracting import Job, extract
from fieldtruth.run.workspace import Books

TALKS = {
    "a": ("What ails my phlox?", "This is powdery mildew. Thin the stems in early spring."),
    "b": ("When should I plant bulbs?", "In the fall, four inches deep."),
    "c": ("My roses are dying", "It is likely rust. Remove all of the sick leaves in the fall."),
}
CATEGORY = '{"category": "disease", "entity": null}'


def made_of(words: str) -> str:
    fact = {"knowledge": "disease/issue identification", "statement": "powdery mildew", "turn": 1}
    return json.dumps({"facts": [{**fact, "words": words, "certain": True}]})


def folder_of(folder: Path, talks: dict[str, tuple[str, str]] = TALKS) -> Path:
    """What `ingest` leaves of a source of talks, with a drop of its own."""
    folder.mkdir(parents=True)
    dialogues = [
        Dialogue(
            id=f"d:{name}", source="d", group=f"g:{name}", licence="CC0",
            turns=(Turn(speaker="grower", text=asked), Turn(speaker="expert", text=said)),
        )
        for name, (asked, said) in talks.items()
    ]  # fmt: skip
    store.write(folder / "dialogues.jsonl", dialogues)
    drop = Drop(id="d:x", sample="d:x", stage="ingest", reason="broken")
    store.write(folder / "drops.jsonl", [drop])
    books = Books(
        source="d", root="..", licence="CC0", paper="none",
        counts={"rows": len(talks) + 1, "dialogues": len(talks)}, drops={"ingest: broken": 1},
    )  # fmt: skip
    (folder / "manifest.json").write_bytes(msgspec.json.encode(books))
    return folder


def told(*words: object) -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


def drops(folder: Path) -> list[tuple[str, str, str]]:
    return [
        (each.stage, each.sample, each.reason) for each in store.read(folder / "drops.jsonl", Drop)
    ]


def test_the_default_writes_facts_drops_and_books(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "set")
    end = told("facts", folder)
    assert end.exit_code == 0, end.output
    facts = list(store.read(folder / "facts.jsonl", Fact))
    assert [(each.dialogue, each.statement) for each in facts] == [
        ("d:a", "powdery mildew"),
        ("d:a", "Thin the stems in early spring."),
        ("d:c", "Remove all of the sick leaves in the fall."),
    ]
    assert drops(folder) == [
        ("ingest", "d:x", "broken"),
        ("facts", "d:b", "growing advice"),
        ("facts", "d:c", "uncertain"),
    ]
    books = msgspec.json.decode((folder / "manifest.json").read_bytes(), type=Books)
    assert books.counts == {"rows": 4, "dialogues": 3, "statements": 4, "facts": 3}
    assert books.drops == {
        "facts: growing advice": 1, "facts: uncertain": 1, "ingest: broken": 1,
    }  # fmt: skip
    assert "3 facts" in end.output


def test_a_second_run_writes_the_same_bytes_and_says_all_as_json(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "set")
    first = json.loads(told("facts", folder, "--json").output)
    names = ("facts.jsonl", "drops.jsonl", "manifest.json")
    before = [(folder / name).read_bytes() for name in names]
    assert told("facts", folder).exit_code == 0
    assert [(folder / name).read_bytes() for name in names] == before
    assert first["extractor"] == "rules 1"
    assert first["knowledge"] == {"disease/issue identification": 1, "management instructions": 2}
    assert first["categories"] == {"disease": 3}


def test_what_is_no_folder_of_talks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="run `fieldtruth ingest`"):
        extract(tmp_path, Job())
    folder = folder_of(tmp_path / "set")
    lines = (folder / "dialogues.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "dialogues.jsonl").write_bytes(b"".join(lines[:2]))
    with pytest.raises(Refused, match="expected the 3 dialogues"):
        extract(folder, Job())
    (folder / "dialogues.jsonl").write_bytes(b"".join(lines) + b"{")
    with pytest.raises(BadRecord):
        extract(folder, Job())
    assert not (folder / "facts.jsonl").exists()  # whole or not at all
    (folder / "manifest.json").write_bytes(b"[]")
    with pytest.raises(BadRecord, match="expected what `ingest` writes"):
        extract(folder, Job())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--model", "nobody"], "facts has no model"),
        (["--model-args", "model=x"], "expected no --model-args"),
        (["--allow-errors", "2"], "expected a share from 0 to 1"),
    ],
)
def test_words_that_cannot_be_used(tmp_path: Path, words: list[str], why: str) -> None:
    end = told("facts", folder_of(tmp_path / "set"), *words)
    assert end.exit_code == 2
    assert why in end.output


def scripted(folder: Path, replies: dict[str, str]) -> list[str]:
    table = folder.parent / "table.jsonl"
    table.write_text("".join(json.dumps({"id": a, "text": b}) + "\n" for a, b in replies.items()))
    return ["--model", "scripted", "--model-args", f"table={table}"]


def test_a_model_is_asked_in_two_steps_and_its_words_are_looked_up(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "set")
    replies = {
        "d:a/category": CATEGORY, "d:a/knowledge": made_of("this is powdery mildew"),
        "d:b/category": '{"category": "growing advice", "entity": "bulbs"}',
        "d:c/category": CATEGORY, "d:c/knowledge": made_of("It is powdery mildew"),
    }  # fmt: skip
    end = told("facts", folder, *scripted(folder, replies))
    assert end.exit_code == 0, end.output
    (fact,) = store.read(folder / "facts.jsonl", Fact)
    assert (fact.words, fact.extractor[:10]) == ("This is powdery mildew", "scripted: ")
    assert fact.extractor.endswith(", prompts-1.1.1.1.1")
    assert drops(folder)[1:] == [
        ("facts", "d:b", "growing advice"),
        ("facts", "d:c", "unsupported"),
    ]


def test_failed_dialogues_are_errors_and_alone_asked_for_again(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "set")
    good = {"d:a/category": CATEGORY, "d:a/knowledge": made_of("This is powdery mildew.")}
    half = {"d:b/category": '{"category": "dis', "d:c/category": CATEGORY}
    end = told("facts", folder, *scripted(folder, good | half))
    assert end.exit_code == 3
    assert "2 of 3 dialogues could not be asked about" in end.output
    assert drops(folder)[1:] == [
        ("facts", "d:b", "unreadable reply"),
        ("facts", "d:c", "model failed"),
    ]
    assert len(list(store.read(folder / "facts.jsonl", Fact))) == 1
    allowed = told("facts", folder, *scripted(folder, good | half), "--allow-errors", "0.7")
    assert allowed.exit_code == 0


# ------------------------------------------------------------------------- a server's faults


def said(ask: Ask) -> str:
    """The right words for what is asked."""
    if '"category":' in json.dumps(ask.body["response_format"]):
        return CATEGORY
    words = "powdery mildew" if "phlox" in ask.prompt.rpartition("The talk:")[2] else "sick leaves"
    return made_of(words)


HTML = b"<!doctype html><h1>Bad gateway</h1>"
FAULTS = {
    "500": Answer(b'{"error": "down"}', 500),
    "a page": Answer(HTML, 200, {"Content-Type": "text/html"}),
    "half a JSON": Answer(says(CATEGORY).body[:40]),
    "empty body": Answer(b""),
    "reset": Answer(b"x", cut=0),
    "empty words": says(""),
    "a page as words": says(HTML.decode()),
    "half the words": says(CATEGORY[:20]),
    "another shape": says('{"answer": []}'),
    "no facts, in words": says("There are no facts."),
    "cut off": says(made_of("This"), "length"),
}
OPTIONS = "model=m,retries=1,backoff=0.001,concurrency=2,base_url="


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_an_error_never_no_facts_and_the_run_goes_on(name: str, tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    folder = folder_of(tmp_path / "set", {name: TALKS[name] for name in "ac"})
    down = [True]

    def act(ask: Ask) -> Answer:
        ill = "roses" in ask.prompt.rpartition("The talk:")[2]
        return FAULTS[name] if ill and down[0] else says(said(ask))

    with serving(act) as server:
        words = ["facts", folder, "--model", "openai", "--model-args", OPTIONS + server.url]
        end = told(*words)
        assert end.exit_code == 3, end.output
        assert "1 of 2 dialogues could not be asked about" in end.output
        lost = Counter(drop[1:] for drop in drops(folder) if drop[0] == "facts")
        assert len(lost) == 1
        assert next(iter(lost))[0] == "d:c"
        assert next(iter(lost))[1] in ("model failed", "unreadable reply")
        assert [each.dialogue for each in store.read(folder / "facts.jsonl", Fact)] == ["d:a"]

        down[0], before = False, len(server.asks)
        assert told(*words).exit_code == 0
        assert len(server.asks) == before + 2  # the lost one alone: its category, its knowledge
    facts = [each.dialogue for each in store.read(folder / "facts.jsonl", Fact)]
    assert facts == ["d:a", "d:c"]


def test_a_server_is_asked_for_the_schema(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    folder = folder_of(tmp_path / "set", {"a": TALKS["a"]})
    with serving(lambda ask: says(said(ask))) as server:
        job = Job(model="openai", options={"model": "m", "base_url": server.url})
        done = extract(folder, job)
        shapes = [ask.body["response_format"]["json_schema"] for ask in server.asks]
    assert [shape["name"] for shape in shapes] == ["category", "knowledge"]
    assert all(shape["strict"] for shape in shapes)
    assert done.spent is not None
    assert (done.spent.calls, done.failed, done.cached) == (2, 0, 0)
    assert extracting.line(done, folder).startswith("1 dialogues, 1 statements, 1 facts")
