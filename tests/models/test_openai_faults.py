"""What a bad server does to a run: retries, errors that stay errors, a key kept secret."""

import json
import socket
import time
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from tests.builders import four
from tests.models.faulty import Answer, Ask, Server, says, serving

from fieldtruth import store
from fieldtruth.faults import Fault, Usage
from fieldtruth.models.contract import Request, Words, as_known
from fieldtruth.models.openai import OPEN
from fieldtruth.models.openai.answer import refused
from fieldtruth.models.openai.waiting import LONGEST, MOST_BYTES, pause
from fieldtruth.records import Prediction
from fieldtruth.run.asking import Asked, Job, predict

GOOD = says('[{"bbox_2d": [1, 2, 3, 4], "label": "rust"}]')
HTML = b"<!doctype html><html><h1>Bad <b>gateway</b></h1></html>"
JSON_ERROR = b'{"error": {"message": "try later", "type": "server_error", "code": 500}}'
MENDED = {
    "500": Answer(JSON_ERROR, 500),
    "502 page": Answer(HTML, 502, {"Content-Type": "text/html"}),
    "503": Answer(b"", 503),
    "408": Answer(b"", 408),
    "409": Answer(b"", 409),
    "425": Answer(b"", 425),
    "429": Answer(b'{"error": "slow down"}', 429, {"Retry-After": "0"}),
    "reset before a word": Answer(b"x", cut=0),
    "reset in the head": Answer(b"x", cut=20),
    "reset in the body": Answer(GOOD.body, cut=len(GOOD.body)),  # the head takes some of it
    "slow": Answer(GOOD.body, after=30),
    "empty body": Answer(b""),
    "blank body": Answer(b" \n"),
    "page": Answer(HTML, 200, {"Content-Type": "text/html"}),
    "half a JSON": Answer(GOOD.body[:50]),
    "not UTF-8": Answer(b'{"choices": [{"message": {"content": "\xff"}}]}'),
    "no choices": Answer(b'{"choices": []}'),
    "another shape": Answer(b"[]"),
    "an error in a 200": Answer(JSON_ERROR),
    "aborted": says("half", "abort"),
}
KEPT = {
    "400": (Answer(b'{"error": {"message": "too many pixels"}}', 400), "HTTP 400: too many pixels"),
    "413": (Answer(HTML, 413), "HTTP 413: Bad gateway"),
    "422": (Answer(b'{"detail": "no"}', 422), "HTTP 422: no"),
    "filter": (says("", "content_filter"), "the server's content filter held the reply back"),
    "redirect": (
        Answer(b"", 307, {"Location": "https://elsewhere.example/v1?key=3"}),
        "HTTP 307: redirects to 'https://elsewhere.example/v1', which is not followed with the "
        "key; give that address as base_url",
    ),
}  # fmt: skip
REQUEST = Request(id="leaf", prompt="p", images=())


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def ask(server: Server, count: int = 1, **options: str) -> tuple[list[Words], Any]:
    given = {"model": "m", "base_url": server.url, "backoff": "0.001", "timeout": "0.3", **options}
    model: Any = OPEN(given)
    requests = [Request(id=f"leaf {n}", prompt=f"{n}", images=()) for n in range(count)]
    words = dict(as_known(model, requests))
    return [words[place] for place in range(count)], model


def after(times: int, first: Answer, then: Answer = GOOD) -> Callable[[Ask], Answer]:
    return lambda ask: first if ask.number < times else then


@pytest.mark.parametrize("what", MENDED)
def test_what_another_try_may_mend_is_tried_again(what: str) -> None:
    with serving(after(2, MENDED[what])) as server:
        (words,), model = ask(server)
    assert words == Words(text='[{"bbox_2d": [1, 2, 3, 4], "label": "rust"}]')
    assert (len(server.asks), model.spent.calls, model.spent.retries) == (3, 3, 2)
    assert server.asks[0].body == server.asks[2].body


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("500", "HTTP 500: try later"), ("502 page", "HTTP 502: Bad gateway"), ("503", "HTTP 503"),
        ("429", "HTTP 429: slow down"), ("slow", "no answer within 0.3 seconds"),
        ("reset in the body", "connection lost: ClientPayloadError"),
        ("reset before a word", "connection lost: ServerDisconnectedError"),
        ("empty body", "expected a reply, got an empty body"),
        ("page", "expected JSON, got an HTML page: Bad gateway"),
        ("half a JSON", "expected a reply, got: Input data was truncated"),
        ("an error in a 200", "expected a reply, got an error: try later"),
        ("aborted", "the server ended the reply with 'abort'"),
    ],
)  # fmt: skip
def test_what_no_try_mends_is_an_error_with_its_reason(what: str, told: str) -> None:
    # Only what is slow on purpose may run out of time: a busy machine is slow by itself.
    timeout = "0.3" if what == "slow" else "20"
    with serving(lambda ask: MENDED[what]) as server:
        (words,), model = ask(server, retries="1", timeout=timeout)
    assert words == Words(text="", finish="error", error=told)
    assert (len(server.asks), model.spent.retries) == (2, 1)


