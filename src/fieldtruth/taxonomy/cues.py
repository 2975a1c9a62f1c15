"""A file of symptom cues: what a model wrote and a person edits, one table a label.

    ["early blight@tomato"]
    cue = "brown spots with concentric rings"
    by = "openai: gpt-4o-mini"
    prompt = "3f9a..."        # SHA-256 of the words that were asked
    reviewed = false          # yours to set; an entry here is never written over

`prompts.grounding_prompt` takes them as `cues`.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Record

_HEAD = """\
# How the symptoms look, for detector prompts. Edit a cue, and set reviewed = true: what stands
# here is never written over. A key is LABEL, or LABEL@CROP for that crop alone.
"""


class Cue(Record, frozen=True, kw_only=True):
    """How one label looks, who says so, and whether a person has read it."""

    cue: str
    by: str = "a person"
    prompt: str = ""
    reviewed: bool = False


def read(path: Path) -> dict[str, Cue]:
    """The cues by key; none where there is no file. `BadRecord` where it is not such a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"{path}: expected a TOML file of symptom cues, got {error}") from error
    try:
        return msgspec.convert(tomllib.loads(text), dict[str, Cue])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadRecord(
            f'{path}: expected tables ["LABEL@CROP"] of cue, by, prompt and reviewed, got: {error}'
        ) from error


def text_of(cues: Mapping[str, Cue]) -> str:
    """The file's text, by key; two equal mappings give the same."""
    parts = [_HEAD]
    for key in sorted(cues):
        cue = cues[key]
        rows = {"cue": cue.cue, "by": cue.by, "prompt": cue.prompt}
        lines = [f"{name} = {_quoted(value)}" for name, value in rows.items() if value]
        lines.append(f"reviewed = {'true' if cue.reviewed else 'false'}")
        parts.append(f"[{_quoted(key)}]\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes are among TOML's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
