"""Conversations are trained on: several turns, several photos or none, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
from tests.builders import plain
from tests.stages import tuned

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.run import tuning
from fieldtruth.stages import sft
from fieldtruth.stages.sft.talks import Talks

pytestmark = pytest.mark.slow


def row(name: str, photos: int, *turns: str) -> dict[str, Any]:
    """A line as `knowledge` writes it; user and assistant in turn."""
    messages = []
    for at, words in enumerate(turns):
        parts: list[dict[str, str]] = [{"type": "image"}] * (0 if at else photos)
        role = "assistant" if at % 2 else "user"
        messages.append({"role": role, "content": [*parts, {"type": "text", "text": words}]})
    images = [f"images/{n}.png" for n in range(photos)]
    return {"id": name, "messages": messages, "images": images}


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    for number in range(3):
        plain(tmp_path / "images" / f"{number}.png", number, (64, 64))
    rows = [
        row("none", 0, "What does rust look like?", "Orange spots."),
        row("one", 1, "Which disease?", "rust", "What is done?", "Prune."),
        row("three", 3, "Which pest?", "mites"),
    ]
    path = tmp_path / "train.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in rows) + "\n")
    return path


def settings(folder: Path, talks: Path, **changes: Any) -> sft.Sft:
    tuned.base(folder)
    told = {"train": (str(talks),), "batch": 3, "accumulate": 1, "steps": 30, "save_every": 30}
    return tuned.settings(folder, **(told | changes))


def test_a_model_learns_what_it_is_told(tmp_path: Path, talks: Path) -> None:
    done = tuning.train(settings(tmp_path, talks, rank=0, rate=1e-2))
    losses = [each["loss"] for each in done.history]
    assert done.examples == 3
    assert losses[-1] < losses[0] / 2
    assert done.notes == ("no val: nothing is validated, and best is last",)


def test_where_a_talk_lies(talks: Path) -> None:
    rows = Talks([talks, talks], limit=2)
    assert len(rows) == 4
    second = rows.talk(3)
    assert (second.id, len(second.turns), second.turns[2]) == ("one", 4, ("user", "What is done?"))
    assert second.photos == (talks.parent / "images/0.png",)


def test_the_longest_talks_are_known_before_the_first_step(tmp_path: Path) -> None:
    """Of twenty the sixteen with the most words, over all files; a blank line is none."""
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for at, path in enumerate(paths):
        rows = [row(f"{at}{n}", 0, "where? " * (10 * at + n), "here") for n in range(10)]
        path.write_text("\n" + "".join(json.dumps(each) + "\n" for each in rows))
    found = Talks(paths)
    assert found.heaviest() == list(range(4, 20))
    assert found.talk(19).turns[0] == ("user", ("where? " * 19).strip())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"val": ("val",)}, "leave val out"),
        ({"train": "both"}, "expected files of conversations alone"),
    ],
)
def test_conversations_beside_examples(
    tmp_path: Path, talks: Path, changes: dict[str, Any], said: str
) -> None:
    tuned.examples(tmp_path / "train")
    if changes.get("train"):
        changes = {"train": (str(talks), str(tmp_path / "train/training"))}
    told = settings(tmp_path, talks, **changes)
    with pytest.raises(Usage, match=said):
        tuned.trained(told)


def test_a_line_that_is_no_conversation(talks: Path) -> None:
    talks.write_text('{"id": "x", "messages": "hello"}\n{"id": "y"}\n')
    rows = Talks([talks])
    with pytest.raises(BadRecord, match="expected a list of turns"):
        rows.talk(0)
    with pytest.raises(BadRecord, match="expected a conversation"):
        rows.talk(1)
    talks.write_text("")
    with pytest.raises(Usage, match="got none"):
        Talks([talks])
