"""The last steps of a recipe over papers: asked in several runs, guessed blind, scored, shown."""

import json
from pathlib import Path

import pytest
from tests.papers import by_reportlab

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Prediction, Question
from fieldtruth.run import execute, recipe
from fieldtruth.run.plan import steps

RECIPE = """
name = "mine"
out = "made"
[papers]
path = "pdfs"
any_kind = true
dpi = 60
[questions]
[freeze.questions]
split = "test"
version = "1"
[predict]
benchmark = "questions"
protocols = ["choice", "choice+blank"]
runs = 2
context = "none"
[models.first]
backend = "scripted"
script = { says = "A" }
[models.key]
backend = "scripted"
script = {}
[score]
pairs = ["first@nocontext=key@nocontext"]
[report]
"""


def written(tmp_path: Path, text: str = RECIPE) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text(text)
    (tmp_path / "pdfs").mkdir(exist_ok=True)
    (tmp_path / "pdfs" / "a.pdf").write_bytes(by_reportlab.panels())
    return path


def test_steps_are_one_a_model_a_run_and_a_protocol(tmp_path: Path) -> None:
    opened = recipe.read(written(tmp_path))
    names = [step.name for step in steps(opened, tmp_path / "made")]
    assert names[5:] == [
        "predict first@run1 choice", "predict first@run2 choice", "predict key@run1 choice",
        "predict key@run2 choice", "predict first choice+blank", "guessable", "score", "report",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_recipe_goes_on_to_the_page(tmp_path: Path) -> None:
    ran = execute.execute(recipe.read(written(tmp_path)), quiet=True)
    made = tmp_path / "made"
    assert ran.report == str(made / "report.html")
    questions = list(store.read(made / "questions" / "questions.jsonl", Question))
    assert questions
    share = sum(each.answer == "A" for each in questions) / len(questions)
    scores = json.loads((made / "results" / "score.json").read_text())
    runs = {name: told["choice"]["all"] for name, told in scores["runs"].items()}
    assert runs["key@nocontext"]["value"] == 1.0
    assert runs["first@nocontext"]["value"] == pytest.approx(share)
    assert [runs[name]["sd"] for name in runs] == [0.0, 0.0]
    (row,) = (each for each in scores["paired_parts"] if each["cut"] == "all")
    assert (row["a"], row["b"]) == ("first@nocontext", "key@nocontext")
    assert row["difference"] == pytest.approx(1 - share)
    rows = list(store.read(made / "replies" / "first.choice+blank.jsonl", Prediction))
    assert {each.model for each in rows} == {"first@nocontext"}
    assert not (made / "replies" / "key.choice+blank.jsonl").exists()  # it would guess nothing
    assert len((made / "guessable.jsonl").read_text().splitlines()) == len(questions)
    again = execute.execute(recipe.read(tmp_path / "recipe.toml"), quiet=True)
    assert {each.did for each in again.steps} == {"unchanged"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("runs = 2", "runs = 0", r"predict\.runs: expected 1 to 99, got 0"),
        ("runs = 2", "skip_unsuited = true", r"predict\.skip_unsuited: expected it with photos"),
        ("script = {}", "majority_of = 'questions'", r"\[models\.key\]: expected no fitted or"),
        ("script = {}", "script = { dies_at = 0.5 }", r"models\.key\.script\.dies_at"),
        ('benchmark = "questions"', 'benchmark = "x"', r"predict\.benchmark"),
        ("[report]", "[split]", r"\[split\]"),
    ],
)
def test_what_does_not_go_with_papers(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(Usage, match=told):
        recipe.read(written(tmp_path, RECIPE.replace(old, new)))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("runs = 2", r"\[predict\]: expected runs and context with \[papers\]"),
        ("[score]\npairs = ['a=b']", r"score\.pairs: expected it with \[papers\]"),
        ("[models.b]\nbackend = 'scripted'\nscript = { says = 'A' }", r"models\.b\.script\.says"),
    ],
)
def test_what_goes_with_papers_alone(tmp_path: Path, more: str, told: str) -> None:
    photos = f"""
name = "mine"
out = "made"
[ingest]
source = "folder"
path = "x"
[freeze.b]
split = "test"
version = "1"
[models.a]
backend = "colour"
[predict]
benchmark = "b"
protocols = ["known_target"]
{more}
"""
    path = tmp_path / "r.toml"
    path.write_text(photos)
    with pytest.raises(Usage, match=told):
        recipe.read(path)
