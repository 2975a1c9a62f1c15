"""The second process is refused; a process that dies lets go."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import class_folders

from fieldtruth import store
from fieldtruth.faults import Busy
from fieldtruth.run import workspace
from fieldtruth.store.locks import by_existence

HOLD = """
import sys
from pathlib import Path
from fieldtruth import store
with store.lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert held.stdout is not None
    assert held.stdout.readline() == "held\n"
    return held


@pytest.mark.parametrize("ending", ["killed", "finished"])
def test_a_second_process_is_refused_until_the_first_ends(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "bench"
    with holder(path) as held:
        with pytest.raises(Busy, match=f"got process {held.pid} on"), store.lock(path):
            pass
        if ending == "killed":
            held.kill()
        held.communicate()
    with store.lock(path):
        assert f"process {os.getpid()} on" in (tmp_path / "bench.lock").read_text()
    assert list(tmp_path.iterdir()) == []


def test_the_same_process_is_refused_as_well(tmp_path: Path) -> None:
    with store.lock(tmp_path), pytest.raises(Busy), store.lock(tmp_path):
        pass


def test_without_flock_the_file_is_the_lock(tmp_path: Path) -> None:
    beside = tmp_path / "bench.lock"
    os.close(by_existence(tmp_path / "bench", beside))
    with pytest.raises(Busy, match=f"if it no longer runs, delete {beside}"):
        by_existence(tmp_path / "bench", beside)


@pytest.mark.parametrize("words", [("label", "."), ("ingest", "folder", "../photos", "--out", ".")])
def test_the_folder_one_stands_in_can_be_locked(tmp_path: Path, words: tuple[str, ...]) -> None:
    class_folders(tmp_path / "photos", each=1, healthy=1)
    workspace.ingest("folder", tmp_path / "photos", tmp_path / "set")
    ended = subprocess.run(
        [sys.executable, "-m", "fieldtruth", *words],
        cwd=tmp_path / "set", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photos", "set"]
