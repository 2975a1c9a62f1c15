"""Papers to evidence to questions about figures: the road, with rules and with a model."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.papers import by_fpdf2
from tests.stages.test_questions_of_figures import ITEM

from fieldtruth import store
from fieldtruth.faults import Refused, TooManyFailed, Usage
from fieldtruth.models.contract import settings_of
from fieldtruth.models.openai.settings import read_settings
from fieldtruth.models.transformers.settings import Settings as Transformers
from fieldtruth.papers.evidence import Evidence
from fieldtruth.papers.records import Figure
from fieldtruth.records import Drop, Question
from fieldtruth.run import (
    evidencing,
    execute,
    figuring,
    picturing,
    recipe,
    screening,
    verifying,
)
from fieldtruth.run.questioning import Writer
from fieldtruth.stages.questions.figures import Note
from fieldtruth.stages.screen import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Figures of one paper."""
    folder = tmp_path_factory.mktemp("cut")
    (folder / "pdfs").mkdir()
    (folder / "pdfs/a.pdf").write_bytes(by_fpdf2.beside())
    screening.screen(folder / "pdfs", folder / "papers", Settings(any_kind=True))
    figuring.figures(folder / "papers", folder / "figures", 50)
    return folder / "figures"


def figures_of(cut: Path) -> list[Figure]:
    return list(store.read_unique(cut / "figures.jsonl", Figure))


def table(path: Path, words: dict[str, str]) -> dict[str, str]:
    rows = [json.dumps({"id": name, "text": text}) for name, text in words.items()]
    path.write_text("".join(f"{row}\n" for row in rows))
    return {"table": str(path)}


def test_the_road_by_rules(cut: Path, tmp_path: Path) -> None:
    found = evidencing.evidence(cut, tmp_path / "e", evidencing.Job())
    ids = [each.id for each in figures_of(cut)]
    assert ids
    assert [each.id for each in store.read(tmp_path / "e/evidence.jsonl", Evidence)] == ids
    assert found.counts["figures"] == len(ids)
    made = picturing.questions(
        tmp_path / "e", tmp_path / "q", picturing.settings(None, 0), Writer()
    )
    questions = list(store.read(tmp_path / "q/questions.jsonl", Question))
    notes = list(store.read(tmp_path / "q/notes.jsonl", Note))
    assert [each.id for each in questions] == [each.id for each in notes]
    assert made.funnel["questions"] == len(questions)
    assert made.short == len(ids)  # its captions support fewer than eight
    for each in questions:
        assert (tmp_path / "q" / made.root / each.images[0]).is_file()
    assert "fewer than 8" in picturing.line(made, tmp_path)


def test_the_road_with_a_model(cut: Path, tmp_path: Path) -> None:
    ids = [each.id for each in figures_of(cut)]
    said = json.dumps({"figure_type": "chart", "passages": ["Words that stand in no such paper."]})
    job = evidencing.Job(
        model="scripted", options=table(tmp_path / "t.jsonl", dict.fromkeys(ids, said)),
        cache=tmp_path / "cache",
    )  # fmt: skip
    found = evidencing.evidence(cut, tmp_path / "e", job)
    assert found.drops == {"not in the paper": len(ids)}
    assert found.types == {"chart": len(ids)}
    evidencing.check(found, tmp_path / "e", job)
    items: list[dict[str, Any]] = [ITEM, ITEM | {"question": "Why is it yellow?"}]
    words = dict.fromkeys(ids[1:], "Sure! Here they are.") | {
        ids[0]: json.dumps({"questions": items})
    }
    writer = Writer(
        model="scripted", options=table(tmp_path / "w.jsonl", words), cache=tmp_path / "cache"
    )
    made = picturing.questions(tmp_path / "e", tmp_path / "q", picturing.settings(2, 0), writer)
    reasons = [each.reason for each in store.read(tmp_path / "q/drops.jsonl", Drop)]
    assert sorted(reasons) == sorted(
        ["answer in the question", *["unreadable reply"] * len(ids[1:])]
    )
    assert made.funnel["questions"] == 1
    if ids[1:]:
        with pytest.raises(TooManyFailed, match="calls failed"):
            picturing.check(made, 0.0)


def test_a_model_that_dies_leaves_no_empty_evidence(cut: Path, tmp_path: Path) -> None:
    job = evidencing.Job(
        model="scripted", options=table(tmp_path / "t.jsonl", {}), cache=tmp_path / "cache"
    )
    found = evidencing.evidence(cut, tmp_path / "e", job)
    assert found.counts["figures"] == 0
    assert found.drops == {"model failed": len(figures_of(cut))}
    with pytest.raises(TooManyFailed, match="could not be asked"):
        evidencing.check(found, tmp_path / "e", job)
    made = picturing.questions(
        tmp_path / "e", tmp_path / "q", picturing.settings(None, 0), Writer()
    )
    assert made.drops == {"no evidence": len(figures_of(cut))}


