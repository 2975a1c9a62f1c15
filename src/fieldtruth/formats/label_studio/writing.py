"""What Label Studio is given: tasks, labelling configs, photos as a browser shows them.

A region is `{x, y, width, height}` in percent of the upright photo, x and y its upper left
corner; all boxes of a task go in one prediction, since a server shows one at a time. The names of
the tags here are those that `reading` looks for.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import msgspec

from fieldtruth import images, store
from fieldtruth.records import Box

BOX, LEVEL, VERDICT, REASON, NOTE = "box", "level", "verdict", "reason", "note"
ANSWER, FLAG = "answer", "flag"  # of questions: the letter, or why it cannot be answered
TARGET = "target"  # the one label of a review: what it is stands above the photo
LOCAL = "/data/local-files/?d="  # followed by a path below LOCAL_FILES_DOCUMENT_ROOT
LEVELS = ("lesion", "object")
SAID = {
    "absent": "Not on this photo",
    "remove": "Remove the photo",
    "flag": "Flag: somebody else should look",
}
REASONS = {
    "not_verifiable": "cannot be made out with certainty",
    "wrong_name": "it shows something else than was asked",
    "poor_photo": "too dark, blurred or small",
    "no_plant": "no plant, or a drawing or screenshot",
    "repeat": "seen before",
    "ambiguous": "where it begins and ends is a matter of taste",
    "other": "something else (write a note)",
}
# AgroGround's audit of its machine-made boxes (appendix on pseudo-labels): one verdict a photo.
VERDICTS = {
    "correct": "All boxes correct",
    "too_large": "A whole-leaf box where lesions were asked for",
    "missed": "Some are not boxed",
    "duplicate": "A whole-leaf box over boxes of its parts",
    "wrong": "A box on something else",
}
# Why an expert takes a question out of the candidates (PlantXpert, expert annotation).
FLAGS = {
    "low_quality": "Low quality: question, options or photo",
    "ambiguous": "Ambiguous: more than one option is right, or none",
    "unsupported": "The photo does not show what the answer needs",
    "irrelevant": "Has nothing to do with plants",
    "other": "Something else (write a note)",
}

_MAGIC = (
    (b"\xff\xd8\xff", ".jpg"), (b"\x89PNG\r\n\x1a\n", ".png"), (b"GIF8", ".gif"),
)  # fmt: skip


def regions(boxes: Sequence[Box], width: int, height: int, label: str) -> list[dict[str, Any]]:
    """Boxes in pixels of the upright photo as rectangles in percent, with their label."""
    made: list[dict[str, Any]] = []
    for at, (x1, y1, x2, y2) in enumerate(boxes, start=1):
        value = {
            "x": 100 * x1 / width, "y": 100 * y1 / height,
            "width": 100 * (x2 - x1) / width, "height": 100 * (y2 - y1) / height,
            "rotation": 0, "rectanglelabels": [label],
        }  # fmt: skip
        made.append(
            {
                "id": f"box{at}", "from_name": BOX, "to_name": "image", "type": "rectanglelabels",
                "original_width": width, "original_height": height, "image_rotation": 0,
                "value": value,
            }
        )  # fmt: skip
    return made


def choice(name: str, value: str) -> dict[str, Any]:
    """A choice that is ticked already."""
    return {
        "id": name, "from_name": name, "to_name": "image", "type": "choices",
        "value": {"choices": [value]},
    }  # fmt: skip


def prediction(result: Sequence[Mapping[str, Any]], version: str) -> dict[str, Any]:
    """All regions of one task as the one prediction that is shown and can be edited."""
    return {"model_version": version, "result": list(result)}


def dump(path: Path, tasks: Any) -> None:
    """JSON, whole or not at all."""
    with store.replacing(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(tasks), indent=1) + b"\n")


def boxes_config(labels: Sequence[str]) -> str:
    """A labelling config with a rectangle for each of these labels."""
    return _view(_image(), _rectangles(labels))


def review_config() -> str:
    """Boxes for what is asked, its level, and what to say where it is not to be boxed."""
    reasons = _choices(
        REASON, REASONS, "multiple",
        'visibleWhen="choice-selected" whenTagName="verdict" whenChoiceValue="remove,flag"',
    )  # fmt: skip
    return _view(
        '<Header value="$ask"/>', '<Text name="cue" value="$cue"/>', _image(),
        _rectangles([TARGET]), _choices(LEVEL, dict.fromkeys(LEVELS, "")),
        _choices(VERDICT, SAID), reasons, _note(),
    )  # fmt: skip


def audit_config() -> str:
    """Boxes to look at and one verdict on all of them."""
    return _view(
        '<Header value="$ask"/>', '<Text name="cue" value="$cue"/>', _image(),
        _rectangles([TARGET]), _choices(VERDICT, VERDICTS, more='required="true"'), _note(),
    )  # fmt: skip


def questions_config(letters: str) -> str:
    """A question with its options, its photos, a letter to choose, and flags with a note.

    The choices belong to the words, so that a question may have any number of photos.
    """
    return _view(
        '<Text name="ask" value="$ask"/>', '<Image name="image" valueList="$images"/>',
        _choices(ANSWER, dict.fromkeys(letters, ""), of="ask"),
        '<Header value="Or, where it cannot be answered:"/>',
        _choices(FLAG, FLAGS, "multiple", of="ask"), _note("ask"),
    )  # fmt: skip


def place_photo(source: Path, folder: Path, identity: str) -> str:
    """Copy a photo as a browser shows it upright, and name the copy by what it holds: its name.

    JPEG, PNG, WebP and GIF that are stored upright are copied byte for byte, with the suffix of
    what they are; the others are written anew as PNG, without loss. Raises `Unreadable`, and
    `Refused` where the file no longer has the SHA-256 `identity`.
    """
    suffix = _suffix(source)
    name = f"{identity[:32]}{suffix or '.png'}"
    folder.mkdir(exist_ok=True)
    if (folder / name).exists():
        return name
    if suffix:
        shutil.copyfile(source, folder / name)
    else:
        images.open_upright(source).save(folder / name, format="PNG")
    return name


def _suffix(source: Path) -> str | None:
    """The suffix of a file that every browser shows upright as it is; None for the others."""
    with source.open("rb") as file:
        head = file.read(12)
    if images.turned(source):
        return None
    if head[:4] == b"RIFF" and head[8:] == b"WEBP":
        return ".webp"
    return next((suffix for magic, suffix in _MAGIC if head.startswith(magic)), None)


def _view(*parts: str) -> str:
    return "\n".join(("<View>", *(f"  {part}" for part in parts), "</View>", ""))


def _image() -> str:
    # No turning: the percents of a turned photo are those of another photo.
    shown = 'value="$image" zoom="true" zoomControl="true" rotateControl="false"'
    return f'<Image name="image" {shown}/>'


def _rectangles(labels: Sequence[str]) -> str:
    inner = "".join(f"<Label value={_attribute(label)}/>" for label in labels)
    of = f'name="{BOX}" toName="image" canRotate="false"'
    return f"<RectangleLabels {of}>{inner}</RectangleLabels>"


def _choices(
    name: str,
    values: Mapping[str, str],
    choice: str = "single-radio",
    more: str = "",
    of: str = "image",
) -> str:
    """Choices: what is shown (or, where that is nothing, the value), and the value that is kept."""
    inner = "".join(
        f'<Choice alias="{value}" value={_attribute(words or value)}/>'
        for value, words in values.items()
    )
    more = f" {more}" if more else ""
    return f'<Choices name="{name}" toName="{of}" choice="{choice}"{more}>{inner}</Choices>'


def _note(of: str = "image") -> str:
    return f'<TextArea name="{NOTE}" toName="{of}" maxSubmissions="1" placeholder="Note"/>'


def _attribute(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return quoteattr(shown)
