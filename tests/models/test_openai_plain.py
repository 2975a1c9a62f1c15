"""Calls with nothing but Python's own library: the same words, patience with an end, no extra."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.builders import plain
from tests.models.faulty import Answer, Ask, says, serving

from fieldtruth.models.contract import Request, Words
from fieldtruth.models.openai import OPEN
from fieldtruth.models.openai.plain import Plain, open_plain
from fieldtruth.models.openai.waiting import MOST_BYTES, NEVER


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def backend(url: str, **changes: Any) -> Plain:
    options = {"model": "m", "base_url": url, "backoff": "0.001", "retries": "1", "timeout": "5"}
    return open_plain(options | {name: str(value) for name, value in changes.items()})


def requests(count: int, images: Sequence[Path] = ()) -> list[Request]:
    return [Request(id=f"q{n}", prompt=f"say {n}", images=tuple(images)) for n in range(count)]


def test_each_request_gets_its_own_words_in_order() -> None:
    with serving(lambda ask: says(f"reply to {ask.prompt}")) as server:
        model = backend(server.url, concurrency=3)
        words = list(model.reply(requests(9)))
        assert [each.text for each in words] == [f"reply to say {n}" for n in range(9)]
        assert server.most <= 3
        assert model.spent.calls == 9
        assert list(model.reply([])) == []


def test_the_call_is_that_of_the_other_client(tmp_path: Path) -> None:
    photos = [plain(tmp_path / "a.png", 1), plain(tmp_path / "b.png", 2)]
    with serving(lambda _: says("yes")) as server:
        options = {"model": "m", "base_url": server.url, "seed": "3"}
        for model in (open_plain(options), OPEN(options)):
            list(model.reply(requests(1, photos)))
        one, other = server.asks
    assert one.body == other.body
    assert [data for _, data in one.photos] == [path.read_bytes() for path in photos]
    assert open_plain(options).version == OPEN(options).version


@pytest.mark.parametrize(
    ("answer", "calls", "told"),
    [
        (Answer(b"", 500), 2, "HTTP 500"),
        (Answer(b"", 429), 2, "HTTP 429"),
        (Answer(b""), 2, "an empty body"),
        (Answer(b"<html><h1>Bad gateway</h1>"), 2, "an HTML page"),
        (Answer(says("x").body[:25]), 2, "expected a reply"),
        (Answer(says("x").body, cut=90), 2, "no connection"),
        (Answer(b"", 400), 1, "HTTP 400"),
        (Answer(b"", 302, {"Location": "http://127.0.0.1:1/"}), 1, "which is not followed"),
        (Answer(b" " * (MOST_BYTES + 1)), 1, "got more than 16 MiB"),
        (says("", "content_filter"), 1, "content filter"),
    ],
)
def test_what_is_no_reply_is_an_error_and_never_words(
    answer: Answer, calls: int, told: str
) -> None:
    with serving(lambda _: answer) as server:
        (words,) = backend(server.url).reply(requests(1))
        assert (words.text, words.finish) == ("", "error")
        assert told in str(words.error)
        assert len(server.asks) == calls


@pytest.mark.parametrize("answer", [Answer(hang=True), Answer(says("late").body, after=2)])
def test_a_call_that_got_no_answer_in_time_is_made_once(answer: Answer) -> None:
    with serving(lambda _: answer) as server:
        begun = time.monotonic()
        (words,) = backend(server.url, timeout=0.2, retries=3).reply(requests(1))
        assert time.monotonic() - begun < 1.5
        assert words.error == "no answer within 0.2 seconds"
        assert len(server.asks) == 1


def test_a_server_that_drips_is_given_its_time_and_no_more() -> None:
    """A timeout of each read alone would wait for ever."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    replies = backend(url, timeout=0.4, retries=0).replies(requests(1))

    def drip() -> None:
        other, _ = listener.accept()
        with other:
            other.recv(65536)
            other.sendall(b"HTTP/1.1 200 X\r\nContent-Length: 900\r\n\r\n")
            for _ in range(30):
                try:
                    other.sendall(b" ")
                except OSError:
                    return
                time.sleep(0.05)

    thread = threading.Thread(target=drip)
    thread.start()
    begun = time.monotonic()
    ((_, words),) = replies
    assert time.monotonic() - begun < 1.2
    assert words.error == "no answer within 0.4 seconds"
    thread.join()
    listener.close()


