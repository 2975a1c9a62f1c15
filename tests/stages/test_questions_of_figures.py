"""Questions about figures: by rule from captions, and from what a model writes."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.stages.test_evidence import figure

from fieldtruth.papers.evidence import Evidence
from fieldtruth.papers.records import Figure, Panel
from fieldtruth.records import LETTERS
from fieldtruth.stages.questions import figures as asking
from fieldtruth.stages.questions.figures import by_model
from fieldtruth.stages.questions.figures.captions import apart, said
from fieldtruth.stages.questions.figures.labels import (
    CHALLENGES,
    DOMAINS,
    challenge_of,
    domain_of,
)
from fieldtruth.taxonomy import label, label_id

LEAVES = (
    "Fig. 1. Leaves of tomato. (A) Early blight, (B) late blight, (C) leaf mold, "
    "(D) septoria leaf spot, and (E) healthy. Scale bar = 5 mm."
)


def of(caption: str, names: str = "", label: str = "Fig. 1") -> Figure:
    panels = tuple(Panel(name=each) for each in names)
    return msgspec.structs.replace(figure("1", caption, label), panels=panels)


def told(crop: str | None = None) -> Evidence:
    return Evidence(id="p:fig-1", figure_type="disease symptoms", type_by="rules", crop=crop)


def test_a_caption_taken_apart() -> None:
    found = said(of(LEAVES, "ABCDE"))
    assert found.head == "Leaves of tomato."
    assert found.panels == {
        "A": "Early blight", "B": "late blight", "C": "leaf mold", "D": "septoria leaf spot",
        "E": "healthy",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("caption", "panels"),
    [
        ("Fig. 1. a, Rust. b, Scab.", {}),
        ("Fig. 1. (a,b) Rust (c) scab", {}),
        ("Fig. 1. (a) Rust (b) scab (a) rot", {"b": "scab"}),
        ("Fig. 1. (a) Rust. More on it. (b) Scab", {"a": "Rust", "b": "Scab"}),
        ("Fig. 1. Plants (n = 3) in rows", {}),
    ],
)
def test_captions_that_say_less(caption: str, panels: dict[str, str]) -> None:
    assert said(of(caption, "ab")).panels == panels


def test_descriptions_that_hold_for_another_panel_are_not_asked() -> None:
    assert apart({"a": "Apple", "b": "apple scab", "c": "pear", "d": "leaf 1", "e": "leaf 2"}) == {
        "c": "pear", "d": "leaf 1", "e": "leaf 2",
    }  # fmt: skip


def test_a_caption_gives_what_it_supports_and_no_more() -> None:
    made = asking.ask(of(LEAVES, "ABCDE"), told("tomato"), None, asking.Settings())
    right = {q.question: (q.options or ())[LETTERS.index(q.answer)] for q in made.questions}
    assert len(made.questions) == len(made.notes) == 8
    assert right["How many panels does this figure have?"] == "5"
    assert right["Which crop is shown in this figure?"] == "tomato"
    assert {each.sort for each in made.notes} == {
        "panel", "count", "crop", "condition", "scale",
    }  # fmt: skip
    for name, what in said(of(LEAVES, "ABCDE")).panels.items():
        assert right.get(f"Which panel of this figure shows: {what}?", f"Panel {name}") == (
            f"Panel {name}"
        )
        assert right.get(f"What does panel {name} of this figure show?", what) == what
    more = asking.ask(of(LEAVES, "ABCDE"), told("tomato"), None, asking.Settings(per_figure=20))
    scale = next(q for q in more.questions if "scale bar" in q.question)
    assert (scale.options or ())[LETTERS.index(scale.answer)] == "5 mm"
    assert all(option.endswith(" mm") for option in scale.options or ())
    assert {q.domain for q in more.questions} <= set(DOMAINS)
    assert {q.challenge for q in more.questions} <= set(CHALLENGES)
    assert more == asking.ask(
        of(LEAVES, "ABCDE"), told("tomato"), None, asking.Settings(per_figure=20)
    )


def test_no_id_tells_the_answer_nor_takes_a_count_for_a_panel() -> None:
    """Ids lie in the folder that goes to experts who are not to know the answer."""
    seen = (
        "apple in May", "apple at dusk", "apple under nets", "pear by night", "plum after rain",
        "cherry from above", "grape on wires", "wheat near harvest", "maize with hail",
    )  # fmt: skip
    names = [str(at) for at in range(1, 10)]
    parts = " ".join(f"({name}) {words}" for name, words in zip(names, seen, strict=True))
    made = asking.ask(
        of(f"Fig. 1. Leaves. {parts}", "".join(names)), told(), None, asking.Settings(per_figure=40)
    )
    of_sort = {each.id: each for each in made.notes}
    asked = {q.question.split(":")[0]: q for q in made.questions}
    assert "How many panels of this figure show apple?" in asked
    assert of_sort[asked["How many panels of this figure show apple?"].id].words == "Leaves."
    which = [q for q in made.questions if q.question.startswith("Which panel")]
    assert [q.id.rpartition("-")[2] for q in which] == [str(at + 1) for at in range(len(which))]
    right = [(q.options or ())[LETTERS.index(q.answer)].removeprefix("Panel ") for q in which]
    assert len(which) == 5
    assert right != [str(at + 1) for at in range(len(which))]


@pytest.mark.parametrize(
    ("caption", "names", "count"),
    [
        ("Fig. 1. A field in spring.", "", 0),
        ("Fig. 1. Two views of a field.", "ab", 0),
        ("Fig. 1. Four views of a field.", "abcd", 1),
        ("Fig. 1. Scale bars: 1 cm and 2 mm. Scale bar = 3 mm, scale bar = 4 mm.", "", 0),
        ("Fig. 1. Leaf. Scale bars represent 50 µm.", "", 1),
        ("Fig. 1. Leaf. Scale bar = 0 mm.", "", 0),
        (f"Fig. 1. Leaf. Scale bar = {'9' * 400} mm.", "", 0),
        (f"Fig. 1. Leaf. Scale bar = 0.{'0' * 323}4 mm.", "", 0),
    ],
)
def test_captions_that_support_little(caption: str, names: str, count: int) -> None:
    made = asking.ask(of(caption, names), told(), None, asking.Settings())
    assert len(made.questions) == count


DISEASES = (
    "Early blight", "Late blight", "Leaf mold", "Septoria leaf spot", "Target spot",
    "Bacterial spot",
)  # fmt: skip
PESTS = ("Whitefly", "Aphid", "Thrips", "Leaf miner", "Spider mite")


def mixed(seed: int) -> asking.Asked:
    """All that is asked of a figure of nine panels in an order of its own."""
    names = "ABCDEFGHI"
    draw = np.random.default_rng(seed)
    some = [*draw.permutation([*DISEASES[:4], *PESTS[:3], "healthy", "a flower"])]
    size = (1, 2, 5, 3.5)[seed % 4] * 10 ** int(draw.integers(0, 3))
    told_of = ", ".join(f"({name}) {what}" for name, what in zip(names, some, strict=True))
    caption = f"Fig. 1. Leaves of tomato. {told_of}. Scale bar = {size:g} mm."
    wanted = asking.Settings(per_figure=20, seed=seed)
    return asking.ask(of(caption, names), told("tomato"), None, wanted)


def test_wrong_options_of_a_condition_are_of_its_kind() -> None:
    for seed in range(6):
        for each in mixed(seed).questions:
            if not each.question.startswith(("Which disease", "Which pest")):
                continue
            for option in each.options or ():
                found = label(label_id(option, "tomato"))
                assert found is not None
                assert found.kind == each.question.split()[1]


def _guesses(options: Sequence[str]) -> dict[str, int]:
    """What somebody who sees words alone may go by: option -> its place."""
    numbers = [float(re.findall(r"[\d.]+", each)[0]) if re.search(r"\d", each) else 0.0
               for each in options]  # fmt: skip
    ranked = sorted(range(4), key=lambda at: numbers[at])
    lengths = sorted(range(4), key=lambda at: (len(options[at]), at))
    letters = sorted(range(4), key=lambda at: options[at])
    return {
        **{f"place {at}": at for at in range(4)}, **{f"rank {at}": ranked[at] for at in range(4)},
        "short": lengths[0], "long": lengths[3], "first letter": letters[0],
        "last letter": letters[3],
    }  # fmt: skip


def test_words_alone_do_not_tell_the_answer() -> None:
    """No plain rule over the options is right more often than chance lets it (120 figures)."""
    right: Counter[tuple[str, str]] = Counter()
    count: Counter[tuple[str, str]] = Counter()
    for seed in range(120):
        made = mixed(seed)
        for each, note in zip(made.questions, made.notes, strict=True):
            if note.sort == "crop":
                continue  # tomato each time
            for rule, at in _guesses(each.options or ()).items():
                count[note.sort, rule] += 1
                right[note.sort, rule] += LETTERS[at] == each.answer
    for (sort, rule), n in count.items():
        numbers = sort in ("count", "scale")
        if rule.startswith("place") or numbers == rule.startswith("rank"):
            assert n >= 100
            assert right[sort, rule] / n < 0.37, (sort, rule)
    assert {sort for sort, _ in count} == {"panel", "condition", "count", "scale"}


def test_panels_that_are_counted_or_far_apart_are_not_told_by_their_order() -> None:
    leaves = "Fig. 1. (A) Leaf 1 color, (B) leaf 1 gray, (C) leaf 2 color, (D) leaf 2 gray"
    made = asking.ask(of(leaves, "ABCD"), told(), None, asking.Settings())
    assert {each.sort for each in made.notes} == {"count"}
    names = "ABCDEFGHIJKLMNOPQRST"
    crops = sorted(("apple", "banana", "barley", "bean", "cassava", "coffee", "cotton", "cucumber",
                    "grape", "maize", "orange", "peach", "peanut", "pepper", "potato", "rice",
                    "sorghum", "soybean", "tomato", "wheat"))  # fmt: skip
    caption = "Fig. 1. " + ", ".join(f"({a}) {b} field" for a, b in zip(names, crops, strict=True))
    made = asking.ask(of(caption, names), told(), None, asking.Settings(per_figure=20))
    asked = [each for each in made.questions if each.question.startswith("Which panel")]
    assert len(asked) > 5
    for each in asked:
        places = [names.index(option[-1]) for option in each.options or ()]
        assert max(places) - min(places) <= 5


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Quantitative & Statistical Estimation", "Quantitative"),
        ("quantitative and statistical estimation", "Quantitative"),
        ("Multi-step reasoning", "Reasoning"),
        ("VISUAL", "Visual"),
        ("fine-grained visual discrimination", "Visual"),
        ("other", "Others"),
        ("Cooking", None),
        ("", None),
    ],
)
def test_near_names_of_challenges(given: str, name: str | None) -> None:
    assert challenge_of(given) == name


def test_every_name_of_the_lists_is_itself() -> None:
    assert [domain_of(each) for each in DOMAINS] == list(DOMAINS)
    assert [domain_of(each.replace("&", "and")) for each in DOMAINS] == list(DOMAINS)
    assert [challenge_of(each) for each in CHALLENGES] == list(CHALLENGES)
    assert domain_of("Astronomy") is None


ITEM: dict[str, Any] = {
    "question": "What colour is the halo around the spots?",
    "options": {"A": "yellow", "B": "white", "C": "purple", "D": "black"},
    "correct_answer": "A", "primary_challenge": "Visual",
    "expert_field": "Plant Health & Pathology", "difficulty_explanation": "d",
    "visual_evidence": "v",
}  # fmt: skip


def replied(*items: dict[str, Any]) -> asking.Asked:
    reply = by_model.read(json.dumps({"questions": items}))
    return asking.ask(of("Fig. 1. Spots."), told(), reply, asking.Settings(per_figure=2))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"correct_answer": "a) yellow"}, ""),
        ({"correct_answer": "Yellow"}, ""),
        ({"options": ["yellow", "white", "purple", "black"]}, ""),
        ({"primary_challenge": "Quantitative & Statistical Estimation"}, ""),
        ({"correct_answer": "Option A"}, ""),
        ({"correct_answer": "(A) yellow, as a halo"}, ""),
        ({"correct_answer": "A purple halo"}, "no such answer"),
        ({"correct_answer": "A)yellow"}, ""),
        ({"correct_answer": "C-shaped spots"}, "no such answer"),
        ({"correct_answer": "E"}, "no such answer"),
        ({"correct_answer": "green"}, "no such answer"),
        ({"options": {"A": "yellow", "B": "white", "C": "purple"}}, "not four options"),
        ({"options": {"A": "yellow", "B": "white", "C": "purple", "E": "x"}}, "not four options"),
        ({"options": ["yellow", "white", "", "black"]}, "not four options"),
        ({"options": ["yellow", "Yellow", "purple", "black"]}, "equal options"),
        ({"options": ["yellow", "white", "both A and B", "black"]}, "speaks of other options"),
        ({"options": ["yellow", "white", "none of the above", "black"]}, "speaks of other options"),
        ({"question": "Why is the halo yellow?"}, "answer in the question"),
        ({"question": "What does the caption say of the halo?"}, "asks about the text"),
        ({"question": "According to the authors, what is the halo?"}, "asks about the text"),
        ({"expert_field": "Astronomy"}, "no such domain"),
        ({"primary_challenge": "Hard"}, "no such challenge"),
    ],
)
def test_an_item_of_a_model_is_a_question_or_is_dropped(
    changes: dict[str, Any], reason: str
) -> None:
    made = replied(ITEM | changes)
    assert [each.reason for each in made.drops] == ([reason] if reason else [])
    for each in made.questions:
        assert (each.options or ())[LETTERS.index(each.answer)] == "yellow"
        assert each.evidence == ("v",)
    assert len(made.items) == len(made.questions) + len(made.drops) == 1


def test_a_letter_is_a_letter_where_the_options_are_letters_too() -> None:
    """Options that name panels, in another order than their letters."""
    made = replied(ITEM | {"options": ["C", "A", "D", "B"], "correct_answer": "A"})
    (only,) = made.questions
    assert (only.options or ())[LETTERS.index(only.answer)] == "C"


def test_items_that_are_one_too_many_or_twice_are_drops() -> None:
    items = [ITEM | {"question": f"What is number {word}?"} for word in ("one", "two", "three")]
    made = replied(items[0], items[0], items[1], items[2])
    assert [each.reason for each in made.drops] == ["asked already", "more than was asked for"]


@pytest.mark.parametrize("text", ["", "Sure!", "{}", '{"questions": []}', '{"questions": [{}]}'])
def test_a_reply_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|missing|malformed|truncated"):
        by_model.read(text)


def test_the_schema_names_the_lists_and_the_prompt_gives_the_truth_nowhere() -> None:
    told_of = json.loads(by_model.SCHEMA.read_text())["properties"]["questions"]["items"]
    assert tuple(told_of["properties"]["expert_field"]["enum"]) == DOMAINS
    assert tuple(told_of["properties"]["primary_challenge"]["enum"]) == CHALLENGES
    assert set(told_of["required"]) == set(ITEM)
