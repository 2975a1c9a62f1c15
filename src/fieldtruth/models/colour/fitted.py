"""What training leaves behind, as JSON, and what it sees on a photo."""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.models.colour import leaf, parts, pixels
from fieldtruth.models.colour.naming import FEATURES, Naming, summary
from fieldtruth.models.colour.pixels import Logistic, View
from fieldtruth.records import Box, Record
from fieldtruth.store import replacing

RULE = 2  # add one when the same file may answer the same photo in another way


class Seen(NamedTuple):
    """The lesions of one photo, before anything is said about them."""

    boxes: list[Box]  # pixels of the photo
    leaves: list[Box]  # around each leaf that has one of them
    evidence: float  # the best lesion's chance, 0 where there is none
    row: NDArray[np.float64] | None  # their summary, for naming


class Fitted(Record, frozen=True, kw_only=True):
    """The two regressions, the two thresholds and the neighbours."""

    photos: int  # how many it was fitted on
    pixel: Logistic
    blob: Logistic
    keep: float  # least chance of a blob that is kept
    enough: float  # least chance of the best blob; below it the photo is answered with []
    naming: Naming
    declines: bool  # whether one name asked about is answered with [] where naming rules it out

    def __post_init__(self) -> None:
        got = tuple(len(part.centre) for part in (self.pixel, self.blob, self.naming))
        wanted = (pixels.FEATURES, parts.FEATURES, FEATURES)
        if got != wanted:
            raise ValueError(f"expected {wanted} features of pixel, blob and photo, got {got}")

    @property
    def version(self) -> str:
        """Changes with the content, and with the code that reads it."""
        content = msgspec.json.encode(self)
        return f"colour-{RULE}-{sha256(content).hexdigest()[:16]}"

    def save(self, path: Path) -> None:
        """Write it as JSON, whole or not at all."""
        with replacing(path) as file:
            file.write(msgspec.json.encode(self) + b"\n")

    def see(self, photo: Image.Image) -> Seen:
        """The lesions on an upright RGB photo."""
        seen = pixels.view(photo)
        found = parts.grow(seen, pixels.odds_map(seen, self.pixel))
        chance = self.blob.chance(found.features)
        kept = parts.select(found.parent, chance - self.keep)
        if len(kept) == 0:
            return Seen([], [], 0.0, None)
        boxes = found.boxes[kept]
        return Seen(
            seen.back(boxes),
            seen.back(_leaves(seen, boxes)),
            float(chance[kept].max()),
            summary(found.features[kept]),
        )


def load(path: Path) -> Fitted:
    """What `save` wrote. `Usage` where there is no such file, `BadRecord` where it is another."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Fitted)
    except OSError as fault:
        raise Usage(f"fitted={path}: expected a fitted colour model, got {fault}") from fault
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise BadRecord(
            f"{path}: expected what `fieldtruth train colour` writes, got {fault}; fit it again"
        ) from fault


def _leaves(seen: View, boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m, 4) boxes around the leaves that hold the middle of one of the (n, 4) boxes, or all."""
    labels, count = ndimage.label(seen.leaf, np.ones((3, 3)))
    middle = ((boxes[:, :2] + boxes[:, 2:]) / 2).astype(int)
    ill = set(labels[middle[:, 1], middle[:, 0]].tolist()) - {0}
    return np.array([leaf.leaf_box(labels == part) for part in sorted(ill) or range(1, count + 1)])
