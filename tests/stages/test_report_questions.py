"""The page of a question benchmark: what it tells, what it greys, and no HTML from outside."""

from pathlib import Path
from typing import Any

import pytest
from tests.builders import frozen, plain, question

from fieldtruth import store
from fieldtruth.records import Prediction
from fieldtruth.run import answers, results
from fieldtruth.run.answers import Graded
from fieldtruth.stages.report.numbers import Measured
from fieldtruth.stages.report.questions import FEW, Answer, Row
from fieldtruth.stages.score_questions import Settings

HOSTILE = "<script>alert(1)</script>"


def page_of(tmp_path: Path, rows: list[dict[str, Any]], said: dict[str, dict[str, str]]) -> str:
    plain(tmp_path / "photos" / "c.png", 7)
    bench = frozen(tmp_path / "bench", rows)
    paths: list[Path] = []
    for model, words in said.items():
        protocols = {each["id"]: "choice" if each["form"] == "mcq" else "open" for each in rows}
        path = tmp_path / f"{len(paths)}.jsonl"
        store.write(
            path,
            (
                Prediction(item=name, protocol=protocols[name], model=model, text=text)
                for name, text in words.items()
            ),
        )
        paths.append(path)
    wanted = answers.Request(settings=Settings(resamples=50, allow_missing=1.0))
    results.score_answers(bench, paths, wanted, tmp_path / "result")
    return results.report(tmp_path / "result").read_text()


def test_the_same_input_gives_the_same_bytes_and_no_script(tmp_path: Path) -> None:
    rows = [question(f"q{n}", qtype="species", images=["a.png"]) for n in range(3)]
    said = {"m": {f"q{n}": "A" for n in range(3)}}
    pages = []
    for each in ("one", "two"):
        (tmp_path / each).mkdir()
        pages.append(page_of(tmp_path / each, rows, said))
    assert pages[0] == pages[1]
    assert "<script" not in pages[0]
    assert "default-src 'none'" in pages[0]
    assert "3 questions of 3 groups, 1 photo." in pages[0]


def test_words_from_outside_are_text(tmp_path: Path) -> None:
    rows = [
        question(HOSTILE, qtype=HOSTILE, question=HOSTILE, options=[HOSTILE, "b"], crop=HOSTILE),
        question("o", form="open", options=None, answer=HOSTILE, domain=HOSTILE, source=HOSTILE),
    ]
    page = page_of(tmp_path, rows, {HOSTILE: {HOSTILE: HOSTILE, "o": f"{HOSTILE}\x07"}})
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 10
    assert "\x07" not in page


def test_small_cells_are_greyed_and_large_ones_are_not(tmp_path: Path) -> None:
    rows = [question(f"a{n:02d}", qtype="species", group=f"a{n}") for n in range(FEW)]
    rows += [question(f"b{n:02d}", qtype="insect/pest", group=f"b{n}") for n in range(FEW - 1)]
    page = page_of(tmp_path, rows, {"m": {row["id"]: "A" for row in rows}})
    types = page.split("<h3>Type by type</h3>")[1].split("</table>")[0]
    pests, species = types.split("insect/pest")[1].split("<bdi>species</bdi>")
    assert '<tr class="few">' in pests
    assert "n = 19" in pests
    assert '<tr class="few">' not in species
    assert "n = 20" in species


def test_a_type_of_one_group_has_no_interval_and_is_greyed(tmp_path: Path) -> None:
    """Three types of twenty questions: of one paper, of two, and of twenty."""
    rows = [
        question(f"{kind}{n:02}", qtype=kind, group=f"{kind}{n * papers // FEW}")
        for kind, papers in (("a", 1), ("b", 2), ("c", 20))
        for n in range(FEW)
    ]
    said = {
        "half": {r["id"]: "A" if at % FEW < 10 else "B" for at, r in enumerate(rows)},
        "none": {r["id"]: "B" for r in rows},
    }
    page = page_of(tmp_path, rows, said)
    types = page.split("<h3>Type by type</h3>")[1].split("</table>")[0]
    parts = types.split('<th scope="rowgroup"')[1:]
    one, two, many = (part.split("</tr>")[1].strip() for part in parts)
    cell = "<td><b>0.500</b><small>one group</small><small>n = 20</small></td>"
    assert one.startswith(f'<tr class="few"><th scope="row"><bdi>half</bdi></th>{cell}')
    assert two.startswith('<tr class="few">')
    assert "<small>n = 20, 2 groups</small>" in two
    assert many.startswith("<tr><th")
    assert "<small>n = 20</small>" in many
    apart = page.split("Paired differences, part by part")[1].split("</table>")[0]
    assert "<b>\u22120.500</b><small>one group</small>" in apart
    assert "[0.500, 0.500]" not in page
    assert page.count("\u201cOne group\u201d stands in place of an interval where") == 1


