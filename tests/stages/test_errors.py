"""Errors by kind: what two passes tell by themselves, and what somebody has to read."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.builders import frozen, question
from tests.models.faulty import Answer, Ask, says, serving
from typer.testing import CliRunner

from fieldtruth import store
from fieldtruth.cli import app
from fieldtruth.faults import Usage
from fieldtruth.models.contract import Request, Words, failed
from fieldtruth.records import Prediction, Space
from fieldtruth.stages.errors import KINDS, Sorted, Sorters, sort_errors
from fieldtruth.stages.score_questions import Settings, gather

FIRST = {"a": "A", "b": "B", "c": "C", "d": "no idea", "e": "D", "f": "B", "g": "B"}
SECOND = {
    "a": "Answer: B",  # right at first: no error, whatever comes later
    "b": "White film.\nAnswer: A",
    "c": "I see round spots with rings.\nAnswer: C",
    "d": "I cannot answer that.",
    "e": "A white film; that is lime.\nAnswer: D",
    "f": "",
}
HAND = {"c": "perception", "e": "knowledge"}


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    rows = [question(each, group=f"g{n // 2}") for n, each in enumerate(FIRST)]
    rows[2] |= {"images": ["a.png"], "evidence": ["a white film"]}
    return frozen(tmp_path / "bench", rows)


def said(words: dict[str, str], protocol: str, model: str = "m") -> list[Prediction]:
    return [
        Prediction(item=name, protocol=protocol, model=model, text=text)
        for name, text in words.items()
    ]


def passes(bench: Path, model: str = "m") -> tuple[Any, Any, Any]:
    opened = store.open_bench(bench)
    (first,) = gather(opened, said(FIRST, "choice"), Settings())
    lenient = Settings(allow_missing=1)
    (second,) = gather(opened, said(SECOND, "reasoned_choice", model), lenient)
    return opened, first, second


class Reader:
    space: Space = "norm1000"
    version = "1"

    def __init__(self, act: Callable[[Request], Words]) -> None:
        self.act = act
        self.asked: list[Request] = []

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        for each in requests:
            self.asked.append(each)
            yield self.act(each)


def test_what_the_two_passes_tell_by_themselves(bench: Path) -> None:
    found, rows = sort_errors(*passes(bench), Sorters())
    kinds = {row.id: row.kind for row in rows}
    assert kinds == {
        "b": "corrected", "c": "unsorted", "d": "refusal", "e": "unsorted", "f": "refusal",
        "g": "unasked",
    }  # fmt: skip
    assert (found["answered"], found["errors"]) == (7, 6)
    counts = {kind: each["count"] for kind, each in found["kinds"].items()}
    assert counts == {
        "perception": 0, "knowledge": 0, "corrected": 1, "refusal": 2, "unsorted": 2, "unasked": 1,
    }  # fmt: skip
    share = found["kinds"]["refusal"]["share"]
    assert (share["value"], share["n"]) == (pytest.approx(2 / 6), 6)
    assert share["low"] <= share["value"] <= share["high"]
    assert found["agreement"] == []
    row = rows[1]
    assert (row.right, row.first, row.question) == ("A. rust", "C. blight", "What is it?")


def test_people_sort_and_a_judge_is_held_against_them(bench: Path) -> None:
    judge = Reader(lambda r: Words(text='{"kind": "perception"}'))
    hands: Any = {"me": HAND, "you": {"c": "perception", "b": "knowledge"}}
    found, rows = sort_errors(*passes(bench), Sorters(judge=judge, photos=True, hands=hands))
    assert [each.id for each in judge.asked] == ["c", "e"]
    assert [len(each.images) for each in judge.asked] == [1, 0]
    case = json.loads(judge.asked[0].prompt.rpartition("\n")[2])
    assert case["expert"] == ["a white film"]
    assert case["reasons"] == SECOND["c"]
    assert {row.id: row.kind for row in rows if row.id in HAND} == dict.fromkeys(HAND, "perception")
    assert found["sorted_by"] == ["judge", "me", "you"]
    pairs = {(each["a"], each["b"]): (each["n"], each["agreement"]) for each in found["agreement"]}
    assert pairs == {("judge", "me"): (2, 0.5), ("judge", "you"): (1, 1.0), ("me", "you"): (1, 1.0)}
    _, mine = sort_errors(*passes(bench), Sorters(hands=hands))
    assert {row.id: row.kind for row in mine if row.id in HAND} == HAND


@pytest.mark.parametrize("words", [failed("HTTP 500"), Words(text="knowledge"), Words(text="")])
def test_a_judge_that_fails_leaves_the_error_unsorted(bench: Path, words: Words) -> None:
    told: list[str] = []
    judge = Reader(lambda _: words)
    found, _ = sort_errors(*passes(bench), Sorters(judge=judge), told.append)
    assert found["kinds"]["unsorted"]["count"] == 2
    assert "2 of 2 errors stay unsorted" in told[0]


def test_two_models_are_not_two_passes(bench: Path) -> None:
    with pytest.raises(Usage, match="two passes of one model, got m and n"):
        sort_errors(*passes(bench, "n"), Sorters())


def test_no_errors_are_none(tmp_path: Path) -> None:
    opened = store.open_bench(frozen(tmp_path / "bench", [question("a")]))
    (first,) = gather(opened, said({"a": "A"}, "choice"), Settings())
    (second,) = gather(opened, said({"a": "B"}, "reasoned_choice"), Settings())
    found, rows = sort_errors(opened, first, second, Sorters())
    assert (found["errors"], rows) == (0, [])
    nothing = {"value": None, "low": None, "high": None, "n": 0}
    assert all(found["kinds"][kind]["share"] == nothing for kind in KINDS)


# --- the command ---------------------------------------------------------------------------------


def run(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    one, two = tmp_path / "c.jsonl", tmp_path / "r.jsonl"
    store.write(one, said(FIRST, "choice"))
    store.write(two, said(SECOND, "reasoned_choice"))
    return one, two


def test_the_sheet_goes_out_and_comes_back(
    bench: Path, files: tuple[Path, Path], tmp_path: Path
) -> None:
    sheet = tmp_path / "errors.jsonl"
    code, out, err = run("errors", bench, *files, "--out", sheet)
    assert code == 0, err
    assert "6 errors in 7 answers" in out
    rows = list(store.read(sheet, Sorted))
    assert len(rows) == 6
    filled = [
        {"id": row.id, "kind": HAND.get(row.id, row.kind), "note": "as I see it"} for row in rows
    ]
    sheet.write_text("".join(json.dumps(each) + "\n" for each in filled))
    code, out, _ = run("errors", bench, *files, "--hand", sheet, "--json")
    counts = {kind: each["count"] for kind, each in json.loads(out)["kinds"].items()}
    assert (code, counts["perception"], counts["knowledge"], counts["unsorted"]) == (0, 1, 1, 0)


def test_a_judge_with_a_fault_then_without(
    bench: Path, files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def sorts(ask: Ask) -> Answer:
        return says('{"kind": "knowledge"}')

    with serving(lambda _: Answer(b"", 500)) as server:
        args = ("--judge", server.url, "--judge-args", "retries=0", "--json", "--photos")
        code, out, err = run("errors", bench, *files, *args)
        assert (code, json.loads(out)["kinds"]["unsorted"]["count"]) == (3, 2), err
        assert "the judge failed on 2 of 6 errors" in err
        assert run("errors", bench, *files, *args, "--allow-missing", "0.4")[0] == 0
        server.act = sorts
        code, out, err = run("errors", bench, *files, *args)
        assert (code, json.loads(out)["kinds"]["knowledge"]["count"]) == (0, 2), err
        assert sorted(len(each.photos) for each in server.asks[-2:]) == [0, 1]
        before = len(server.asks)
        run("errors", bench, *files, *args)
        assert len(server.asks) == before


@pytest.mark.parametrize(
    ("lines", "code", "told"),
    [
        ('{"id": "c", "kind": "sight"}', 1, ":1: expected"),
        ('{"id": "c", "kind": "perception", "kind": "knowledge"}', 1, ":1 (id 'c'): expected"),
        ('{"id": "c", "kind": "perception"}\n' * 2, 1, ":2: expected one line for 'c'"),
        ("[]", 1, ":1: expected"),
        ("{", 1, ":1: expected"),
    ],
)
def test_kinds_that_cannot_be_used(
    bench: Path, files: tuple[Path, Path], tmp_path: Path, lines: str, code: int, told: str
) -> None:
    hand = tmp_path / "hand.jsonl"
    hand.write_text(lines)
    got, _, err = run("errors", bench, *files, "--hand", hand)
    assert (got, told in err) == (code, True), err


def test_passes_that_cannot_be_used(bench: Path, files: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = files
    store.write(tmp_path / "few.jsonl", said({"a": "A"}, "choice"))
    code, _, err = run("errors", bench, tmp_path / "few.jsonl", two)
    assert (code, "6 missing" in err) == (4, True)
    store.write(tmp_path / "open.jsonl", said(FIRST, "open"))
    code, _, err = run("errors", bench, tmp_path / "open.jsonl", two)
    assert (code, "expected replies under choice" in err) == (2, True)
    store.write(tmp_path / "two.jsonl", said(FIRST, "choice") + said(FIRST, "choice", "n"))
    code, _, err = run("errors", bench, tmp_path / "two.jsonl", two)
    assert (code, "expected one model under one protocol" in err) == (2, True)
    assert run("errors", bench, one, two, "--out", bench / "errors.jsonl")[0] == 2
    assert run("errors", bench, one, two, "--judge-args", "model=m")[0] == 2
