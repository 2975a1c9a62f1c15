"""Questions give nothing away, their wrong answers are wrong, and the books balance."""

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import ExifTags, Image
from tests.builders import leaf
from tests.stages.talks import TALKS, all_talks, changed, fact, paint, talk

from fieldtruth import taxonomy
from fieldtruth.faults import Usage
from fieldtruth.models.contract import Words
from fieldtruth.records import Dialogue, Fact, Question
from fieldtruth.run.progress import SILENT
from fieldtruth.stages.questions import Asked, Plan, Settings, ask, plan
from fieldtruth.stages.questions.choosing import choose
from fieldtruth.stages.questions.descriptions import LOOKS
from fieldtruth.stages.questions.drafts import Draft, drafts, sentence, talks
from fieldtruth.stages.questions.invented import read, request
from fieldtruth.stages.questions.names import COMMON_PESTS, ISSUES
from fieldtruth.stages.questions.options import laid_out, pick
from fieldtruth.stages.questions.photos import look
from fieldtruth.stages.questions.settings import TYPES
from fieldtruth.stages.questions.sorts import same_sort
from fieldtruth.stages.questions.taken import Pool, Ready, held

ALL = Settings(per_group=5)


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paint(tmp_path_factory.mktemp("photos"))


def made(photos: Path, how: Settings = ALL) -> tuple[Plan, Asked]:
    dialogues, facts = all_talks()
    planned = plan(dialogues, facts, photos, how, SILENT)
    return planned, ask(planned, facts, {}, how)


@pytest.fixture(scope="module")
def asked(photos: Path) -> list[Question]:
    return list(made(photos)[1].questions[4])


def of_type(questions: Sequence[Question], qtype: str, form: str = "mcq") -> list[Question]:
    return [each for each in questions if each.qtype == qtype and each.form == form]


def right(question: Question) -> str:
    return (question.options or ())["ABCDEF".index(question.answer)]


# --- leaks: a reader that knows nothing of ours -------------------------------------------------

PLAIN = {"the", "a", "an", "of", "in", "on", "with", "and", "it", "is", "to", "from", "at", "this",
         "leaf", "leaves", "plant", "disease", "pest", "insect", "issue", "down", "under", "before",
         "each", "like", "no", "both", "them", "into", "around", "along", "among", "out", "or",
         "every", "year", "whole", "here", "next", "side"}  # fmt: skip


def roots(text: str) -> set[str]:
    """Words without their ends, as crudely as can be."""
    return {re.sub(r"(ies|es|s|ing|ed|e|y)$", "", each) for each in
            set(re.findall(r"[a-z]+", text.lower())) - PLAIN if len(each) > 2}  # fmt: skip


def test_nothing_of_the_answer_stands_before_it(asked: list[Question]) -> None:
    assert len(asked) > 60
    for each in asked:
        answer = each.answer if each.form == "open" else right(each)
        assert not roots(answer) & roots(f"{each.question} {each.background}"), each


def test_species_questions_see_only_symptoms(asked: list[Question]) -> None:
    found = of_type(asked, "species")
    assert len(found) == 8
    for each in found:
        lines = each.background.splitlines()
        assert all(line.startswith("Seen: ") for line in lines)
        name = each.id.split(":")[1]
        symptoms = [sentence(text) for row in TALKS if row[0] == name
                    for kind, text in row[5] if kind == "y"]  # fmt: skip
        assert [line.removeprefix("Seen: ") for line in lines] == symptoms


def test_symptom_questions_see_the_species(asked: list[Question]) -> None:
    found = of_type(asked, "symptom/visual description")
    assert len(found) == 14
    species = {row[0]: row[2] for row in TALKS}
    for each in found:
        assert each.question.startswith(f"Asked about: {species[each.id.split(':')[1]]}. ")


