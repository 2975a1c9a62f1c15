"""Tiny raw releases, one per source, made afresh for a test; every known fault is in them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fieldtruth import store
from fieldtruth.sources import drawn

LEAF, SYMPTOM = (0, 176, 0), (255, 0, 0)
SIZE = (200, 100)  # 0.02 % of it is 4 pixels
HEADER = "id,predominant_stress,miner,rust,phoma,cercospora,severity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release on disk, the sample ids of its raw rows, and how many end in each way."""

    root: Path
    rows: frozenset[str]
    fates: dict[str, int]  # target, healthy, or a drop's reason


def save(path: Path, pixels: NDArray[np.uint8]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def coffee_mask(*boxes: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    """A mask of SIZE with a leaf and red rectangles (x1, y1, x2, y2), far edge exclusive."""
    mask = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    mask[10:90, 10:190] = LEAF
    for x1, y1, x2, y2 in boxes:
        mask[y1:y2, x1:x2] = SYMPTOM
    return mask


def coffee_photo(root: Path, native: int, split: str = "train") -> None:
    rng = np.random.default_rng(native)
    pixels = rng.integers(60, 120, (SIZE[1], SIZE[0], 3)).astype(np.uint8)
    save(root / f"images/{split}/{native}.jpg", pixels)


def coffee_table(root: Path, *rows: str) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "dataset.csv").write_text("\n".join((HEADER, *rows)) + "\n", encoding="utf-8")


def coffee(root: Path) -> Release:
    """One row for every way that a row of BRACOL can go."""
    masks: dict[int, NDArray[np.uint8] | None] = {
        1: coffee_mask(),  # healthy
        2: coffee_mask((20, 20, 30, 30)),  # healthy in the table, a lesion on the mask
        3: None,  # healthy, no mask
        4: coffee_mask((20, 20, 30, 30), (50, 50, 52, 52)),  # miner
        5: coffee_mask((20, 20, 30, 30)),  # rust, in val
        6: coffee_mask((20, 20, 30, 30)),  # two flags
        7: coffee_mask((20, 20, 30, 30)),  # stress 5 and one flag
        8: None,  # phoma, no mask
        9: coffee_mask((20, 20, 23, 21)),  # cercospora, three pixels
        10: coffee_mask()[:50],  # phoma, half a mask
        11: coffee_mask(),  # phoma, a colour of its own
    }
    strange = masks[11]
    assert strange is not None
    strange[40, 40] = (0, 0, 255)
    for native, mask in masks.items():
        split = "val" if native == 5 else "train"
        coffee_photo(root, native, split)
        if mask is not None:
            save(root / f"annotations/{split}/{native}_mask.png", mask)
    coffee_photo(root, 13, "train")
    coffee_photo(root, 13, "val")
    coffee_photo(root, 99)  # no row
    coffee_table(
        root, "1,0,0,0,0,0,0", "2,0,0,0,0,0,0", "3,0,0,0,0,0,0", "4,1,1,0,0,0,1",
        "5,2,0,1,0,0,2", "6,1,1,1,0,0,2", "7,5,0,0,1,0,3", "8,3,0,0,1,0,1", "9,4,0,0,0,1,1",
        "10,3,0,0,1,0,1", "11,3,0,0,1,0,1", "12,0,0,0,0,0,0", "13,0,0,0,0,0,0",
    )  # fmt: skip
    return Release(
        root=root,
        rows=frozenset(f"coffee:{native}" for native in (*range(1, 14), 99)),
        fates={
            "target": 2, "healthy": 2, "mask_contradicts_healthy": 1, "several_stresses": 1,
            "flags_contradict": 1, "no_mask": 1, "no_lesion_over_threshold": 1,
            "mask_size_differs": 1, "bad_mask_colours": 1, "no_photo": 1,
            "photo_in_both_splits": 1, "not_in_table": 1,
        },
    )  # fmt: skip


def drawn_leaves(root: Path) -> Release:
    """Twelve drawn leaves, of which one photo is gone and one is of another size."""
    drawn.draw(root, leaves=12, seed=5)
    truths = list(store.read(root / drawn.TRUTH, drawn.Drawn))
    gone, resized, *ill = [truth for truth in truths if truth.label]
    (root / gone.image).unlink()
    save(root / resized.image, np.zeros((8, 8, 3), np.uint8))
    return Release(
        root=root,
        rows=frozenset(f"drawn:{truth.id}" for truth in truths),
        fates={
            "target": len(ill),
            "healthy": len(truths) - len(ill) - 2,
            "no_photo": 1,
            "size_differs": 1,
        },
    )


def folder(root: Path) -> Release:
    """Class folders, a flat photo, and what people leave lying among their photos."""
    pixels = np.full((6, 8, 3), 90, np.uint8)
    photos = (
        "Tomato___Late_blight/a.jpg", "Tomato___Late_blight/b.PNG", "Tomato_healthy/a.jpg",
        "unhealthy/a.jpg", "train/rust/a.jpg", "flat.jpg",
    )  # fmt: skip
    for place in photos:
        save(root / place, pixels)
    (root / "rust").mkdir()
    (root / "rust/cut.jpg").write_bytes((root / "flat.jpg").read_bytes()[:300])
    (root / "rust/empty.jpg").write_bytes(b"")
    (root / "rust/notes.txt").write_text("seen in May", encoding="utf-8")
    (root / ".DS_Store").write_bytes(b"\0")
    others = ("rust/cut.jpg", "rust/empty.jpg", "rust/notes.txt", ".DS_Store")
    return Release(
        root=root,
        rows=frozenset(f"folder:{place}" for place in (*photos, *others)),
        fates={
            "no_boxes": 3, "healthy": 1, "class_names_nothing": 1, "no_class": 1,
            "unreadable": 2, "not_an_image": 2,
        },
    )  # fmt: skip


RELEASES: dict[str, Callable[[Path], Release]] = {
    "coffee": coffee,
    "drawn": drawn_leaves,
    "folder": folder,
}
