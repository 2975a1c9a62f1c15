"""A disk that is full at any byte: one clear line, nothing half, and a rerun once there is room."""

import errno
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.builders import four
from tests.crash.harness import Case, End, Warm, case, restore, somewhere, tree, warm
from tests.crash.roads import ROADS

FULL = re.compile(r"fieldtruth: (?P<where>[^\n]+?): expected room to write, got none: [^\n]+\n")
pytestmark = pytest.mark.timeout(600)
# Of the slow ones.
TRIES = {"train colour": 2, "train scratch": 3, "run": 8, "export parquet": 8, "draw": 8}


@pytest.fixture(scope="module")
def process() -> Iterator[Warm]:
    with warm() as made:
        yield made


@pytest.fixture
def place() -> Iterator[Path]:
    with somewhere() as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ROADS)
def test_a_write_that_fails_at_any_byte(name: str, process: Warm, place: Path) -> None:
    made = case(process, ROADS[name], place)
    rng = random.Random(f"full {name}")
    tries, full = TRIES.get(name, 20), 0
    for _ in range(tries):
        event, size = rng.choice(made.end.files)
        cut = {"event": event, "bytes": rng.randrange(size) if size else 0, "full": True}
        end = process.run(made.road.words, made.folder, **cut)
        if end.code:
            check(end, made)
            full += 1
        made.look()
        if end.code:
            assert process.run(made.road.words, made.folder).code == 0
        assert tree(made.folder) == made.after
        restore(made.folder, made.before)
    assert full >= tries / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["draw", "ingest an archive", "label", "compose", "freeze", "predict", "predict a control",
     "score", "export voc", "export parquet"],
)  # fmt: skip
def test_a_disk_that_is_full(name: str, process: Warm, place: Path) -> None:
    """Here folders and files cannot be made either, and the system says so itself."""
    outside = case(process, ROADS[name], place / "outside")
    (place / "disk").mkdir()
    rng = random.Random(f"small {name}")
    full = 0
    with warm(place / "disk") as small:
        seen = Path(f"/proc/{small.process.pid}/root{place.resolve()}/disk")
        made = replace(outside, folder=seen)
        shutil.copytree(outside.folder / "in", seen / "in")
        restore(seen, made.before)
        assert small.run(made.road.words, seen).code == 0
        needs = space(seen)
        for _ in range(8):
            restore(seen, made.before)
            has = space(seen)
            blocks, files = (
                held + rng.randint(1, max(need - held, 1) + 1)
                for need, held in zip(needs, has, strict=True)
            )
            options = f"size={blocks * 4}k,nr_inodes={files}"
            end = small.run(made.road.words, seen, disk=options)
            if end.code:
                check(end, made)
                assert "the disk is full" in end.err
                full += 1
            made.look()
            if end.code:
                assert small.run(made.road.words, seen).code == 0
            assert tree(seen) == made.after
    assert full > 2


def space(disk: Path) -> tuple[int, int]:
    """Blocks of 4 KiB and files in use."""
    found = os.statvfs(disk)
    assert found.f_bsize == 4096
    return found.f_blocks - found.f_bfree, found.f_files - found.f_ffree


def check(end: End, made: Case) -> None:
    """Exit 1, one line, which names a file or folder of this command; no journal ends half."""
    assert end.code == 1, end.err
    journals = [raw for name, raw in tree(made.folder).items() if name.endswith(".journal")]
    assert all(raw.endswith(b"\n") for raw in journals if raw)
    told = FULL.fullmatch(end.err)
    assert told, end.err
    assert told["where"] not in ("the place for the result", "standard output")
    where = Path(made.folder, told["where"]).resolve()
    assert where.is_relative_to(made.folder.resolve())
    assert where != made.folder.resolve()


@pytest.mark.slow
def test_where_even_the_answer_finds_no_room(tmp_path: Path) -> None:
    four(tmp_path / "bench")
    for words in (["--json"], []):
        with Path("/dev/full").open("w") as full:
            ended = subprocess.run(
                [sys.executable, "-m", "fieldtruth", "verify", str(tmp_path / "bench"), *words],
                stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        assert ended.returncode == 1
        assert ended.stderr.startswith(
            "fieldtruth: standard output: expected room to write, got none: the disk is full; "
        )
        assert ended.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_place_that_cannot_be_written(process: Warm, place: Path) -> None:
    road = ROADS["score"]
    road.prepare(place)
    (place / "file").touch()
    end = process.run(road.words.replace("--out results", "--out file/results"), place)
    assert (end.code, end.err) == (
        1,
        "fieldtruth: file/results: expected a place to write, got: "
        f"{os.strerror(errno.ENOTDIR)}; mend that, or name another\n",
    )
