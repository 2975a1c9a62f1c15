"""Killed at any byte: nothing half is seen, and a rerun makes the same bytes."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.harness import KILLED, Case, Warm, case, restore, somewhere, tree, warm
from tests.crash.roads import ROADS, Tree

from fieldtruth.cli import ORDER
from fieldtruth.run.demo import MARK

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
MOST_LEFT = 8  # files of a killed process that lie about until the next; never more, however many


@pytest.fixture(scope="module")
def process() -> Iterator[Warm]:
    with warm() as made:
        yield made


@pytest.fixture
def place() -> Iterator[Path]:
    with somewhere() as folder:
        yield folder


@pytest.mark.parametrize("name", ROADS)
def test_a_rerun_makes_the_same_bytes(name: str, process: Warm, place: Path) -> None:
    road = ROADS[name]
    made = case(process, road, place)
    rng = random.Random(f"kills {name}")
    killed = 0
    while killed < road.kills:
        for _ in range(rng.choice((1, 1, 2, 3))):
            end = process.run(road.words, made.folder, **made.plan(rng))
            assert end.code in (*KILLED, 0) or is_done(made), end.err
            killed += end.code in KILLED
            left = made.look()
            assert len(leftovers(left)) <= MOST_LEFT, sorted(left)
        go_on(made, process)
        restore(made.folder, made.before)


def go_on(made: Case, process: Warm) -> None:
    """The same command again, undisturbed: it ends well, tells what it cut, and leaves no trace."""
    done, before = is_done(made), tree(made.folder)
    end = process.run(made.road.words, made.folder)
    now = tree(made.folder)
    if done and end.code == 2:  # killed when all was done: a new folder is not made twice
        assert "expected" in end.err
        assert all(path.endswith(".lock") for path in leftovers(now))
        now = {path: raw for path, raw in now.items() if path not in leftovers(now)}
    else:
        assert end.code == 0, end.err
    assert now == made.after
    if "replies.jsonl.journal" in before:
        journal = Journal(before["replies.jsonl.journal"])
        assert ("broken off by a crash was cut" in end.out) is journal.broken
        kept = re.search(r" (\d+) kept", end.out)
        assert kept is not None
        assert int(kept[1]) >= journal.good


def is_done(made: Case) -> bool:
    """Whether all that readers see is there already."""
    now = tree(made.folder)
    return all(view(now) == view(made.after) for view in made.road.views)


def leftovers(files: Tree) -> set[str]:
    """Files and folders that are nobody's result, each by its topmost name."""
    found = (re.match(r".*?(\.lock|\.journal|\.part|\.photos)(?=/|$)", path) for path in files)
    return {each[0] for each in found if each}


class Journal:
    """A journal as a kill left it, read by its bytes alone."""

    def __init__(self, raw: bytes) -> None:
        lines = raw.splitlines(keepends=True)
        self.broken = bool(lines) and not lines[-1].endswith(b"\n") and not is_json(lines[-1])
        whole = lines[: len(lines) - self.broken]
        rows = [json.loads(line) for line in whole[1:]]
        self.good = len({row["item"] for row in rows if row.get("error") is None})


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def test_what_a_killed_label_left_is_refused_or_whole(process: Warm, place: Path) -> None:
    made = case(process, ROADS["label"], place)
    told = Counter[str]()
    for event in range(made.end.events):
        restore(made.folder, made.before)
        assert process.run(made.road.words, made.folder, event=event).code in KILLED
        end = process.run("annotate set --model leaf_box", made.folder)
        told["annotated" if end.code == 0 else end.err] += 1
        assert "Traceback" not in end.err
    ended = "fieldtruth: set: `label` did not come to its end there; run it again\n"
    assert set(told) == {"annotated", ended}


def test_every_command_that_writes_is_killed() -> None:
    reads = {"audit", "verify", "diff", "read", "check", "reward"}
    anew = {"demo"}  # it clears its folder and does then what `run` does
    assert {road.words.split()[0] for road in ROADS.values()} | reads | anew == set(ORDER)


@pytest.mark.parametrize("event", range(0, 14, 2))
def test_a_demo_killed_while_it_clears_its_folder_can_begin_again(
    event: int, process: Warm, place: Path
) -> None:
    for path in ("bench/a", ".steps/b", "c"):  # what an earlier one left
        (place / "demo" / path).parent.mkdir(parents=True, exist_ok=True)
        (place / "demo" / path).touch()
    (place / "demo" / MARK).touch()
    assert process.run("demo --out demo", place, event=event).code in KILLED
    again = process.run("demo --out demo", place, event=24)  # goes on to draw its leaves
    assert again.code in KILLED, again.err


def test_there_are_a_thousand_kills() -> None:
    assert sum(road.kills for road in ROADS.values()) >= 1000


def test_a_half_state_would_be_seen(process: Warm, place: Path) -> None:
    made = case(process, ROADS["compose"], place)
    half: Tree = {**made.after, "items.drops.jsonl": made.before["items.drops.jsonl"]}
    restore(made.folder, half)
    with pytest.raises(AssertionError, match="view 0 is half"):
        made.look()