def test_the_background_is_kept_apart(asked: list[Question]) -> None:
    by_id = {each.id: each for each in asked}
    peony = by_id["hand:peony:disease:mcq"]
    assert peony.question == "What disease or other issue is seen here?"
    assert peony.background == (
        "Plant: peony\nPlace: Ohio\nAsked in: 2021-06\nTold by the grower: It stands in shade."
    )
    # The answer names the plant: it is not told, and the rest stays.
    assert by_id["hand:apple:disease:mcq"].background == "Place: Ohio\nAsked in: 2021-06"


def test_what_the_expert_adds_is_no_background(photos: Path) -> None:
    dialogue, facts = talk("peony")
    facts.append(fact(dialogue, "b", "We see it.", category="disease", species="peony"))
    planned = plan([dialogue], facts, photos, ALL, SILENT)
    assert all("We see it" not in each.background for each in planned.chosen)


# --- wrong answers -----------------------------------------------------------------------------


def test_each_choice_has_one_right_answer(asked: list[Question]) -> None:
    for each in asked:
        if each.form == "open":
            assert each.options is None
            continue
        options = each.options or ()
        assert len(options) == len(set(options)) == 4
        truth = right(each)
        others = [option for option in options if option != truth]
        if each.qtype in list(TYPES)[:3]:
            assert not any(taxonomy.conflict(option, truth, each.crop) for option in others)
            assert not any(a != b and taxonomy.conflict(a, b, each.crop)
                           for a in others for b in others)  # fmt: skip
        else:
            kind = next(known for known in TYPES if known == each.qtype)
            assert not any(same_sort(kind, option, truth) for option in others)


def test_wrong_names_are_of_the_host_where_there_are_enough(asked: list[Question]) -> None:
    for name, crop in (("tomato", "tomato"), ("potato", "potato"), ("grape", "grape")):
        (each,) = [q for q in asked if q.id == f"hand:{name}:disease:mcq"]
        for option in set(each.options or ()) - {right(each)}:
            label = taxonomy.label(option)
            assert label is not None
            assert label.kind == "disease"
            assert crop in label.hosts


def test_wrong_issues_are_issues_that_nothing_living_causes(asked: list[Question]) -> None:
    for name in ("maple", "corn", "citrus"):
        (each,) = [q for q in asked if q.id == f"hand:{name}:disease:mcq"]
        told = {"soil compaction", "nitrogen deficiency", "magnesium deficiency"}
        assert set(each.options or ()) <= set(ISSUES) | told


def test_nothing_that_is_named_in_the_dialogue_is_a_wrong_answer(photos: Path) -> None:
    dialogue, facts = talk("tomato")
    there = " ".join(each.replace("blight", "") for each in taxonomy.names()
                     if (label := taxonomy.label(each)) and "tomato" in label.hosts)  # fmt: skip
    grower = msgspec.structs.replace(dialogue.turns[0], text=f"No {there}")
    others = [talk(row[0])[0] for row in TALKS if row[0] != "tomato"]
    rest = [each for row in TALKS if row[0] != "tomato" for each in talk(row[0])[1]]
    talked = [changed(dialogue, turns=(grower, dialogue.turns[1])), *others]
    planned = plan(talked, [*facts, *rest], photos, ALL, SILENT)
    (ready,) = [each for each in planned.chosen if each.draft.id == "hand:tomato:disease"]
    found = Pool(planned.drafts).wrong(ready, (), 5, 0)
    text = f" {taxonomy.normalise(there)} "
    assert found
    assert not [each for each in found if f" {each} " in text]


def test_a_synonym_is_no_wrong_answer() -> None:
    dialogue, _ = talk("citrus")
    said = msgspec.structs.replace(dialogue.turns[1], text="It is huanglongbing.")
    dialogue = changed(dialogue, turns=(dialogue.turns[0], said))
    stated = [fact(dialogue, "d", "huanglongbing", crop="citrus")]
    planned = plan([dialogue], stated, None, ALL, SILENT)
    (draft,) = planned.drafts
    assert draft.truths == ("huanglongbing",)
    found = Pool([draft]).wrong(ready_of(draft), ["citrus greening", "HLB", "canker"], 3, 0)
    assert "citrus greening" not in found
    assert "hlb" not in found


