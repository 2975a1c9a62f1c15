"""The backend `openai` against a server that does as it is told: what goes out, what comes back."""

import base64
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.models.faulty import Answer, Ask, Server, says, serving

from fieldtruth.faults import Fault, Usage
from fieldtruth.models.contract import Request, Words, as_known
from fieldtruth.models.openai import OPEN, body
from fieldtruth.models.openai.answer import Failed, read_reply
from fieldtruth.models.openai.photos import Photo, anew, glance
from fieldtruth.models.openai.settings import KNOWN, Secret, Settings, read_settings


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def asked(server: Server, requests: Sequence[Request], **options: str) -> Any:
    """The backend, opened on this server, with the words it gave by id as `.words`."""
    model: Any = OPEN({"model": "m", "base_url": server.url, "backoff": "0.01", **options})
    model.words = {requests[place].id: words for place, words in as_known(model, requests)}
    return model


def some(count: int, *images: Path) -> list[Request]:
    return [Request(id=f"i{n}", prompt=f"prompt {n}", images=images) for n in range(count)]


def settings(**options: str) -> Settings:
    return read_settings({"model": "m", "base_url": "http://h/v1", **options}, {})


# --- what goes out -----------------------------------------------------------------------------


def test_the_call_is_a_chat_completion_with_the_photos_own_bytes_before_the_prompt(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "a.png", tmp_path / "b.jpg"
    Image.new("RGB", (40, 30), "green").save(first)
    Image.effect_noise((700, 700), 90).save(second, quality=99)
    assert second.stat().st_size > body.CHUNK  # so it goes in several pieces
    prompt = 'Ünïcode, "quotes", \\ and\n@@'
    with serving(lambda ask: says("[]")) as server:
        model = asked(server, [Request(id="i", prompt=prompt, images=(first, second))], seed="7")
    (ask,) = server.asks
    assert model.words == {"i": Words(text="[]")}
    assert ask.path == "/v1/chat/completions"
    assert [part["type"] for part in ask.content] == ["image_url", "image_url", "text"]
    assert ask.photos == [("image/png", first.read_bytes()), ("image/jpeg", second.read_bytes())]
    assert ask.prompt == prompt
    sent = {key: value for key, value in ask.body.items() if key != "messages"}
    assert sent == {"model": "m", "temperature": 0, "max_tokens": 1024, "seed": 7}
    assert ask.headers["content-type"] == "application/json"
    assert "authorization" not in ask.headers


@given(st.binary(min_size=1, max_size=64), st.sampled_from([0, 1, 2, 3, body.CHUNK - 1]))
def test_pieces_are_the_base64_of_the_whole(tail: bytes, zeros: int) -> None:
    raw = bytes(zeros) + tail
    made = body.parts(settings(), "p", [Photo("image/png", len(raw), Path("x"), raw)])

    async def joined() -> bytes:
        return b"".join([piece async for piece in body.pieces(made)])

    import asyncio

    whole = asyncio.run(joined())
    assert len(whole) == body.length(made)
    url = json.loads(whole)["messages"][0]["content"][0]["image_url"]["url"]
    assert url == "data:image/png;base64," + base64.b64encode(raw).decode()


def test_a_photo_that_shrinks_while_it_is_sent_is_an_error_of_its_item(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(b"\xff\xd8\xff" + bytes(1000))
    photo, odd = glance(path)
    assert (photo, odd) == (Photo("image/jpeg", 1003, path), False)
    path.write_bytes(b"\xff\xd8\xff")
    with pytest.raises(Fault, match="expected 1003 bytes, but it was cut short"):
        list(body._raw(photo))


def save(path: Path, picture: Image.Image, **how: Any) -> Path:
    picture.save(path, **how)
    return path


def turned(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


WIDE = Image.new("RGB", (8, 4), "green")
WIDE.putpixel((0, 0), (255, 0, 0))
CLEAR = Image.new("RGBA", (8, 4), (0, 0, 0, 0))


def photos(folder: Path) -> Iterator[tuple[Path, str, bool]]:
    """A file, the kind it is sent as, and whether it is encoded anew."""
    yield save(folder / "a.jpg", WIDE), "image/jpeg", False
    yield save(folder / "b.jpg", WIDE, exif=turned(1)), "image/jpeg", False
    yield save(folder / "c.jpg", WIDE, exif=turned(6)), "image/jpeg", True
    yield save(folder / "d.png", WIDE), "image/png", False
    yield save(folder / "e.png", WIDE, exif=turned(8)), "image/png", True
    yield save(folder / "f.png", CLEAR), "image/png", True
    palette = WIDE.convert("P")
    yield save(folder / "g.png", palette, transparency=0), "image/png", True
    yield save(folder / "h.png", Image.new("I;16", (8, 4), 40000)), "image/png", True
    yield save(folder / "i.webp", WIDE), "image/webp", False
    yield save(folder / "j.webp", WIDE, exif=turned(6)), "image/png", True
    yield save(folder / "k.webp", CLEAR), "image/png", True
    yield save(folder / "o.webp", CLEAR, lossless=True, exact=True), "image/png", True
    yield save(folder / "p.webp", WIDE, lossless=True), "image/webp", False
    yield save(folder / "l.gif", WIDE), "image/png", True
    yield save(folder / "m.jpg", WIDE, format="PNG"), "image/png", False  # the bytes count
    yield save(folder / "n.tif", WIDE), "image/png", True


def test_photos_are_sent_as_they_are_unless_a_server_would_see_another_picture(
    tmp_path: Path,
) -> None:
    from fieldtruth.images import open_upright

    for path, kind, again in photos(tmp_path):
        photo, odd = glance(path)
        assert odd == again, path.name
        if not odd:
            assert (photo.kind, photo.size) == (kind, path.stat().st_size), path.name
            continue
        sent = anew(photo)
        assert sent.kind == kind, path.name
        assert sent.data is not None
        assert sent.size == len(sent.data)
        seen = Image.open(BytesIO(sent.data))
        assert seen.getexif().get(0x0112, 1) == 1
        assert (seen.mode, seen.size) == ("RGB", open_upright(path).size), path.name
        if kind == "image/png":
            assert seen.tobytes() == open_upright(path).tobytes(), path.name


def test_a_photo_that_cannot_be_sent_is_an_error_and_no_call(tmp_path: Path) -> None:
    (tmp_path / "empty.jpg").write_bytes(b"")
    (tmp_path / "text.gif").write_bytes(b"hello")
    requests = [
        Request(id=name, prompt="p", images=(tmp_path / name,))
        for name in ("none.jpg", "empty.jpg", "text.gif")
    ]
    with serving(lambda ask: says("[]")) as server:
        words = asked(server, requests).words
    assert server.asks == []
    assert {each.finish for each in words.values()} == {"error"}
    assert "got a file of 0 bytes" in words["empty.jpg"].error
    assert "got a file of another kind" in words["text.gif"].error


def test_the_schema_asks_for_the_list_that_prompts_ask_for() -> None:
    for space, key, number in (("norm1000", "bbox_2d", "integer"), ("yx1000", "box_2d", "integer"),
                               ("norm1", "bbox_2d", "number")):  # fmt: skip
        shape = settings(schema="boxes", space=space).sent["response_format"]
        assert (shape["type"], shape["json_schema"]["name"]) == ("json_schema", "boxes")
        one = shape["json_schema"]["schema"]["items"]
        assert one["required"] == [key, "label"]
        assert one["properties"][key]["items"] == {"type": number}


# --- what comes back ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (says("[]"), Words(text="[]")),
        (says("cut", "length"), Words(text="cut", finish="length")),
        (says("cut", "max_tokens"), Words(text="cut", finish="length")),
        (says("x", None), Words(text="x")),
        (says("x", "eos"), Words(text="x")),
        (says(""), Words(text="")),  # blank words, which are no error
        (says(None), Words(text="")),
        (says(None, "length"), Words(text="", finish="length")),  # all tokens went into thought
        (says(" \n"), Words(text=" \n")),
        (says([{"type": "text", "text": "a"}, {"type": "x"}, 3, {"text": "b"}]), Words(text="ab")),
        (says("x", usage="free", model=3), Words(text="x")),
        (says("x", usage={"prompt_tokens": -1, "completion_tokens": 2}), Words(text="x")),
        (says("x", usage={"prompt_tokens": None}), Words(text="x")),
    ],
)
def test_words(answer: Answer, words: Words) -> None:
    assert read_reply(answer.body).words == words


def test_thoughts_are_no_words_and_a_refusal_is() -> None:
    message = {"content": "[]", "reasoning_content": "hm", "reasoning": "hm", "refusal": None}
    choices = [{"message": message, "finish_reason": "stop"}]
    assert read_reply(json.dumps({"choices": choices}).encode()).words.text == "[]"
    message = {"content": "", "refusal": "I cannot help with that."}
    choices = [{"message": message, "finish_reason": "stop"}]
    assert read_reply(json.dumps({"choices": choices}).encode()).words == Words(
        text="I cannot help with that."
    )


@given(st.binary(max_size=80) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["choices", "message", "content", "error", "usage", "finish_reason"]),
        inner, max_size=3,
    ),
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_any_bytes_are_words_or_a_failure_that_says_why(raw: bytes) -> None:
    try:
        words = read_reply(raw).words
    except Failed as failure:
        why = str(failure)
    else:
        why = f"finish {words.finish}" * (words.error is None)
    assert why


