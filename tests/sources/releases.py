"""Tiny raw releases, one per source, made afresh for a test; every known fault is in them."""

import json
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
    licences: frozenset[str] = frozenset()  # that the release states itself, for single photos
    listed: bool = True  # a table lists the photos, so that one that is gone is still a row


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
        listed=False,
        rows=frozenset(f"folder:{place}" for place in (*photos, *others)),
        fates={
            "no_boxes": 3, "healthy": 1, "class_names_nothing": 1, "no_class": 1,
            "unreadable": 2, "not_an_image": 2,
        },
    )  # fmt: skip


def photo(path: Path, size: tuple[int, int] = (100, 80)) -> None:
    """A photo of (width, height) with pixels of its own."""
    rng = np.random.default_rng(len(path.name))
    save(path, rng.integers(0, 255, (size[1], size[0], 3)).astype(np.uint8))


def painted(*boxes: tuple[int, int, int, int], value: int = 7) -> NDArray[np.uint8]:
    """A PlantSeg mask of 100 x 80 (0.1 % of it is 8 pixels) with rectangles (x1, y1, x2, y2)."""
    mask = np.zeros((80, 100), np.uint8)
    for x1, y1, x2, y2 in boxes:
        mask[y1:y2, x1:x2] = value
    return mask


def plantseg_table(root: Path, *rows: str, name: str = "Metadata.csv") -> None:
    head = "Name,Index,Plant,Disease,Resolution,Label file,Mask ratio,URL,License,Training/Test"
    root.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("\n".join((head, *rows)) + "\n", encoding="utf-8")


def plantseg(root: Path) -> Release:
    """One row for every way that a row of PlantSeg can go."""
    spots = painted((10, 10, 20, 20), (50, 50, 54, 54))
    cases: dict[str, tuple[str, NDArray[np.uint8] | None, str]] = {
        "spots.jpg": ("apple black rot", spots, "Training"),
        "whole.jpg": ("apple scab", painted((5, 5, 95, 75)), "Validation"),
        "b#1 caf\u00e9%20.JPG": ("apple rust", spots, "Test"),
        "gone.jpg": ("apple rust", spots, "Test"),
        "no_mask.jpg": ("apple rust", None, "Test"),
        "half.jpg": ("apple rust", painted((10, 10, 20, 20))[:40], "Training"),
        "empty.jpg": ("apple rust", painted(), "Training"),
        "speck.jpg": ("apple rust", painted((10, 10, 12, 13)), "Training"),
        "cut_mask.jpg": ("apple rust", spots, "Training"),
        "cut.jpg": ("apple rust", spots, "Training"),
        "well.jpg": ("Apple healthy", painted(), "Training"),
        "unwell.jpg": ("apple healthy", spots, "Training"),
        "nameless.jpg": ("--", spots, "Training"),
        "../up.jpg": ("apple rust", None, "Training"),
        "elsewhere.jpg": ("apple rust", None, "Extra"),
    }
    rows = []
    for name, (disease, mask, said) in cases.items():
        split = {"Training": "train", "Validation": "val", "Test": "test"}.get(said)
        stem = name.rpartition(".")[0]
        if split and "/" not in name:
            photo(root / f"images/{split}/{name}")
            if mask is not None:
                save(root / f"annotations/{split}/{stem}.png", mask)
        licence = "CC BY 4.0" if name == "spots.jpg" else ""
        rows.append(f'"{name}",1,Apple,{disease},100x80,{stem}.png,0.1,http://x,{licence},{said}')
    (root / "images/test/gone.jpg").unlink()
    for place in ("annotations/train/cut_mask.png", "images/train/cut.jpg"):
        (root / place).write_bytes((root / place).read_bytes()[:60])
    photo(root / "images/val/unlisted.jpg")
    twice = ["twice.jpg,1,Apple,apple rust,100x80,twice.png,0.1,http://x,,Test"] * 2
    plantseg_table(root, *rows, *twice)
    names = {
        f"{(({'Training': 'train', 'Validation': 'val', 'Test': 'test'}).get(said, said))}/{name}"
        for name, (_, _, said) in cases.items()
    }
    lines = {f"test/twice.jpg@line {at}" for at in (len(cases) + 2, len(cases) + 3)}
    return Release(
        root=root,
        rows=frozenset(f"plantseg:{name}" for name in (*names, *lines, "val/unlisted.jpg")),
        fates={
            "target": 3, "healthy": 1, "no_photo": 1, "no_mask": 1, "mask_size_differs": 1,
            "empty_mask": 1, "no_lesion_over_threshold": 1, "mask_unreadable": 1,
            "photo_unreadable": 1, "mask_contradicts_healthy": 1, "names_no_disease": 1,
            "unsafe_path": 1, "no_split": 1, "listed_twice": 2, "not_in_table": 1,
        },
        licences=frozenset(
            f"CC BY-NC-ND 4.0; photo: {said}" for said in ("CC BY 4.0", "not stated")
        ),
    )  # fmt: skip


