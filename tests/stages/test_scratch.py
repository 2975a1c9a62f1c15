"""A model from nothing: its words, what it is shown, how its eyes are warmed up, what it leaves."""

import json
import resource
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import NAMES, example, examples_folder
from tests.stages import tuned
from tests.stages.tuned import silent

from fieldtruth.faults import CannotWrite, Usage
from fieldtruth.protocols import candidates, known_target
from fieldtruth.stages import scratch
from fieldtruth.stages.scratch import seen, words

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
NUMBERS = st.integers(0, 1000)
SMALL: dict[str, Any] = {
    "width": 64, "layers": 2, "heads": 2, "eyes": 32, "eye_layers": 2, "side": 64, "batch": 4,
    "rate": 3e-3, "device": "cpu",
}  # fmt: skip


# --- words -------------------------------------------------------------------------------------


def texts() -> list[str]:
    """Prompts and answers of both protocols, as `compose` writes them."""
    from tests.builders import item

    asked = []
    for number, (name, level) in enumerate(product(NAMES, ("lesion", "object"))):
        box = (10.0 * number, 5.0, 10.0 * number + 9, 40.0 + number)
        more: dict[str, Any] = {"label": name, "query": name, "level": level, "boxes": (box,) * 2}
        for protocol, listed in ((known_target, None), (candidates, NAMES)):
            of = item(f"{number}", candidates=listed, **more)
            asked += [
                protocol.PROTOCOL.ask(of, "norm1000"),
                protocol.PROTOCOL.answer(of, "norm1000"),
            ]
    return [*asked, "[]"]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("words")
    words.build(texts(), folder)
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def said(tokenizer: Any, text: str) -> list[str]:
    """Each token, as text."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return [tokenizer.decode([each]) for each in ids]


@given(text=st.text())
def test_any_text_comes_back_as_it_was(tokenizer: Any, text: str) -> None:
    if any(sign in text for sign in words.SPECIAL):
        return
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text


@given(corners=st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS))
def test_a_box_is_its_four_numbers_and_glue(tokenizer: Any, corners: tuple[int, ...]) -> None:
    name = NAMES[1]
    one = f'{{"bbox_2d": {list(corners)}, "label": "{name}"}}'
    first, second, third, last = corners
    box = [f"{first}, ", f"{second}, ", f"{third}, ", f"{last}", '], "label": "', name]
    assert said(tokenizer, f"[{one}, {one}]") == [
        '[{"bbox_2d": [', *box, '"}, {"bbox_2d": [', *box, '"}]',
    ]  # fmt: skip


def test_a_prompt_is_short_and_names_in_it_are_those_of_the_answer(tokenizer: Any) -> None:
    for text in texts():
        assert len(said(tokenizer, text)) <= 40
    assert NAMES[0] in said(tokenizer, texts()[0])
    assert set(NAMES) <= set(said(tokenizer, texts()[2]))


def test_what_is_no_number_is_not_taken_for_one(tokenizer: Any) -> None:
    assert said(tokenizer, "1000") == ["1000"]
    assert len(said(tokenizer, "1001")) > 1
    assert len(said(tokenizer, "07")) > 1
    assert all(each != "2" for each in said(tokenizer, '[{"bbox_2d": ['))


# --- what it is shown --------------------------------------------------------------------------


def test_the_parts_of_a_photo_are_labelled_by_hand() -> None:
    """Two cells beside each other: a box over the left one, and a speck in the right one."""
    boxes = np.array([[0.0, 0.0, 0.5, 1.0], [0.80, 0.30, 0.82, 0.33]])
    truth = seen.truth(boxes, 3, down=1, across=2)
    left, right = truth.parts.reshape(2, 4, 4)
    # The ellipse in the cell: its corners are not in it.
    assert left.tolist() == [[0, 3, 3, 0], [3, 3, 3, 3], [3, 3, 3, 3], [0, 3, 3, 0]]
    assert right.tolist() == [[0, 0, 0, 0], [0, 0, 3, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    # The speck's middle (0.81, 0.315) lies in the upper right quarter of the right cell, the box's
    # (0.25, 0.5) in the lower right one of the left: a middle on a line counts to what follows it.
    assert truth.owners.tolist() == [[0, 0, 0, 0], [-1, 1, -1, -1]]
    assert truth.middles.tolist() == [[False, False, False, True], [False, True, False, False]]


def test_the_smaller_of_two_boxes_counts() -> None:
    boxes = np.array([[0.3, 0.3, 0.7, 0.7], [0.0, 0.0, 1.0, 1.0]])
    for order in ([0, 1], [1, 0]):
        truth = seen.truth(boxes[order], 1, down=4, across=4)
        owners = set(truth.owners.reshape(4, 4, 4)[1:3, 1:3].reshape(-1).tolist())
        assert order.index(0) in owners


@given(
    way=st.integers(0, 7),
    corners=st.tuples(*[st.floats(0.0, 0.45), st.floats(0.0, 0.45)] * 2),
)
def test_a_box_turns_with_its_photo(way: int, corners: tuple[float, ...]) -> None:
    """Painted and then turned, or turned and then painted."""
    x, y, wide, high = (int(100 * each) for each in corners)
    box = np.array([[x, y, x + wide + 1, y + high + 1]], dtype=float)
    pixels = np.zeros((100, 100, 3), np.uint8)
    pixels[y : y + high + 1, x : x + wide + 1] = 255
    turned, boxes = seen.turned(pixels, box / 100, way)
    down, across = np.nonzero(turned[..., 0])
    found = [across.min(), down.min(), across.max() + 1, down.max() + 1]
    assert found == pytest.approx((100 * boxes[0]).tolist())


def test_the_eight_ways_differ() -> None:
    pixels = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)
    ways = {seen.turned(pixels, np.zeros((0, 4)), way)[0].tobytes() for way in range(8)}
    assert len(ways) == 8


def test_photos_of_examples_count_once_and_absent_ones_not(tmp_path: Path) -> None:
    more = [example("well", role="healthy", image="b.png"), example("again"),
            example("wrong", role="wrong_target")]  # fmt: skip
    folder = examples_folder(tmp_path, [*more[::-1], example("first")])
    some, labels, texts = seen.photos([folder])
    assert [(each.path.name, each.label, len(each.boxes)) for each in some] == [
        ("a.png", NAMES[0], 1), ("b.png", None, 0),
    ]  # fmt: skip
    assert some[0].boxes[0].tolist() == [10 / 64, 8 / 48, 30 / 64, 24 / 48]
    assert labels == [NAMES[0]]
    assert len(texts) == 8


def test_every_photo_comes_before_any_comes_again() -> None:
    batches = seen.drawn(10, 4, seed=1)
    first = np.concatenate([next(batches) for _ in range(5)])
    assert sorted(first[:10].tolist()) == sorted(first[10:].tolist()) == list(range(10))


# --- the model ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tuned.examples(tmp_path_factory.mktemp("train"), 12)


def told(train: Path, out: Path, **changes: Any) -> scratch.Scratch:
    return scratch.Scratch(train=(str(train),), out=str(out), **(SMALL | changes))


def quiet(_: str) -> None:
    """Nobody listens."""


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    found: dict[str, Any] = load_file(folder / "model.safetensors")
    return found


def test_what_is_made_opens_as_any_other_model(train: Path, tmp_path: Path) -> None:
    notes: list[str] = []
    made = scratch.make(told(train, tmp_path / "base", steps=2), silent, notes.append)
    from transformers import AutoConfig, AutoModelForImageTextToText, AutoTokenizer

    config = AutoConfig.from_pretrained(tmp_path / "base")
    assert config.model_type == "qwen3_vl"
    model = AutoModelForImageTextToText.from_pretrained(tmp_path / "base")
    assert type(model).__name__ == "Qwen3VLForConditionalGeneration"
    count = sum(each.numel() for each in model.parameters())
    assert made.weights == count
    assert f"{count:,} weights" in notes[0]
    assert len(AutoTokenizer.from_pretrained(tmp_path / "base")) == made.tokens
    whole = json.loads((tmp_path / "base" / "processor_config.json").read_text())
    assert whole["processor_class"] == "Qwen3VLProcessor"
    assert whole["video_processor"]["video_processor_type"] == "Qwen3VLVideoProcessor"
    assert not any("heads" in name for name in weights(tmp_path / "base"))
    assert model.generation_config.eos_token_id == words.SPECIAL.index("<|im_end|>")
    assert json.loads((tmp_path / "base" / scratch.MADE).read_text())["labels"] == [NAMES[0]]
    assert "2 steps of warm-up on 9 photos" in scratch.line(made, "base")


def test_two_runs_come_to_the_same_bytes_and_only_the_eyes_and_tokens_learn(
    train: Path, tmp_path: Path
) -> None:
    for name, steps in (("a", 3), ("b", 3), ("first", 0)):
        scratch.make(told(train, tmp_path / name, steps=steps), silent, quiet)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    old, new = weights(tmp_path / "first"), weights(tmp_path / "a")
    moved = {name for name in new if not torch.equal(old[name], new[name])}
    layers = {name for name in new if ".language_model.layers." in name}
    assert layers
    assert not moved & layers
    assert any(".visual.blocks." in name for name in moved)
    assert any("embed_tokens" in name for name in moved)


def test_the_warm_up_learns_what_is_where(tmp_path: Path) -> None:
    """Twelve photos by heart: each a white square on black."""
    from PIL import Image

    some = []
    for number in range(12):
        x, y = 16 * (number % 3) + 4, 16 * (number // 3)
        pixels = np.zeros((64, 64, 3), np.uint8)
        pixels[y : y + 12, x : x + 12] = 255
        path = tmp_path / "release" / f"{number}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(path)
        box = (float(x), float(y), x + 12.0, y + 12.0)
        some.append(example(f"{number}", image=path.name, width=64, height=64, boxes=(box,)))
    folder = examples_folder(tmp_path, some)
    losses = []
    for steps in (20, 300):
        made = scratch.make(told(folder, tmp_path / f"{steps}", steps=steps), silent, quiet)
        losses.append(made.losses)
    assert losses[1]["parts"] < 0.3 * losses[0]["parts"]
    # Of a number that is blurred by 5 the entropy is 3.03; of one that is not known at all 6.9.
    assert losses[0]["boxes"] > 5.5
    assert losses[1]["boxes"] < 4.5


def test_what_was_broken_off_leaves_nothing_and_can_be_made_again(
    train: Path, tmp_path: Path
) -> None:
    class Stopped(Exception):
        pass

    def breaks_off(records: Any, total: int | None = None) -> Any:
        for number in records:
            if number == 2:
                raise Stopped
            yield number

    wanted = told(train, tmp_path / "base", steps=3)
    with pytest.raises(Stopped):
        scratch.make(wanted, breaks_off, quiet)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
    assert scratch.make(wanted, silent, quiet).steps == 3


def test_a_full_disk_is_one_clear_error_and_leaves_nothing(train: Path, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))  # the words fit, the weights not
        with pytest.raises(CannotWrite, match="expected room to write") as caught:
            scratch.make(told(train, tmp_path / "base", steps=0), silent, quiet)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(caught.value).count("\n") == 0
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_what_cannot_be_made_says_why(train: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected eyes in 3 heads of a multiple of 4, got 32"):
        told(train, tmp_path, eye_heads=3)
    with pytest.raises(ValueError, match="a side that is a multiple of 32, got 100"):
        told(train, tmp_path, side=100)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(Usage, match="expected a new or empty folder"):
        scratch.make(told(train, tmp_path / "mine"), silent, quiet)
    well = examples_folder(tmp_path / "w", [example("well", role="healthy")])
    with pytest.raises(Usage, match="expected examples with boxes to learn from, got none"):
        scratch.make(told(well, tmp_path / "none"), silent, quiet)
    assert not (tmp_path / "none").exists()
