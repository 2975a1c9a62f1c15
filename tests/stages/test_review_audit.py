"""An audit of machine-made boxes: who is drawn, and what the verdicts come to."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score
from statsmodels.stats.proportion import proportion_confint
from tests.builders import boxed, plain, target

from fieldtruth import store
from fieldtruth.draws import key
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Drop
from fieldtruth.stages.review.sampling import Boxed, Sampled, Settings, sample, shares
from fieldtruth.stages.review.verdicts import Verdict, audit, line, wilson

STRATA = {"cddm/lesion": 40, "cddm/object": 25, "leafnet/lesion": 9, "agmmu/object": 3}


def population(root: Path) -> list[Boxed]:
    """As many annotations as `STRATA` says, each of a photo of its own."""
    made = []
    for stratum, count in STRATA.items():
        source, level = stratum.split("/")
        for at in range(count):
            photo = plain(root / source / f"{level}-{at}.png", at)
            of = target(f"{source}:{level}-{at}")
            mark = boxed(of, image=photo.name, level=level, scores=(0.2 + 0.01 * at,))
            made.append(Boxed(mark, of, source, root / source))
    return made


def drawn(folder: Path) -> list[Sampled]:
    return list(store.read(folder / "sample.jsonl", Sampled))


def test_strata_share_equally_and_the_small_give_to_the_others(tmp_path: Path) -> None:
    made = sample(population(tmp_path), tmp_path / "out", Settings(number=30, strata=3))
    assert made.strata == {"cddm/lesion": 11, "cddm/object": 10, "leafnet/lesion": 9}
    assert (made.photos, made.drawn, made.tasks) == (77, 30, 30)
    rows = drawn(tmp_path / "out")
    assert {each.stratum: each.stratum_size for each in rows} == {
        "cddm/lesion": 40, "cddm/object": 25, "leafnet/lesion": 9,
    }  # fmt: skip
    assert all(each.scores for each in rows)


def test_the_published_numbers() -> None:
    """Eight strata of enough photos share 100 as 13 13 13 13 12 12 12 12."""
    size = {str(at): 1000 - at for at in range(9)}
    assert list(shares(size, 100, 8).values()) == [13] * 4 + [12] * 4


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 20), max_size=8),
       st.integers(1, 60), st.integers(1, 8))  # fmt: skip
def test_shares_are_full_and_fair(size: dict[str, int], number: int, strata: int) -> None:
    made = shares(size, number, strata)
    assert len(made) == min(len(size), strata)
    assert sum(made.values()) == min(number, sum(size[name] for name in made))
    assert all(count <= size[name] for name, count in made.items())
    open_ones = [count for name, count in made.items() if count < size[name]]
    assert not open_ones or max(made.values()) - min(open_ones) <= 1
    assert min((size[name] for name in made), default=0) >= max(
        (n for name, n in size.items() if name not in made), default=0
    )


def test_the_order_of_the_file_is_nothing(tmp_path: Path) -> None:
    """Nor are photos of other strata: what is drawn hangs on ids alone."""
    everything = population(tmp_path)
    for name, rows in (("a", everything), ("b", everything[::-1])):
        sample(rows, tmp_path / name, Settings(number=20))
    files = [
        {p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*.*")}
        for n in "ab"
    ]
    assert files[0] == files[1]
    lesions = [each for each in everything if each.stratum == "cddm/lesion"]
    sample(lesions, tmp_path / "c", Settings(number=5))
    first = sorted(lesions, key=lambda each: key(0, "review sample", each.annotation.id))[:5]
    assert {each.annotation for each in drawn(tmp_path / "c")} == {e.annotation.id for e in first}
    sample(lesions, tmp_path / "d", Settings(number=5, seed=1))
    assert {e.annotation for e in drawn(tmp_path / "d")} != {e.annotation.id for e in first}


def test_a_photo_stands_once_in_a_stratum(tmp_path: Path) -> None:
    """As in question sets, where one photo has many rows."""
    plain(tmp_path / "a.png")
    rows = []
    for at in range(50):
        of = target(f"s:{at}")
        rows.append(Boxed(boxed(of), of, "s", tmp_path))
    made = sample(rows, tmp_path / "out", Settings())
    assert (made.photos, made.tasks) == (1, 1)


def test_photos_that_cannot_be_sent_are_drops(tmp_path: Path) -> None:
    rows = population(tmp_path)
    names = [each.annotation.id for each in rows]
    (rows[0].root / rows[0].annotation.image).unlink()
    plain(rows[1].root / rows[1].annotation.image, size=(24, 32))
    made = sample(rows, tmp_path / "out", Settings(number=100))
    assert made.drops == {"photo_differs": 1, "photo_unreadable": 1}
    assert made.drawn == len(rows) == made.tasks + 2
    drops = store.read(tmp_path / "out" / "drops.jsonl", Drop)
    left = [each.annotation for each in drawn(tmp_path / "out")]
    assert sorted([each.parent or "" for each in drops] + left) == sorted(names)


def test_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="got none"):
        sample([], tmp_path / "out", Settings())
    with pytest.raises(Usage, match="number: expected at least 1"):
        Settings(number=0)


def test_the_machine_and_its_confidence_are_not_shown(tmp_path: Path) -> None:
    sample(population(tmp_path), tmp_path / "out", Settings(number=4))
    shown = (tmp_path / "out" / "tasks.json").read_text()
    assert "score" not in shown
    assert "cddm" not in shown
    tasks = json.loads(shown)
    assert {each["data"]["ask"].partition(": ")[0] for each in tasks} == {"rust (tomato)"}
    assert all(len(each["predictions"][0]["result"]) == 1 for each in tasks)


# --- verdicts ----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sample(population(tmp_path), tmp_path / "out", Settings(number=40))
    return tmp_path / "out"


def verdicts(path: Path, rows: list[Verdict]) -> Path:
    store.write(path, rows)
    return path


def test_rates_weights_and_confidence(folder: Path, tmp_path: Path) -> None:
    """All lesions are correct and all objects too large; no score is higher for it."""
    rows = drawn(folder)
    said = [
        Verdict(id=each.annotation, verdict="correct" if "lesion" in each.stratum else "too_large")
        for each in rows
    ]
    found = audit(verdicts(tmp_path / "v.jsonl", said), folder)
    count = Counter(each.stratum for each in rows)
    objects = count["cddm/object"] + count["agmmu/object"]
    assert (found.sampled, found.judged, found.disputed, found.not_judged) == (40, 40, 0, 0)
    assert found.rates["too_large"].count == found.issues.count == objects
    assert found.weighted_issues.value == pytest.approx((25 + 3) / 77)
    assert found.strata["cddm/object"].issues.value == 1.0
    assert found.strata["cddm/object"].size == 25
    assert found.strata["leafnet/lesion"].rates["correct"].count == count["leafnet/lesion"]
    scores = [each.scores[0] for each in rows]
    good = ["lesion" in each.stratum for each in rows]
    assert found.confidence.auc_mean.value == pytest.approx(roc_auc_score(good, scores))
    assert found.confidence.auc_mean == found.confidence.auc_highest
    mean = np.mean([s for s, g in zip(scores, good, strict=True) if g])
    assert found.confidence.mean["correct"].value == pytest.approx(mean)
    assert "40 of 40 judged by 1 people" in line(found)


def test_the_area_and_its_interval_are_those_of_another_library(
    folder: Path, tmp_path: Path
) -> None:
    rows = drawn(folder)
    rng = np.random.default_rng(3)
    good = [bool(each.scores[0] + rng.normal(0, 0.2) > 0.3) for each in rows]
    said = [
        Verdict(id=each.id, verdict="correct" if g else "missed")
        for each, g in zip(rows, good, strict=True)
    ]
    found = audit(verdicts(tmp_path / "v.jsonl", said), folder).confidence.auc_mean
    scores = np.array([each.scores[0] for each in rows])
    truth = np.array(good)
    values = []
    draws = np.random.default_rng(0)
    for _ in range(1000):
        at = draws.integers(0, len(rows), len(rows))
        if truth[at].any() and not truth[at].all():
            ranks, n = rankdata(scores[at]), truth[at].sum()
            values.append((ranks[truth[at]].sum() - n * (n + 1) / 2) / (n * (len(at) - n)))
    assert found.value == pytest.approx(roc_auc_score(truth, scores))
    assert [found.low, found.high] == pytest.approx(list(np.percentile(values, (2.5, 97.5))))


def test_several_people_vote_and_a_tie_is_disputed(folder: Path, tmp_path: Path) -> None:
    a, b, c, *_ = drawn(folder)
    told = [
        (a, "x", "correct"), (a, "y", "wrong"), (a, "z", "wrong"),
        (b, "x", "correct"), (b, "y", "missed"), (c, "x", "duplicate"),
    ]  # fmt: skip
    said = [Verdict(id=of.id, who=who, verdict=what) for of, who, what in told]
    found = audit(verdicts(tmp_path / "v.jsonl", said), folder)
    assert (found.judged, found.disputed, found.not_judged, found.auditors) == (2, 1, 37, 3)
    assert {name: each.count for name, each in found.rates.items() if each.count} == {
        "wrong": 1, "duplicate": 1,
    }  # fmt: skip
    assert found.alpha.n == 2


def test_nobody_has_judged(folder: Path, tmp_path: Path) -> None:
    found = audit(verdicts(tmp_path / "v.jsonl", []), folder)
    assert (found.judged, found.not_judged) == (0, 40)
    assert (found.issues.value, found.issues.n, found.weighted_issues.n) == (None, 0, 0)
    assert (found.confidence.auc_mean.value, found.confidence.mean) == (None, {})
    assert "none" in line(found)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": "else", "verdict": "correct"}, "ids of the sample, got 'else'"),
        ({"id": "a", "verdict": "fine"}, "v.jsonl:1.*expected one of correct, too_large"),
    ],
)
def test_verdicts_that_are_none(
    folder: Path, tmp_path: Path, row: dict[str, Any], says: str
) -> None:
    (tmp_path / "v.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(BadRecord, match=says):
        audit(tmp_path / "v.jsonl", folder)
    with pytest.raises(Usage, match="what `review sample` made"):
        audit(tmp_path / "v.jsonl", tmp_path)


def test_two_verdicts_of_one_person_and_an_export_without_any(folder: Path, tmp_path: Path) -> None:
    one = drawn(folder)[0]
    twice = [Verdict(id=each, verdict="wrong", who="me") for each in (one.id, one.annotation)]
    with pytest.raises(
        BadRecord, match=f"one verdict of each person, got two on '{one.annotation}'"
    ):
        audit(verdicts(tmp_path / "v.jsonl", twice), folder)
    with pytest.raises(BadRecord, match="expected people's verdicts, got none"):
        audit(folder / "tasks.json", folder)


def test_a_servers_export_is_read(folder: Path, tmp_path: Path) -> None:
    """In its shape; with a real server in `tests/labelstudio`."""
    tasks = json.loads((folder / "tasks.json").read_text())

    def annotation(number: int, *verdict: str, **more: Any) -> dict[str, Any]:
        value = {"choices": list(verdict)}
        result = [{"from_name": "verdict", "type": "choices", "value": value}] if verdict else []
        return {"id": number, "completed_by": 1, "result": result, "updated_at": f"{number}"} | more

    told = [
        [annotation(1, "correct")], [annotation(2, "missed"), annotation(3, "wrong")],
        [annotation(4)], [annotation(5, "correct", "wrong")],
        [annotation(6, "correct", was_cancelled=True)], [],
    ]  # fmt: skip
    rows = [{"data": t["data"], "annotations": a} for t, a in zip(tasks, told, strict=False)]
    (tmp_path / "e.json").write_text(json.dumps(rows))
    found = audit(tmp_path / "e.json", folder)
    assert (found.judged, found.unusable, found.auditors) == (2, 2, 1)
    assert (found.rates["correct"].count, found.rates["wrong"].count) == (1, 1)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_as_statsmodels_has_it(pair: tuple[int, int]) -> None:
    found = wilson(*pair)
    assert [found.low, found.high] == pytest.approx(
        list(proportion_confint(*pair, method="wilson")), abs=1e-9
    )


def test_the_published_verdicts() -> None:
    """62 of 100 photos with every box correct."""
    assert wilson(62, 100).value == 0.62
    assert (wilson(0, 0).value, wilson(0, 0).n) == (None, 0)
