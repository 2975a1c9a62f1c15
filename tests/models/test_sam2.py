"""SAM 2 behind a detector, on tiny random models of the real classes."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.builders import table
from tests.models import tiny

from fieldtruth.faults import Usage
from fieldtruth.models import sam2
from fieldtruth.models.contract import Request

pytest.importorskip("torch")
pytestmark = pytest.mark.slow
BOXES = [(10.0, 5.0, 60.0, 30.0), (0.0, 0.0, 120.0, 80.0), (100.0, 70.0, 103.0, 72.0)]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.sam2(tmp_path_factory.mktemp("weights") / "sam2")


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("photos") / "a.png"
    noise = np.random.default_rng(0).integers(0, 255, (80, 120, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    return path


def script(folder: Path, *boxes: tuple[float, ...], space: str = "pixel") -> dict[str, str]:
    """Options of a detector that says these boxes."""
    said = [{"bbox_2d": box, "label": "rust", "score": 0.5} for box in boxes]
    path = table(folder / "said.jsonl", {"1": json.dumps(said), "2": "[]"})
    return {"detector": "scripted", "detector.table": str(path), "detector.space": space}


def masks(weights: Path, photo: Path, boxes: list[tuple[float, ...]]) -> list[float]:
    """The share of each box that its mask fills, by the library's own road at full size."""
    import torch
    from transformers import Sam2Model

    model = Sam2Model.from_pretrained(weights).eval()
    picture = Image.open(photo)
    small = picture.resize((64, 64), Image.Resampling.BILINEAR)
    pixels = (np.asarray(small) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    scale = np.array([64 / picture.width, 64 / picture.height] * 2)
    with torch.inference_mode():
        out = model(
            pixel_values=torch.tensor(pixels.transpose(2, 0, 1)[None], dtype=torch.float32),
            input_boxes=torch.tensor(np.array([boxes]) * scale, dtype=torch.float32),
            multimask_output=False,
        )
    full = torch.nn.functional.interpolate(
        out.pred_masks[0], (picture.height, picture.width), mode="bilinear", align_corners=False
    )
    cut = (full[:, 0] > 0).numpy()
    return [
        float(mask[int(y1) : int(y2), int(x1) : int(x2)].mean())
        for mask, (x1, y1, x2, y2) in zip(cut, boxes, strict=True)
    ]


def reply(model: sam2.Sam2, photo: Path, name: str = "1") -> list[dict[str, object]]:
    (words,) = model.reply([Request(id=name, prompt="?", images=(photo,), names=("rust",))])
    assert words.error is None
    said: list[dict[str, object]] = json.loads(words.text)
    return said


def open_model(weights: Path, options: dict[str, str]) -> sam2.Sam2:
    model = sam2.OPEN({"path": str(weights)} | options)
    assert isinstance(model, sam2.Sam2)
    return model


def test_the_share_of_a_box_is_that_of_the_librarys_mask(
    weights: Path, photo: Path, tmp_path: Path
) -> None:
    model = open_model(weights, script(tmp_path, *BOXES) | {"empty": "mark"})
    shares = [float(str(row["mask"])) for row in reply(model, photo)]
    assert np.allclose(shares, masks(weights, photo, list(BOXES)), atol=1e-3)
    assert 0 < shares[0] < 1


def test_a_box_with_an_empty_mask_is_removed_unless_told(
    weights: Path, photo: Path, tmp_path: Path
) -> None:
    grid = [(x, y, x + 4.0, y + 4.0) for x in range(0, 116, 8) for y in range(0, 76, 8)]
    boxes = [tuple(map(float, box)) for box in grid]
    marked = reply(open_model(weights, script(tmp_path, *boxes) | {"empty": "mark"}), photo)
    empty = [row for row in marked if row["mask"] == 0.0]
    assert 0 < len(empty) < len(boxes) == len(marked)
    removed = reply(open_model(weights, script(tmp_path, *boxes)), photo)
    assert removed == [row for row in marked if row not in empty]
    kept = reply(open_model(weights, script(tmp_path, *boxes) | {"empty": "keep"}), photo)
    assert [row["bbox_2d"] for row in kept] == [list(box) for box in boxes]


def test_no_boxes_stay_an_empty_answer_and_failures_stay_failures(
    weights: Path, photo: Path, tmp_path: Path
) -> None:
    model = open_model(weights, script(tmp_path, BOXES[0]))
    assert reply(model, photo, "2") == []
    (lost,) = model.reply([Request(id="3", prompt="?", images=(photo,), names=("rust",))])
    assert lost.error is not None
    assert "no scripted reply" in lost.error
    table(tmp_path / "said.jsonl", {"1": "there is rust on it"})
    (prose,) = open_model(weights, script_of(tmp_path)).reply(
        [Request(id="1", prompt="?", images=(photo,), names=("rust",))]
    )
    assert prose.error is not None
    assert "expected a list of boxes" in prose.error


def script_of(folder: Path) -> dict[str, str]:
    said = folder / "said.jsonl"
    return {"detector": "scripted", "detector.table": str(said), "detector.space": "pixel"}


def test_what_cannot_be_used_is_named(weights: Path, tmp_path: Path) -> None:
    with pytest.raises(Usage, match="another backend than sam2"):
        sam2.OPEN({"path": str(weights), "detector": "sam2"})
    with pytest.raises(Usage, match="which writes norm1000"):
        sam2.OPEN({"path": str(weights)} | script(tmp_path, BOXES[0], space="norm1000"))
    (weights / "preprocessor_config.json").rename(weights / "away.json")
    try:
        with pytest.raises(Usage, match=r"expected preprocessor_config\.json"):
            sam2.OPEN({"path": str(weights)} | script(tmp_path, BOXES[0]))
    finally:
        (weights / "away.json").rename(weights / "preprocessor_config.json")