def ready_of(draft: Draft) -> Ready:
    return Ready(
        draft=draft, question="?", background="", truths=draft.truths, option=draft.truths[0]
    )


SAME: list[tuple[str, str, bool]] = [
    ("Prune out dead wood.", "Cut off affected limbs.", True),
    ("No treatment is needed.", "They can simply be ignored.", True),
    ("Leave it alone.", "It will not harm the tree.", True),
    ("Water deeply once a week.", "Improve the drainage.", True),
    ("Spray with neem oil.", "Apply a fungicide.", True),
    ("Dig out the whole crown.", "Mulch under the rows.", False),
    ("Choose resistant cultivars.", "Spray copper.", False),
]


@pytest.mark.parametrize(("a", "b", "expected"), SAME)
def test_advice_of_one_sort(a: str, b: str, *, expected: bool) -> None:
    assert same_sort("management instructions", a, b) is expected
    assert same_sort("management instructions", b, a) is expected


def test_our_own_names_and_looks_stand_beside_each_other() -> None:
    for names in (ISSUES, COMMON_PESTS):
        clash = [(a, b) for a in names for b in names if a < b and taxonomy.conflict(a, b)]
        assert clash == []
    assert len(set(LOOKS)) == len(LOOKS)
    assert all(each == sentence(each) for each in LOOKS)


@given(
    st.lists(st.text("abc", min_size=1, max_size=9), unique=True, max_size=12),
    st.text("xyz", min_size=1, max_size=9),
    st.integers(1, 5),
    st.text(max_size=5),
)
def test_as_many_are_taken_as_there_are(pool: list[str], truth: str, n: int, name: str) -> None:
    taken = pick(truth, pool, n, (0, name))
    assert len(taken) == min(n, len(pool))
    assert len(set(taken)) == len(taken)
    assert set(taken) <= set(pool)
    assert taken == pick(truth, pool, n, (0, name))


def test_neither_place_nor_length_tells() -> None:
    """Of 4,000 draws each letter is right a quarter of the time, and so is each rank by length."""
    pool = ["a" * n for n in range(1, 40) if n != 20]
    letters, ranks = Counter[str](), Counter[int]()
    for number in range(4_000):
        wrong = pick("b" * 20, pool, 5, (3, str(number)))
        options, letter = laid_out("b" * 20, wrong, 4, (3, str(number)))
        letters[letter] += 1
        ranks[sorted(map(len, options)).index(20)] += 1
    for counts in (letters, ranks):
        assert len(counts) == 4
        assert all(abs(n - 1_000) < 120 for n in counts.values()), counts  # 4.4 sigma


def test_six_options_hold_the_four(photos: Path) -> None:
    how = Settings(per_group=5, options=(4, 5, 6))
    _, done = made(photos, how)
    four, five, six = (
        {each.id: each for each in done.questions[count] if each.form == "mcq"}
        for count in (4, 5, 6)
    )
    assert four.keys() == five.keys() == six.keys()
    assert four
    for name, each in four.items():
        few, some, more = (set(q.options or ()) for q in (each, five[name], six[name]))
        assert (len(few), len(some), len(more)) == (4, 5, 6)
        assert few < some < more
        assert right(each) == right(five[name]) == right(six[name])


# --- statements --------------------------------------------------------------------------------


def test_several_statements_are_facts(asked: list[Question]) -> None:
    choice, free = (
        next(each for each in asked if each.id == f"hand:tomato:management:{form}")
        for form in ("mcq", "open")
    )
    facts = ("Mulch under the rows.", "Rotate beds every year.")
    assert choice.facts == free.facts == facts
    assert free.answer == right(choice) == " ".join(facts)
    assert choice.evidence == facts
    assert all(each.facts == () for each in asked if each.qtype in list(TYPES)[:3])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("  - also, remove it ;", "Remove it."), ("Water\n it", "Water it."),
        ("However the leaves fell", "The leaves fell."), ("", ""), ("...", ""),
        ("Firstborn shoots", "Firstborn shoots."), ("then then", "Then."),
    ],
)  # fmt: skip
def test_a_sentence(said: str, expected: str) -> None:
    assert sentence(said) == expected


