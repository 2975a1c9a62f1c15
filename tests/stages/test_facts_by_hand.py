"""Facts of real talks that were read by hand, and the precision and recall that follow.

The dialogues of the MIRAGE release (CC BY-SA 4.0) were parted in two by a draw keyed by their
number. On one half the rules were tuned; then they were frozen as "rules 1", and fifty facts of
the other half, drawn by their ids, were read against their talks. `facts_by_hand.jsonl` holds a
verdict a line: `correct`: the expert firmly says so, of the thing it is filed under, and the
statement can be understood alone; `partial`: said, but filed under another plant, in a talk that
should have left, or with words that only the sentences before explain; `wrong`: not said, or no
knowledge of that kind. Of kinds other than management all facts of that half were read.
`facts_missed_by_hand.jsonl`: twenty talks of that half, drawn by number among those in which the
expert does more than ask back, with what was firmly stated there and how much of it was found.
"""

import json
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from fieldtruth import store
from fieldtruth.draws import key
from fieldtruth.records import Dialogue, Fact
from fieldtruth.run import extracting, workspace
from fieldtruth.stages.facts import extract
from fieldtruth.stages.facts.by_rules import VERSION, Rules

HERE = Path(__file__).parent
MIRAGE = HERE.parents[2] / "shared" / "data" / "mirage"
NAMING = ("disease/issue identification", "insect/pest", "species")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


VERDICTS = rows("facts_by_hand.jsonl")


def wilson(good: int, n: int) -> tuple[float, float, float]:
    """A share with its 95 % interval (Wilson 1927)."""
    z, share = 1.959963984540054, good / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return round(share, 3), round(middle - half, 3), round(middle + half, 3)


def counted(sample: str, *verdicts: str, kinds: tuple[str, ...] | None = None) -> tuple[int, int]:
    """How many of a sample have one of the verdicts, and how many there are."""
    said = [
        row["verdict"]
        for row in VERDICTS
        if row["sample"].startswith(sample) and (kinds is None or row["knowledge"] in kinds)
    ]
    return sum(each in verdicts for each in said), len(said)


def test_verdicts_are_of_fifty_facts_each_and_give_their_reasons() -> None:
    samples = Counter(row["sample"] for row in VERDICTS)
    assert samples == {"tuning": 50, "held out": 50, "held out, rest of its kind": 8}
    assert len({row["id"] for row in VERDICTS}) == 108
    for row in VERDICTS:
        assert set(row) == {"id", "sample", "knowledge", "verdict", "why"}
        assert row["verdict"] in ("correct", "partial", "wrong")
        assert bool(row["why"]) == (row["verdict"] != "correct")
        half = key(0, "facts by hand", row["id"].partition("#")[0].rpartition(":")[2]) % 2
        assert half == (row["sample"] != "tuning")


def test_precision_on_the_half_that_no_rule_was_tuned_on() -> None:
    sample = [row["verdict"] for row in VERDICTS if row["sample"] == "held out"]
    count = Counter(sample)
    assert count == {"correct": 32, "partial": 16, "wrong": 2}
    assert wilson(count["correct"], 50) == (0.64, 0.501, 0.759)
    assert wilson(count["correct"] + count["partial"], 50) == (0.96, 0.865, 0.989)
    assert wilson(*counted("tuning", "correct")) == (0.94, 0.838, 0.979)


def test_precision_of_each_kind() -> None:
    management = ("management instructions",)
    looks, background = ("symptom/visual description",), ("background",)
    held = "held out"
    assert wilson(*counted(held, "correct", kinds=management)) == (0.652, 0.508, 0.773)
    assert wilson(*counted(held, "correct", kinds=NAMING)) == (1.0, 0.51, 1.0)
    assert wilson(*counted(held, "correct", kinds=looks)) == (0.25, 0.046, 0.699)
    assert wilson(*counted(held, "correct", kinds=background)) == (0.5, 0.15, 0.85)


def test_recall_on_twenty_talks_read_whole() -> None:
    stated, found = Counter[str](), Counter[str]()
    talks = rows("facts_missed_by_hand.jsonl")
    assert len({row["dialogue"] for row in talks}) == 20
    for row in talks:
        assert key(0, "facts by hand", row["dialogue"].rpartition(":")[2]) % 2 == 1
        assert all(row["found"][kind] <= n for kind, n in row["stated"].items())
        stated.update(row["stated"])
        found.update(row["found"])
    assert stated == {
        "management instructions": 57, "symptom/visual description": 6, "identification": 4,
    }  # fmt: skip
    assert wilson(found.total(), stated.total()) == (0.403, 0.294, 0.523)


@pytest.mark.slow
@pytest.mark.data
def test_the_facts_that_were_judged_are_the_facts_that_are_made(tmp_path: Path) -> None:
    """Those that are still made are what they were; and nearly all are still made."""
    if not MIRAGE.is_dir():
        pytest.skip("the real rows are not at hand")
    workspace.ingest("mirage_dialogues", MIRAGE, tmp_path / "set")
    done = extracting.extract(tmp_path / "set", extracting.Job())
    assert done.extractor == VERSION == "rules 1"
    made = {fact.id: fact for fact in _facts(tmp_path / "set")}
    still = [row for row in VERDICTS if row["id"] in made]
    assert all(made[row["id"]].knowledge == row["knowledge"] for row in still)
    assert len(still) >= 100, sorted({row["id"] for row in VERDICTS} - made.keys())


def _facts(folder: Path) -> list[Fact]:
    facts = list(store.read(folder / "facts.jsonl", Fact))
    again = extract(store.read(folder / "dialogues.jsonl", Dialogue), Rules())
    assert facts == [each for made in again for each in made.records if isinstance(each, Fact)]
    return facts
