"""Grounding DINO through transformers, on a tiny random model of the real class."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image
from tests.models import tiny

from fieldtruth import box_rules
from fieldtruth.faults import Usage
from fieldtruth.models import grounding_dino
from fieldtruth.models.contract import Request, Words, settings_of
from fieldtruth.records import AskLevel, Box

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow
SIZES = ((80, 120), (120, 80), (80, 120), (60, 160))  # rows, columns


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.grounding_dino(tmp_path_factory.mktemp("weights") / "dino")


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return tiny.noise(tmp_path_factory.mktemp("photos"), SIZES)


def open_model(weights: Path, **options: str) -> grounding_dino.GroundingDino:
    return grounding_dino.GroundingDino(
        settings_of("grounding_dino", {"path": str(weights), **options}, grounding_dino.Settings)
    )


def ask(photo: Path, *names: str, phrases: tuple[str, ...] = ()) -> Request:
    return Request(id="1", prompt="?", images=(photo,), names=names, phrases=phrases)


class Row(NamedTuple):
    box: list[float]
    label: str
    score: float


def rows(words: Words) -> list[Row]:
    assert words.error is None
    return [Row(each["bbox_2d"], each["label"], each["score"]) for each in json.loads(words.text)]


def test_a_batch_says_what_one_at_a_time_says(weights: Path, photos: list[Path]) -> None:
    """Photos of other sizes padded into one batch would move each other's boxes."""
    requests = [
        ask(photo, name) for photo in photos for name in ("late blight", "rust", "brown leaf spot")
    ]
    together = list(open_model(weights, batch="8", box="0.3").reply(requests))
    alone = list(open_model(weights, batch="1", box="0.3").reply(requests))
    assert sum(len(rows(words)) for words in together) > 50
    for one, other in zip(together, alone, strict=True):
        for left, right in zip(rows(one), rows(other), strict=True):
            assert np.allclose(left.box, right.box, atol=0.11)  # written to 0.1
            assert np.isclose(left.score, right.score, atol=2e-4)


def test_boxes_are_those_of_the_library(weights: Path, photos: list[Path]) -> None:
    """Its own processor and reader, with the phrase as the weights want it."""
    import torch
    from transformers import AutoModelForZeroShotObjectDetection, AutoProcessor

    processor = AutoProcessor.from_pretrained(weights)
    model = AutoModelForZeroShotObjectDetection.from_pretrained(weights).eval()
    photo = Image.open(photos[1])
    inputs = processor(images=[photo], text=["late blight on tomato leaf."], return_tensors="pt")
    with torch.inference_mode():
        outputs = model(**inputs)
    found = processor.post_process_grounded_object_detection(
        outputs, threshold=0.5, text_threshold=0.2, target_sizes=[photo.size[::-1]]
    )[0]
    order = found["scores"].argsort(descending=True, stable=True)
    (words,) = open_model(weights, box="0.5").reply(
        [ask(photos[1], "late blight", phrases=("Late blight on tomato leaf",))]
    )
    said = rows(words)
    limits = np.array([photo.width, photo.height] * 2)
    expected = np.clip(found["boxes"][order].numpy(), 0, limits)
    assert len(said) == len(expected) > 3
    assert np.allclose([row.box for row in said], expected, atol=0.06)
    assert np.allclose([row.score for row in said], found["scores"][order], atol=6e-5)
    assert {row.label for row in said} == {"late blight"}


def test_the_bound_is_on_a_boxs_score(weights: Path, photos: list[Path]) -> None:
    counts = {}
    for bound in ("0", "0.5", "0.9", "1"):
        (words,) = open_model(weights, box=bound).reply([ask(photos[0], "rust")])
        said = rows(words)
        assert all(row.score > float(bound) - 1e-4 for row in said)
        counts[bound] = len(said)
    assert counts["0"] == 20 >= counts["0.5"] > 0
    assert counts["1"] == 0  # an empty list: the explicit empty answer of a detector


class Small:
    """The detector on a machine with memory for so many passes at a time."""

    def __init__(self, model: Any, most: int, fault: BaseException | None = None) -> None:
        self.config, self._model, self.most, self.tried = model.config, model, most, list[int]()
        told = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")
        self._fault = fault or told

    def __call__(self, **given: Any) -> Any:
        self.tried.append(len(given["pixel_values"]))
        if self.tried[-1] > self.most:
            raise self._fault
        return self._model(**given)


def test_a_batch_that_does_not_fit_is_halved_and_what_fits_nowhere_is_an_error(
    weights: Path, photos: list[Path]
) -> None:
    requests = [ask(photo, "late blight", "rust") for photo in (photos[0], photos[2])]
    told = list(open_model(weights, box="0.3").reply(requests))
    for most, tried in ((2, [4, 2, 2]), (1, [4, 2, 1, 1, 2, 1, 1])):
        model = open_model(weights, box="0.3")
        small = model._model = Small(model._model, most)
        assert list(model.reply(requests)) == told
        assert small.tried == tried
    for fault, why in ((None, "CUDA out of memory. Tried to allocate"), (MemoryError(), "Memory")):
        model = open_model(weights)
        model._model = Small(model._model, 0, fault)
        for words in model.reply(requests):
            assert (words.finish, words.text) == ("error", "")
            assert f"out of memory on cpu for this photo alone: {why}" in (words.error or "")


LESION, SPECK, LEAF = (10.0, 10.0, 30.0, 30.0), (50.0, 50.0, 52.0, 52.0), (0.0, 0.0, 80.0, 80.0)
SECOND, OVER = (60.0, 10.0, 80.0, 30.0), (11.0, 10.0, 31.0, 30.0)


