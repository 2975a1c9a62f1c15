"""Several photos of one question all reach a model, in their order."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.models import tiny

from fieldtruth.images import open_upright
from fieldtruth.models import transformers
from fieldtruth.models.contract import Request
from fieldtruth.models.transformers.encoding import Encoder
from fieldtruth.models.transformers.processor import open_processor

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.qwen3_vl(tmp_path_factory.mktemp("weights") / "base")


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder, paths = tmp_path_factory.mktemp("photos"), []
    for number, (rows, columns) in enumerate(((64, 96), (96, 64), (64, 64))):
        noise = np.random.default_rng(number).integers(0, 255, (rows, columns, 3), dtype=np.uint8)
        paths.append(folder / f"{number}.png")
        Image.fromarray(noise).save(paths[-1])
    return paths


def test_their_pixels_stand_one_after_another(base: Path, photos: list[Path]) -> None:
    encoder = Encoder(open_processor(str(base)), ())
    pictures = [open_upright(path) for path in photos]
    alone = [encoder.ask("Which?", [each]) for each in pictures]
    for order in ((0, 1, 2), (2, 0, 1)):
        made = encoder.ask("Which?", [pictures[at] for at in order])
        wanted = torch.cat([alone[at].photos["pixel_values"] for at in order])
        assert torch.equal(made.photos["pixel_values"], wanted)
        grids = torch.cat([alone[at].photos["image_grid_thw"] for at in order])
        assert torch.equal(made.photos["image_grid_thw"], grids)


def test_the_model_answers_to_all_of_them_and_their_order(base: Path, photos: list[Path]) -> None:
    def words(batch: str) -> list[Any]:
        model = transformers.OPEN({"path": str(base), "max_new_tokens": "12", "batch": batch})
        orders = (photos, photos[::-1], photos[:1], photos[:2], photos)
        asked = [
            Request(id=str(n), prompt="Which?", images=tuple(each)) for n, each in enumerate(orders)
        ]
        return [(each.text, each.error) for each in model.reply(asked)]

    alone = words("1")
    assert words("4") == alone
    assert [error for _, error in alone] == [None] * 5
    assert len({text for text, _ in alone[:4]}) == 4
    assert alone[0] == alone[4]
