"""Folders of facts to folders of questions: whole, the same bytes again, and every id accounted."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from tests.builders import table
from tests.models.faulty import Answer, Ask, says, serving
from tests.stages.talks import TALKS, all_talks, folder, talk

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, TooManyFailed, Usage
from fieldtruth.records import Drop, Fact, Question
from fieldtruth.run import questioning
from fieldtruth.run.questioning import Made, Writer, questions
from fieldtruth.stages.check import Settings as Checking
from fieldtruth.stages.check import check
from fieldtruth.stages.freeze import Settings as Freezing
from fieldtruth.stages.freeze import freeze
from fieldtruth.stages.questions import Settings

ALL = Settings(per_group=5)
RULES = Writer()


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("talks"))


@pytest.fixture(scope="module")
def made(there: Path) -> tuple[Path, Made]:
    out = there.parent / "asked"
    return out, questions(there, out, ALL, RULES)


def tree(out: Path) -> Mapping[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*"))}


def test_the_books(there: Path, made: tuple[Path, Made]) -> None:
    out, books = made
    facts = list(store.read(there / "facts.jsonl", Fact))
    halves = [list(store.read(out / f"{name}.jsonl", Fact)) for name in ("evaluation", "knowledge")]
    assert sorted((f for half in halves for f in half), key=lambda f: f.id) == sorted(
        facts, key=lambda f: f.id
    )
    asked = list(store.read(out / "questions.jsonl", Question))
    drops = list(store.read(out / "drops.jsonl", Drop))
    kept = Counter(each.id.rpartition(":")[0] for each in asked)
    assert set(kept.values()) == {2}
    assert not {each.parent for each in drops} & kept.keys()
    assert len(kept) + len(drops) == books.funnel["could be asked about"] == 44
    assert (books.evaluation, books.knowledge) == tuple(map(len, halves))
    assert books.funnel["questions"] == len(kept) == sum(books.asked.values())
    assert books.funnel["dialogues"] == books.funnel["with facts and photos"] == len(TALKS)
    assert books.drops == dict(Counter(each.reason for each in drops))
    assert questioning.read_made(out) == books


def test_the_same_bytes_again(there: Path, made: tuple[Path, Made]) -> None:
    out, _ = made
    questions(there, there.parent / "again", ALL, RULES)
    assert tree(out) == tree(there.parent / "again")
    other = there.parent / "seeded"
    questions(there, other, Settings(per_group=5, seed=1), RULES)
    assert tree(out)["questions.jsonl"] != tree(other)["questions.jsonl"]


def test_one_talk_more_changes_no_other_letters(tmp_path: Path) -> None:
    """What is drawn for a question hangs on its id: a talk more changes no place of a truth."""
    dialogues, facts = all_talks()
    less = [each for each in facts if each.dialogue != "hand:rose"]
    few = folder(tmp_path / "few", dialogues[:6] + dialogues[7:], less)
    many = folder(tmp_path / "many")
    for each in (few, many):
        questions(each, each.parent / "asked", ALL, RULES)
    letters = [
        {q.id: q.answer for q in store.read(each.parent / "asked/questions.jsonl", Question)}
        for each in (few, many)
    ]
    assert letters[0].items() <= letters[1].items()


def test_it_checks_and_freezes(there: Path, made: tuple[Path, Made], tmp_path: Path) -> None:
    out, _ = made
    photos = there.parent / "photos"
    report = check(out / "questions.jsonl", Checking(images=photos))
    assert report.problems == ()
    bench = tmp_path / "bench"
    freeze(out / "questions.jsonl", photos, bench, Freezing(name="talks", version="1"))
    opened = store.open_bench(bench)
    asked = list(store.read(out / "questions.jsonl", Question))
    assert [q.background for q in opened.questions] == [
        q.background for q in sorted(asked, key=lambda q: q.id)
    ]


def test_photos_that_are_gone(tmp_path: Path) -> None:
    names = ["rose", "oak"]
    some = folder(tmp_path, photos=names)
    books = questions(some, tmp_path / "asked", ALL, RULES)
    assert books.drops["photo missing"] > 20
    facts = list(store.read(tmp_path / "asked/knowledge.jsonl", Fact))
    assert {each.dialogue for each in facts} == {f"hand:{r[0]}" for r in TALKS if r[0] not in names}
    nowhere = tmp_path / "photos"
    nowhere.rename(tmp_path / "elsewhere")
    books = questions(some, tmp_path / "none", ALL, RULES)
    assert books.funnel["questions"] == 0
    assert books.evaluation == 0
    moved = questions(some, tmp_path / "moved", ALL, Writer(images=tmp_path / "elsewhere"))
    assert moved.funnel["questions"] > 0


def test_a_folder_without_facts_to_ask(tmp_path: Path) -> None:
    dialogue, _ = talk("peony")
    books = questions(folder(tmp_path, [dialogue], []), tmp_path / "asked", ALL, RULES)
    assert books.funnel["questions"] == 0
    assert questioning.line(books, tmp_path).endswith(
        "0 questions, each as a choice and open (none); not asked: none; 0 facts held out, 0 of "
        f"knowledge. In {tmp_path}"
    )


# --- what is refused ---------------------------------------------------------------------------


def test_a_folder_that_is_taken(there: Path, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    with pytest.raises(Usage, match="or an empty one"):
        questions(there, tmp_path, ALL, RULES)
    assert (tmp_path / "x").read_text() == "x"


@pytest.mark.parametrize("name", ["dialogues.jsonl", "facts.jsonl", "manifest.json"])
def test_a_folder_that_is_not_whole(name: str, tmp_path: Path) -> None:
    some = folder(tmp_path)
    (some / name).unlink()
    with pytest.raises(Usage, match=f"expected {name}"):
        questions(some, tmp_path / "asked", ALL, RULES)


def test_facts_of_something_else(tmp_path: Path) -> None:
    dialogue, facts = talk("peony")
    some = folder(tmp_path, [dialogue], [msgspec.structs.replace(facts[0], dialogue="x")])
    with pytest.raises(BadRecord, match=r"facts.jsonl:1 .*expected a dialogue beside it"):
        questions(some, tmp_path / "asked", ALL, RULES)
    other = tmp_path / "other"
    some = folder(other, [dialogue], [msgspec.structs.replace(facts[0], group="x")])
    with pytest.raises(BadRecord, match="expected the dialogue's group"):
        questions(some, other / "asked", ALL, RULES)


def test_a_manifest_that_is_none(tmp_path: Path) -> None:
    some = folder(tmp_path)
    (some / "manifest.json").write_text("[" * 9_999)
    with pytest.raises(BadRecord, match="expected a manifest"):
        questions(some, tmp_path / "asked", ALL, RULES)


def test_dialogues_that_nobody_looked_through(tmp_path: Path) -> None:
    some = folder(tmp_path)
    books = json.loads((some / "manifest.json").read_text())
    books["personal"]["names"] = False
    (some / "manifest.json").write_text(json.dumps(books))
    with pytest.raises(Refused, match="names of people"):
        questions(some, tmp_path / "asked", ALL, RULES)
    made = questions(some, tmp_path / "told", ALL, Writer(because="they are invented"))
    assert made.because == "they are invented"
    del books["personal"]
    (some / "manifest.json").write_text(json.dumps(books))
    with pytest.raises(Refused, match="fieldtruth scrub"):
        questions(some, tmp_path / "asked", ALL, Writer(because="they are invented"))


@pytest.mark.parametrize("text", ["", "four", "4,,5", "4;5"])
def test_numbers_of_options(text: str) -> None:
    with pytest.raises(Usage, match="--options"):
        questioning.numbers(text)


def test_rules_take_no_options(there: Path, tmp_path: Path) -> None:
    with pytest.raises(Usage, match="--model"):
        questions(there, tmp_path / "asked", ALL, Writer(options={"a": "b"}))


# --- a model -----------------------------------------------------------------------------------


def wrong(*names: str) -> str:
    return json.dumps({"wrong": names})


def test_a_model_writes_wrong_answers(there: Path, tmp_path: Path) -> None:
    said = {
        "hand:tomato:disease": wrong("leaf mold", "early blight", "target spot", "Buckeye rot"),
        "hand:potato:disease": "no JSON",
    }
    others = {
        f"hand:{row[0]}:{kind}": "{}"
        for row in TALKS for kind in ("disease", "pest", "species", "management", "symptom")
    }  # fmt: skip
    path = table(tmp_path / "table.jsonl", others | said)
    writer = Writer(model="scripted", options={"table": str(path)}, cache=tmp_path / "replies")
    made = questions(there, tmp_path / "asked", ALL, writer)
    asked = {q.id: q for q in store.read(tmp_path / "asked/questions.jsonl", Question)}
    assert set(asked["hand:tomato:disease:mcq"].options or ()) == {
        "early blight", "leaf mold", "target spot", "buckeye rot",
    }  # fmt: skip
    assert len(asked["hand:potato:disease:mcq"].options or ()) == 4  # ours, in place of none
    assert made.wrong_answers == "scripted"
    assert "model failed" not in made.drops


def test_a_server_that_fails(there: Path, tmp_path: Path) -> None:
    writer = Writer(
        model="scripted",
        options={"table": str(table(tmp_path / "t.jsonl", {"hand:rose:pest": wrong("thrips")}))},
    )
    made = questions(there, tmp_path / "asked", ALL, writer)
    assert made.drops["model failed"] == made.funnel["chosen"] - 1
    with pytest.raises(TooManyFailed, match="calls failed"):
        questioning.check(made, 0.5)
    questioning.check(made, 1.0)


def test_a_served_model_is_asked_for_the_schema(there: Path, tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    asked: list[Ask] = []

    def reply(ask: Ask) -> Answer:
        asked.append(ask)
        return says(wrong("Aaa", "Bbb", "Ccc", "Ddd"))

    with serving(reply) as server:
        options = {"model": "m", "base_url": server.url}
        writer = Writer(model="openai", options=options, cache=tmp_path / "replies")
        first = questions(there, tmp_path / "a", Settings(want=4), writer)
        count = len(asked)
        again = questions(there, tmp_path / "b", Settings(want=4), writer)
    assert count == 4 == len(asked)
    shape = asked[0].body["response_format"]["json_schema"]["schema"]
    assert shape["required"] == ["wrong"]
    assert first.spent is not None
    assert first.spent.calls == 4
    assert again.spent is not None
    assert again.spent.calls == 0
    assert tree(tmp_path / "a")["questions.jsonl"] == tree(tmp_path / "b")["questions.jsonl"]
