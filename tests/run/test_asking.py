"""Asking goes on where it was killed, asks nothing twice, and mixes nothing in."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import four, frozen, healthy_row, plain, row, table
from tests.run.stopping import Stopped, Stopping

from fieldtruth import store
from fieldtruth.faults import Busy, Usage
from fieldtruth.records import Prediction
from fieldtruth.run import asking
from fieldtruth.run.asking import Asked, Job, parse_options, predict

WORDS = {name: f"[] \u00e4\n{name}" for name in ("p0", "p1", "h0", "h1")}


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return four(tmp_path / "bench")


def job(bench: Path, replies: dict[str, str] | None = None, **changes: Any) -> Job:
    """A scripted model over a table of its own; `dies_after` and the like are its options."""
    options: dict[str, str] = {}
    options |= {key: changes.pop(key) for key in ("dies_after", "space") if key in changes}
    at = table(bench.parent / "table.jsonl", WORDS if replies is None else replies)
    fields: dict[str, Any] = {
        "model": "scripted",
        "protocol": "candidates",
        "benchmark": bench,
    } | changes
    return Job(options={"table": str(at), **options}, **fields)


def said(path: Path) -> dict[str, str]:
    return {each.item: each.text for each in store.read(path, Prediction)}


def test_every_item_is_asked_and_the_words_are_kept_in_the_benchmarks_order(bench: Path) -> None:
    out = bench.parent / "new" / "replies.jsonl"
    done = predict(job(bench, name="mine@run2", space="norm1"), out)
    assert done == Asked(items=4, asked=4, kept=0, failed=0, unsuited=0)
    rows = list(store.read(out, Prediction))
    assert [(each.item, each.text) for each in rows] == [
        (name, WORDS[name]) for name in ("h0", "h1", "p0", "p1")
    ]
    assert {(each.model, each.protocol, each.space, each.finish, each.error) for each in rows} == {
        ("mine@run2", "candidates", "norm1", "stop", None)
    }
    assert sorted(path.name for path in out.parent.iterdir()) == [
        "replies.jsonl", "replies.manifest.json",
    ]  # fmt: skip
    made = json.loads((out.parent / "replies.manifest.json").read_text())
    assert made["benchmark"] == store.read_manifest(bench)[0].digest
    assert made["model"].startswith("mine@run2: scripted scripted-")


def test_a_second_run_asks_nothing_and_changes_nothing(bench: Path) -> None:
    out = bench.parent / "replies.jsonl"
    predict(job(bench), out)
    before = out.read_bytes()
    assert predict(job(bench), out) == Asked(items=4, asked=0, kept=4, failed=0, unsuited=0)
    assert out.read_bytes() == before


def test_failed_calls_are_asked_again_and_only_they(bench: Path) -> None:
    out = bench.parent / "replies.jsonl"
    done = predict(job(bench, dies_after="1"), out)
    assert (done.asked, done.kept, done.failed) == (4, 0, 3)
    rows = list(store.read(out, Prediction))
    assert [each.failed for each in rows] == [False, True, True, True]
    assert {each.error for each in rows if each.failed} == {"connection refused"}
    done = predict(job(bench, dies_after="2"), out)
    assert (done.asked, done.kept, done.failed) == (3, 1, 1)
    assert predict(job(bench), out) == Asked(items=4, asked=1, kept=3, failed=0, unsuited=0)
    whole = bench.parent / "whole.jsonl"
    predict(job(bench), whole)
    assert out.read_bytes() == whole.read_bytes()


def test_items_a_protocol_cannot_ask_are_counted_and_not_asked(tmp_path: Path) -> None:
    some = [row("p0", candidates=None), row("p1"), healthy_row("h0", candidates=None, query=None)]
    bench = frozen(tmp_path / "bench", some)
    out = tmp_path / "replies.jsonl"
    done = predict(job(bench), out)
    assert (done.items, done.unsuited) == (1, 2)
    assert said(out) == {"p1": WORDS["p1"]}
    assert predict(job(bench, protocol="known_target"), tmp_path / "k.jsonl").unsuited == 1
    only = frozen(tmp_path / "none", some[:1])
    with pytest.raises(Usage, match="expected items for candidates, got none it can ask"):
        predict(job(only), tmp_path / "none.jsonl")


def test_what_a_person_reads() -> None:
    calm = Asked(items=4, asked=1, kept=3, failed=0, unsuited=0)
    assert asking.line(calm, Path("R")) == "4 replies, 1 asked now, 3 kept. In R"
    bad = Asked(items=4, asked=4, kept=0, failed=2, unsuited=5, note="a line was cut")
    assert asking.line(bad, Path("R")) == (
        "4 replies, 4 asked now, 0 kept, 2 FAILED (no answer; the same command asks them again), "
        "5 items not asked: this protocol does not suit them, a line was cut. In R"
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"replies": {**WORDS, "p0": "other words"}}, "model differ"),
        ({"name": "another"}, "model differ"),
        ({"space": "pixel"}, "model, space differ"),
        ({"protocol": "known_target"}, "protocol differ"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_replies_of_another_job_are_refused_and_stay(
    bench: Path, changes: dict[str, Any], told: str, finished: object
) -> None:
    out = bench.parent / "replies.jsonl"
    if finished:
        predict(job(bench), out)
        held = [out, bench.parent / "replies.manifest.json"]
    else:
        interrupted(job(bench), out, after=2)
        held, told = [bench.parent / "replies.jsonl.journal"], "begun with"
    before = [path.read_bytes() for path in held]
    with pytest.raises(Usage, match=told):
        predict(job(bench, **changes), out)
    assert [path.read_bytes() for path in held] == before
    assert out.exists() == bool(finished)
    assert predict(job(bench), out).kept == (4 if finished else 2)


def interrupted(of: Job, out: Path, after: int) -> None:
    with pytest.raises(Stopped):
        predict(of, out, Stopping(after))
    assert not out.exists()


def test_another_version_of_the_benchmark_is_another_job(bench: Path) -> None:
    out = bench.parent / "replies.jsonl"
    predict(job(bench), out)
    other = frozen(bench.parent / "two", [row("p0"), row("p1"), healthy_row("h0")])
    with pytest.raises(Usage, match=r"holds replies of another job \(benchmark differ\)"):
        predict(job(other), out)


@pytest.mark.parametrize("seal", [None, "", "{", "[]", '{"model": 5}', "{}"])
def test_replies_without_a_record_of_their_job_are_refused_and_stay(
    bench: Path, seal: str | None
) -> None:
    out = bench.parent / "replies.jsonl"
    predict(job(bench), out)
    before, at = out.read_bytes(), bench.parent / "replies.manifest.json"
    if seal is None:
        at.unlink()
    else:
        at.write_text(seal)
    with pytest.raises(Usage, match=r"another job \(benchmark, protocol, model, space differ\)"):
        predict(job(bench), out)
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    "changes", [{"item": "x9"}, {"model": "another"}, {"protocol": "known_target"}]
)
def test_a_row_that_somebody_put_in_is_not_thrown_away(
    bench: Path, changes: dict[str, str]
) -> None:
    out = bench.parent / "replies.jsonl"
    predict(job(bench), out)
    rows = list(store.read(out, Prediction))
    store.write(out, [*rows, replace(rows[0], **changes)])
    before = out.read_bytes()
    with pytest.raises(Usage, match="which is not of this job"):
        predict(job(bench), out)
    assert out.read_bytes() == before


def test_a_row_that_somebody_took_out_is_asked_again(bench: Path) -> None:
    out = bench.parent / "replies.jsonl"
    predict(job(bench), out)
    before = out.read_bytes()
    out.write_bytes(b"".join(before.splitlines(keepends=True)[1:]))
    done = predict(job(bench), out)
    assert (done.asked, done.kept) == (1, 3)
    assert out.read_bytes() == before


@pytest.mark.parametrize("after", [0, 1, 3])
def test_interrupted_after_any_reply(bench: Path, after: int) -> None:
    out, whole = bench.parent / "replies.jsonl", bench.parent / "whole.jsonl"
    interrupted(job(bench), out, after)
    done = predict(job(bench), out)
    assert done == Asked(items=4, asked=4 - after, kept=after, failed=0, unsuited=0)
    predict(job(bench), whole)
    assert out.read_bytes() == whole.read_bytes()
    assert not list(bench.parent.glob("*.journal"))


def test_a_reply_broken_off_by_a_crash_is_asked_again_and_said_so(bench: Path) -> None:
    out = bench.parent / "replies.jsonl"
    interrupted(job(bench), out, after=2)
    journal = bench.parent / "replies.jsonl.journal"
    journal.write_bytes(journal.read_bytes()[:-7])
    done = predict(job(bench), out)
    assert (done.asked, done.kept) == (3, 1)
    assert "broken off by a crash" in (done.note or "")
    assert said(out) == dict(sorted(WORDS.items()))


def test_a_model_or_protocol_that_is_not_there(bench: Path) -> None:
    out = bench.parent / "replies.jsonl"
    with pytest.raises(Usage, match=r"models has no 'gpt'; it has: .*scripted"):
        predict(job(bench, model="gpt"), out)
    with pytest.raises(Usage, match=r"protocols has no 'guess'; it has: .*known_target"):
        predict(job(bench, protocol="guess"), out)
    with pytest.raises(Usage, match="scripted has no option 'temperature'"):
        predict(replace(job(bench), options={"temperature": "0"}), out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", {}),
        (" , ,", {}),
        ("table=a b/c.jsonl", {"table": "a b/c.jsonl"}),
        (" a = 1 ,b=", {"a": "1", "b": ""}),
        ("url=http://h/v1?x=y", {"url": "http://h/v1?x=y"}),
    ],
)
def test_options_of_a_backend(text: str, options: dict[str, str]) -> None:
    assert parse_options(text) == options


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("table", "expected key=value,key=value, got 'table'"),
        ("a=1,b", "got 'b'"),
        ("=1", "got '=1'"),
        (" =1", "got '=1'"),
        ("a=1, a =2", "'a' is given twice"),
    ],
)
def test_options_that_cannot_be_read(text: str, told: str) -> None:
    with pytest.raises(Usage) as error:
        parse_options(text)
    assert str(error.value).startswith("--model-args: ")
    assert told in str(error.value)


def test_nothing_is_written_into_the_benchmark(bench: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for out, cache in (
        (bench / "replies.jsonl", None),
        (tmp_path / "elsewhere" / ".." / "bench" / "replies.jsonl", None),
        (tmp_path / "replies.jsonl", bench / "cache"),
    ):
        with pytest.raises(Usage, match="expected a place outside the benchmark"):
            predict(job(bench, cache=cache), out)
    assert store.verify(bench) == []


PLAIN = st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters=",="), min_size=1)


@given(st.dictionaries(PLAIN, PLAIN))
def test_options_go_round(options: dict[str, str]) -> None:
    assert parse_options(",".join(f"{key}={value}" for key, value in options.items())) == options


SLOW = 30  # items that a model takes some 20 ms each to look at


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of many items on one large photo."""
    root = tmp_path_factory.mktemp("slow")
    plain(root / "photos" / "large.jpg", 9, (1600, 1200))
    return frozen(root / "bench", [row(f"p{n:02}", image="large.jpg") for n in range(SLOW)])


