"""A question benchmark through the commands: asked, read, scored, and judged by bad servers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.builders import frozen, healthy_row, plain, question, row, table
from tests.models.faulty import Answer, Ask, Server, says, serving
from typer.testing import CliRunner

from fieldtruth import store
from fieldtruth.cli import app
from fieldtruth.records import Prediction

HTML = b"<!doctype html><h1>Bad gateway</h1>"
TWO = ["Leaf tips are brown.", "New leaves curl."]
OPEN = {"form": "open", "options": None}


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """Two questions with options on photos, two open ones, one of two statements."""
    plain(tmp_path / "photos" / "c.png", 3)
    return frozen(tmp_path / "bench", [
        question("m1", images=["a.png", "c.png"], qtype="species", group="g1"),
        question("m2", images=["b.png"], qtype="management", answer="C", group="g2"),
        question("o1", **OPEN, answer="powdery mildew", qtype="disease"),
        question("o2", **OPEN, answer="early blight", qtype="disease"),
        question("s1", **OPEN, answer="brown and curled", facts=TWO, qtype="symptom"),
    ])  # fmt: skip


def run(*words: object) -> tuple[int, str, str]:
    said = CliRunner().invoke(app, [str(word) for word in words])
    return said.exit_code, said.stdout, said.stderr


def done(*words: object) -> Any:
    code, out, err = run(*words, "--json")
    assert code == 0, err
    return json.loads(out)


def answers(path: Path, protocol: str, **words: str) -> Path:
    rows = [
        Prediction(item=name, protocol=protocol, model="m", text=text)
        for name, text in words.items()
    ]
    store.write(path, rows)
    return path


# --- ask, read, score ---------------------------------------------------------------------------


def test_asked_read_and_scored(bench: Path, tmp_path: Path) -> None:
    lines = table(tmp_path / "t.jsonl", {"m1": "**A**", "m2": "I see spots.\nAnswer: B"})
    files = []
    for protocol in ("choice", "reasoned_choice"):
        out = tmp_path / f"{protocol}.jsonl"
        asked = done(
            "predict", bench, "--model", "scripted", "--model-args", f"table={lines}",
            "--protocol", protocol, "--out", out,
        )  # fmt: skip
        assert (asked["items"], asked["failed"], asked["unsuited"]) == (2, 0, 3)
        rows = list(store.read(out, Prediction))
        assert [(each.item, each.space) for each in rows] == [("m1", None), ("m2", None)]
        files.append(out)
    read = done("read", files[1], "--bench", bench)
    assert [each["letter"] for each in read] == ["A", "B"]
    found = done("score", bench, *files)
    assert list(found["models"]["scripted"]) == ["choice", "reasoned_choice"]
    whole = found["models"]["scripted"]["choice"]["all"]
    assert (whole["correct"], whole["incorrect"], whole["n"]) == (1, 1, 2)
    assert found["models"]["scripted"]["choice"]["max_photos"] == "all"
    assert whole["accuracy"]["value"] == 0.5
    assert found["settings"]["judge"] == {"url": "none"}
    assert store.verify(bench) == []


def test_a_question_is_asked_with_all_of_its_photos_in_order(bench: Path, tmp_path: Path) -> None:
    with serving(lambda _: says("A")) as server:
        args = f"model=m,base_url={server.url}"
        words = ("--protocol", "choice", "--model-args", args, "--out", tmp_path / "r.jsonl")
        done("predict", bench, "--model", "openai", *words)
    two = next(each for each in server.asks if len(each.photos) == 2)
    sent = [data for _, data in two.photos]
    assert sent == [(tmp_path / "photos" / name).read_bytes() for name in ("a.png", "c.png")]
    assert "A. rust\nB. scab" in two.prompt


def test_a_cap_on_photos_is_recorded(bench: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    with serving(lambda _: says("A")) as server:
        args = f"model=m,base_url={server.url}"
        words = ("--protocol", "choice", "--model-args", args, "--out", out, "--max-photos", 1)
        asked = done("predict", bench, "--model", "openai", *words)
        assert max(len(each.photos) for each in server.asks) == 1
        code, _, err = run("predict", bench, "--model", "openai", *words[:-2])
    assert asked["capped"] == 1
    assert (code, "max_photos differ" in err) == (2, True)
    assert json.loads((tmp_path / "r.manifest.json").read_text())["max_photos"] == "1"
    assert done("score", bench, out)["models"]["openai"]["choice"]["max_photos"] == 1
    items = frozen(tmp_path / "items", [row("p0")])
    lines = table(tmp_path / "t.jsonl", {})
    of_items = ("--protocol", "candidates", "--model-args", f"table={lines}", "--out", out)
    code, _, err = run("predict", items, "--model", "scripted", *of_items, "--max-photos", 1)
    assert (code, "expected them with a protocol of questions" in err) == (2, True)


def test_predict_goes_on_where_calls_failed(bench: Path, tmp_path: Path) -> None:
    lines, out = table(tmp_path / "t.jsonl", {"m1": "A", "m2": "C"}), tmp_path / "r.jsonl"
    words = ("predict", bench, "--model", "scripted", "--protocol", "choice", "--out", out)
    code, _, err = run(*words, "--model-args", f"table={lines},dies_after=1")
    assert code == 3
    assert "1 of 2 calls failed" in err
    assert done(*words, "--model-args", f"table={lines}")["kept"] == 1


def test_open_replies_are_read_as_text(bench: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "o.jsonl", "open", o1="rust", o2="", s1="...")
    read = done("read", path, "--bench", bench)
    assert [each["outcome"] for each in read] == ["text", "unreadable", "unreadable"]
    assert {each["letter"] for each in read} == {None}


def test_without_a_judge_equality_decides(bench: Path, tmp_path: Path) -> None:
    path = answers(
        tmp_path / "o.jsonl", "open", o1="It is Powdery Mildew.", o2="late blight", s1="tips brown"
    )
    before = sorted(tmp_path.iterdir())
    found = done("score", bench, path, "--judge", "none")["models"]["m"]["open"]
    assert sorted(tmp_path.iterdir()) == before
    counts = {"correct": 1, "partial": 0, "incorrect": 1, "not_attempted": 0, "unscored": 1, "n": 3}
    assert {name: found["all"][name] for name in counts} == counts
    assert found["all"]["accuracy"]["n"] == 2
    assert found["types"]["symptom"]["accuracy"]["value"] is None


def test_the_table_for_people(bench: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "o.jsonl", "choice", m1="A", m2="A")
    code, out, _ = run("score", bench, path)
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert lines[0][0] == "choice:"
    assert lines[1][:4] == ["model", "type", "accuracy", "harmonic"]
    assert [line[1] for line in lines[2:]] == ["all", "management", "species", "mean"]
    assert lines[2][-6:] == ["1", "0", "1", "0", "0", "2"]


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--judge", "none", "--judge-args", "model=m"), 2, "got it with --judge none"),
        (("--judge", "ftp://x"), 2, "base_url: expected http"),
        (("--judge", "http://127.0.0.1:9", "--judge-args", "schema=boxes"), 2, "schema is set"),
        (("--judge", "http://127.0.0.1:9", "--judge-args", "api_key=x"), 2, "OPENAI_API_KEY"),
        (("--hand", "nothing.jsonl"), 2, "expected a file, got nothing there"),
        (("--unit", "leaf"), 2, "unit: expected one of group, image"),
        (("--allow-missing", "2"), 2, "expected a share from 0 to 1"),
    ],
)
def test_what_cannot_be_meant(
    bench: Path, tmp_path: Path, words: tuple[str, ...], code: int, told: str
) -> None:
    path = answers(tmp_path / "o.jsonl", "choice", m1="A", m2="A")
    got, _, err = run("score", bench, path, *words)
    assert (got, told in err) == (code, True), err


def test_missing_replies_exit_4(bench: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "o.jsonl", "choice", m1="A")
    code, _, err = run("score", bench, path)
    assert code == 4
    assert "1 missing for 2 questions" in err
    assert run("score", bench, path, "--allow-missing", "0.5")[0] == 0


def test_items_and_questions_are_scored_apart(tmp_path: Path) -> None:
    items = frozen(tmp_path / "bench", [row("p0"), healthy_row("h0")])
    boxes = answers(tmp_path / "b.jsonl", "known_target", p0="[]", h0="[]")
    letters = answers(tmp_path / "l.jsonl", "choice", p0="A")
    code, _, err = run("score", items, boxes, letters)
    assert (code, "score them apart" in err) == (2, True)
    code, _, err = run("score", items, letters)
    assert (code, "expected a benchmark with questions" in err) == (2, True)
    code, _, err = run("score", items, boxes, "--judge", "http://127.0.0.1:9/v1")
    assert (code, "replies to items, which need none" in err) == (2, True)
    lines = table(tmp_path / "t.jsonl", {"p0": "A"})
    words = ("--model", "scripted", "--model-args", f"table={lines}", "--out", tmp_path / "r.jsonl")
    code, _, err = run("predict", items, *words, "--protocol", "choice")
    assert (code, "expected questions for choice, got none it can ask" in err) == (2, True)


def test_a_page_of_questions(bench: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "o.jsonl", "choice", m1="A", m2="A")
    assert run("score", bench, path, "--out", tmp_path / "result")[0] == 0
    kept = json.loads((tmp_path / "result" / "score.json").read_text())
    assert kept["models"]["m"]["choice"]["all"]["n"] == 2
    told = (tmp_path / "result" / "graded.jsonl").read_text()
    lines = [json.loads(each) for each in told.splitlines()]
    assert [(each["item"], each["letter"], each["grades"]) for each in lines] == [
        ("m1", "A", ["correct"]), ("m2", "A", ["incorrect"]),
    ]  # fmt: skip
    code, out, err = run("report", tmp_path / "result")
    assert code == 0, err
    assert out == f"report: {tmp_path / 'result' / 'report.html'}\n"
    page = (tmp_path / "result" / "report.html").read_text()
    assert page.count("<image ") == 3  # both photos of m1, and that of m2
    assert "management" in page
    (tmp_path / "result" / "graded.jsonl").write_text("")
    code, _, err = run("report", tmp_path / "result")
    assert (code, "expected the answers as graded" in err) == (4, True)


def test_the_published_arithmetic_on_letters(bench: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "o.jsonl", "choice", m1="A. rust", m2="(C)")
    ours = done("score", bench, path)["models"]["m"]["choice"]["all"]
    assert (ours["correct"], ours["incorrect"]) == (2, 0)
    theirs = done("score", bench, path, "--as-published")
    assert theirs["settings"]["as_published"] is True
    assert theirs["models"]["m"]["choice"]["all"]["correct"] == 1
    free = answers(tmp_path / "f.jsonl", "open", **WORDS)
    code, _, err = run("score", bench, free, "--as-published")
    assert (code, "graded by a judge there" in err) == (2, True)


# --- a judge ------------------------------------------------------------------------------------


def grades(ask: Ask) -> Answer:
    """A judge that finds short answers partly right, and says the first statement only."""
    shape = ask.body["response_format"]["json_schema"]
    assert shape["strict"] is True
    if "statements" in shape["schema"]["properties"]:
        told: Any = {"statements": [{"text": "t", "fact": 1, "grade": "correct"}]}
    else:
        told = {"grade": "partial"}
    return says(json.dumps(told))


WORDS = {"o1": "powdery mildew", "o2": "some blight of the leaf", "s1": "The tips look scorched."}


def judged(bench: Path, path: Path, server: Server, *more: str, code: int = 0) -> Any:
    args = "model=grader,retries=1,backoff=0.001,timeout=0.4"
    words = ("--judge", server.url, "--judge-args", args, *more, "--json")
    ended, out, err = run("score", bench, path, *words)
    assert ended == code, err
    return json.loads(out)["models"]["m"]["open"]


def test_a_judge_grades_what_equality_cannot(bench: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "o.jsonl", "open", **WORDS)
    with serving(grades) as server:
        found = judged(bench, path, server)
        assert len(server.asks) == 2  # the equal answer needs no judge
        again = judged(bench, path, server)
        assert len(server.asks) == 2  # grades are kept
    assert again == found
    whole = found["all"]
    counts = {
        "correct": 1.5, "partial": 1, "incorrect": 0, "not_attempted": 0.5, "unscored": 0, "n": 3,
    }  # fmt: skip
    assert {name: whole[name] for name in counts} == counts
    assert whole["accuracy"]["value"] == pytest.approx(1.5 / 3)
    assert whole["harmonic"]["value"] == pytest.approx(3 / 5)  # 2c / (2Q - p)
    for ask in server.asks:
        assert (ask.body["model"], ask.body["temperature"], ask.photos) == ("grader", 0, [])
    cases = [json.loads(ask.prompt.rpartition("\n")[2]) for ask in server.asks]
    assert {case["reply"]: case["truth"] for case in cases} == {
        WORDS["o2"]: "early blight", WORDS["s1"]: TWO,
    }  # fmt: skip
    assert (tmp_path / "o.judged").is_dir()
    assert store.verify(bench) == []


FAULTS: dict[str, Callable[[Ask], Answer]] = {
    "500": lambda _: Answer(b"", 500),
    "page": lambda _: Answer(HTML, 200),
    "half a JSON": lambda _: says('{"grade": "cor'),
    "half a body": lambda _: Answer(says("x").body[:30]),
    "empty": lambda _: Answer(b""),
    "blank words": lambda _: says(""),
    "wrong schema": lambda _: says('{"score": 0}'),
    "bare letter": lambda _: says("B"),
    "cut": lambda _: says('{"grade": "correct"', "length"),
    "filter": lambda _: says("", "content_filter"),
    "too late": lambda _: Answer(says("{}").body, after=3),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_judge_that_fails_scores_nothing_and_can_be_asked_again(
    bench: Path, tmp_path: Path, name: str
) -> None:
    path = answers(tmp_path / "o.jsonl", "open", **WORDS)
    with serving(FAULTS[name]) as server:
        found = judged(bench, path, server, code=3)["all"]
        counts = {"correct": 1, "partial": 0, "incorrect": 0, "not_attempted": 0, "unscored": 2}
        assert {each: found[each] for each in counts} == counts
        assert (found["n"], found["accuracy"]["n"], found["accuracy"]["value"]) == (3, 1, 1.0)
        server.act = grades  # the run goes on: only what failed is asked
        before = len(server.asks)
        mended = judged(bench, path, server)["all"]
        assert len(server.asks) == before + 2
    assert (mended["unscored"], mended["correct"], mended["partial"]) == (0, 1.5, 1)


def test_a_judge_that_fails_is_no_success(bench: Path, tmp_path: Path) -> None:
    """Design, section 5: 3 is finished, but more failed than allowed; what was graded is kept."""

    def short_ones(ask: Ask) -> Answer:
        schema = ask.body["response_format"]["json_schema"]["schema"]
        return Answer(b"", 500) if "statements" in schema["properties"] else grades(ask)

    path, out = answers(tmp_path / "o.jsonl", "open", **WORDS), tmp_path / "result"
    with serving(FAULTS["500"]) as server:
        args = ("--judge", server.url, "--judge-args", "retries=0", "--out", str(out))
        code, _, err = run("score", bench, path, *args)
        assert (code, "m under open: the judge failed on 2 of 3 answers" in err) == (3, True), err
        assert judged(bench, path, server, "--as-published", code=3)["unjudged"] == 2
        assert json.loads((out / "score.json").read_text())["models"]["m"]["open"]["unjudged"] == 2
        assert run("report", out)[0] == 0
        server.act = short_ones
        assert judged(bench, path, server, "--allow-missing", "0.3", code=3)["unjudged"] == 1
        assert judged(bench, path, server, "--allow-missing", "0.4")["unjudged"] == 1
        server.act = grades
        assert "unjudged" not in judged(bench, path, server)


def test_the_published_arithmetic_on_open_answers(bench: Path, tmp_path: Path) -> None:
    def thrice(ask: Ask) -> Answer:
        if "statements" not in ask.body["response_format"]["json_schema"]["schema"]["properties"]:
            return says('{"grade": "not_attempted"}')
        told = [{"text": f"t{n}", "fact": 1, "grade": "correct"} for n in range(3)]
        return says(json.dumps({"statements": told}))

    path = answers(tmp_path / "o.jsonl", "open", **WORDS)
    with serving(thrice) as server:
        ours = judged(bench, path, server)["all"]
        theirs = judged(bench, path, server, "--as-published")["all"]
    assert (ours["correct"], ours["not_attempted"]) == (1.5, 1.5)
    assert (theirs["correct"], theirs["incorrect"], theirs["n"]) == (2.5, 1, 3)
    assert theirs["accuracy"]["value"] == pytest.approx(2.5 / 3)


def test_grades_by_hand(bench: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "o.jsonl", "open", **WORDS)
    hand = tmp_path / "hand.jsonl"
    lines: list[dict[str, Any]] = [
        {"item": "o1", "grade": "correct"}, {"item": "o2", "grade": "incorrect"},
        {"item": "s1", "grades": ["correct", "not_attempted"]},
    ]  # fmt: skip
    hand.write_text("".join(json.dumps(each) + "\n" for each in lines))
    args = "model=grader,retries=0,timeout=5"
    with serving(grades) as server:
        words = ("score", bench, path, "--judge", server.url, "--judge-args", args, "--hand", hand)
        (found,) = done(*words)["agreement"]
    assert (found["model"], found["by_hand"], found["unscored"]) == ("m", 3, 0)
    assert found["agreement"] == 0.75
    # by hand: n = 4, observed 3/4; chance (2*2 + 1*0 + 0*1 + 1*1) / 16 = 5/16
    assert found["kappa"]["value"] == pytest.approx((3 / 4 - 5 / 16) / (1 - 5 / 16))
    assert found["kappa"]["n"] == 4
    assert found["table"]["partial"] == {
        "correct": 0, "partial": 0, "incorrect": 1, "not_attempted": 0,
    }  # fmt: skip


def test_missing_replies_are_refused_before_the_judge_is_paid(bench: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "o.jsonl", "open", o1="rust")
    with serving(grades) as server:
        assert run("score", bench, path, "--judge", server.url)[0] == 4
        assert server.asks == []


def test_grades_are_kept_outside_the_benchmark(bench: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "o.jsonl", "open", **WORDS)
    with serving(grades) as server:
        inside = ("--judge-cache", str(bench / "kept"))
        assert run("score", bench, path, "--judge", server.url, *inside)[0] == 2
        judged(bench, path, server, "--judge-cache", str(tmp_path / "kept"))
    assert (tmp_path / "kept").is_dir()
    assert not (tmp_path / "o.judged").exists()


def test_what_a_judge_costs_is_told_before_it_is_asked(bench: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "o.jsonl", "open", **WORDS)
    with serving(grades) as server:
        args = "price_in=1,price_out=1,max_cost=0.000001"
        code, _, err = run("score", bench, path, "--judge", server.url, "--judge-args", args)
        assert (code, server.asks) == (2, []), err
        args = "price_in=1,price_out=1"
        code, _, err = run("score", bench, path, "--judge", server.url, "--judge-args", args)
    assert code == 0
    assert "fieldtruth: judge: " in err