def coco(root: Path) -> Release:
    """Two files; an image for every way that one can go (peers.md, section 4, fault 8)."""
    names = (
        "ok.jpg", "well.jpg", "bare.jpg", "gone.jpg", "zero.jpg", "of117.jpg", "swapped.jpg",
        "other.jpg", "crowd.jpg", "outside.jpg", "cut.jpg", "ground.jpg", "deep/er/a b#1.jpg",
        "told.jpg", "twice.jpg",
    )  # fmt: skip
    for name in names:
        photo(root / "images" / name)
    (root / "images/gone.jpg").unlink()
    (root / "images/cut.jpg").write_bytes(b"\xff\xd8\xff")
    size = {"width": 100, "height": 80}
    entries = [{"id": at, "file_name": name, **size} for at, name in enumerate(names)]
    place = {name: at for at, name in enumerate(names)}
    entries[place["swapped.jpg"]] |= {"width": 80, "height": 100}
    entries[place["other.jpg"]] |= {"width": 101}
    entries[place["ok.jpg"]] |= {"license": 3}
    entries[place["outside.jpg"]] = {"id": place["outside.jpg"], "file_name": "outside.jpg"}
    carried = {
        "id": "x", "image_sha256": "", "source": "s", "licence": "MIT", "crop": "apple",
        "kind": None, "label": None, "level": "healthy", "query": None, "absent_query": None,
        "candidates": None, "group": "g",
    }  # fmt: skip
    entries[place["told.jpg"]] |= {"fieldtruth": {"items": [carried]}}
    entries += [
        {"id": "up", "file_name": "../../../etc/passwd"},
        {"id": "root", "file_name": "/etc/passwd"},
        {"id": "again", "file_name": "twice.jpg"},
        {"id": "same", "file_name": "one.jpg"},
        {"id": "same", "file_name": "two.jpg"},
        {"id": 7.5, "file_name": "three.jpg"},
    ]

    def box(name: str, category: int, **more: object) -> dict[str, object]:
        return {
            "image_id": place[name], "category_id": category, "bbox": [10, 20, 30, 40], **more
        }  # fmt: skip

    annotations: list[dict[str, object] | None] = [
        box("ok.jpg", 0), box("ok.jpg", 0, bbox=[50, 20, 9, 9]), box("ok.jpg", 90),
        box("well.jpg", 4), box("gone.jpg", 0), box("zero.jpg", 0),
        box("zero.jpg", 0, bbox=[0, 0, 0, 0]), box("of117.jpg", 117), box("swapped.jpg", 0),
        box("other.jpg", 0), box("crowd.jpg", 0, iscrowd=1),
        box("outside.jpg", 0, bbox=[95, 0, 9, 9]), box("cut.jpg", 0), box("ground.jpg", 5),
        box("deep/er/a b#1.jpg", 0, segmentation=[]), None,
        {"image_id": 999, "category_id": 0, "bbox": [1, 2, 3, 4]},
    ]  # fmt: skip
    categories = [
        {"id": 0, "name": "Rust", "supercategory": "disease"}, {"id": 90, "name": "late_blight"},
        {"id": 4, "name": "healthy leaf"}, {"id": 5, "name": "--"},
    ]  # fmt: skip
    licences = [{"id": 3, "name": "CC BY 4.0"}]
    whole = {
        "images": entries, "annotations": annotations, "categories": categories,
        "licenses": licences,
    }  # fmt: skip
    (root / "annotations.json").write_text(json.dumps(whole), encoding="utf-8")
    photo(root / "valid/v.jpg")
    other = {
        "images": [{"id": 0, "file_name": "v.jpg", **size}],
        "annotations": [{"image_id": 0, "category_id": 1, "bbox": [1, 2, 90, 70]}],
        "categories": [{"id": 1, "name": "rust"}],
    }
    (root / "valid/_annotations.coco.json").write_text(json.dumps(other), encoding="utf-8")
    kept = (
        "ok.jpg", "well.jpg", "bare.jpg", "swapped.jpg", "other.jpg", "crowd.jpg", "outside.jpg",
        "cut.jpg", "ground.jpg", "deep/er/a b#1.jpg", "told.jpg",
    )  # fmt: skip
    ids = [f"#{place[name]}" for name in ("gone.jpg", "zero.jpg", "of117.jpg", "twice.jpg")]
    lost = (
        *ids, "#up", "#root", "#again", ":images[18]", ":images[19]", ":images[20]",
        ":annotations[15]", ":annotations[16]",
    )  # fmt: skip
    return Release(
        root=root,
        rows=frozenset(
            [f"coco:images/{name}" for name in kept]
            + [f"coco:annotations.json{where}" for where in lost]
            + ["coco:valid/v.jpg"]
        ),
        fates={
            "target": 4, "healthy": 2, "no_boxes_and_not_told_healthy": 1, "no_photo": 1,
            "bad_row": 4, "size_swapped": 1, "size_differs": 1, "crowd": 1, "box_outside": 1,
            "photo_unreadable": 1, "names_no_target": 1, "unsafe_path": 2, "listed_twice": 2,
            "duplicate_id": 2, "no_such_image": 1,
        },
        licences=frozenset({"CC BY 4.0"}),
    )  # fmt: skip


