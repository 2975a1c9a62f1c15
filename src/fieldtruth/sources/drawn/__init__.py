"""Drawn leaves: as many photos as wanted, with every symptom's box exactly known.

`draw` paints photos and their truth into a folder; the source reads such a folder back. Seven
crops and eight symptoms stand for the real thing where no real photos are at hand: in the demo and
in tests. A score on drawn leaves says that the machinery works, and nothing about the field.

One seed gives the same bytes, and more leaves change no other leaf. The test split has outlines,
greens and grounds of its own that training never sees; a `Look` says otherwise.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import msgspec
from PIL.Image import Image

from fieldtruth import draws, images, store
from fieldtruth.faults import Refused, Unreadable, Usage
from fieldtruth.records import (
    Annotation,
    AskLevel,
    Box,
    Drop,
    Healthy,
    Kind,
    Record,
    Sample,
    Split,
    Target,
)
from fieldtruth.sources.drawn import planning, planting, scene
from fieldtruth.sources.drawn.painting import paint
from fieldtruth.sources.drawn.planning import AS_EVER, Look

__all__ = ["SOURCE", "TRUTH", "Drawn", "DrawnLeaves", "Look", "draw", "draw_on"]

TRUTH = "truth.jsonl"
HELD_OUT_SHARE = 0.5  # of planted photos
BLURRED_SHARE = 0.2  # of the photos of one size
SIDES = (128, 1024)  # of the photos of one size
PNG_SHARE = 0.06  # of the photos are PNG, the others JPEG


class Drawn(Record, frozen=True, kw_only=True):
    """One photo's truth, a line of `truth.jsonl`. `leaf` groups the photos of one leaf."""

    id: str
    image: str
    width: int
    height: int
    leaf: str
    split: Split
    crop: str
    shape: str
    green: str
    ground: str
    label: str | None
    kind: Kind | None
    level: AskLevel | None
    boxes: tuple[Box, ...]
    licence: str = "CC0-1.0"


def draw(
    root: Path,
    *,
    leaves: int,
    seed: int = 0,
    held_out_share: float = 0.3,
    look: Look = AS_EVER,
) -> int:
    """Photos of that many leaves and `truth.jsonl` in `root`, whole or not at all; how many photos.

    About a tenth of the leaves are in two photos. Of the leaves, `held_out_share` on average are
    the test split. Raises `Usage` where `root` already holds something.
    """
    if leaves < 1 or not 0 <= held_out_share <= 1:
        raise Usage(
            "expected at least 1 leaf and a held-out share from 0 to 1, "
            f"got {leaves} and {held_out_share}"
        )
    if look.size is not None and not SIDES[0] <= look.size <= SIDES[1]:
        raise Usage(f"size: expected {SIDES[0]} to {SIDES[1]} pixels, got {look.size}")
    with _whole(root) as made:
        truths = [
            truth
            for number in range(leaves)
            for truth in _draw_leaf(made, planning.case(number, seed, held_out_share, look))
        ]
        store.write(made / TRUTH, truths)
    return len(truths)


def draw_on(
    photos: Sequence[Path], root: Path, find_leaf: planting.FindLeaf, *, seed: int = 0
) -> int:
    """Drawn symptoms on photos of real leaves, in the form of `draw`; how many photos.

    A photo is named by its content, so that its draws do not hang on its file's name; copies
    count once. Photos that cannot be opened are left out. The licence is `not stated`.
    """
    with _whole(root) as made:
        truths: dict[str, Drawn] = {}
        for photo in photos:
            try:
                seen, picture = images.facts(photo), images.open_upright(photo)
            except Unreadable:
                continue
            name = f"planted-{seen.sha256[:12]}"
            if name not in truths:
                planted = planting.plant(picture, find_leaf, name, seed)
                truths[name] = _planted(made, name, planted, seed)
        store.write(made / TRUTH, (truths[name] for name in sorted(truths)))
    return len(truths)


def _planted(root: Path, name: str, planted: planting.Planted, seed: int) -> Drawn:
    image = f"images/{name}.jpg"
    _save(planted.picture, root / image, quality=92)
    style = planted.style
    held_out = draws.rng(seed, "planted split", name).random() < HELD_OUT_SHARE
    return Drawn(
        id=name, image=image, width=planted.picture.width, height=planted.picture.height,
        leaf=name, split="test" if held_out else "train", crop="unknown", shape="photo",
        green="photo", ground="photo", label=style.label if style else None,
        kind=style.kind if style else None, level="lesion" if style else None,
        boxes=planted.boxes, licence="not stated",
    )  # fmt: skip


