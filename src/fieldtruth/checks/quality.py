"""Photos on which there is little to see: dark, blurred, tiny, or of one grey.

Noted and no more: a benchmark may want its bad photos. The bars are set below every photo of the
coffee, PlantVillage and MIRAGE sets at hand (the darkest has 95 % of it under level 100, the
softest a sharpness of 2.2), and above those photos blurred by 1 % of their short side.
"""

from collections.abc import Iterator

from fieldtruth.checks.contract import Photo, Seen
from fieldtruth.hashing import Look
from fieldtruth.images import PATCH
from fieldtruth.records import Finding

DARK = 64.0  # of 255: 95 % of the photo is darker
BLURRED = 1.5  # grey levels of second difference, at a short side of 112 to 223 pixels
TINY = 4 * PATCH  # pixels: a side of fewer than four patches of Qwen2.5-VL


def check(seen: Seen) -> Iterator[Finding]:
    """A note for each fault of each photo, once for each file of a set."""
    told: set[tuple[str, str]] = set()
    for photo in seen.photos:
        if photo.look is None or (photo.set, photo.look.sha256) in told:
            continue
        told.add((photo.set, photo.look.sha256))
        for fault, evidence in _faults(photo.look):
            yield _note(photo, fault, evidence)


def _faults(look: Look) -> Iterator[tuple[str, str]]:
    if look.flat:
        yield "flat", f"grey levels spread by {look.spread:.1f}"
    elif look.sharp < BLURRED:
        yield "blurred", f"sharpness {look.sharp:.2f}, expected {BLURRED} or more"
    if look.bright < DARK:
        yield "dark", f"95 % of it is darker than {look.bright:.0f} of 255, expected {DARK:.0f}"
    if min(look.width, look.height) < TINY:
        yield "tiny", f"{look.width} x {look.height} pixels, expected {TINY} a side"


def _note(photo: Photo, fault: str, evidence: str) -> Finding:
    return Finding(
        id=f"quality:{fault}:{photo.name}",
        check="quality",
        about=(photo.name,),
        severity="note",
        evidence=f"{fault}: {evidence}",
    )
