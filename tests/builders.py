"""What tests begin with: photos painted in a moment, rows, items, frozen benchmarks."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from PIL import Image, ImageDraw

from fieldtruth import store
from fieldtruth.models.scripted import Line
from fieldtruth.records import Annotation, Example, Healthy, Item, Prediction, Sample, Target
from fieldtruth.replies import spelling, write_boxes
from fieldtruth.stages.freeze import Settings, freeze
from fieldtruth.store.examples import EXAMPLES, ExamplesManifest

NAMES = ("early blight", "late blight", "leaf mold", "septoria leaf spot")
HIT = (
    '[{"bbox_2d": [10, 8, 20, 16], "label": "early blight"}]'  # the right reply to `row` in pixels
)


def plain(path: Path, shade: int = 0, size: tuple[int, int] = (32, 24)) -> Path:
    """A photo of one green; every shade from 0 to 4,095 has pixels of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (shade // 64, 96 + shade % 64, 40)).save(path)
    return path


def leaf(path: Path, spots: Sequence[Sequence[float]] = (), shade: int = 0) -> Path:
    """160 x 120 pixels: on grey, a leaf within (20, 20, 140, 100) with brown spots (boxes)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.new("RGB", (160, 120), (200, 200, 205))
    brush = ImageDraw.Draw(picture)
    brush.ellipse((20, 20, 139, 99), fill=(40 + shade, 130, 50))
    for x1, y1, x2, y2 in spots:
        brush.ellipse((x1, y1, x2 - 1, y2 - 1), fill=(110, 60, 30))
    picture.save(path)
    return path


def class_folders(root: Path, each: int = 3, healthy: int = 3) -> Path:
    """Photos of leaves in class folders, as the source `folder` takes them: four names, healthy."""
    classes = dict.fromkeys((f"Tomato___{name.replace(' ', '_')}" for name in NAMES), each)
    shade = 0
    for folder, count in (classes | {"Tomato___healthy": healthy}).items():
        for number in range(count):
            shade += 1
            leaf(root / folder / f"{number}.png", [(60, 50, 80, 60)], shade)
    return root


def row(name: str, **changes: Any) -> dict[str, Any]:
    """A line for `freeze`: a positive of `a.png` (32 x 24), with a list of four."""
    return {
        "id": name, "image": "a.png", "source": "hand", "licence": "CC0", "crop": "tomato",
        "kind": "disease", "label": NAMES[0], "level": "lesion", "boxes": [[10, 8, 20, 16]],
        "candidates": NAMES,
    } | changes  # fmt: skip


def healthy_row(name: str, **changes: Any) -> dict[str, Any]:
    """A line for `freeze`: a healthy photo, `b.png`, asked for a name and with a list of four."""
    return {
        "id": name, "image": "b.png", "source": "hand", "licence": "CC0", "crop": "tomato",
        "level": "healthy", "query": NAMES[1], "candidates": NAMES,
    } | changes  # fmt: skip


def frozen(folder: Path, rows: Sequence[Mapping[str, Any]], split: str = "test") -> Path:
    """These rows frozen as `folder`; `a.png` and `b.png` lie in `photos` beside it."""
    photos = folder.parent / "photos"
    plain(photos / "a.png", 1)
    plain(photos / "b.png", 2)
    lines = folder.with_name(f"{folder.name}.rows.jsonl")
    lines.write_text("".join(json.dumps(each) + "\n" for each in rows))
    freeze(lines, photos, folder, Settings(name="leaves", version="1", split=split))
    return folder


def four(folder: Path) -> Path:
    """A benchmark of positives p0 and p1 and healthy h0 and h1."""
    rows = [row("p0"), row("p1"), healthy_row("h0"), healthy_row("h1")]
    return frozen(folder, rows)


def table(path: Path, replies: Mapping[str, str]) -> Path:
    """A table for the `scripted` model: id -> words."""
    store.write(path, (Line(id=name, text=text) for name, text in replies.items()))
    return path


def replies(path: Path, model: str, words: Mapping[str, str], **changes: Any) -> Path:
    """A predictions file under `candidates` in pixels: item -> words."""
    fields: dict[str, Any] = {"protocol": "candidates", "space": "pixel", "model": model} | changes
    store.write(path, (Prediction(item=name, text=said, **fields) for name, said in words.items()))
    return path


def item(name: str = "leaf-1", **changes: Any) -> Item:
    """A positive item of 100 x 80 pixels."""
    fields: dict[str, Any] = {
        "id": name, "image": "images/a.jpg", "image_sha256": "0" * 64, "width": 100, "height": 80,
        "source": "hand", "licence": "CC0", "crop": "tomato", "kind": "disease",
        "label": NAMES[0], "level": "lesion", "boxes": ((10.0, 10.0, 30.0, 20.0),),
        "query": NAMES[0], "absent_query": None, "candidates": None, "group": "g",
    }  # fmt: skip
    return Item(**(fields | changes))


def sample(name: str, image: str = "a.png", **native: str) -> Sample:
    """One row of a source called `s`."""
    return Sample(id=name, source="s", images=(image,), native=native, licence="CC0")


def target(parent: str, label: str = "rust", crop: str | None = "tomato", **more: Any) -> Target:
    """What a sample names; its id is `SAMPLE:LABEL`."""
    fields: dict[str, Any] = {"kind": "disease", **more}
    return Target(id=f"{parent}:{label}", sample=parent, label=label, crop=crop, **fields)


def healthy(parent: str, crop: str | None = "tomato") -> Healthy:
    """A sample that shows a healthy plant."""
    return Healthy(id=f"{parent}:healthy", sample=parent, crop=crop)


def boxed(of: Target, **changes: Any) -> Annotation:
    """One box for a target on a photo of 32 x 24 pixels."""
    fields: dict[str, Any] = {
        "id": f"{of.id}:boxes", "target": of.id, "image": "a.png", "width": 32, "height": 24,
        "level": "lesion", "boxes": ((10.0, 8.0, 20.0, 16.0),), "rule": "hand",
    }  # fmt: skip
    return Annotation(**(fields | changes))


def example(name: str, **changes: Any) -> Example:
    """A training example of `a.png` (64 x 48) in norm1000; `role` makes it healthy or absent."""
    role = changes.get("role", "positive")
    there = role == "positive"
    boxes = ((10.0, 8.0, 30.0, 24.0),) if there else ()
    space = changes.get("space", "norm1000")
    query = changes.get("query", NAMES[0] if there else NAMES[1])
    fields: dict[str, Any] = {
        "id": name, "parent": f"s:{name}", "image": "a.png", "image_sha256": "0" * 64, "width": 64,
        "height": 48, "source": "hand", "licence": "CC0", "group": f"g-{name}", "split": "train",
        "role": role, "protocol": "known_target", "space": space, "level": "lesion",
        "crop": "tomato", "kind": "disease", "label": None if role == "healthy" else NAMES[0],
        "query": query, "candidates": None, "boxes": boxes,
        "prompt": f"Look for {query}.\n{spelling(json.dumps(query), space)}",
        "answer": write_boxes(boxes, query, space, width=64, height=48),
    }  # fmt: skip
    return Example(**(fields | changes))


def examples_folder(folder: Path, examples: Sequence[Example]) -> Path:
    """What `compose --training` leaves; photos lie in `release` beside it, their hash is filled in
    where it is all zeros."""
    for shade, name in enumerate("ab", start=1):
        plain(folder / "release" / f"{name}.png", shade, (64, 48))
    made, rows = folder / "training", list[Example]()
    for each in examples:
        photo = folder / "release" / each.image
        looked_at = each.image_sha256.strip("0") or not photo.is_file()
        identity = each.image_sha256 if looked_at else store.sha256(photo)
        rows.append(msgspec.structs.replace(each, image_sha256=identity))
    store.write(made / EXAMPLES, rows)
    manifest = ExamplesManifest(
        name="leaves", split=rows[0].split, space=rows[0].space, seed=0, settings={},
        examples=len(rows), counts={}, drops={}, roots={"hand": "../release"},
        files={EXAMPLES: store.sha256(made / EXAMPLES)}, inputs={}, code="0",
    )  # fmt: skip
    (made / store.MANIFEST).write_bytes(manifest.rendered())
    return made


def conversation(
    name: str,
    prompt: str = "<image>Where?",
    answer: str = "[]",
    images: Sequence[str] = ("a.png",),
) -> dict[str, Any]:
    """A row of a chat file as ms-swift takes it."""
    turns = [{"role": "user", "content": prompt}, {"role": "assistant", "content": answer}]
    return {"id": name, "messages": turns, "images": list(images)}


def question(name: str, **changes: Any) -> dict[str, Any]:
    """A line of a question set: four options, the first one right, no photo."""
    return {
        "id": name, "form": "mcq", "images": [], "question": "What is it?",
        "options": ["rust", "scab", "blight", "mildew"], "answer": "A", "facts": [],
        "domain": None, "challenge": None, "crop": None, "qtype": None, "group": name,
        "evidence": [], "source": "hand", "licence": "CC0",
    } | changes  # fmt: skip