def test_each_reply_comes_as_it_is_known_and_reply_puts_them_in_order() -> None:
    def act(ask: Ask) -> Answer:
        answer = says(ask.prompt)
        answer.after = 0.3 if ask.prompt == "prompt 0" else 0.0
        return answer

    with serving(act) as server:
        model: Any = OPEN({"model": "m", "base_url": server.url, "concurrency": "4"})
        places = [place for place, _ in model.replies(some(9))]
        assert sorted(places) == list(range(9))
        assert places[-1] == 0  # the slow one held nobody back
        assert [words.text for words in model.reply(some(9))] == [f"prompt {n}" for n in range(9)]
        assert list(model.replies([])) == []


@pytest.mark.parametrize("bound", [1, 3])
def test_no_more_calls_at_a_time_than_allowed(bound: int) -> None:
    answer = says("[]")
    answer.after = 0.02
    with serving(lambda ask: answer) as server:
        asked(server, some(12), concurrency=str(bound))
    assert server.most == bound
    assert len(server.asks) == 12


def test_who_takes_no_more_replies_ends_the_spending() -> None:
    with serving(lambda ask: says("[]")) as server:
        model: Any = OPEN({"model": "m", "base_url": server.url, "concurrency": "2"})
        replies = model.replies(some(100))
        next(replies)
        time.sleep(0.2)
        assert len(server.asks) == 2
        replies.close()
        assert len(server.asks) == 2