# --- what cannot be asked ----------------------------------------------------------------------


def dropped(dialogue: Dialogue, facts: Sequence[Fact], photos: Path | None) -> dict[str, str]:
    found = plan([dialogue], facts, photos, ALL, SILENT).drops
    return {each.parent or "": each.reason for each in found}


CANNOT: list[tuple[str, str, dict[str, Any], str]] = [
    ("d", "fungus", {}, "vague answer"),
    ("d", "insects", {}, "vague answer"),
    ("d", "It was a long and hot summer and that is all there is to it.", {}, "vague answer"),
    ("d", "rust", {}, "several answers"),
    ("y", "Grubs on the roses.", {"species": "rose"}, "answer in the question"),
    ("m", "Prune the apple.", {}, "answer in the question"),
    ("m", "It is what it is.", {}, "vague answer"),
]


@pytest.mark.parametrize(("kind", "text", "changes", "reason"), CANNOT)
def test_what_cannot_be_asked(
    kind: str, text: str, changes: dict[str, Any], reason: str, photos: Path
) -> None:
    dialogue, _ = talk("peony")
    said = msgspec.structs.replace(dialogue.turns[1], text=f"{text} Or scab.")
    dialogue = changed(dialogue, turns=(dialogue.turns[0], said))
    facts = [fact(dialogue, kind, text, **changes)]
    if reason == "several answers":
        facts.append(fact(dialogue, "d", "scab"))
    assert set(dropped(dialogue, facts, photos).values()) == {reason}


def test_less_said_of_the_same_thing_is_no_second_answer(photos: Path) -> None:
    dialogue, facts = talk("apple")
    said = msgspec.structs.replace(dialogue.turns[1], text=dialogue.turns[1].text + " A rust.")
    dialogue = changed(dialogue, turns=(dialogue.turns[0], said))
    facts.append(fact(dialogue, "d", "rust", species="apple", crop="apple"))
    (draft,) = [each for each in drafts(talks([dialogue], facts)) if each.id.endswith("disease")]
    assert (draft.truths, draft.why_not) == (("cedar apple rust",), "")


def test_photos_that_are_not_there(photos: Path, tmp_path: Path) -> None:
    dialogue, facts = talk("peony")
    alone = changed(dialogue, turns=(msgspec.structs.replace(dialogue.turns[0], images=()),
                                     dialogue.turns[1]))  # fmt: skip
    assert set(dropped(alone, facts, photos).values()) == {"no photo"}
    assert set(dropped(dialogue, facts, tmp_path).values()) == {"photo missing"}
    assert set(dropped(dialogue, facts, None).values()) == {"photo missing"}
    told = changed(dialogue, missing=("peony.png",))
    assert set(dropped(told, facts, photos).values()) == {"photo missing"}
    (tmp_path / "peony.png").write_bytes(b"no photo")
    assert set(dropped(dialogue, facts, tmp_path).values()) == {"photo unreadable"}
    assert dropped(dialogue, facts, photos) == {}


def test_a_photo_that_tells_by_whom_it_was_taken(photos: Path, tmp_path: Path) -> None:
    dialogue, facts = talk("peony")
    exif = Image.Exif()
    exif[ExifTags.Base.Artist] = "Jane Roe"
    shutil.copytree(photos, tmp_path / "told")
    with Image.open(photos / "peony.png") as photo:
        photo.save(tmp_path / "told" / "peony.png", exif=exif)
    reasons = set(dropped(dialogue, facts, tmp_path / "told").values())
    assert reasons == {"metadata tells a place or person"}


def test_a_photo_that_may_show_a_face(photos: Path) -> None:
    dialogue, facts = talk("peony")
    dialogue = changed(dialogue, faces=("peony.png",))
    assert set(dropped(dialogue, facts, photos).values()) == {"may show a face"}
    seen = plan([dialogue], facts, photos, Settings(per_group=5, faces=True), SILENT)
    assert seen.drops == []


