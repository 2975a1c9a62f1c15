"""Wrong answers that a model writes: what it is asked, and what of its reply is used.

The prompt is a file of this package, and its version is part of its name; the reply has to be the
JSON that the schema beside it describes. What comes back is held to the same rules as wrong
answers of our own before any of it is an option.
"""

import re
from functools import cache
from pathlib import Path

import msgspec

from fieldtruth.models.contract import Request, Words
from fieldtruth.stages.questions.settings import TYPES
from fieldtruth.stages.questions.taken import Ready

PROMPT = Path(__file__).with_name("wrong_answers.v1.txt")
SCHEMA = Path(__file__).with_name("wrong_answers.schema.json")
MORE = 3  # asked for beyond what is needed, for some will not do
_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


class _Reply(msgspec.Struct):
    wrong: list[str]


@cache
def _prompt() -> str:
    return PROMPT.read_text(encoding="utf-8")


def request(ready: Ready, needed: int) -> Request:
    """What the model is asked for one question; it sees no photo."""
    draft = ready.draft
    words = _prompt().format(
        count=needed + MORE, kind=draft.knowledge, species=draft.talk.species or "not told",
        question=ready.question, background=ready.background.replace("\n", "; ") or "none",
        truth=ready.option,
    )  # fmt: skip
    return Request(id=f"{draft.talk.dialogue.id}:{TYPES[draft.knowledge]}", prompt=words, images=())


def read(words: Words) -> list[str] | None:
    """The answers of a reply in its order; None where the call failed, () where it is no such JSON.

    >>> read(Words(text='{"wrong": ["scab", "rust"]}')), read(Words(text="Sure!"))
    (['scab', 'rust'], [])
    """
    if words.error is not None or words.finish == "error":
        return None
    text = words.text.rpartition("</think>")[2].strip()
    fenced = _FENCED.search(text)
    try:
        found = msgspec.json.decode((fenced[1] if fenced else text).encode(), type=_Reply)
    except (ValueError, RecursionError):
        return []
    return [" ".join(each.split()) for each in found.wrong if each.strip()]
