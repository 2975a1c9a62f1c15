"""A model's words, verbatim, or its error: one prediction for every item."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.builders import NAMES, item

from fieldtruth.faults import Refused
from fieldtruth.models.contract import Request, Words, failed
from fieldtruth.protocols.candidates import PROTOCOL as CANDIDATES
from fieldtruth.protocols.known_target import PROTOCOL as KNOWN_TARGET
from fieldtruth.records import Finish, Prediction, Space
from fieldtruth.stages.predict import predict, request


class Parrot:
    """Says its prompt's item back, fails for `bad`, and keeps what it was asked."""

    space: Space = "norm1000"
    version = "parrot"

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        self.asked += requests
        for each in requests:
            yield (
                failed("gone")
                if each.id == "bad"
                else Words(text=f"\u00e4\n{each.id}", finish="length")
            )


def test_what_is_asked_never_holds_the_truth_beyond_the_instruction(tmp_path: Path) -> None:
    one = item(candidates=NAMES, level="object")
    asked = request(one, CANDIDATES, Parrot(), tmp_path)
    assert (asked.id, asked.names, asked.level) == ("leaf-1", NAMES, "object")
    assert asked.images == (tmp_path / "images/a.jpg",)
    assert asked.prompt == CANDIDATES.ask(one, "norm1000")
    other = item(candidates=NAMES, level="object", label=NAMES[2], query=NAMES[2],
                 boxes=((1, 1, 2, 2),), kind="pest", absent_query=NAMES[3])  # fmt: skip
    assert request(other, CANDIDATES, Parrot(), tmp_path) == asked


ENDS: tuple[tuple[str, str, Finish, str | None], ...] = (
    ("b", "\u00e4\nb", "length", None),
    ("bad", "", "error", "gone"),
    ("a", "\u00e4\na", "length", None),
)


def test_one_prediction_for_every_item(tmp_path: Path) -> None:
    parrot = Parrot()
    items = [item("b"), item("bad"), item("a")]
    made = list(predict(items, ("known_target", KNOWN_TARGET), ("polly@run2", parrot), tmp_path))
    assert {each.item: each for each in made} == {
        name: Prediction(
            item=name, protocol="known_target", model="polly@run2", text=text, space="norm1000",
            finish=finish, error=error,
        )
        for name, text, finish, error in ENDS
    }  # fmt: skip
    assert len(made) == 3
    assert [each.id for each in parrot.asked] == ["b", "bad", "a"]


def test_each_reply_is_passed_on_before_the_next_is_asked_for(tmp_path: Path) -> None:
    class Dying(Parrot):
        def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
            yield Words(text="first")
            raise OSError("out of memory")

    replies = predict(
        [item("a"), item("b")], ("known_target", KNOWN_TARGET), ("m", Dying()), tmp_path
    )
    assert next(replies).text == "first"
    with pytest.raises(OSError, match="out of memory"):
        next(replies)


@pytest.mark.parametrize("words", [[], [Words(text="one")], [Words(text="x")] * 3])
def test_a_model_that_answers_too_little_or_too_much_is_not_believed(
    tmp_path: Path, words: list[Words]
) -> None:
    class Careless(Parrot):
        def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
            yield from words

    asked = predict(
        [item("a"), item("b")], ("known_target", KNOWN_TARGET), ("m", Careless()), tmp_path
    )
    with pytest.raises(ValueError, match="zip"):
        list(asked)


def test_a_photo_outside_the_benchmark_is_refused(tmp_path: Path) -> None:
    asked = predict(
        [item(image="../a.jpg")], ("known_target", KNOWN_TARGET), ("m", Parrot()), tmp_path
    )
    with pytest.raises(Refused):
        list(asked)