@pytest.mark.parametrize(
    ("name", "rules", "level", "left"),
    [
        ("late blight", "published", "lesion", [SECOND, LESION]),
        ("late blight", "published", "object", [LEAF]),
        ("nitrogen deficiency", "published", "object", [SECOND]),  # of stress the surest alone
        ("nitrogen deficiency", "ours", "lesion", [SECOND, LESION]),
        ("aphid", "ours", "lesion", [SECOND, LESION, LEAF]),  # insects are objects, however small
        ("a name that nobody knows", "ours", "lesion", [SECOND, LESION]),
    ],
)
def test_filters_leave_what_the_annotator_keeps(
    name: str, rules: box_rules.Name, level: AskLevel, left: list[Box]
) -> None:
    said = grounding_dino._Found(
        name, [SECOND, LESION, OVER, LEAF, SPECK], [0.9, 0.8, 0.7, 0.6, 0.95]
    )
    kept = grounding_dino._left(said, level, (100, 100), rules)
    assert (kept.name, kept.boxes) == (name, left)
    assert [said.scores[said.boxes.index(box)] for box in left] == kept.scores


def test_where_the_filters_leave_nothing_the_answer_is_empty() -> None:
    said = grounding_dino._Found("rust", [SPECK], [0.9])
    kept = grounding_dino._left(said, "lesion", (100, 100), "published")
    assert (kept.boxes, kept.scores) == ([], [])


def test_filters_are_of_what_the_detector_says(weights: Path, photos: list[Path]) -> None:
    raw = open_model(weights, box="0.1")
    filtered = open_model(weights, box="0.1", filters="published")
    assert filtered.version == f"{raw.version}-published"
    for photo in photos:
        request = ask(photo, "nitrogen deficiency")
        (all_boxes,), (one,) = list(raw.reply([request])), list(filtered.reply([request]))
        assert rows(one) == rows(all_boxes)[:1]
        assert len(rows(all_boxes)) > 1


def test_of_several_names_the_best_box_decides(weights: Path, photos: list[Path]) -> None:
    model = open_model(weights, box="0.1")
    names = ("rust", "late blight", "brown leaf spot", "leaf blight", "coffee rust")
    told = 0
    for photo in photos:
        best = {}
        for name in names:
            (words,) = model.reply([ask(photo, name)])
            best[name] = max(row.score for row in rows(words))
        (words,) = model.reply([ask(photo, *names)])
        (chosen,) = {row.label for row in rows(words)}
        assert best[chosen] == max(best.values()), best
        told += sum(score < best[chosen] for score in best.values())
    assert told > 2  # scores that are written alike tell nothing


def test_what_is_asked_for_comes_from_the_request_the_taxonomy_or_the_name(
    weights: Path, photos: list[Path]
) -> None:
    taxonomy, raw = open_model(weights, box="0.1"), open_model(weights, box="0.1", prompts="raw")
    given = ask(photos[0], "late blight", phrases=("spot",))
    (by_taxonomy,), (by_name,), (by_request,) = (
        list(taxonomy.reply([ask(photos[0], "late blight")])),
        list(raw.reply([ask(photos[0], "late blight")])),
        list(raw.reply([given])),
    )
    assert len({by_taxonomy.text, by_name.text, by_request.text}) == 3


def test_bounds_and_weights_are_part_of_the_version(weights: Path, tmp_path: Path) -> None:
    one = open_model(weights).version
    assert "-GroundingDinoImageProcessor" in one  # that of PIL, or of torchvision
    assert open_model(weights, box="0.3").version != one
    assert open_model(weights, text="0.3").version != one
    assert open_model(weights, batch="2").version == one
    other = tiny.grounding_dino(tmp_path / "other")
    assert open_model(other).version == one  # the same weights in another folder
    (other / "config.json").write_text((other / "config.json").read_text() + " ")
    assert open_model(other).version != one


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"path": "/nowhere/at/all"}, "expected a folder with a model"),
        ({"box": "2"}, "box"),
        ({"box": "nan"}, "box"),
        ({"batch": "0"}, "batch"),
        ({"device": "cuda"}, "device: expected one that this machine has"),
        ({"prompts": "mine"}, "prompts"),
        ({"filters": "mine"}, "filters"),
        ({"colour": "red"}, "no option 'colour'"),
    ],
)
def test_what_cannot_be_used_is_named(weights: Path, options: dict[str, str], said: str) -> None:
    with pytest.raises(Usage, match=said):
        grounding_dino.OPEN({"path": str(weights)} | options)


def test_a_folder_that_holds_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(Usage, match=f"{tmp_path}: expected the folder or hub name of a model"):
        grounding_dino.OPEN({"path": str(tmp_path)})


def test_a_hub_name_without_a_network_is_named() -> None:
    code = (
        "from fieldtruth.models import grounding_dino\n"
        "grounding_dino.OPEN({'path': 'nobody/no-such-model'})"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    last = ran.stderr.strip().splitlines()[-1]
    assert "Usage: nobody/no-such-model: expected the folder or hub name of a model" in last
    assert "where there is no network, give a folder" in last


def test_pickled_weights_are_not_read(weights: Path, tmp_path: Path) -> None:
    import shutil

    other = tmp_path / "pickled"
    shutil.copytree(weights, other)
    (other / "model.safetensors").rename(other / "pytorch_model.bin")
    with pytest.raises(Usage, match="pickled"):
        grounding_dino.OPEN({"path": str(other)})
