"""Photos that may show somebody's face, by a detector that ships with its package.

Extra `faces`: OpenCV before 5, whose wheels carry the trained cascades of Viola and Jones. They
find a face that looks at the camera, and now and then a leaf. So a photo is flagged and never left
out in silence: a person looks at it, or its questions are drops that say why.
"""

from functools import cache
from pathlib import Path
from typing import Any

from fieldtruth import images
from fieldtruth.faults import Unreadable, Usage

CASCADE = "haarcascade_frontalface_alt2.xml"
DETECTOR = f"opencv {CASCADE.removesuffix('.xml')}"
LONGEST = 800  # pixels of the longer side that is looked at
SMALLEST = 1 / 20  # of the longer side; a smaller face tells nobody
NEIGHBOURS = 3  # hits side by side that make one face; fewer find more, leaves among them

Face = tuple[int, int, int, int]


@cache
def _cascade() -> Any:
    try:
        import cv2
    except ImportError:
        raise Usage("faces: expected opencv, got none; pip install 'fieldtruth[faces]'") from None
    path = Path(cv2.__file__).parent / "data" / CASCADE
    if not path.is_file():
        raise Usage(
            f"faces: expected {CASCADE} in the package of opencv {cv2.__version__}, got none; "
            "install a version before 5: pip install 'fieldtruth[faces]'"
        )
    return cv2.CascadeClassifier(str(path))


def find(path: Path) -> list[Face]:
    """Faces on a photo as `(x1, y1, x2, y2)` in pixels of the upright image, from the left.

    Raises `Unreadable` for a photo that cannot be opened, `Usage` without the extra.
    """
    import numpy as np

    cascade = _cascade()
    photo = images.open_upright(path)
    scale = min(1.0, LONGEST / max(photo.size))
    small = photo.convert("L").resize(
        (max(1, round(photo.width * scale)), max(1, round(photo.height * scale)))
    )
    least = max(24, round(max(small.size) * SMALLEST))
    found = cascade.detectMultiScale(
        np.asarray(small), scaleFactor=1.1, minNeighbors=NEIGHBOURS, minSize=(least, least)
    )
    boxes = [(x, y, x + width, y + height) for x, y, width, height in np.asarray(found).tolist()]
    return sorted(
        (round(x1 / scale), round(y1 / scale), round(x2 / scale), round(y2 / scale))
        for x1, y1, x2, y2 in boxes
    )


def may_show(path: Path) -> bool:
    """Whether a photo may show a face. One that cannot be opened may: nobody has seen it."""
    try:
        return bool(find(path))
    except Unreadable:
        return True