@pytest.mark.parametrize("what", KEPT)
def test_what_no_try_can_mend_is_an_error_at_once(what: str) -> None:
    answer, told = KEPT[what]
    with serving(lambda ask: answer) as server:
        (words,), _ = ask(server)
    assert words == Words(text="", finish="error", error=told)
    assert len(server.asks) == 1


def test_an_answer_without_end_is_cut_off() -> None:
    with serving(lambda ask: Answer(b" " * (MOST_BYTES + 1))) as server:
        (words,), _ = ask(server, timeout="20")
    assert words.error == "expected a reply, got more than 16 MiB"
    assert len(server.asks) == 1


def test_a_reply_is_a_reply_whatever_its_content_type() -> None:
    with serving(lambda ask: Answer(GOOD.body, headers={"Content-Type": "text/html"})) as server:
        (words,), _ = ask(server)
    assert words.text.startswith("[{")


def test_errors_are_short_and_printable() -> None:
    long = json.dumps({"error": {"message": "a\x1b[31m\n" + "é" * 1000}}).encode()
    with serving(lambda ask: Answer(long, 400)) as server:
        (words,), _ = ask(server)
    assert words.error is not None
    assert words.error.isprintable()
    assert 200 <= len(words.error) <= 210


# --- waiting -----------------------------------------------------------------------------------


def test_a_wait_doubles_is_shortened_by_up_to_half_and_is_the_same_in_every_run() -> None:
    for number in range(6):
        waits = {pause(f"leaf {n}", number, 0.5, 0.0) for n in range(50)}
        assert len(waits) == 50
        assert 0.25 * 2**number <= min(waits) < max(waits) <= 0.5 * 2**number
    assert pause("leaf", 3, 0.5, 0.0) == pause("leaf", 3, 0.5, 0.0)
    assert pause("leaf", 0, 0.5, 7.0) == 7.0  # Retry-After is the longer
    assert pause("leaf", 0, 0.5, 86400.0) == pause("leaf", 30, 0.5, 0.0) == LONGEST == 60.0


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("3", 3.0), ("0.25", 0.25), ("", 0.0), ("soon", 0.0), ("-4", 0.0), ("1e999", float("inf")),
     ("Mon, 01 Jan 2001 00:00:00 GMT", 0.0)],
)  # fmt: skip
def test_retry_after_is_read(said: str, seconds: float) -> None:
    assert refused(429, {"Retry-After": said}, b"").after == seconds


def test_retry_after_may_be_a_date() -> None:
    date = formatdate(time.time() + 30, usegmt=True)
    assert 28 <= refused(503, {"Retry-After": date}, b"").after <= 30


def test_retry_after_is_honoured() -> None:
    with serving(after(1, Answer(b"", 429, {"Retry-After": "0.3"}))) as server:
        ask(server)
    assert server.asks[1].at - server.asks[0].at >= 0.3


# --- giving up ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(b'{"error": {"message": "no such key"}}', 401), "no such key; check OPENAI_API_KE"),
        (Answer(b"", 403), "HTTP 403; check OPENAI_API_KEY"),
        (Answer(b'{"detail": "no such model"}', 404), "no such model; check base_url"),
        (Answer(b'{"error": {"code": "insufficient_quota", "message": "pay"}}', 429), "used up"),
    ],
)
def test_a_run_in_which_every_call_would_fail_ends_at_the_first(answer: Answer, told: str) -> None:
    with serving(lambda ask: answer) as server, pytest.raises(Usage, match=told):
        ask(server, 100, concurrency="2")
    assert len(server.asks) <= 2


def test_once_a_call_was_answered_a_refusal_is_about_one_item() -> None:
    with serving(lambda ask: Answer(b"", 404) if ask.number else GOOD) as server:
        words, _ = ask(server, 3, concurrency="1")
    assert [each.error for each in words] == [None, "HTTP 404", "HTTP 404"]


def test_a_server_that_is_not_there_ends_the_run() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    model: Any = OPEN({"model": "m", "base_url": url, "backoff": "0.001", "retries": "1"})
    got: list[Any] = []
    with pytest.raises(Fault, match=f"8 calls in a row got no answer, the last: .*{url}"):
        got.extend(model.replies([REQUEST] * 100))
    assert 7 <= len(got) < 100
    assert {words.finish for _, words in got} == {"error"}