def test_what_is_not_there_is_said(cut: Path, tmp_path: Path) -> None:
    with pytest.raises(Usage, match="fieldtruth figures"):
        evidencing.evidence(tmp_path, tmp_path / "e", evidencing.Job())
    with pytest.raises(Usage, match="fieldtruth evidence"):
        picturing.questions(cut, tmp_path / "q", picturing.settings(None, 0), Writer())
    with pytest.raises(Usage, match="--want"):
        picturing.refuse(want=3, options="4", faces=False, because=None)
    with pytest.raises(Usage, match="--per-group"):
        picturing.settings(0, 0)
    (tmp_path / "f").mkdir()
    for name in ("figures.jsonl", "papers.jsonl", "manifest.json"):
        (tmp_path / "f" / name).write_bytes((cut / name).read_bytes())
    with pytest.raises(Refused, match="PDFs"):
        evidencing.evidence(tmp_path / "f", tmp_path / "e", evidencing.Job())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("[report]\n", "report"),
        ("[facts]\n", "facts"),
        ('[freeze.b]\nsplit = "test"\nversion = "1"\nchoices = 4\n', "freeze.b"),
        ("[evidence]\nallow_errors = 2\n", "evidence.allow_errors"),
    ],
)
def test_recipes_of_papers_that_hold_too_much(more: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(
        'name = "r"\nout = "o"\n[papers]\npath = "p"\n[questions]\n'
        f'[freeze.a]\nsplit = "test"\nversion = "1"\n{more}'
    )
    with pytest.raises(Usage, match=re.escape(words)):
        recipe.read(path)


def test_people_see_the_figure_with_what_is_said_of_it(cut: Path, tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    from openpyxl import load_workbook

    evidencing.evidence(cut, tmp_path / "e", evidencing.Job())
    made = picturing.questions(
        tmp_path / "e", tmp_path / "q", picturing.settings(None, 0), Writer()
    )
    job = verifying.Job(
        questions=tmp_path / "q", annotators=("ann", "ben"), dialogues=tmp_path / "e"
    )
    sent = verifying.send(job, tmp_path / "s")
    assert sent.rows == made.funnel["questions"] > 0
    page = (tmp_path / "s/questions.html").read_text()
    caption = figures_of(cut)[0].caption
    assert caption.split()[-1] in page
    assert "onversation" not in page
    books = []
    for who in job.annotators:
        book = load_workbook(tmp_path / "s" / f"{who}.xlsx")
        sheet = book["questions"]
        head = [cell.value for cell in sheet[1]]
        assert head[6:10] == ["grounding", "correctness", "relevance", "evidence"]
        for row in range(2, sent.rows + 2):
            sheet.cell(row, head.index("read") + 1).value = "☑"
        if who == "ben":
            sheet.cell(2, head.index("grounding") + 1).value = "☐"
        book.save(tmp_path / f"{who}.xlsx")
        books.append(tmp_path / f"{who}.xlsx")
    back = verifying.receive(books, tmp_path / "s", tmp_path / "back")
    assert back.kept == sent.rows - 1
    assert back.drops == {"grounding": 1}
    assert list(back.funnel)[1:] == [
        "grounding", "correctness", "relevance", "evidence", "not read",
    ]  # fmt: skip


def test_the_recipe_names_the_eleven_models_as_backends_take_them(tmp_path: Path) -> None:
    """With the # taken away they are models of this very recipe."""
    before, mark, after = (ROOT / "recipes/plantxpert.toml").read_text().partition("\n# [models.")
    lines = (mark + after).strip().splitlines()
    (tmp_path / "all.toml").write_text(
        "\n".join([before, *(each.removeprefix("#").strip() for each in lines)])
    )
    made = recipe.read(tmp_path / "all.toml").recipe.models
    asked = {name: each for name, each in made.items() if each.backend != "scripted"}
    assert len(asked) == 11
    for each in asked.values():
        options = {name: str(value) for name, value in each.options.items()}
        if each.backend == "transformers":
            assert settings_of(each.backend, options, Transformers).path.count("/") == 1
        else:
            assert read_settings(options, {}).model.count("/") == 1


@pytest.mark.slow
@pytest.mark.data
def test_the_recipe_runs_on_the_paper_at_hand(tmp_path: Path) -> None:
    papers = ROOT.parent / "shared" / "data" / "papers"
    if not papers.is_dir():
        pytest.skip("the real paper is not at hand")
    settings = [f"papers.path={papers}", f"out={tmp_path / 'made'}", "papers.dpi=60"]
    execute.execute(recipe.read(ROOT / "recipes/plantxpert.toml", settings), quiet=True)
    bench = store.open_bench(tmp_path / "made/bench/questions")
    assert len(bench.questions) >= 15
    assert {each.group for each in bench.questions} == {"0cddc6fda5065ea3"}
    scores = json.loads((tmp_path / "made/results/score.json").read_text())
    assert scores["runs"]["key@nocontext"]["reasoned_choice"]["all"]["value"] == 1.0
    assert {"crops", "domains", "challenges"} <= set(scores["runs"]["key@nocontext"]["choice"])


def test_questions_of_papers_alone_are_told_what_comes_between(tmp_path: Path) -> None:
    (tmp_path / "papers.jsonl").write_text("")
    with pytest.raises(Usage, match="run `fieldtruth figures` on it, and `fieldtruth evidence`"):
        picturing.of_figures(tmp_path)
