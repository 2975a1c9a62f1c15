"""A recipe over dialogues: each step once, nothing twice, and the real one in time."""

import shutil
import time
from pathlib import Path

import pytest

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.run import execute, recipe

ROOT = Path(__file__).parents[2]
MIRAGE = ROOT.parent / "shared" / "data" / "mirage"
RECIPE = """
name = "small"
seed = 3
out = "made"
[ingest]
source = "mirage_dialogues"
path = "mirage"
[facts]
[questions]
per_group = 5
choices = [4, 6]
[freeze.four]
split = "test"
version = "1"
[freeze.six]
split = "test"
version = "1"
choices = 6
[report]
note = "by hand"
"""
ROW = (
    '{"id": "#%d", "question": "What is on my %s?", "answer": "This is %s. Prune the stems.", '
    '"images": ["a%d.jpg"], "category": "Plant Disease Identification", '
    '"meta_data_state": "Ohio", "meta_data_asked_time": "2021-06-03 10:00:00"}\n'
)


def begun(folder: Path) -> Path:
    """The recipe with a release beside it, of talks without photos."""
    (folder / "mirage").mkdir(parents=True)
    told = [("rose", "black spot"), ("apple", "apple scab"), ("peony", "powdery mildew")]
    rows = [ROW % (n, plant, name, n) for n, (plant, name) in enumerate(told)]
    (folder / "mirage/mmst_standard.json").write_text("".join(rows))
    (folder / "small.toml").write_text(RECIPE)
    return folder / "small.toml"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("[facts]\n", "expected both"),
        ("choices = 6\n", "nothing"),
        ('path = "mirage"\n', "expected either"),
    ],
)
def test_recipes_that_lack_something(change: str, words: str, tmp_path: Path) -> None:
    path = begun(tmp_path)
    path.write_text(RECIPE.replace(change, ""))
    if words == "nothing":
        assert recipe.read(path).recipe.freeze["six"].choices is None
        return
    with pytest.raises(Usage, match=words):
        recipe.read(path)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("[split]\n", r"\[split\]: expected a source of photos"),
        ('[predict]\nbenchmark = "four"\nprotocols = ["a"]\n[models.a]\nbackend = "b"\n',
         r"\[predict\]"),
        ('[freeze.x]\nsplit = "test"\nversion = "1"\nchoices = 5\n', "freeze.x.choices"),
    ],
)  # fmt: skip
def test_recipes_that_hold_too_much(more: str, words: str, tmp_path: Path) -> None:
    path = begun(tmp_path)
    path.write_text(RECIPE + more)
    with pytest.raises(Usage, match=words):
        recipe.read(path)


def test_choices_are_set_on_the_command_line(tmp_path: Path) -> None:
    opened = recipe.read(begun(tmp_path), ["questions.choices=4,5,6"])
    assert opened.recipe.questions is not None
    assert opened.recipe.questions.choices == (4, 5, 6)
    with pytest.raises(Usage, match="expected a whole number"):
        recipe.read(tmp_path / "small.toml", ["questions.choices=4,x"])


def test_until_questions_nothing_is_frozen(tmp_path: Path) -> None:
    opened = recipe.read(begun(tmp_path))
    ran = execute.execute(opened, part=execute.Part(until="questions"), quiet=True)
    assert [each.step for each in ran.steps] == ["ingest", "facts", "questions"]
    again = execute.execute(opened, part=execute.Part(until="questions"), quiet=True)
    assert {each.did for each in again.steps} == {"unchanged"}
    made = tmp_path / "made" / "questions"
    assert {path.name for path in made.iterdir()} == {
        "questions.jsonl", "questions-6.jsonl", "evaluation.jsonl", "knowledge.jsonl",
        "drops.jsonl", "manifest.json",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.timeout(600)
@pytest.mark.skipif(not MIRAGE.is_dir(), reason="the real rows are not at hand")
def test_mirage_to_a_frozen_benchmark_in_two_minutes(tmp_path: Path) -> None:
    shutil.copyfile(ROOT / "recipes" / "agmmu.toml", tmp_path / "agmmu.toml")
    opened = recipe.read(tmp_path / "agmmu.toml", [f"ingest.path={MIRAGE}", "out=made"])
    begin = time.process_time()  # what it takes, and not what others take meanwhile
    ran = execute.execute(opened, quiet=True)
    assert time.process_time() - begin < 120
    assert {each.did for each in ran.steps} == {"done"}
    four = store.open_bench(tmp_path / "made/bench/four").questions
    six = store.open_bench(tmp_path / "made/bench/six").questions
    assert [q.id for q in four] == [q.id for q in six]
    assert len(four) >= 20
    assert all(q.images for q in four)
    page = (tmp_path / "made/report.html").read_text()
    assert "photo missing" in page
