"""Markdown with a YAML header (a dataset card), safe whatever names and labels are put into it.

Names, labels and licences come from outside. In the header every text is a quoted scalar; in the
body what could be markup becomes a character reference, which no reader takes for markup, so that
a table keeps its columns and a label its spelling.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unicodedata import category

from fieldtruth.store import Manifest, licences

LONGEST = 200  # letters of a text in the body; a longer one is cut and says so

Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]

# A `_` before a letter cannot end an emphasis, so it may stand (CommonMark 0.31, 6.2); bare links
# are made of `://`, `@` and `www.` alone.
_MARKUP = re.compile(r"[&<>|`*\[\]\\~$#@{}^]|_(?!_*[^\W_])|:(?=//)|(?<=www)\.", re.I)
_DIRECTIONS = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}  # they reorder what is beside them
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M"))
_NOT_IN_YAML = {0xFFFE, 0xFFFF, 0xFEFF}


def legible(text: str) -> str:
    """One line: blanks of every sort are one blank; what has no shape or turns text is U+FFFD."""
    return "".join(map(_shown, " ".join(text.split())))


def _shown(letter: str) -> str:
    code = ord(letter)
    odd = code in _DIRECTIONS or code in _NOT_IN_YAML or category(letter) in ("Cc", "Cs")
    return "\ufffd" if odd else letter


def inline(text: object, longest: int = LONGEST) -> str:
    """A text from outside as it may stand in a sentence or a table's cell.

    >>> inline("a|b <b>`x`</b> leaf_rust")
    'a&#124;b &#60;b&#62;&#96;x&#96;&#60;/b&#62; leaf_rust'
    """
    line = legible(str(text))
    if len(line) > longest:
        line = line[: longest - 1] + "\u2026"
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", line)


def header(fields: Mapping[str, Value]) -> str:
    """The YAML header, fences included. Keys are ours; every text becomes a quoted scalar.

    >>> print(header({"license": ["mit"], "configs": [{"name": "a: b", "n": 1}]}))
    ---
    license:
    - "mit"
    configs:
    - name: "a: b"
      n: 1
    ---
    """
    return "\n".join(["---", *_block(fields), "---"])


def split_name(manifest: Manifest) -> str:
    """The split as dataset hubs call it."""
    return "validation" if manifest.split == "val" else manifest.split


def dataset(manifest: Manifest, path: str) -> dict[str, Any]:
    """The header's fields by which a dataset hub lists a benchmark whose data lies at `path`."""
    listed = sorted({licences.hub(each) for each in manifest.counts.get("licence", {})})
    total = manifest.items or manifest.questions
    tasks = ["visual-question-answering"]
    if manifest.items:
        tasks = ["object-detection", "image-classification"]
    return {
        "pretty_name": f"{manifest.name} {manifest.version}",
        "license": listed[0] if len(listed) == 1 else listed,
        "task_categories": tasks,
        "size_categories": [next((name for most, name in _SIZES if total < most), "n>1M")],
        "tags": ["agriculture", "benchmark"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": split_name(manifest), "path": path}],
            }
        ],
    }


def _block(value: Value) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if _is_scalar(inner):
                yield f"{key}: {_scalar(inner)}"
            else:
                yield f"{key}:"
                # A list may stand flush with its key, a mapping may not.
                pad = "  " if isinstance(inner, Mapping) else ""
                yield from (pad + line for line in _block(inner))
    elif _is_scalar(value):
        yield _scalar(value)
    elif isinstance(value, Sequence):
        for inner in value:
            first, *rest = _block(inner)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)


def _is_scalar(value: Value) -> bool:
    """An empty list or mapping is written in one piece too."""
    return isinstance(value, str | int | float) or not value


def _scalar(value: Value) -> str:
    """JSON, which YAML reads alike once what YAML cannot hold is out of the text."""
    return json.dumps(legible(value) if isinstance(value, str) else value, ensure_ascii=False)
