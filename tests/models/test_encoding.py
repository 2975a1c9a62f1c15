"""Talks of several turns as tokens: what is taught, and that it is what the template writes."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

pytest.importorskip("torch")
from tests.models import tiny

from fieldtruth.faults import Unreadable, Usage
from fieldtruth.models import transformers
from fieldtruth.models.transformers.encoding import IGNORED, Encoder, batch
from fieldtruth.models.transformers.processor import open_processor

TALK = [
    ("user", "Which disease is it?"), ("assistant", "early blight"),
    ("user", "And what is done about it?"), ("assistant", "Mulch the soil.\nPrune."),
]  # fmt: skip
END = 2  # the id of the tiny model's end of a turn


@pytest.fixture(scope="module")
def processor(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return open_processor(str(tiny.qwen3_vl(tmp_path_factory.mktemp("weights") / "base")))


def whole(processor: Any, talk: list[tuple[str, str]], photos: int) -> list[int]:
    """What the template and the processor make of all turns at once."""
    told = [
        {
            "role": role,
            "content": [*([{"type": "image"}] * (photos if not at else 0)),
                        {"type": "text", "text": words}],
        }
        for at, (role, words) in enumerate(talk)
    ]  # fmt: skip
    text = processor.apply_chat_template(told, tokenize=False)
    given = {"images": [[Image.new("RGB", (64, 64))] * photos]} if photos else {}
    ids: list[int] = processor(text=[text], return_tensors="pt", **given)["input_ids"][0].tolist()
    return ids


@pytest.mark.parametrize("photos", [0, 1, 3])
def test_a_talk_is_what_the_template_writes_and_only_replies_are_taught(
    processor: Any, photos: int
) -> None:
    shown = [Image.new("RGB", (64, 64))] * photos
    made = Encoder(processor, [END]).teach_talk(TALK, shown)
    ids = made.words["input_ids"][0].tolist()
    at_once = whole(processor, TALK, photos)
    assert ids == at_once[: len(ids)]
    assert END not in at_once[len(ids) :]
    said = [processor.tokenizer.decode(ids[a:b], skip_special_tokens=True) for a, b in made.taught]
    assert said == ["early blight", "Mulch the soil.\nPrune."]
    assert all(ids[after - 1] == END for _, after in made.taught)
    labels = batch([made], 0, "right", "cpu")["labels"][0].tolist()
    taught = {place for a, b in made.taught for place in range(a, b)}
    assert labels == [each if at in taught else IGNORED for at, each in enumerate(ids)]


def test_one_turn_is_the_talk_of_one_turn(processor: Any) -> None:
    encoder, photo = Encoder(processor, [END]), [Image.new("RGB", (64, 64))]
    one = encoder.teach("Which?", photo, "rust")
    other = encoder.teach_talk([("user", "Which?"), ("assistant", "rust")], photo)
    assert one.words["input_ids"].tolist() == other.words["input_ids"].tolist()
    assert one.taught == other.taught


def test_what_is_no_talk(processor: Any) -> None:
    encoder = Encoder(processor, [END])
    with pytest.raises(Usage, match="a talk with a reply"):
        encoder.teach_talk([("user", "Which?")], [])
    with pytest.raises(Unreadable, match="own sign"):
        encoder.teach_talk([("user", "Which?"), ("assistant", "<|im_end|>")], [])


def test_a_model_that_was_never_taught_to_answer_is_told(tmp_path: Path) -> None:
    bare = tiny.qwen3_vl(tmp_path / "bare")
    (bare / "chat_template.jinja").unlink()
    with pytest.raises(Usage, match="expected a processor with a chat template"):
        transformers.OPEN({"path": str(bare)})


def test_padding_of_talks_is_never_taught(processor: Any, tmp_path: Path) -> None:
    encoder = Encoder(processor, [END])
    made = [encoder.teach_talk(TALK, []), encoder.teach_talk(TALK[:2], [])]
    labels = batch(made, 0, "right", "cpu")["labels"]
    assert labels.shape[1] == max(each.tokens for each in made)
    counts = [sum(b - a for a, b in each.taught) for each in made]
    assert (labels != IGNORED).sum(dim=1).tolist() == counts
