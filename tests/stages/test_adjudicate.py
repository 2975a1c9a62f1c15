"""Two experts and a key: every road an id can go, and the books of all of them."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.stages.adjudicate import Adjudication, adjudicate, line, write

Answers = dict[str, str | None]


def file(path: Path, answers: Answers, **more: Any) -> Path:
    rows = [{"id": name, "answer": said, **more} for name, said in answers.items()]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def settled(folder: Path, a: Answers, b: Answers, key: Answers) -> Adjudication:
    first, second, third = (
        file(folder / name, said) for name, said in (("a", a), ("b", b), ("key", key))
    )
    return adjudicate(first, second, third)


@pytest.mark.parametrize(
    ("a", "b", "key", "gold", "reason"),
    [
        ("A", "A", "A", "A", None),
        ("A", "A", "B", "A", None),  # two experts outweigh the generated answer
        ("A", "A", None, "A", None),
        ("A", "B", "A", "A", None),
        ("A", "B", "B", "B", None),
        ("A", "B", "C", None, "three_way"),
        ("A", "B", None, None, "three_way"),
        (None, "A", "A", None, "flagged"),
        ("A", None, "A", None, "flagged"),
        (None, None, None, None, "flagged"),
    ],
)
def test_every_road(
    tmp_path: Path, a: str | None, b: str | None, key: str | None, gold: str | None,
    reason: str | None,
) -> None:  # fmt: skip
    made = settled(tmp_path, {"q": a}, {"q": b}, {"q": key})
    assert [(each.id, each.answer) for each in made.gold] == ([("q", gold)] if gold else [])
    assert [(each.id, each.reason) for each in made.dropped] == ([("q", reason)] if reason else [])
    assert made.candidates == 1
    assert made.flagged + made.valid == 1


# Answers that both experts gave, by letter, found by search: the paper does not tell them, and with
# the disagreements going through the twelve pairs of letters in turn they give its three kappas.
AGREED = {"soybean": (45, 77, 45, 99), "cotton": (9, 17, 13, 25)}
APART = [(first, second) for first in "ABCD" for second in "ABCD" if first != second]


def paper() -> tuple[Answers, Answers, Answers, dict[str, str]]:
    """As many answers of each sort as PlantXpert counts: 305 of soybean, 80 of cotton."""
    a: Answers = {}
    b: Answers = {}
    key: Answers = {}
    crop = {}
    for name, apart, three_way, flagged in (("soybean", 30, 0, 9), ("cotton", 11, 2, 5)):
        said: list[tuple[str | None, str | None, str]] = []
        for letter, count in zip("ABCD", AGREED[name], strict=True):
            said += [(letter, letter, "ABCD"[at % 4]) for at in range(count)]
        for at in range(apart):
            first, second = APART[at % 12]
            other = next(each for each in "ABCD" if each not in (first, second))
            said.append((first, second, other if at < three_way else (first, second)[at % 2]))
        said += [((None, "A", "A") if at % 2 else ("B", None, "B")) for at in range(flagged)]
        for at, (first_said, second_said, third) in enumerate(said):
            q = f"{name}-{at:03}"
            crop[q], a[q], b[q], key[q] = name, first_said, second_said, third
    return a, b, key, crop


def test_the_books_of_the_paper(tmp_path: Path) -> None:
    """PlantXpert, expert annotation: 385 -> 371 valid, 330 agreed, 2 dropped, 369 gold."""
    a, b, key, crop = paper()
    rows = [{"id": q, "answer": said, "stratum": crop[q]} for q, said in key.items()]
    (tmp_path / "key").write_text("".join(json.dumps(each) + "\n" for each in rows))
    made = adjudicate(file(tmp_path / "a", a), file(tmp_path / "b", b), tmp_path / "key")
    assert (made.candidates, made.flagged, made.valid, made.agreed) == (385, 14, 371, 330)
    assert made.agreement == pytest.approx(0.8895, abs=5e-5)
    assert len(made.gold) == 369
    assert Counter(each.reason for each in made.dropped) == {"flagged": 14, "three_way": 2}
    assert made.by_key == 39
    counts = {name: (each.valid, each.agreed) for name, each in made.strata.items()}
    assert counts == {"cotton": (75, 64), "soybean": (296, 266)}
    assert made.strata["cotton"].kappa.n == 75


def test_the_shape_of_the_contract(tmp_path: Path) -> None:
    made = settled(
        tmp_path,
        {"1": "A", "2": "B", "3": "C", "4": None},
        {"4": "A", "3": "D", "2": "B", "1": "B"},
        {"2": "B", "1": "A", "4": "A", "3": "E", "5": "A"},
    )
    shown = json.loads(msgspec.json.encode(made))
    kappa = shown.pop("kappa")
    assert {name: kappa.pop(name) for name in ("value", "n")} == {
        # po 1/3; chance: A 1/3 x 0, B 1/3 x 2/3, C and D of one expert alone = 2/9
        "value": pytest.approx((1 / 3 - 2 / 9) / (1 - 2 / 9)),
        "n": 3,
    }
    assert set(kappa) <= {"low", "high", "undefined_draws"}
    assert shown == {
        "candidates": 4, "flagged": 1, "valid": 3, "agreed": 1,
        "agreement": pytest.approx(1 / 3),
        "gold": [{"id": "1", "answer": "A"}, {"id": "2", "answer": "B"}],
        "dropped": [
            {"id": "3", "reason": "three_way", "a": "C", "b": "D", "generated": "E", "note": ""},
            {"id": "4", "reason": "flagged", "a": None, "b": "A", "generated": "A", "note": ""},
        ],
        "settled": 2, "rule": "published", "by_key": 1, "by_third": 0, "not_reviewed": 1,
        "strata": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ({"1": "A", "2": "A"}, {"1": "A", "2": "A"}, "one answer only was given"),
        ({"1": None}, {"1": "A"}, "nothing was judged by two"),
        ({}, {}, "nothing was judged by two"),
    ],
)
def test_no_kappa_is_null_and_says_why(tmp_path: Path, a: Answers, b: Answers, why: str) -> None:
    made = settled(tmp_path, a, b, dict.fromkeys(a, "A"))
    assert json.loads(msgspec.json.encode(made.kappa)) == {
        "value": None, "low": None, "high": None, "n": 0, "undefined": why,
    }  # fmt: skip
    assert f"no kappa ({why})" in line(made)
    assert (made.agreement is None) == (made.valid == 0)


answers = st.sampled_from(["A", "B", "C", None])


@settings(max_examples=40)
@given(rows=st.lists(st.tuples(answers, answers, answers), max_size=12), seed=st.integers(0, 99))
def test_books_balance_and_order_is_nothing(
    rows: list[tuple[str | None, str | None, str | None]], seed: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    folder = tmp_path_factory.getbasetemp()
    a, b, key = ({str(at): row[who] for at, row in enumerate(rows)} for who in range(3))
    made = settled(folder, a, b, key)
    ids = [each.id for each in made.gold] + [each.id for each in made.dropped]
    assert sorted(ids) == sorted(a)
    assert made.candidates == made.flagged + made.valid == len(rows)
    mixed = [dict(random.Random(seed + at).sample(sorted(each.items()), len(each)))
             for at, each in enumerate((a, b, key))]  # fmt: skip
    assert settled(folder, mixed[0], mixed[1], mixed[2]) == made
    swapped = settled(folder, b, a, key)
    assert (swapped.gold, swapped.kappa.value) == (made.gold, made.kappa.value)


@pytest.mark.parametrize(
    ("a", "b", "key", "says"),
    [
        ({"1": "A", "2": "A"}, {"1": "A"}, {"1": "A", "2": "A"}, "b: expected a line for every id"),
        ({"1": "A"}, {"1": "A", "2": "A"}, {"1": "A", "2": "A"}, "a: expected a line for every id"),
        ({"1": "A"}, {"1": "A"}, {}, "key: expected a line for every id"),
    ],
)
def test_a_missing_id_is_refused(
    tmp_path: Path, a: Answers, b: Answers, key: Answers, says: str
) -> None:
    with pytest.raises(Refused, match=says):
        settled(tmp_path, a, b, key)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ('{"id":"1","answer":"A"}\n{"id":"1","answer":"A"}\n', "a:2.*expected an id of its own"),
        ('{"id":"1"}\n', "a:1.*answer"),
        ('{"id":"1","answer":"A","answer":null}\n', "a:1.*'answer' twice"),
        ('{"id":"1","answer":" A"}\n', "a:1.*without blanks"),
        ('{"id":"1","answer":""}\n', "a:1.*null where it is flagged"),
        ('{"id":"1","answer":2}\n', "a:1"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, broken: str, says: str) -> None:
    good = file(tmp_path / "b", {"1": "A"})
    (tmp_path / "a").write_text(broken)
    with pytest.raises(BadRecord, match=says):
        adjudicate(tmp_path / "a", good, good)


def test_written_whole(tmp_path: Path) -> None:
    made = settled(tmp_path, {"1": "A", "2": None}, {"1": "A", "2": "A"}, {"1": "A", "2": "A"})
    write(made, tmp_path / "out")
    assert (tmp_path / "out" / "gold.jsonl").read_text() == '{"id":"1","answer":"A"}\n'
    dropped = json.loads((tmp_path / "out" / "dropped.jsonl").read_text())
    assert dropped["reason"] == "flagged"
    counts = json.loads((tmp_path / "out" / "adjudication.json").read_text())
    assert (counts["candidates"], counts["valid"]) == (2, 1)
    assert "gold" not in counts
    with pytest.raises(Usage, match="got files"):
        write(made, tmp_path / "out")


@pytest.mark.parametrize(
    ("rule", "a", "b", "key", "gold", "reason"),
    [
        ("both", "A", "A", "B", "A", None),
        ("both", "A", "B", "A", None, "disagree"),
        ("both", None, "A", "A", None, "flagged"),
        ("unanimous", "A", "A", "A", "A", None),
        ("unanimous", "A", "A", "B", None, "against_key"),
        ("unanimous", "A", "B", "A", None, "disagree"),
    ],
)
def test_other_rules(
    rule: str, a: str | None, b: str | None, key: str, gold: str | None, reason: str | None,
    tmp_path: Path,
) -> None:  # fmt: skip
    first, second, third = (
        file(tmp_path / name, {"q": said}) for name, said in (("a", a), ("b", b), ("k", key))
    )
    made = adjudicate(first, second, third, rule)
    assert [each.answer for each in made.gold] == ([gold] if gold else [])
    assert [each.reason for each in made.dropped] == ([reason] if reason else [])
    assert (made.rule, made.by_key, made.by_third) == (rule, 0, 0)


def test_a_third_expert_settles_in_place_of_the_key(tmp_path: Path) -> None:
    said: tuple[tuple[str, Answers], ...] = (
        ("a", {"1": "A", "2": "A", "3": "A", "4": "A", "5": None}),
        ("b", {"1": "A", "2": "B", "3": "B", "4": "B", "5": "A"}),
        ("key", {"1": "C", "2": "A", "3": "A", "4": "A", "5": "A"}),
        ("third", {"2": "B", "3": "C", "4": None}),
    )
    a, b, key, third = [file(tmp_path / name, rows) for name, rows in said]
    made = adjudicate(a, b, key, "majority", third)
    assert [(each.id, each.answer) for each in made.gold] == [("1", "A"), ("2", "B")]
    assert {each.id: each.reason for each in made.dropped} == {
        "3": "three_way", "4": "three_way", "5": "flagged",
    }  # fmt: skip
    assert (made.by_key, made.by_third) == (0, 1)
    assert "1 settled by a third expert" in line(made)
    short = file(tmp_path / "short", {"2": "B"})
    with pytest.raises(Refused, match="got none for 2 of 3: 3, 4"):
        adjudicate(a, b, key, "majority", short)
    for rule, other in (("majority", None), ("published", third)):
        with pytest.raises(Usage, match="--rule majority"):
            adjudicate(a, b, key, rule, other)
    with pytest.raises(Usage, match="expected one of published, both"):
        adjudicate(a, b, key, "vote")


def test_the_rows_of_the_funnel_add_up_where_some_name_no_crop(tmp_path: Path) -> None:
    answers: dict[str, str | None] = {"1": "A", "2": "B", "3": "C", "4": "A", "5": "B"}
    rows = [
        {"id": q, "answer": said} | ({"stratum": crop} if crop else {})
        for (q, said), crop in zip(answers.items(), ("", "rice", "", "apple", "rice"), strict=True)
    ]
    (tmp_path / "key").write_text("".join(json.dumps(each) + "\n" for each in rows))
    first, second = file(tmp_path / "a", answers), file(tmp_path / "b", answers | {"3": None})
    made = adjudicate(first, second, tmp_path / "key")
    write(made, tmp_path / "out")
    told = (tmp_path / "out" / "funnel.md").read_text().splitlines()[4:]
    assert [[cell.strip() for cell in row.split("|")[1:6]] for row in told] == [
        ["apple", "1", "0", "1", "1"],
        ["rice", "2", "0", "2", "2"],
        ["(no crop)", "2", "1", "1", "1"],
        ["all", "5", "1", "4", "4"],
    ]
    assert list(made.strata) == ["apple", "rice", "(no crop)"]
    text = (tmp_path / "key").read_text()
    (tmp_path / "key").write_text(text.replace('"apple"', '"(no crop)"'))
    made = adjudicate(first, second, tmp_path / "key")
    assert {name: each.valid for name, each in made.strata.items()} == {"rice": 2, "(no crop)": 2}


def test_the_funnel_of_the_paper(tmp_path: Path) -> None:
    """PlantXpert, expert annotation, row by row; kappa by the textbook's formula, not ours."""
    a, b, key, crop = paper()
    rows = [{"id": q, "answer": said, "stratum": crop[q]} for q, said in key.items()]
    (tmp_path / "key").write_text("".join(json.dumps(each) + "\n" for each in rows))
    made = adjudicate(file(tmp_path / "a", a), file(tmp_path / "b", b), tmp_path / "key")
    write(made, tmp_path / "out")
    told = [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in (tmp_path / "out" / "funnel.md").read_text().splitlines()[2:]
    ]
    assert [row[:6] + row[8:] for row in told[2:]] == [
        ["cotton", "80", "5", "75", "64", "85.3%", "2", "73"],
        ["soybean", "305", "9", "296", "266", "89.9%", "0", "296"],
        ["all", "385", "14", "371", "330", "88.9%", "2", "369"],
    ]
    for name, row in zip(("cotton", "soybean", None), told[2:], strict=True):
        some = [(a[q], b[q]) for q in a if name in (None, crop[q]) and None not in (a[q], b[q])]
        agreed = sum(x == y for x, y in some) / len(some)
        chance = sum(
            sum(x == said for x, _ in some) * sum(y == said for _, y in some) for said in "ABCD"
        ) / len(some) ** 2  # fmt: skip
        assert row[6] == f"{(agreed - chance) / (1 - chance):.4f}"
    assert [row[6] for row in told[2:]] == ["0.7980", "0.8605", "0.8479"]  # as published