def test_what_was_spent() -> None:
    usage = {
        "prompt_tokens": 1000, "completion_tokens": 20,
        "completion_tokens_details": {"reasoning_tokens": 15},
    }  # fmt: skip
    with serving(lambda ask: says("[]", usage=usage, model="m-2026")) as server:
        model = asked(server, some(3), price_in="2", price_out="10")
    spent = model.spent
    assert (spent.calls, spent.retries) == (3, 0)
    assert (spent.input_tokens, spent.output_tokens, spent.reasoning_tokens) == (3000, 60, 45)
    assert spent.cost == pytest.approx((3000 * 2 + 60 * 10) / 1e6)
    assert spent.notes == ("the server says it is 'm-2026'",)


# --- money -------------------------------------------------------------------------------------

DEAR = {"price_in": "1000000", "price_out": "1000000", "max_tokens": "10"}  # one a token


def test_the_estimate_before_a_run(tmp_path: Path) -> None:
    photo = save(tmp_path / "a.png", Image.new("RGB", (57, 28)))  # 3 x 1 patches of 28 pixels
    requests = [Request(id="i", prompt="x" * 10, images=(photo,))] * 5  # 4 tokens and 3
    model: Any = OPEN({"model": "m", "base_url": "http://h/v1", **DEAR})
    assert model.estimate(requests) == "5 calls, about 35 tokens in: 35 to 85"
    model = OPEN({"model": "m", "base_url": "http://h/v1", **DEAR, "image_tokens": "100"})
    assert model.estimate(requests) == "5 calls, about 520 tokens in: 520 to 570"
    model = OPEN({"model": "m", "base_url": "http://h/v1", **DEAR, "max_cost": "40"})
    assert model.estimate(requests) == "5 calls, about 35 tokens in: 35 to 85; stops before 40"
    model = OPEN({"model": "m", "base_url": "http://h/v1", **DEAR, "max_cost": "34"})
    with pytest.raises(Usage, match=r"at least 35 .* more than --max-cost 34; raise it"):
        model.estimate(requests)
    model = OPEN({"model": "m", "base_url": "http://h/v1"})
    assert model.estimate(requests) is None