def test_nothing_is_given_out_of_a_talk_with_personal_data(photos: Path) -> None:
    dialogues, facts = all_talks()
    told = msgspec.structs.replace(dialogues[0].turns[0], text="Call me: 614-555-0199.")
    dialogues[0] = changed(dialogues[0], turns=(told, dialogues[0].turns[1]))
    planned = plan(dialogues, facts, photos, ALL, SILENT)
    done = ask(planned, facts, {}, ALL)
    assert not [each for each in planned.drafts if each.id.startswith("hand:peony:")]
    mine = [each.id for each in facts if each.dialogue == "hand:peony"]
    assert [each.parent for each in done.personal] == mine
    assert {each.reason for each in done.personal} == {"personal data"}
    kept = [each.id for each in (*done.evaluation, *done.knowledge)]
    assert sorted([*kept, *mine]) == sorted(each.id for each in facts)


# --- photos and groups -------------------------------------------------------------------------


def test_conversations_that_share_a_photo_are_one_group(tmp_path: Path) -> None:
    dialogues, _ = all_talks()
    paint(tmp_path)
    (tmp_path / "tomato.png").write_bytes((tmp_path / "peony.png").read_bytes())
    spots = [(60, 50, 90, 70), (95, 60, 105, 75)]
    leaf(tmp_path / "oak.png", spots, 9)
    Image.open(tmp_path / "oak.png").resize((320, 240)).save(tmp_path / "rose.png")
    seen = look(dialogues, tmp_path, ALL, SILENT)
    assert seen.group["g:tomato"] == seen.group["g:peony"] == "g:peony"
    assert seen.group["g:rose"] == seen.group["g:oak"] == "g:oak"
    assert seen.joined == 4
    assert sum(name == group for name, group in seen.group.items()) == len(dialogues) - 2


def test_photos_that_are_not_there_are_told_apart_by_path() -> None:
    dialogues, _ = all_talks()
    both = [dialogues[0], changed(dialogues[1], turns=dialogues[0].turns)]
    seen = look(both, None, ALL, SILENT)
    assert set(seen.group.values()) == {"g:peony"}


def test_evaluation_and_knowledge_share_no_conversation_and_no_photo(tmp_path: Path) -> None:
    dialogues, facts = all_talks()
    paint(tmp_path)
    (tmp_path / "tomato.png").write_bytes((tmp_path / "peony.png").read_bytes())
    how = Settings(want=6)
    planned = plan(dialogues, facts, tmp_path, how, SILENT)
    done = ask(planned, facts, {}, how)
    ids = [each.id for each in (*done.evaluation, *done.knowledge)]
    assert sorted(ids) == sorted(each.id for each in facts)
    held_out = {each.group for each in done.evaluation}
    free = {each.group for each in done.knowledge}
    assert held_out
    assert free
    assert not held_out & free
    assert ("g:peony" in held_out) == ("g:tomato" in held_out)
    by_bytes = {each.id: (tmp_path / each.images[0]).read_bytes() for each in dialogues}
    of = {each.dialogue for each in done.evaluation}, {each.dialogue for each in done.knowledge}
    assert not {by_bytes[each] for each in of[0]} & {by_bytes[each] for each in of[1]}
    assert {each.group for each in done.questions[4]} <= held_out | {"g:peony"}


# --- choosing ----------------------------------------------------------------------------------


def test_types_are_even(photos: Path) -> None:
    planned, _ = made(photos, Settings(want=10))
    types = Counter(each.draft.knowledge for each in planned.chosen)
    assert set(types.values()) == {2}
    assert len(types) == 5
    groups = Counter(each.draft.group for each in planned.chosen)
    assert set(groups.values()) == {1}