def voc_file(
    root: Path, name: str, *objects: tuple[str, tuple[float, ...]], photo_name: str | None = None
) -> None:
    """`Annotations/NAME.xml` about `NAME.jpg` of 100 x 80 pixels, if not about another."""
    said = f"{name}.jpg" if photo_name is None else photo_name
    things = "".join(
        f"<object><name>{label}</name><bndbox><xmin>{x1}</xmin><ymin>{y1}</ymin><xmax>{x2}</xmax>"
        f"<ymax>{y2}</ymax></bndbox></object>"
        for label, (x1, y1, x2, y2) in objects
    )
    path = root / f"Annotations/{name}.xml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"<annotation><folder>wrong</folder><filename>{said}</filename><size><width>100</width>"
        f"<height>80</height><depth>3</depth></size>{things}</annotation>",
        encoding="utf-8",
    )


def voc(root: Path) -> Release:
    """A file for every way that one can go."""
    box = (11.0, 21.0, 40.0, 60.0)
    for name in ("ok", "well", "bare", "broken", "cut", "hostile", "renamed", "lonely", "two"):
        photo(root / f"JPEGImages/{name}.jpg")
    photo(root / "JPEGImages/other.jpg", (80, 100))
    (root / "JPEGImages/cut.jpg").write_bytes(b"\xff\xd8\xff")
    voc_file(root, "ok", ("Rust", box), ("rust", (1, 1, 100, 80)), ("late_blight", box))
    voc_file(root, "well", ("healthy", box))
    voc_file(root, "bare")
    voc_file(root, "broken", ("rust", box), ("rust", (0, 0, 5, 5)))
    voc_file(root, "cut", ("rust", box))
    voc_file(root, "gone", ("rust", box))
    voc_file(root, "up", ("rust", box), photo_name="../../../etc/passwd")
    voc_file(root, "renamed", ("rust", box), photo_name="IMG_0001.jpg")
    voc_file(root, "other", ("rust", box))
    voc_file(root, "two", ("rust", box))
    voc_file(root, "two_again", ("rust", box), photo_name="two.jpg")
    (root / "Annotations/hostile.xml").write_text(
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotation/>', encoding="utf-8"
    )
    kept = ("ok", "well", "bare", "cut", "renamed", "other")
    lost = ("broken", "gone", "up", "hostile", "two", "two_again")
    photos = ("lonely", "hostile")
    return Release(
        root=root,
        rows=frozenset(
            [f"voc:JPEGImages/{name}.jpg" for name in (*kept, *photos)]
            + [f"voc:Annotations/{name}.xml" for name in lost]
        ),
        fates={
            "target": 3, "healthy": 1, "no_boxes_and_not_told_healthy": 1, "bad_row": 1,
            "photo_unreadable": 1, "no_photo": 1, "unsafe_path": 1, "size_swapped": 1,
            "listed_twice": 2, "bad_file": 1, "no_file": 2,
        },
    )  # fmt: skip


RELEASES: dict[str, Callable[[Path], Release]] = {
    "coco": coco,
    "coffee": coffee,
    "drawn": drawn_leaves,
    "folder": folder,
    "plantseg": plantseg,
    "voc": voc,
}
