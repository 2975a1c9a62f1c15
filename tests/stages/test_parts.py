"""Parts of a batch hold its rows, their photos, and no padding behind the longest."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.stages import tuned
from tests.stages.tuned import examples, losses, settings, trained

torch = pytest.importorskip("torch")

from fieldtruth.tuning import parts  # noqa: E402

LENGTHS = (5, 9, 2, 7, 9, 3, 4, 8, 6, 1)


def batch(lengths: tuple[int, ...] = LENGTHS, photos: int = 1) -> dict[str, Any]:
    """Row n has tokens of n, and photos of 4 or 8 patches, which hold n too."""
    most = max(lengths)
    mask = torch.tensor([[1] * each + [0] * (most - each) for each in lengths])
    grids = [[1, 2, 2 + 2 * (n % 2)] for n in range(len(lengths)) for _ in range(photos)]
    told: dict[str, Any] = {
        "input_ids": mask * torch.arange(len(lengths))[:, None], "attention_mask": mask,
        "logits_to_keep": torch.tensor([3, 4]), "nothing": None,
    }  # fmt: skip
    if photos:
        patches = [torch.full((a * b * c, 3), n // photos) for n, (a, b, c) in enumerate(grids)]
        told |= {"image_grid_thw": torch.tensor(grids), "pixel_values": torch.cat(patches)}
        told["mm_token_type_ids"] = kinds([1 + n % 2 for n in range(len(lengths))], most)
    return told


def kinds(counts: list[int], most: int) -> Any:
    """So many tokens of photos in each row: one for four patches."""
    return torch.tensor([[1] * each + [0] * (most - each) for each in counts])


@pytest.mark.parametrize("photos", [0, 1])
def test_parts_are_the_batch(photos: int) -> None:
    whole = batch(photos=photos)
    assert parts.can_be_parted(whole)
    made = list(parts.parted(whole))
    assert [len(each["input_ids"]) for each in made] == [8, 2]
    assert [each["input_ids"].shape[1] for each in made] == [8, 9]
    rows = [int(row.max()) for each in made for row in each["input_ids"]]
    assert sorted(rows) == list(range(10))
    lengths = [int(row.sum()) for each in made for row in each["attention_mask"]]
    assert lengths == sorted(LENGTHS) == [LENGTHS[row] for row in rows]
    for each in made:
        assert each["nothing"] is None
        assert each["logits_to_keep"].tolist() == [3, 4]
        assert each["attention_mask"].shape == each["input_ids"].shape
        if photos:
            theirs = [int(row.max()) for row in each["input_ids"]]
            assert each["image_grid_thw"].tolist() == [[1, 2, 2 + 2 * (n % 2)] for n in theirs]
            seen = [n for n in theirs for _ in range(4 + 4 * (n % 2))]
            assert each["pixel_values"].tolist() == [[n] * 3 for n in seen]


def test_batches_that_are_not_parted() -> None:
    assert not parts.can_be_parted(batch(LENGTHS[:8]))
    assert not parts.can_be_parted(batch(photos=2))
    told = batch()
    del told["image_grid_thw"]  # of a kind of model that counts its patches otherwise
    assert not parts.can_be_parted(told)
    told = batch()
    del told["mm_token_type_ids"]  # or that does not say which row a photo is of
    assert not parts.can_be_parted(told)


def test_as_many_photos_as_rows_need_not_be_one_to_each() -> None:
    """Of talks some show two photos and others none."""
    one = [1 + n % 2 for n in range(10)]
    told = batch()
    for shown in ([3, 0, *one[2:]], [0, 3, *one[2:]], [*one[:8], 0, 3], [one[1], one[0], *one[2:]]):
        told["mm_token_type_ids"] = kinds(shown, 9)
        assert not parts.can_be_parted(told)
    told["mm_token_type_ids"] = kinds(one, 9)
    assert parts.can_be_parted(told)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_batch_that_is_looked_at_in_parts_is_one(tmp_path: Path) -> None:
    """On a CPU, parts of like length are: the loss curve is that of batches that are not."""
    pytest.importorskip("trl")
    tuned.base(tmp_path)
    examples(tmp_path / "train", 24)
    told: dict[str, Any] = {"dropout": 0.0, "steps": 6, "save_every": 6, "average": "square"}
    whole = losses(trained(settings(tmp_path, batch=24, accumulate=1, **told)))
    few = losses(
        trained(settings(tmp_path, batch=4, accumulate=6, out=str(tmp_path / "b"), **told))
    )
    apart_by = np.abs(np.array(whole) - few)
    assert apart_by.max() < 5e-5
    assert np.ptp(whole) > 0.05