def test_a_server_that_answers_with_errors_does_not() -> None:
    with serving(lambda ask: MENDED["500"]) as server:
        words, _ = ask(server, 60, retries="0")
    assert {each.error for each in words} == {"HTTP 500: try later"}


# --- the whole run -----------------------------------------------------------------------------


def job(folder: Path, server: Server, **options: str) -> Job:
    bench = folder / "bench"
    return Job(
        benchmark=bench if bench.exists() else four(bench),
        model="openai",
        protocol="candidates",
        cache=folder / "cache",
        options={"model": "m", "base_url": server.url, "backoff": "0.001", "timeout": "0.3",
                 "retries": "1", **options},
    )  # fmt: skip


def kept(folder: Path) -> list[Path]:
    return [path for path in (folder / "cache").rglob("*") if path.is_file()]


@pytest.mark.parametrize("what", [*MENDED, *KEPT])
def test_the_cache_never_holds_a_failure(tmp_path: Path, what: str) -> None:
    answer = KEPT[what][0] if what in KEPT else MENDED[what]
    out = tmp_path / "replies.jsonl"
    with serving(lambda ask: answer) as server:
        done = predict(job(tmp_path, server), out)
    assert (done.failed, done.cached, kept(tmp_path)) == (4, 0, [])
    assert all(row.failed and not row.text for row in store.read(out, Prediction))


def test_a_blank_reply_is_a_reply_and_is_not_kept(tmp_path: Path) -> None:
    out = tmp_path / "replies.jsonl"
    with serving(lambda ask: says(" ")) as server:
        assert predict(job(tmp_path, server), out).failed == 0
        assert kept(tmp_path) == []
        again = predict(job(tmp_path, server), out)
    assert (again.asked, again.kept) == (0, 4)
    assert {row.text for row in store.read(out, Prediction)} == {" "}


def test_failed_calls_alone_are_asked_again_and_the_file_is_as_if_none_had_failed(
    tmp_path: Path,
) -> None:
    def answer(ask: Ask) -> Answer:
        return says(f"to {ask.prompt} of {len(ask.photos[0][1])} bytes")

    out, whole = tmp_path / "replies.jsonl", tmp_path / "whole.jsonl"
    with serving(lambda ask: MENDED["503"] if ask.number % 2 else answer(ask)) as server:
        first = predict(job(tmp_path, server, retries="0", revision="q4"), out)
        assert (first.asked, first.failed, first.why) == (4, 2, "HTTP 503")
    with serving(answer) as server:
        second = predict(job(tmp_path, server, concurrency="1", revision="q4"), out)
        assert second.failed == 0
        assert len(server.asks) == 1
        empty = job(tmp_path, server, revision="q4")
        predict(Job(**{f: getattr(empty, f) for f in empty.__struct_fields__ if f != "cache"}),
                whole)  # fmt: skip
    assert out.read_bytes() == whole.read_bytes()


def test_every_stage_and_run_that_shares_a_cache_asks_once(tmp_path: Path) -> None:
    with serving(lambda ask: says(ask.prompt)) as server:
        first = predict(job(tmp_path, server), tmp_path / "one.jsonl")
        count = len(server.asks)
        again = predict(job(tmp_path, server, concurrency="1"), tmp_path / "two.jsonl")
    assert (first.asked, first.cached) == (4, 0)
    assert count == len(server.asks) == 2  # p0 and p1 are the same request, so are h0 and h1
    assert again == Asked(
        items=4, asked=0, kept=0, failed=0, unsuited=0, cached=4, spent=again.spent
    )
    assert again.spent is not None
    assert again.spent.calls == 0
    one, two = (tmp_path / f"{name}.jsonl" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_a_limited_run_is_gone_on_with(tmp_path: Path) -> None:
    out = tmp_path / "replies.jsonl"
    with serving(lambda ask: says(ask.prompt)) as server:
        fields = job(tmp_path, server)
        limited = {f: getattr(fields, f) for f in fields.__struct_fields__} | {"cache": None}
        done = predict(Job(**limited | {"limit": 1}), out)
        assert (done.items, done.asked, done.limited) == (1, 1, 3)
        assert [row.item for row in store.read(out, Prediction)] == ["h0"]
        done = predict(Job(**limited), out)
        assert (done.items, done.asked, done.kept, len(server.asks)) == (4, 3, 1, 4)
        done = predict(Job(**limited | {"limit": 2}), out)  # loses nothing
    assert (done.items, done.asked, done.kept) == (2, 0, 2)
    assert [row.item for row in store.read(out, Prediction)] == ["h0", "h1", "p0", "p1"]
