"""A file in a room answers to its name; nothing else does."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from fieldtruth import metrics, models, protocols, rooms, sources
from fieldtruth.faults import Usage


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A room of two files, one of which breaks when it is imported."""
    folder = tmp_path / "a_room_of_files"
    (folder / "large").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "contract.py").write_text("raise RuntimeError('looked into')")
    (folder / "broken.py").write_text("raise RuntimeError('looked into')")
    (folder / "small.py").write_text("OPEN = 'small'")
    (folder / "large" / "__init__.py").write_text("OPEN = 'large'")
    (folder / "notes.txt").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module("a_room_of_files")


def test_a_room_is_what_lies_in_it_and_is_not_looked_into(room: ModuleType) -> None:
    assert rooms.names(room) == ["broken", "large", "small"]
    assert rooms.open_room(room, "small").OPEN == "small"
    assert rooms.open_room(room, "large").OPEN == "large"
    with pytest.raises(RuntimeError, match="looked into"):
        rooms.open_room(room, "broken")


@pytest.mark.parametrize(
    "name", ["", "contract", "Small", "small.py", "large.x", "../small", "__init__", "notes"]
)
def test_a_name_the_room_does_not_have(room: ModuleType, name: str) -> None:
    with pytest.raises(Usage) as error:
        rooms.open_room(room, name)
    assert str(error.value) == f"a_room_of_files has no {name!r}; it has: broken, large, small"


@pytest.mark.parametrize(
    ("house", "some"),
    [
        (sources, {"coffee", "drawn", "folder"}),
        (models, {"colour", "leaf_box", "scripted"}),
        (protocols, {"known_target", "candidates"}),
        (metrics, {"f1", "recognition", "abstention"}),
    ],
)
def test_the_rooms_of_the_house(house: ModuleType, some: set[str]) -> None:
    assert some <= set(rooms.names(house))
    assert "contract" not in rooms.names(house)
