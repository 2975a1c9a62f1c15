"""A model behind the cache: asked only for what nobody has asked before."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from fieldtruth.faults import Unbalanced, Usage
from fieldtruth.models.contract import Replies, Request, Spent, Words, as_known, failed, in_order
from fieldtruth.records import Space
from fieldtruth.run.cached import Cached
from fieldtruth.store import Cache


class Echo:
    """Says what it was asked, last request first, and remembers it."""

    space: Space = "pixel"
    version = "echo-1"

    def __init__(self, words: Callable[[Request], Words] | None = None) -> None:
        self.words = words or (lambda request: Words(text=f"to {request.prompt}"))
        self.asked: list[str] = []
        self.closed = False

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        try:
            for place in reversed(range(len(requests))):
                self.asked.append(requests[place].id)
                yield place, self.words(requests[place])
        finally:
            self.closed = True

    def estimate(self, requests: Sequence[Request]) -> str | None:
        return " ".join(request.id for request in requests)

    @property
    def spent(self) -> Spent:
        return Spent(calls=len(self.asked))


def photo(path: Path, raw: bytes = b"photo") -> Path:
    path.write_bytes(raw)
    return path


def request(name: str, prompt: str, *images: Path) -> Request:
    return Request(id=name, prompt=prompt, images=images)


def test_what_is_kept_comes_first_and_the_rest_is_asked_once(tmp_path: Path) -> None:
    image = photo(tmp_path / "a.jpg")
    some = [request(name, name, image) for name in "abc"]
    first = Cached("m", Echo(), Cache(tmp_path / "cache"))
    assert [words.text for words in first.reply(some)] == ["to a", "to b", "to c"]
    model = Echo()
    second = Cached("m", model, Cache(tmp_path / "cache"))
    more = [request("d", "d", image), *some, request("d again", "d", image)]
    assert second.estimate(more) == "d"
    got = list(second.replies(more))
    assert [place for place, _ in got] == [1, 2, 3, 0, 4]
    assert dict(got)[4] == Words(text="to d")
    assert (model.asked, second.hits, second.spent) == (["d"], 3, Spent(calls=1))
    assert (second.space, second.version) == ("pixel", "echo-1")


@pytest.mark.parametrize(
    ("name", "version", "prompt", "raw", "names", "hit"),
    [
        ("m", "echo-1", "p", b"photo", ("x",), True),
        ("m@run2", "echo-1", "p", b"photo", ("x",), False),
        ("m", "echo-2", "p", b"photo", ("x",), False),
        ("m", "echo-1", "q", b"photo", ("x",), False),
        ("m", "echo-1", "p", b"other", ("x",), False),
        ("m", "echo-1", "p", b"photo", ("y",), False),
    ],
)
def test_the_key(
    tmp_path: Path, name: str, version: str, prompt: str, raw: bytes, names: tuple[str], hit: object
) -> None:
    image = photo(tmp_path / "a.jpg")
    ask = Request(id="i", prompt="p", images=(image,), names=("x",))
    list(Cached("m", Echo(), Cache(tmp_path / "cache")).replies([ask]))
    model = Echo()
    model.version = version
    other = photo(tmp_path / "renamed.jpg", raw)  # where a photo lies is no part of it
    ask = Request(id="another id", prompt=prompt, images=(other,), names=names)
    cached = Cached(name, model, Cache(tmp_path / "cache"))
    list(cached.replies([ask]))
    assert cached.hits == bool(hit)


def test_errors_and_blank_words_are_asked_again(tmp_path: Path) -> None:
    said = {"a": failed("down"), "b": Words(text=" "), "c": Words(text="cut", finish="length")}
    some = [request(name, name) for name in said]
    for expected in (["c", "b", "a"], ["b", "a"]):
        model = Echo(lambda request: said[request.id])
        cached = Cached("m", model, Cache(tmp_path / "cache"))
        assert list(cached.reply(some)) == list(said.values())
        assert model.asked == expected


def test_a_photo_that_is_not_there_is_the_models_to_report(tmp_path: Path) -> None:
    some = [request(name, "p", tmp_path / "none.jpg") for name in "ab"]
    for _ in range(2):
        model = Echo()
        cached = Cached("m", model, Cache(tmp_path / "cache"))
        assert len(list(cached.replies(some))) == 2
        assert model.asked == ["b", "a"]


def test_a_cache_that_cannot_be_read_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    model = Echo()
    replies = Cached("m", model, Cache(tmp_path / "cache")).replies([request("a", "a")])
    for number in range(256):
        (tmp_path / "cache" / f"{number:02x}").touch()  # where its folders would be
    with pytest.raises(Usage, match="reply cache"):
        next(replies)
    assert model.asked == []


def test_a_cache_that_fills_up_hands_the_reply_on_before_it_says_so(tmp_path: Path) -> None:
    def fill(request: Request) -> Words:
        for number in range(256):
            (tmp_path / "cache" / f"{number:02x}").touch()
        return Words(text="paid for")

    model = Echo(fill)
    replies = Cached("m", model, Cache(tmp_path / "cache")).replies(
        [request("a", "a"), request("b", "b")]
    )
    assert next(replies) == (1, Words(text="paid for"))
    with pytest.raises(Usage, match="reply cache"):
        next(replies)
    assert (model.asked, model.closed) == (["b"], True)


def test_closing_ends_the_models_work(tmp_path: Path) -> None:
    model = Echo()
    replies = Cached("m", model, Cache(tmp_path / "cache")).replies(
        [request(name, name) for name in "abc"]
    )
    next(replies)
    replies.close()
    assert (model.asked, model.closed) == (["c"], True)


@pytest.mark.parametrize(
    ("places", "told"), [([0, 0], "answered twice"), ([0], "1 of 2 requests were never answered")]
)
def test_a_backend_that_loses_or_doubles_a_request_is_found_out(
    places: list[int], told: str
) -> None:
    class Careless(Echo):
        def replies(self, requests: Sequence[Request]) -> Replies:
            yield from ((place, Words(text="")) for place in places)

    with pytest.raises(Unbalanced, match=told):
        list(as_known(Careless(), [request("a", "a"), request("b", "b")]))