def test_unscored_and_lost_answers_are_said_so_and_partial_shares_are_shown(tmp_path: Path) -> None:
    free: dict[str, Any] = {"form": "open", "options": None}
    rows = [question("o1", **free, answer="rust"), question("o2", **free, answer="rust"),
            question("o3", **free, answer="scab")]  # fmt: skip
    page = page_of(tmp_path, rows, {"m": {"o1": "rust", "o2": "rust, or else scab on old leaves"}})
    assert "1 of 2 answers are unscored" in page
    assert "1 of 3 calls failed or are missing" in page
    assert "none: open answers were graded by equality" in page
    assert "<h4>Unscored</h4>" in page
    assert "<h4>Right</h4>" in page
    assert "<h4>Wrong</h4>" not in page


def test_two_models_are_compared_and_several_photos_shown_in_order(tmp_path: Path) -> None:
    rows = [question(f"q{n}", images=["a.png", "c.png"], group=f"g{n}") for n in range(FEW)]
    page = page_of(
        tmp_path, rows, {"good": {r["id"]: "A" for r in rows}, "bad": {r["id"]: "B" for r in rows}}
    )
    assert "good answers more questions than bad under choice: accuracy +1.000" in page
    assert "Paired differences" in page
    card = page.split('<article class="card">')[1]
    first, second = card.index('href="#photo-1"'), card.index('href="#photo-2"')
    assert first < second
    assert page.count("<image ") == 2


def test_under_twenty_questions_no_model_is_ranked(tmp_path: Path) -> None:
    rows = [question(f"q{n}", images=["a.png"], group=f"g{n}") for n in range(FEW - 1)]
    right, wrong = ({r["id"]: letter for r in rows} for letter in "AB")
    page = page_of(tmp_path, rows, {"good": right, "bad": wrong})
    assert "19 questions under choice rank no model" in page
    assert "answers more questions than" not in page


def test_runs_of_one_model_are_not_held_against_each_other(tmp_path: Path) -> None:
    """Base is right of 10 of 20 in one run and of none in the other, tuned of all: 1 - 10 / 40."""
    rows = [question(f"q{n:02}", images=["a.png"], group=f"g{n}") for n in range(FEW)]
    half = {r["id"]: "A" if at < 10 else "B" for at, r in enumerate(rows)}
    said = {
        "base@run1": half, "base@run2": {r["id"]: "B" for r in rows},
        "tuned": {r["id"]: "A" for r in rows},
    }  # fmt: skip
    page = page_of(tmp_path, rows, said)
    assert "tuned answers more questions than base under choice: accuracy +0.750" in page


def test_few_is_told_by_the_scored_questions() -> None:
    def row(n: int) -> Row:
        cell = Measured(0.5, 0.4, 0.6, n)
        return Row(model="m", cells=(cell, cell), counts=(1,), n=99)

    assert row(FEW - 1).few
    assert not row(FEW).few


@pytest.mark.parametrize("grades", [None, ("correct", "not_attempted")])
def test_an_answer_is_kept_as_it_was_graded(tmp_path: Path, grades: Any) -> None:
    one = Graded(
        item="q", protocol="open", model="m", outcome="text", letter=None, grades=grades, text="t"
    )
    store.write(tmp_path / answers.GRADED, [one])
    assert answers.read_graded(tmp_path) == [one]
    assert Answer("q", "open", "m", "t", grades).grades == grades
