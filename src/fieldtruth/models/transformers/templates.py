"""How VisionReasoner-7B and Seg-Zero-7B are asked, and what they are shown.

Both think in `<think>` tags and then answer in `<answer>` tags, with boxes in pixels of a photo
drawn out to 840 x 840 and points inside them (AgroGround, appendix G; reference, section 14):
VisionReasoner with a list of `{"bbox_2d", "point_2d"}`, Seg-Zero with one `{'bbox', 'points_1',
'points_2'}`. Their replies are read by the one reader like any other: thoughts and points do not
count. Neither has words for "nothing there", and neither writes a name: the heuristic of the
paper, the candidate that the thoughts mention first, is no answer (it takes the first of the list
in 61 % of cases) and is not made here.

The instructions below say the same as the published ones in our own words. Those themselves, which
belong to their makers, can be given as `prompt_file`, with `{Question}` where the name goes.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldtruth.faults import Usage
from fieldtruth.models.contract import Request
from fieldtruth.models.transformers.loading import Caps
from fieldtruth.models.transformers.settings import Prompt, Settings
from fieldtruth.records import Space

if TYPE_CHECKING:
    from PIL.Image import Image

SPACE: Space = "pixel840"
SIDE = 840
THOUGHT = 1024  # tokens: what the published scripts allow a reply with its thoughts
SLOT = "{Question}"

_WORDS: dict[Prompt, str] = {
    "vision_reasoner": (
        'Find every "{Question}" in the picture and give a bounding box and a point inside each. '
        "First compare the objects that come into question and decide which of them match best. "
        "Write your thoughts between <think> and </think>, then the answer between <answer> and "
        "</answer>: a JSON list with one object for each match, its box under bbox_2d and its "
        "point under point_2d."
    ),
    "seg_zero": (
        "Find '{Question}' in the picture and give one bounding box and two points. First compare "
        "the objects that come into question and decide which one matches best. Write your "
        "thoughts between <think> and </think>, then the answer between <answer> and </answer>: "
        "one JSON object with the box under bbox, and the centres of the two largest circles that "
        "fit inside the object under points_1 and points_2."
    ),
}


def words_of(settings: Settings) -> str | None:
    """The instruction with its slot, or None where the request's own prompt is used.

    Raises `Usage` for a file that cannot be read, or has no slot.
    """
    if settings.prompt == "own":
        if settings.prompt_file is not None:
            raise Usage("prompt_file: expected prompt=vision_reasoner or seg_zero beside it")
        return None
    if settings.prompt_file is None:
        return _WORDS[settings.prompt]
    try:
        words = Path(settings.prompt_file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"prompt_file={settings.prompt_file}: expected a text, got: {error}") from None
    if SLOT not in words:
        raise Usage(f"prompt_file={settings.prompt_file}: expected {SLOT} in it, got none")
    return words


def filled(words: str, request: Request) -> str:
    """The instruction for one request: its names, or any trouble of a plant where it has none."""
    names = " or ".join(" ".join(name.split()) for name in request.names)
    return words.replace(SLOT, names or "plant disease, pest, weed or damage")


def stretched(photo: "Image") -> "Image":
    """The photo at 840 x 840, whatever its shape."""
    return photo.resize((SIDE, SIDE))


def stays(caps: Caps, processor: Any, place: str) -> None:
    """Raise `Usage` where the processor would resize the square again: its pixels are told."""
    eyes = processor.image_processor
    grid = getattr(eyes, "patch_size", 0) * getattr(eyes, "merge_size", 0)
    if caps.least is None or caps.most is None or not grid:
        return
    if SIDE % grid or not caps.least <= SIDE**2 <= caps.most:
        raise Usage(
            f"{place}: its boxes are pixels of a photo of {SIDE} x {SIDE}, and here that would be "
            f"resized to multiples of {grid} within {caps}; leave out min_pixels and max_pixels, "
            "or give the space that this model writes in"
        )