def test_a_dead_server_is_given_up_and_every_request_has_its_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    model = backend(url, retries=0, concurrency=1)
    words = list(model.reply(requests(30)))
    assert len(words) == 30
    assert all(each.error for each in words)
    assert model.spent.calls == NEVER
    assert words[-1].error is not None
    assert words[-1].error.startswith(f"no more calls after {NEVER} in a row without an")


def test_a_refused_key_stops_the_calls_and_a_recovered_server_is_asked_anew() -> None:
    with serving(lambda _: Answer(b'{"error": {"message": "bad key"}}', 401)) as server:
        model = backend(server.url, concurrency=1)
        words = list(model.reply(requests(5)))
        assert len(server.asks) == 1
        assert all("bad key" in str(each.error) for each in words)
        server.act = lambda _: says("now")
        assert [each.text for each in model.reply(requests(2))] == ["now", "now"]


def test_the_key_is_sent_and_shown_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-planted-123456"
    monkeypatch.setenv("OPENAI_API_KEY", key)

    def act(ask: Ask) -> Answer:
        told = f"you sent {ask.headers['authorization']}"
        return says(told) if ask.number else Answer(json.dumps({"error": told}).encode(), 400)

    with serving(act) as server:
        failed, words = backend(server.url, concurrency=1).reply(requests(2))
    assert server.asks[0].headers["authorization"] == f"Bearer {key}"
    assert failed.error == "HTTP 400: you sent Bearer [key]"
    assert words.text == "you sent Bearer [key]"


def test_money_is_told_before_and_bounded_while_it_is_spent() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    with serving(lambda _: says("x", usage=usage)) as server:
        prices = {"price_in": 1, "price_out": 1, "max_tokens": 10}
        model = backend(server.url, **prices, max_cost=0.00004, concurrency=1)
        words = list(model.reply(requests(6)))
    assert 0 < sum(each.error is None for each in words) < 6
    assert "stopped before --max-cost" in str(words[-1].error)
    assert model.spent.cost is not None
    assert model.spent.cost <= 0.00004
    told = backend("http://127.0.0.1:9").estimate(requests(3))
    assert told == "3 calls, about 6 tokens in (no prices were given: price_in, price_out)"
    assert "3 calls, about 6 tokens in: " in str(model.estimate(requests(3)))
    assert backend("http://127.0.0.1:9").estimate([]) is None


def test_whoever_stops_taking_stops_the_calls() -> None:
    with serving(lambda _: says("x")) as server:
        replies = backend(server.url, concurrency=1).replies(requests(400))
        assert isinstance(next(replies)[1], Words)
        replies.close()
        time.sleep(0.2)
        asked = len(server.asks)
        time.sleep(0.2)
        assert len(server.asks) == asked < 400


def test_it_needs_no_extra() -> None:
    with serving(lambda _: says("yes")) as server:
        code = (
            "import sys; sys.modules['aiohttp'] = sys.modules['pybase64'] = None\n"
            "from fieldtruth.models.contract import Request\n"
            "from fieldtruth.models.openai.plain import open_plain\n"
            f"model = open_plain({{'model': 'm', 'base_url': {server.url!r}}})\n"
            "from pathlib import Path\n"
            "from PIL import Image\n"
            "import tempfile\n"
            "photo = Path(tempfile.mkdtemp()) / 'a.png'\n"
            "Image.new('RGB', (4, 4)).save(photo)\n"
            "print(next(model.reply([Request(id='a', prompt='?', images=(photo,))])).text)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
    assert done.stdout == "yes\n"
