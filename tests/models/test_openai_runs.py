"""Whole runs in a process of their own: killed, interrupted, and with a key that must not leak."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.builders import frozen, row
from tests.models.faulty import Answer, Ask, Server, says, serving

from fieldtruth import store
from fieldtruth.records import Prediction

KEY = "sk-planted-0123456789abcdef"
COUNT = 30
pytestmark = pytest.mark.slow


def bench(folder: Path) -> Path:
    """Items that are each asked in words of their own."""
    rows = [
        row(f"p{n:02d}", candidates=[f"blight {n}", "leaf mold", "leaf rust", "canker"])
        for n in range(COUNT)
    ]
    return frozen(folder / "bench", [{**each, "label": each["candidates"][0]} for each in rows])


def command(folder: Path, server: Server, out: str, *more: str) -> list[str]:
    options = f"model=m,base_url={server.url},backoff=0.01,revision=q4"
    return [
        sys.executable, "-m", "fieldtruth", "predict", str(folder / "bench"), "--model", "openai",
        "--protocol", "candidates", "--model-args", options, "--out", str(folder / out), *more,
    ]  # fmt: skip


def start(arguments: list[str]) -> subprocess.Popen[str]:
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    pipe = subprocess.PIPE
    return subprocess.Popen(arguments, stdout=pipe, stderr=pipe, text=True, env=environment)


def run(arguments: list[str]) -> tuple[int, str, str]:
    process = start(arguments)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def journalled(path: Path) -> int:
    journal = path.with_name(path.name + ".journal")
    return max(0, len(journal.read_bytes().splitlines()) - 1) if journal.exists() else 0


def until(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.01)


def words(ask: Ask) -> Answer:
    return says("to " + ask.prompt)


def first(count: int, then: Callable[[Ask], Answer]) -> Callable[[Ask], Answer]:
    """Answers so many calls, in the order of arrival, and the others as `then` does."""
    return lambda ask: words(ask) if ask.number < count else then(ask)


@pytest.mark.parametrize("cache", [[], ["--cache", "CACHE"]])
def test_killed_at_any_point_it_goes_on_with_other_workers_and_asks_nothing_twice(
    tmp_path: Path, cache: list[str]
) -> None:
    bench(tmp_path)
    out = tmp_path / "replies.jsonl"
    more = [str(tmp_path / each) if each == "CACHE" else each for each in cache]
    answered: Counter[str] = Counter()
    for concurrency, count in ((5, 7), (3, 11)):
        with serving(first(count, lambda ask: Answer(hang=True))) as server:
            before = journalled(out)
            process = start(
                command(tmp_path, server, out.name, "--concurrency", str(concurrency), *more)
            )
            until(lambda server=server, want=before + count: journalled(out) == want)  # type: ignore[misc]
            process.send_signal(signal.SIGKILL)
            process.communicate()
            answered += Counter(ask.prompt for ask in server.asks[:count])
    with serving(words) as server:
        code, said, _ = run(command(tmp_path, server, out.name, "--concurrency", "2", *more))
        answered += Counter(ask.prompt for ask in server.asks)
    assert code == 0
    assert "12 asked now, 18 kept" in said
    assert len(answered) == COUNT
    assert set(answered.values()) == {1}
    with serving(words) as server:
        run(command(tmp_path, server, "whole.jsonl"))
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_ctrl_c_keeps_all_that_came_and_says_how_to_go_on(tmp_path: Path) -> None:
    bench(tmp_path)
    out = tmp_path / "replies.jsonl"
    with serving(first(9, lambda ask: Answer(hang=True))) as server:
        process = start(command(tmp_path, server, out.name, "--concurrency", "4"))
        until(lambda: len(server.asks) >= 9 + 4)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert time.monotonic() - began < 5
    assert process.returncode == 130
    assert "interrupted; what was done is kept. Go on with: fieldtruth predict" in err
    assert "Traceback" not in err
    assert journalled(out) == 9
    with serving(words) as server:
        assert run(command(tmp_path, server, out.name))[0] == 0
        assert len(server.asks) == COUNT - 9


def test_the_key_is_sent_and_is_nowhere_else(tmp_path: Path) -> None:
    bench(tmp_path)

    def act(ask: Ask) -> Answer:
        """A server that tells everybody the key it was given."""
        key = ask.headers["authorization"].removeprefix("Bearer ")
        answers = [
            says(f"my key is {key}", model=key, usage={"prompt_tokens": 1, "completion_tokens": 1}),
            Answer(json.dumps({"error": {"message": f"bad key {key}", "code": key}}).encode(), 400),
            Answer(f"<html>{key}</html>".encode(), 503),
            Answer(b"", 302, {"Location": f"http://{key}.example/{key}?key={key}"}),
            Answer(f'{{"choices": "{key}"}}'.encode()),
            says("x", finish=key),
            says("x" * 180 + key, finish="x" * 180 + key),  # cut off in the middle of the key
            Answer(b"{" * 3, 418, {"X-Key": key, "Retry-After": key}),
        ]
        return answers[ask.number % len(answers)]

    with serving(act) as server:
        more = ("--cache", str(tmp_path / "cache"), "--retries", "1", "--name", "mine")
        code, out, err = run(command(tmp_path, server, "replies.jsonl", *more))
        as_json = run(command(tmp_path, server, "replies.jsonl", "--json", *more))
        assert {ask.headers["authorization"] for ask in server.asks} == {f"Bearer {KEY}"}
    assert code == 3, err
    with serving(lambda ask: Answer(f'{{"error": "no {KEY}"}}'.encode(), 401)) as server:
        refused = run(command(tmp_path, server, "refused.jsonl"))
    assert refused[0] == 2
    assert "no [key]; check OPENAI_API_KEY" in refused[2]
    twice = run([*command(tmp_path, server, "x.jsonl"), "--name", "y", "--max-cost", "1"])
    assert "max_cost needs prices" in twice[2]
    told = [out, err, *as_json[1:], *refused[1:], *twice[1:]]
    files = [path for path in tmp_path.rglob("*") if path.is_file() and "photos" not in path.parts]
    assert {path.name for path in files} >= {"replies.jsonl", "refused.jsonl.journal"}
    assert any("cache" in path.parts for path in files)
    for text in (*told, *(path.read_text(errors="replace") for path in files)):
        assert KEY not in text
        assert KEY[:15] not in text
    rows = list(store.read(tmp_path / "replies.jsonl", Prediction))
    assert "my key is [key]" in {row.text for row in rows}
    assert any(row.error and "bad key [key]" in row.error for row in rows)


def test_the_estimate_is_told_before_the_first_call_and_the_tokens_at_the_end(
    tmp_path: Path,
) -> None:
    bench(tmp_path)
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    prices = "price_in=1,price_out=10"
    with serving(lambda ask: says("[]", usage=usage)) as server:
        arguments = command(tmp_path, server, "replies.jsonl", "--max-cost", "9", "--limit", "10")
        at = arguments.index("--model-args") + 1
        arguments[at] += f",{prices}"
        code, out, err = run(arguments)
    assert code == 0
    told = re.fullmatch(r"fieldtruth: 10 calls, about [\d,]+ tokens in: (.*) to (.*)\n", err)
    assert told
    assert 0.0001 < float(told[1]) < 0.01
    assert float(told[2]) - float(told[1]) == pytest.approx(10 * 1024 * 10 / 1e6, rel=0.001)
    assert "1,000 tokens in and 100 out, cost 0.002. In" in out
    assert "20 items left out by --limit: not for numbers to report" in out