def _save(picture: Image, path: Path, **how: int) -> None:
    """By way of memory: given a path, Pillow takes a write that a full disk cut short for whole."""
    whole = BytesIO()
    picture.save(whole, "PNG" if path.suffix == ".png" else "JPEG", **how)
    path.write_bytes(whole.getvalue())


@contextmanager
def _whole(root: Path) -> Iterator[Path]:
    """A folder to fill that takes the place of `root` when the block succeeds."""
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise Usage(f"{root}: expected a folder that is empty or not there yet; name another")
    root = root.resolve()
    with store.drafting(root) as made:
        (made / "images").mkdir()
        yield made
        store.publish(made, root)


def _draw_leaf(root: Path, leaf: planning.Case) -> Iterator[Drawn]:
    for photo in leaf.photos:
        plan = planning.plan(leaf, photo)
        canvas, boxes = paint(plan)
        rng = draws.rng(leaf.seed, "drawn camera", photo)
        picture = scene.photograph(canvas, rng)
        focus = draws.rng(leaf.seed, "drawn focus", photo)
        if leaf.look.size is not None and focus.random() < BLURRED_SHARE:
            picture = scene.defocus(picture, focus)
        quality, png = int(rng.integers(84, 96)), rng.random() < PNG_SHARE
        image = f"images/{photo}.{'png' if png else 'jpg'}"
        if png:
            _save(picture, root / image, compress_level=3)
        else:
            _save(picture, root / image, quality=quality)
        ill = leaf.style if boxes else None
        yield Drawn(
            id=photo,
            image=image,
            width=plan.size[0],
            height=plan.size[1],
            leaf=leaf.name,
            split=leaf.split,
            crop=leaf.shape.crop,
            shape=leaf.shape.name,
            green=leaf.green.name,
            ground=plan.ground.name,
            label=ill.label if ill else None,
            kind=ill.kind if ill else None,
            level=None if ill is None else "object" if leaf.whole else "lesion",
            boxes=boxes,
        )


class DrawnLeaves:
    """A folder that `draw` made."""

    licence = "CC0-1.0"
    paper = "none: drawn by this program (fieldtruth.sources.drawn)"
    reasons = ("no_photo", "unsafe_path", "photo_unreadable", "size_differs")
    exhaustive = True  # a photo shows one kind of symptom, and all of it is boxed

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The photos in the order of the truth file. `Usage` where there is no such folder."""
        if not (root / TRUTH).is_file():
            raise Usage(
                f"{root}: expected a folder of drawn leaves with {TRUTH}, got none; draw one: "
                "`fieldtruth.sources.drawn.draw(Path(FOLDER), leaves=200, seed=0)`"
            )
        for truth in store.read(root / TRUTH, Drawn):
            try:
                photo = store.inside(root, truth.image)
            except Refused as fault:
                yield _drop(truth.id, "ingest", "unsafe_path", str(fault))
                continue
            if not photo.is_file():
                yield _drop(truth.id, "ingest", "no_photo", truth.image)
                continue
            yield _sample(truth)

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """What was drawn."""
        truth = _truth(sample)
        if truth.label is None or truth.kind is None:
            yield Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop=truth.crop)
            return
        yield Target(
            id=f"{sample.id}:target",
            sample=sample.id,
            kind=truth.kind,
            label=truth.label,
            crop=truth.crop,
            organ="leaf",
        )

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:
        """The boxes that were drawn, held against the size of the photo that is there."""
        truth = _truth(sample)
        try:
            found = images.size(store.inside(root, truth.image))
        except Unreadable as fault:
            return _drop(truth.id, "annotate", "photo_unreadable", str(fault))
        if found != (truth.width, truth.height):
            said = f"expected {truth.width}x{truth.height}, got {found[0]}x{found[1]}"
            return _drop(truth.id, "annotate", "size_differs", said)
        return Annotation(
            id=f"{target.id}:boxes",
            target=target.id,
            image=truth.image,
            width=truth.width,
            height=truth.height,
            level=truth.level or "lesion",
            boxes=truth.boxes,
            rule="extent of the painted pixels",
        )


def _sample(truth: Drawn) -> Sample:
    return Sample(
        id=f"drawn:{truth.id}",
        source="drawn",
        images=(truth.image,),
        native={
            "split": truth.split,
            "crop": truth.crop,
            "group": truth.leaf,
            "truth": msgspec.json.encode(truth).decode(),
        },
        licence=truth.licence,
    )


def _truth(sample: Sample) -> Drawn:
    return msgspec.json.decode(sample.native["truth"], type=Drawn)


def _drop(native: str, stage: str, reason: str, detail: str) -> Drop:
    name = f"drawn:{native}"
    return Drop(id=f"{name}:{stage}", sample=name, stage=stage, reason=reason, detail=detail)


SOURCE = DrawnLeaves()