def command(bench: Path, out: Path) -> list[str]:
    words = "predict BENCH --model leaf_box --protocol known_target --out OUT --quiet"
    places = {"BENCH": str(bench), "OUT": str(out)}
    return [sys.executable, "-m", "fieldtruth", *(places.get(w, w) for w in words.split())]


@contextmanager
def at_work(bench: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is asking, and has at least three replies."""
    journal = out.with_name(out.name + ".journal")
    deadline = time.monotonic() + 60
    with subprocess.Popen(command(bench, out), stderr=subprocess.PIPE, text=True) as process:
        try:
            while not (journal.exists() and journal.read_bytes().count(b"\n") >= 4):
                assert process.poll() is None, "it ended before it could be stopped"
                assert time.monotonic() < deadline
                time.sleep(0.002)
            yield process
        finally:
            process.kill()


def resumed(bench: Path, out: Path, tmp_path: Path) -> None:
    """A rerun asks only for the rest, and ends with what an undisturbed run ends with."""
    again = Job(benchmark=bench, model="leaf_box", protocol="known_target")
    done = predict(again, out)
    assert done.kept >= 3
    assert 0 < done.asked == SLOW - done.kept
    assert done.failed == 0
    whole = tmp_path / "whole.jsonl"
    assert predict(again, whole).asked == SLOW
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [
        ".json",
        ".json",
        ".jsonl",
        ".jsonl",
    ]


@pytest.mark.slow
def test_a_killed_run_goes_on_and_meanwhile_a_second_process_is_refused(
    slow: Path, tmp_path: Path
) -> None:
    out = tmp_path / "replies.jsonl"
    with at_work(slow, out) as process:
        with pytest.raises(Busy, match=f"got process {process.pid} on"):
            predict(Job(benchmark=slow, model="leaf_box", protocol="known_target"), out)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert not out.exists()
    assert (tmp_path / "replies.jsonl.lock").exists()  # what a kill leaves; it holds nobody up
    resumed(slow, out, tmp_path)


@pytest.mark.slow
def test_an_interrupted_run_saves_its_state_and_prints_the_line_that_resumes(
    slow: Path, tmp_path: Path
) -> None:
    out = tmp_path / "my replies.jsonl"
    with at_work(slow, out) as process:
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert told == (
        "fieldtruth: interrupted; what was done is kept. Go on with: fieldtruth predict "
        f"{slow} --model leaf_box --protocol known_target --out '{out}' --quiet\n"
    )
    resumed(slow, out, tmp_path)


@pytest.mark.slow
def test_of_two_processes_the_second_ends_with_2(slow: Path, tmp_path: Path) -> None:
    out = tmp_path / "replies.jsonl"
    with store.lock(out):
        second = subprocess.run(command(slow, out), capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert second.stderr.startswith(f"fieldtruth: {out}: expected no other process at work here")
    assert not out.exists()
