"""The page that people judge by: each conversation, or figure, and what is asked about it.

One HTML file that loads nothing from anywhere and runs no script; its policy forbids both. All
words are escaped. Photos are in it as JPEGs without EXIF, upright, each once.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from fieldtruth import images, store
from fieldtruth.faults import Refused, Unreadable
from fieldtruth.records import LETTERS, Dialogue, Record
from fieldtruth.stages.verification.sent import SHEETS, Row

SIDE = 1000  # pixels of the longer side: enough to tell sharp from blurred
QUALITY = 72


class Photo(Record, frozen=True, kw_only=True):
    """One photo in the page, or why it is not there."""

    key: str
    uri: str = ""
    width: int = 0
    height: int = 0
    reason: str = ""


Told = Mapping[str, Sequence[tuple[str, str]]]  # figure -> what is told of it: (head, words)


def render(
    rows: Sequence[Row], dialogues: Mapping[str, Dialogue], root: Path | None,
    figures: Told | None = None,
) -> bytes:  # fmt: skip
    """The page. `dialogues` by group, `figures` by id; what is in neither is shown by itself."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    here = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    cards = list(_cards(rows, dialogues, root, figures or {}))
    template = here.get_template("page.html.j2")
    kind = rows[0].sent.kind if rows else "talks"
    return template.render(
        cards=cards, count=len(rows), conditions=SHEETS[kind].conditions, what=SHEETS[kind].what,
        one="conversation" if kind == "talks" else "figure",
    ).encode()  # fmt: skip


def _cards(
    rows: Sequence[Row], dialogues: Mapping[str, Dialogue], root: Path | None, figures: Told
) -> Iterator[dict[str, Any]]:
    together: dict[str, list[Row]] = {}
    for row in rows:
        together.setdefault(_of(row, figures or dialogues), []).append(row)
    for at, (name, some) in enumerate(together.items(), start=1):
        dialogue = dialogues.get(name)
        shown = dict.fromkeys(image for row in some for image in row.forms[0].images)
        evidence = [each for row in some for each in row.forms[0].evidence]
        yield {
            "at": at,
            "numbers": [row.sent.id for row in some],
            "title": dialogue.title if dialogue else "",
            "told": [
                {"head": head, "parts": marked(words, evidence)}
                for head, words in figures.get(name, ())
            ],
            "photos": [_photo(f"p{at}-{n}", image, root) for n, image in enumerate(shown, start=1)],
            "turns": [
                {"speaker": turn.speaker, "parts": marked(turn.text, evidence)}
                for turn in (dialogue.turns if dialogue else ())
            ],
            "rows": [_row(row) for row in some],
        }


def _of(row: Row, dialogues: Mapping[str, object]) -> str:
    """The dialogue, or figure, whose id the question's begins with, else the question's group."""
    name = row.forms[0].id
    while name and name not in dialogues:
        name = name.rpartition(":")[0]
    return name or row.forms[0].group


def _row(row: Row) -> dict[str, Any]:
    first, choice = row.forms[0], row.choice
    return {
        "no": row.sent.id, "qtype": first.qtype, "question": first.question,
        "background": first.background, "facts": first.facts,
        "open": next((each.answer for each in row.forms if each.form == "open"), ""),
        "options": [
            (letter, text, choice is not None and letter == choice.answer)
            for letter, text in zip(LETTERS, (choice.options if choice else ()) or (), strict=False)
        ],
    }  # fmt: skip


def marked(text: str, evidence: Iterable[str]) -> list[tuple[str, bool]]:
    """A text in pieces, with whether each lies in words that an answer rests on.

    >>> marked("It is rust, I think.", ["is rust", "rust,"])
    [('It ', False), ('is rust,', True), (' I think.', False)]
    """
    inside = [False] * len(text)
    for words in evidence:
        at = text.find(words) if words else -1
        if at >= 0:
            inside[at : at + len(words)] = [True] * len(words)
    edges = [0, *(at for at in range(1, len(text)) if inside[at] != inside[at - 1]), len(text)]
    return [(text[a:b], inside[a]) for a, b in pairwise(edges) if a < b]


def _photo(key: str, image: str, root: Path | None) -> Photo:
    if root is None:
        return Photo(key=key, reason="nobody said where it lies")
    try:
        path = store.inside(root, image)
        small = images.open_upright(path).convert("RGB")
    except Refused:
        return Photo(key=key, reason="its path leaves the folder of the photos")
    except Unreadable as fault:
        return Photo(key=key, reason=f"it cannot be opened ({fault.outcome})")
    small.thumbnail((SIDE, SIDE))
    stream = BytesIO()
    small.save(stream, "JPEG", quality=QUALITY, optimize=True)
    uri = "data:image/jpeg;base64," + b64encode(stream.getvalue()).decode("ascii")
    return Photo(key=key, uri=uri, width=small.width, height=small.height)