def test_labels_are_as_many_as_there_are() -> None:
    dialogue, facts = talk("tomato")
    some = []
    for number in range(40):
        name = "early blight" if number < 30 else f"spot {number}"
        one = changed(dialogue, id=f"hand:{number}", group=f"g{number}")
        stated = msgspec.structs.replace(
            facts[0], id=f"f{number}", dialogue=one.id, group=one.group, label=name
        )
        some += drafts(talks([one], [stated]))
    groups = {draft.group: draft.group for draft in some}
    taken = choose(some, groups, Settings(want=11))
    assert Counter(each.label for each in taken).most_common(1)[0][1] == 1
    assert len(choose(some, groups, Settings(want=12))) == 12
    assert len(choose(some, groups, Settings())) == 40


@given(st.permutations(range(len(TALKS))), st.integers(1, 40), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_the_order_of_a_file_changes_nothing(order: list[int], want: int, most: int) -> None:
    dialogues, facts = all_talks()
    groups = {each.group: each.group for each in dialogues}
    how = Settings(want=want, per_group=most)
    plain = choose(drafts(talks(dialogues, facts)), groups, how)
    mixed = choose(drafts(talks([dialogues[at] for at in order], facts[::-1])), groups, how)
    assert [each.id for each in plain] == [each.id for each in mixed]
    assert len(plain) <= want
    assert max(Counter(each.group for each in plain).values()) <= most


def test_every_draft_is_asked_or_dropped_once(photos: Path) -> None:
    planned, done = made(photos, Settings(want=9))
    kept = {each.id.rpartition(":")[0] for each in done.questions[4]}
    lost = [each.parent for each in (*planned.drops, *done.drops)]
    assert len(lost) == len(set(lost))
    assert kept | set(lost) == {each.id for each in planned.drafts}
    assert not kept & set(lost)


@pytest.mark.parametrize(
    "wrong",
    [{"want": 0}, {"per_group": 0}, {"options": ()}, {"options": (4, 4)}, {"options": (1,)},
     {"options": (7,)}, {"radius": 17}],
)  # fmt: skip
def test_settings_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(Usage, match="expected"):
        Settings(**wrong)


# --- wrong answers of a model ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (Words(text='{"wrong": ["a", " b\\n c "]}'), ["a", "b c"]),
        (Words(text='<think>{"wrong": ["x"]}</think>{"wrong": ["a"]}'), ["a"]),
        (Words(text='Here:\n```json\n{"wrong": ["a"]}\n```'), ["a"]),
        (Words(text='{"wrong": "a"}'), []), (Words(text=""), []), (Words(text="[" * 9_999), []),
        (Words(text='{"wrong": ["a"', finish="length"), []),
        (Words(text="", finish="error", error="500"), None),
    ],
)  # fmt: skip
def test_what_a_reply_is_read_as(words: Words, expected: list[str] | None) -> None:
    assert read(words) == expected


def test_what_a_model_is_asked_and_what_of_its_words_holds(photos: Path) -> None:
    planned, _ = made(photos)
    (ready,) = [each for each in planned.chosen if each.draft.id == "hand:tomato:disease"]
    prompt = request(ready, 3).prompt
    assert "Write 6 wrong answers" in prompt
    assert "Right answer: early blight" in prompt
    assert "About: tomato" in prompt
    said = ["Early Blight of tomato", "late blight", "Late blight", "none of these", "leaf mold",
            "disease", "Target spot (Corynespora)"]  # fmt: skip
    assert held(ready, said) == ["late blight", "leaf mold", "target spot"]
    (ready,) = [each for each in planned.chosen if each.draft.id == "hand:lawn:management"]
    said = ["dig it out by the root", "Mow it high.", "Cover it with a net", "All of the above"]
    assert held(ready, said) == ["Mow it high.", "Cover it with a net."]


def test_a_model_that_fails_costs_its_question_and_no_more(photos: Path) -> None:
    dialogues, facts = all_talks()
    planned = plan(dialogues, facts, photos, ALL, SILENT)
    done = ask(planned, facts, {"hand:tomato:disease": None, "hand:rose:pest": []}, ALL)
    assert [(each.parent, each.reason) for each in done.drops] == [
        ("hand:tomato:disease", "model failed")
    ]
    assert any(each.id == "hand:rose:pest:mcq" for each in done.questions[4])
