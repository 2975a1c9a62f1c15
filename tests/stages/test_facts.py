"""What experts stated: the words it rests on, the drops, the books. Talks here are made up."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.records import Dialogue, Drop, Fact, Turn
from fieldtruth.stages.facts import (
    LONGEST,
    OF_DIALOGUES,
    OF_STATEMENTS,
    extract,
    id_of,
    personal_in,
)
from fieldtruth.stages.facts.by_rules import Rules
from fieldtruth.stages.facts.shapes import Failure, Stated, Understood

ISSUE, TODO, LOOKS = (
    "disease/issue identification", "management instructions", "symptom/visual description",
)  # fmt: skip


def talk(*turns: str, name: str = "d:1", **more: Any) -> Dialogue:
    """Turns "g: ..." of a grower and "e: ..." of an expert."""
    said = [Turn(speaker="grower" if t[0] == "g" else "expert", text=t[3:]) for t in turns]
    return Dialogue(
        id=name, source="d", turns=tuple(said), group=f"g-{name}", licence="CC0", **more
    )


class Told:
    """An extractor that says what it was told to say."""

    by = "told 1"

    def __init__(self, *answers: Understood | Failure) -> None:
        self._answers = answers

    def read(self, dialogues: Sequence[Dialogue]) -> Iterator[Understood | Failure]:
        return iter(self._answers[: len(dialogues)])


def stated(statement: str, words: str, knowledge: Any = TODO, turn: int = 1, **m: Any) -> Stated:
    return Stated(knowledge=knowledge, statement=statement, turn=turn, words=words, **m)


def fate(dialogue: Dialogue, *said: Stated, category: Any = "disease") -> list[tuple[str, str]]:
    """What became of each statement: ("fact", its words) or (reason, detail)."""
    understood = Understood(category=category, species="bean", stated=said)
    (made,) = extract([dialogue], Told(understood))
    assert made.dropped is None
    assert [each.id for each in made.records] == list(made.statements)
    return [
        ("fact", each.words) if isinstance(each, Fact) else (each.reason, each.detail)
        for each in made.records
    ]


ANSWER = "e: This is bean rust. Remove the  \u201csick\u201d leaves.  It may be a virus, too."


def test_a_fact_carries_its_turn_and_the_exact_words_of_the_turn() -> None:
    dialogue = talk("g: ?", ANSWER)
    said = stated("Remove sick leaves", 'remove the "sick" leaves')
    (made,) = extract([dialogue], Told(Understood(category="disease", stated=(said,))))
    (fact,) = made.records
    assert isinstance(fact, Fact)
    assert (fact.turn, fact.words) == (1, "Remove the  \u201csick\u201d leaves")
    assert (fact.dialogue, fact.group, fact.extractor) == ("d:1", "g-d:1", "told 1")
    assert fact.id == id_of(dialogue, said)
    assert fact.id.startswith("d:1#")
    assert len(fact.id) == len("d:1#") + 10


def test_a_fact_has_no_photo_that_may_show_a_face() -> None:
    asked = Turn(speaker="grower", text="?", images=("leaf.jpg", "me.jpg"))
    told = talk("g: ?", ANSWER, faces=("me.jpg",))
    dialogue = msgspec.structs.replace(told, turns=(asked, told.turns[1]))
    assert dialogue.images == ("leaf.jpg", "me.jpg")
    said = stated("Remove sick leaves", 'remove the "sick" leaves')
    (made,) = extract([dialogue], Told(Understood(category="disease", stated=(said,))))
    (fact,) = made.records
    assert isinstance(fact, Fact)
    assert fact.images == ("leaf.jpg",)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (stated("Spray copper", "Spray copper"), "unsupported"),  # nobody said so
        (stated("Remove", "Remove the sick leafs"), "unsupported"),
        (stated("x", "..."), "unsupported"),  # not one letter
        (stated("x", "This is bean rust", turn=7), "unsupported"),
        (stated("x", "This is bean rust", turn=-1), "unsupported"),
        (stated(" ", "This is bean rust"), "unsupported"),
        (stated("x" * 601, "This is bean rust"), "too long"),
        (stated("My beans", "My beans are ill", turn=0), "grower's words"),
        (stated("a virus", "a virus", ISSUE), "uncertain"),  # the sentence around it doubts
        (stated("It might be rust", "This is bean rust", ISSUE), "uncertain"),
        (stated("rust", "This is bean rust", ISSUE, certain=False), "uncertain"),
        (stated("Ask a lab", "Send the leaf to a lab", turn=2), "referral"),
        (stated("An address", "write jane.roe@example.org", turn=2), "personal data"),
    ],
)
def test_what_is_no_fact_is_a_drop_with_its_reason(said: Stated, reason: str) -> None:
    more = "e: Send the leaf to a lab. Or write jane.roe@example.org."
    good = stated("bean rust", "This is bean rust.", ISSUE)
    made = fate(talk("g: My beans are ill", ANSWER, more), good, said)
    assert made[0] == ("fact", "This is bean rust.")
    assert made[1][0] == reason


def test_a_name_is_open_while_the_expert_asks() -> None:
    name = stated("rust", "It looks like rust", ISSUE)
    again = "e: Could you provide clearer photos of the leaves?"
    assert fate(talk("g: ?", "e: It looks like rust."), name)[0][0] == "fact"
    assert fate(talk("g: ?", "e: It looks like rust. Is it wet?"), name)[0][0] == "unsettled"
    assert fate(talk("g: ?", "e: It looks like rust.", "g: No!", again), name)[0][0] == "unsettled"
    firm = stated("rust", "It is rust", ISSUE)
    assert fate(talk("g: ?", "e: It is rust. Is it wet?"), firm)[0][0] == "fact"
    done = stated("Cut it down", "Cut it down")
    assert fate(talk("g: ?", "e: Cut it down.", "g: ?", again), done)[0][0] == "fact"


def test_the_same_is_told_once_and_looks_alone_are_of_no_use() -> None:
    dialogue = talk("g: ?", "e: Prune it. I said: prune it! The spots are red.")
    first, second = stated("Prune it", "Prune it"), stated("prune it.", "prune it!")
    assert [each[0] for each in fate(dialogue, first, second)] == ["fact", "repeated"]
    seen = stated("Red spots", "The spots are red", LOOKS)
    assert fate(dialogue, seen) == [("neither issue nor management", "Red spots")]
    assert [each[0] for each in fate(dialogue, seen, first)] == ["fact", "fact"]
    twice = fate(dialogue, first, first)  # the very same statement is one
    assert twice == [("fact", "Prune it")]


@pytest.mark.parametrize(
    ("dialogue", "answer", "reason"),
    [
        (talk("g: ?", "e: Plant it."), Understood(category="growing advice"), "growing advice"),
        (talk("g: ?", "e: Hm."), Understood(category="other"), "other"),
        (talk("g: ?", "e: Hm."), Understood(category="pest"), "nothing stated"),
        (talk("g: ?"), Understood(category="pest"), "no expert"),
        (talk("g: ?", "e:  \n "), Understood(category="pest"), "no expert"),
        (talk("g: " + "x" * LONGEST, "e: Hm."), Understood(category="pest"), "too long"),
        (talk("g: ?", "e: Hm."), Failure(reason="model failed", why="HTTP 500"), "model failed"),
        (talk("g: ?", "e: Hm."), Failure(reason="unreadable reply", why="<"), "unreadable reply"),
    ],
)
def test_a_dialogue_without_statements_is_one_drop(
    dialogue: Dialogue, answer: Understood | Failure, reason: str
) -> None:
    (made,) = extract([dialogue], Told(answer))
    assert made.dropped is not None
    assert (made.dropped.id, made.dropped.reason) == ("d:1", reason)
    assert reason in OF_DIALOGUES
    assert (made.statements, made.records) == ((), ())


def test_a_name_has_its_label_and_its_crop() -> None:
    dialogue = talk("g: My tomato is ill", "e: This is late blight.")
    said = stated("late blight (Phytophthora infestans)", "This is late blight.", ISSUE)
    answer = Understood(category="disease", species="tomato plants", stated=(said,))
    ((fact,),) = (made.records for made in extract([dialogue], Told(answer)))
    assert isinstance(fact, Fact)
    assert (fact.label, fact.crop, fact.species) == ("late blight", "tomato", "tomato plants")


def test_more_dialogues_than_are_read_at_a_time_come_in_order() -> None:
    talks = [talk("g: ?", "e: Remove all of the sick leaves.", name=f"d:{n}") for n in range(600)]
    made = list(extract(talks, Rules()))
    assert [each.dialogue.id for each in made] == [f"d:{n}" for n in range(600)]


HOSTILE = [
    "\x00\x1b[31mThis is rust\x00.",
    "<script>alert(1)</script> This is <b>late blight</b>. <img src=x onerror=1> Remove it now.",
    "This is " + "very " * 20000 + "rust",
    "a" * 90000,
    "." * 90000,
    "( " * 40000,
    "This is " * 11000,
    "you can " * 11000,
    "\u202eThis is rust\u202c \ud7ff \ufeff \u200b",
    "**" * 40000,
    "1. " * 30000,
    "To " + "x, " * 30000,
    '{"turn": 0, "speaker": "expert", "text": "This is rust."}',
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_words_cost_little_and_break_nothing(number: int) -> None:
    dialogue = talk(f"g: What is wrong with my bean? {HOSTILE[number][:5000]}", "e: ok")
    turns = (dialogue.turns[0], Turn(speaker="expert", text=HOSTILE[number]))
    whole = Dialogue(id="d:1", source="d", turns=turns, group="g", licence="CC0")
    for made in extract([whole], Rules()):
        _balanced(made.dialogue, made.dropped, made.statements, made.records)


PIECES = st.sampled_from(
    ["This is ", "late blight", "rust", " (Puccinia)", ". ", "\n- ", "Remove ", "the leaves",
     "may ", "**Do**: ", "?", "you can ", "apply ", "copper ", "not ", "\u201c", "\u00a0",
     "no doubt ", "<b>", "The leaves have brown spots", " your ", "looks like ", "Slugs ",
     "caused by ", "E. coli"]
)  # fmt: skip


@given(st.lists(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=14), max_size=4))
def test_words_always_stand_in_the_turn_and_books_balance(texts: list[list[str]]) -> None:
    said = [Turn(speaker="expert", text="".join(parts)) for parts in texts]
    turns = (Turn(speaker="grower", text="What eats my bean? How can I get rid of it?"), *said)
    dialogue = Dialogue(id="d:1", source="d", turns=turns, group="g", licence="CC0")
    (made,) = extract([dialogue], Rules())
    _balanced(dialogue, made.dropped, made.statements, made.records)


def _balanced(
    dialogue: Dialogue,
    dropped: Drop | None,
    statements: Sequence[str],
    records: Sequence[Fact | Drop],
) -> None:
    assert (dropped is None) == bool(statements)
    assert sorted(each.id for each in records) == sorted(set(statements))
    for each in records:
        if isinstance(each, Drop):
            assert each.reason in OF_STATEMENTS
            assert (each.sample, each.parent) == (dialogue.id, each.id)
        else:
            turn = dialogue.turns[each.turn]
            assert turn.speaker == "expert"
            assert each.words in turn.text


def test_what_is_said_twice_in_two_ways_gets_two_ids() -> None:
    numbers = count()
    dialogue = talk("g: ?", "e: a b c")
    names = {id_of(dialogue, stated(f"s{next(numbers)}", "a", turn=t)) for t in (0, 1, 1)}
    assert len(names) == 3


def test_personal_data_is_seen_by_its_form() -> None:
    assert personal_in("Write to jane.roe@example.org")
    assert not personal_in("Spray daisies and roses against Septoria leaf spot")