def test_no_call_is_begun_that_could_cross_the_line_and_none_is_lost() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1}  # 4 a call; 13 at most
    answer = says("[]", usage=usage)
    answer.after = 0.02
    with serving(lambda ask: answer) as server:
        model: Any = OPEN({"model": "m", "base_url": server.url, "max_cost": "50",
                           "concurrency": "4", **DEAR})  # fmt: skip
        got = []
        with pytest.raises(Fault, match=r"stopped before --max-cost 50: .* replies are kept"):
            got.extend(model.replies(some(100)))  # extend keeps what came before the fault
    assert len(got) == len(server.asks) == model.spent.calls
    assert 3 <= len(got) <= (50 - 13) / 4 + 1
    assert model.spent.cost == 4 * len(got) <= 50


def test_without_a_count_of_tokens_a_reply_costs_its_most() -> None:
    with serving(lambda ask: says("[]")) as server:
        model = asked(server, some(2), **DEAR)
    assert model.spent.cost == 2 * 13
    assert model.spent.notes == ("2 replies came without a count of tokens",)


# --- options -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"model": ""}, "openai needs --model-args model=NAME"),
        ({"api_key": "sk-1"}, "takes its key from OPENAI_API_KEY, never from the command line"),
        ({"body.api_key": "sk-1"}, "takes its key from OPENAI_API_KEY"),
        ({"colour": "red"}, "openai has no option 'colour'; its options: backoff, base_url"),
        ({"space": "inches"}, "space: expected one of pixel"),
        ({"base_url": "localhost:8000"}, "base_url: expected http://HOST:PORT/v1"),
        ({"base_url": "http://a:99999/v1"}, "base_url: expected http://HOST:PORT/v1"),
        ({"base_url": "http://user:pw@a/v1"}, "expected no user, query or fragment"),
        ({"base_url": "http://a/v1?key=3"}, "expected no user, query or fragment"),
        ({"concurrency": "0"}, "concurrency: expected a whole number, 1 or more"),
        ({"retries": "-1"}, "retries: expected a whole number, 0 or more"),
        ({"timeout": "0"}, "timeout: expected a number, above 0, got '0'"),
        ({"timeout": "soon"}, "timeout: expected a number, above 0"),
        ({"temperature": "nan"}, "temperature: expected a number, 0 or more"),
        ({"price_in": "1"}, "expected both or neither"),
        ({"max_cost": "1"}, "max_cost needs prices"),
        ({"max_cost": "1", "price_in": "1", "price_out": "1", "max_tokens": "none"}, "a bound on"),
        ({"schema": "/nowhere.json"}, "expected `boxes` or a JSON file"),
        ({"body.stream": "true"}, "body.stream: expected a field that is not set here"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, str], told: str) -> None:
    with pytest.raises(Usage, match=told) as fault:
        settings(**options)
    assert "sk-1" not in str(fault.value)
    assert "pw" not in str(fault.value)


