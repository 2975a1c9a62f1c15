"""Annotate: targets get boxes, from their release or a machine, or are dropped with a reason.

rules      which of a detector's boxes are kept, and at which level
detected   what a model is asked about a target, and what its words are taken for
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from fieldtruth.faults import Unreadable
from fieldtruth.records import Annotation, Drop, Sample, Target
from fieldtruth.store import inside

REASONS = ("photo_unreadable",)

Annotator = Callable[[Sample, Target, Path], Annotation | Drop]


def annotate(
    annotator: Annotator, targets: Iterable[Target], samples: Mapping[str, Sample], root: Path
) -> Iterator[Annotation | Drop]:
    """One annotation or drop for every target; `annotator` is a source's own, or `leaf_box`."""
    for target in targets:
        record = annotator(samples[target.sample], target, root)
        yield replace(record, parent=target.id) if isinstance(record, Drop) else record


def leaf_box(sample: Sample, target: Target, root: Path) -> Annotation | Drop:
    """One object-level box around all leaf on the first photo, in pixels of the upright image.

    Drawn by the embedded leaf finder and checked by nobody: its rule says so.
    """
    import numpy as np

    from fieldtruth.images import open_upright
    from fieldtruth.models.colour import leaf

    try:
        photo = open_upright(inside(root, sample.images[0]))
    except Unreadable as fault:
        return Drop(
            id=f"{target.id}:annotate", sample=sample.id, stage="annotate",
            reason="photo_unreadable", detail=str(fault),
        )  # fmt: skip
    small = leaf.shrink(photo, leaf.COARSE)
    x1, y1, x2, y2 = leaf.leaf_box(leaf.find_leaf(leaf.lab(np.asarray(small))))
    return Annotation(
        id=f"{target.id}:boxes",
        target=target.id,
        image=sample.images[0],
        width=photo.width,
        height=photo.height,
        level="object",
        # Multiplied before divided: a leaf that fills the photo ends on its edge, not beyond.
        boxes=(
            (
                x1 * photo.width / small.width,
                y1 * photo.height / small.height,
                x2 * photo.width / small.width,
                y2 * photo.height / small.height,
            ),
        ),
        rule="box around the leaf, found by machine, not checked by a person",
    )
