"""A folder appears whole, once, and what a killed process left is cleared away."""

from pathlib import Path

import pytest

from fieldtruth import store
from fieldtruth.faults import Busy


def test_what_is_published_is_there_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".out.part" / "left").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    with store.drafting(tmp_path / "out") as part:
        assert list(part.iterdir()) == []
        (part / "a").write_text("new")
        assert list((tmp_path / "out").iterdir()) == []
        with pytest.raises(Busy), store.drafting(tmp_path / "out"):
            pass
        store.publish(part, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "a").read_text() == "new"


def test_what_fails_or_is_not_published_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError), store.drafting(tmp_path / "new" / "out") as part:
        (part / dict[str, str]()["a"]).touch()
    with store.drafting(tmp_path / "new" / "out") as part:
        (part / "a").touch()
    assert list((tmp_path / "new").iterdir()) == []


def test_a_folder_with_files_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(OSError, match="not empty"), store.drafting(tmp_path / "out") as part:
        store.publish(part, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]