def test_a_server_has_to_be_named_unless_there_is_a_key_for_the_hosted_one() -> None:
    with pytest.raises(Usage, match="openai needs a server"):
        read_settings({"model": "m"}, {})
    there = read_settings({"model": "m"}, {"OPENAI_API_KEY": "k"})
    assert there.url == "https://api.openai.com/v1/chat/completions"
    named = read_settings({"model": "m"}, {"OPENAI_BASE_URL": "http://b:1/v1/"})
    assert named.url == "http://b:1/v1/chat/completions"
    full = read_settings({"model": "m", "base_url": "http://c/v1/chat/completions"}, {})
    assert full.url == "http://c/v1/chat/completions"


def test_what_is_sent_beside_the_messages() -> None:
    assert settings().sent == {"temperature": 0, "max_tokens": 1024}
    none = settings(temperature="none", max_completion_tokens="9", **{"body.top_p": "0.9"})
    assert none.sent == {"max_completion_tokens": 9, "top_p": 0.9}
    assert settings(max_tokens="none", **{"body.a": '{"b": false}', "body.c": "low"}).sent == {
        "temperature": 0, "a": {"b": False}, "c": "low",
    }  # fmt: skip


def test_the_version_changes_with_whatever_may_change_a_reply_and_with_nothing_else() -> None:
    plain = settings().version
    for options in (
        {"model": "n"}, {"base_url": "http://i/v1"}, {"temperature": "0.5"}, {"max_tokens": "9"},
        {"seed": "1"}, {"schema": "boxes"}, {"body.top_p": "1"}, {"revision": "q4"},
    ):  # fmt: skip
        assert settings(**options).version != plain
    for options in (
        {"concurrency": "1"}, {"timeout": "1"}, {"retries": "0"}, {"backoff": "1"},
        {"price_in": "1", "price_out": "1"}, {"image_tokens": "9"},
    ):  # fmt: skip
        assert settings(**options).version == plain
    moved = settings(base_url="http://other/v1", revision="q4")
    assert moved.version == settings(revision="q4").version


def test_every_option_is_explained_and_known() -> None:
    assert all(KNOWN.values())
    assert set(Settings.__struct_fields__) - {"sent"} <= set(KNOWN)


def test_a_key_shows_itself_to_nobody() -> None:
    secret = Secret.of({"OPENAI_API_KEY": " sk-planted-1234 "})
    assert secret.header == {"Authorization": "Bearer sk-planted-1234"}
    assert repr(secret) == str(secret) == f"{secret}" == "[key]"
    assert secret.redact("a sk-planted-1234 b") == "a [key] b"
    assert Secret("EMPTY").redact("EMPTY is no secret") == "EMPTY is no secret"
    assert Secret.of({}).header == {}
    with pytest.raises(Usage, match="expected printable ASCII") as fault:
        Secret.of({"OPENAI_API_KEY": "sk-planted\n1234"})
    assert "planted" not in str(fault.value)


@pytest.mark.parametrize("missing", ["aiohttp"])
def test_what_is_missing_is_named_with_the_extra_to_install(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from fieldtruth.faults import Usage\n"
        "from fieldtruth.models.openai import OPEN\n"
        "try: OPEN({'model': 'm', 'base_url': 'http://h/v1'})\n"
        "except Usage as fault: print(fault)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == (
        f"openai needs {missing}, which is not installed; pip install 'fieldtruth[openai]'\n"
    )
