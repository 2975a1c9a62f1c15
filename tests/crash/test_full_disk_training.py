"""A disk that is full when a checkpoint is due: one line, and with room the run goes on."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.harness import somewhere, warm
from tests.crash.test_full_disk import space
from tests.stages import tuned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
RECIPE = """[sft]
base = "base"
train = ["train/training"]
out = "../out"
rank = 4
batch = 2
accumulate = 1
steps = 6
save_every = 2
device = "cpu"
"""
WORDS = "train sft in/recipe.toml --quiet"
ROOM = (40, 75, 100, 130)  # blocks of 4 KiB beyond what lies there already


@pytest.fixture
def place() -> Iterator[Path]:
    with somewhere() as folder:
        yield folder


def test_nothing_is_lost_and_the_same_command_goes_on(place: Path) -> None:
    """ENOSPC from the system itself, wherever it strikes; in the end the same run as with room."""
    pytest.importorskip("trl")
    outside = place / "outside"
    tuned.base(outside / "in")
    tuned.examples(outside / "in" / "train")
    (outside / "in" / "recipe.toml").write_text(RECIPE)
    (place / "disk").mkdir()
    saved, full = 0, 0
    with warm(place / "disk") as small:
        assert small.run(WORDS, outside).code == 0
        whole = (outside / "out" / "train.json").read_bytes()
        seen = Path(f"/proc/{small.process.pid}/root{place.resolve()}/disk")
        shutil.copytree(outside / "in", seen / "in")
        blocks, files = space(seen)
        for more in ROOM:
            end = small.run(WORDS, seen, disk=f"size={(blocks + more) * 4}k,nr_inodes={files + 99}")
            if end.code:
                assert (end.code, end.out) == (1, ""), end.err
                assert end.err.count("\n") == 1, end.err
                assert "expected room to write" in end.err
                full += 1
            kept = [path.name for path in (seen / "out" / "checkpoints").glob("checkpoint-*")]
            saved += bool(end.code and kept)
            assert small.run(WORDS, seen).code == 0
            assert (seen / "out" / "train.json").read_bytes() == whole
            shutil.rmtree(seen / "out")
    assert full
    assert saved, "the disk never filled up after a checkpoint: ROOM is of the wrong size"
