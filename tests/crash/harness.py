"""Kill a command at a place drawn for it, look at what it left, and let it go on."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.crash.roads import Road, Tree

WARM = Path(__file__).with_name("warm.py")
KILLED = (-9, -25)  # SIGKILL between two changes; SIGXFSZ within a write


@dataclass(frozen=True)
class End:
    """How a command ended; `events` and `files` as `warm.py` says."""

    code: int
    out: str
    err: str
    events: int
    files: Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Warm:
    """The process that forks a child for every command."""

    process: subprocess.Popen[str]

    def run(self, words: str, folder: Path, **plan: Any) -> End:
        """Run `fieldtruth WORDS` in a folder, disturbed by a plan or not at all."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        command = {"words": words.split(), "cwd": str(folder.resolve()), **plan}
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the warm process is gone"
        return End(**json.loads(line))


@contextmanager
def warm(disk: Path | None = None) -> Iterator[Warm]:
    """One warm process; about two seconds until its first command ends.

    With `disk` it sees a disk of its own at that folder; skips where the system does not let it.
    """
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(WARM), *([str(disk)] if disk else [])],
        stdin=pipe, stdout=pipe, text=True, env={**os.environ, **threads},
    ) as process:  # fmt: skip
        try:
            if disk is not None:
                assert process.stdout is not None
                told = json.loads(process.stdout.readline())
                if told != "ready":
                    pytest.skip(f"no disk of our own on this machine: {told}")
            yield Warm(process)
        finally:
            process.kill()


@contextmanager
def somewhere() -> Iterator[Path]:
    """A new folder, in memory where the system has such: flushing a disk takes half the time."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but those in `in/`, hidden ones too."""
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not name.startswith("in/"):
            found[name] = path.read_bytes()
    return found


def restore(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder what it was, but for `in/`, which no command may touch."""
    for path in folder.iterdir():
        if path.is_dir() and path.name != "in":
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()
    for name, raw in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)


@dataclass(frozen=True)
class Case:
    """A road with what lies in its folder before and after an undisturbed run."""

    road: Road
    folder: Path
    before: Tree
    after: Tree
    end: End

    def plan(self, rng: random.Random) -> dict[str, int]:
        """Where to disturb: between two changes, or at a byte of a file."""
        if rng.random() < 0.4 or not self.end.files:
            return {"event": rng.randrange(self.end.events)}
        event, size = rng.choice(self.end.files)
        return {"event": event, "bytes": rng.randrange(size) if size else 0}

    def look(self) -> Tree:
        """What is there; fails where a reader would see something half."""
        now = tree(self.folder)
        for number, view in enumerate(self.road.views):
            seen = view(now).items()
            whole = [view(self.before).items(), view(self.after).items()]
            assert any(seen <= each for each in whole), f"view {number} is half: {sorted(now)}"
        return now


def case(warm: Warm, road: Road, folder: Path) -> Case:
    """Prepare a road and run it undisturbed."""
    folder.mkdir(exist_ok=True)
    road.prepare(folder)
    before = tree(folder)
    end = warm.run(road.words, folder)
    assert end.code == 0, end.err
    after = tree(folder)
    assert after != before
    for view in road.views:
        assert view(after), "a view that sees nothing shows nothing"
        assert view(after) != view(before), "before and after cannot be told apart"
    restore(folder, before)
    return Case(road, folder, before, after, end)
