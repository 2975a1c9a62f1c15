"""What holds for every backend because it is one: a new file is tested by being there."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.builders import leaf, table
from tests.models import tiny
from tests.models.leaves import leaves

from fieldtruth import models, rooms
from fieldtruth.faults import Usage
from fieldtruth.models import colour
from fieldtruth.models.contract import Model, Request, Words, as_known, in_order

NAMES = rooms.names(models)
LOOKS = ("colour", "leaf_box", "grounding_dino", "sam2")  # those that open the photo here
PLACES = "an opener's options in OPTIONS"


def _fitted(folder: Path) -> Mapping[str, str]:
    path, train = folder / "fitted.json", folder / "train"
    if not path.exists():
        colour.fit(leaves(train, range(3)), train).save(path)
    return {"fitted": str(path)}


def _dino(folder: Path) -> Mapping[str, str]:
    weights = folder / "dino"
    return {
        "path": str(weights if weights.exists() else tiny.grounding_dino(weights)),
        "box": "0.5",
    }


def _sam2(folder: Path) -> Mapping[str, str]:
    weights = folder / "sam2"
    detector = {f"detector.{name}": value for name, value in _dino(folder).items()}
    return {"path": str(weights if weights.exists() else tiny.sam2(weights)), **detector}


def _vl(folder: Path) -> Mapping[str, str]:
    weights = folder / "vl"
    path = weights if weights.exists() else tiny.qwen3_vl(weights)
    return {"path": str(path), "max_new_tokens": "8"}


OPTIONS: dict[str, Callable[[Path], Mapping[str, str]]] = {
    "colour": _fitted,
    "grounding_dino": _dino,
    "leaf_box": lambda folder: {"label": "leaf rust"},
    "openai": lambda folder: {
        "model": "nobody", "base_url": "http://127.0.0.1:1/v1", "retries": "0", "timeout": "5",
    },
    "sam2": _sam2,
    "tiny": lambda folder: {"max_new_tokens": "8"},
    "transformers": _vl,
    "scripted": lambda folder: {"table": str(table(folder / "t.jsonl", {"a": "[]", "b": "{}"}))},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos `a` (one spot), `b` (healthy) and `broken`, which is none."""
    root = tmp_path_factory.mktemp("models")
    leaf(root / "a.png", [(60, 40, 80, 60)])
    leaf(root / "b.png")
    (root / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nand then nothing")
    return root


@pytest.fixture(params=NAMES)
def named(request: pytest.FixtureRequest, folder: Path) -> tuple[str, Model]:
    name: str = request.param
    assert name in OPTIONS, f"{name} needs {PLACES}"
    if name == "openai":
        pytest.importorskip("aiohttp")
        pytest.importorskip("pybase64")
    if name in ("grounding_dino", "sam2", "tiny", "transformers"):
        pytest.importorskip("torch")
    return name, rooms.open_room(models, name).OPEN(OPTIONS[name](folder))


def asked(folder: Path, *names: str) -> list[Request]:
    offered = ("leaf rust", "late blight")
    return [
        Request(id=name, prompt="Where?", images=(folder / f"{name}.png",), names=offered)
        for name in names
    ]


def words(model: Model, requests: list[Request]) -> list[Words]:
    return list(in_order(as_known(model, requests)))


def test_one_reply_a_request_and_failures_say_why(named: tuple[str, Model], folder: Path) -> None:
    requests = asked(folder, "b", "a", "broken")
    replies = words(named[1], requests)
    assert len(replies) == 3
    for reply in replies:
        assert (reply.finish == "error") == bool(reply.error)
        assert not (reply.finish == "error" and reply.text)


def test_the_order_of_requests_changes_no_reply(named: tuple[str, Model], folder: Path) -> None:
    forth = words(named[1], asked(folder, "a", "b", "broken"))
    back = words(named[1], asked(folder, "broken", "b", "a"))
    assert forth == back[::-1]
    assert forth[:1] == words(named[1], asked(folder, "a"))


def test_what_opens_photos_answers_boxes_on_the_photo(
    named: tuple[str, Model], folder: Path
) -> None:
    if named[0] not in LOOKS:
        return
    assert named[1].space == "pixel"
    said = json.loads(words(named[1], asked(folder, "a"))[0].text)
    assert said
    for one in said:
        x1, y1, x2, y2 = one["bbox_2d"]
        assert 0 <= x1 < x2 <= 160
        assert 0 <= y1 < y2 <= 120
        assert one["label"] in ("leaf rust", "late blight")


def test_a_photo_that_cannot_be_opened_is_an_error(named: tuple[str, Model], folder: Path) -> None:
    (reply,) = words(named[1], asked(folder, "broken"))
    assert reply.finish == "error"
    assert reply.text == ""
    if named[0] in LOOKS:
        assert "broken.png" in (reply.error or "")
        (none,) = words(named[1], [Request(id="x", prompt="Where?", images=())])
        assert none.finish == "error"


def test_opening_twice_gives_the_same_version(named: tuple[str, Model], folder: Path) -> None:
    again = rooms.open_room(models, named[0]).OPEN(OPTIONS[named[0]](folder))
    assert named[1].version == again.version


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(Usage, match="'flavour'"):
        rooms.open_room(models, name).OPEN({"flavour": "mint"})
    assert rooms.open_room(models, name).__doc__
