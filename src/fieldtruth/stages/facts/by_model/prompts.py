"""The prompts that models are asked with: one file for each step and kind of talk, with a version.

`prompts/category.toml` sorts; each of the others takes out the knowledge of the categories that it
names. The JSON schemas beside them are what servers are asked to keep to.
"""

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from fieldtruth.records import Category, Dialogue, Knowledge, Record, Speaker
from fieldtruth.stages.facts.shapes import LEFT_OUT

FOLDER = Path(__file__).with_name("prompts")
Step = Literal["category", "knowledge"]
SCHEMAS: dict[Step, Path] = {
    "category": FOLDER / "category.json", "knowledge": FOLDER / "knowledge.json",
}  # fmt: skip
_KNOWLEDGE = ("trouble", "pest", "weed", "identification")


class Example(Record, frozen=True, kw_only=True):
    """A made-up talk, and the right reply to it."""

    turns: tuple[tuple[Speaker, str], ...]
    reply: str


class Prompt(Record, frozen=True, kw_only=True):
    """One prompt file. Add one to `version` with every change."""

    version: int
    instructions: str
    examples: tuple[Example, ...]
    categories: tuple[Category, ...] = ()

    def text(self, dialogue: Dialogue) -> str:
        """What is sent: what to do, the examples, the talk. Its words are JSON, so they end it
        nowhere."""
        parts = [self.instructions.strip()]
        for example in self.examples:
            parts.append(f"Example talk:\n{_talk(example.turns)}\nAnswer:\n{example.reply}")
        turns = tuple((turn.speaker, turn.text) for turn in dialogue.turns)
        title = f"Its title: {json.dumps(dialogue.title)}\n" if dialogue.title else ""
        parts.append(f"The talk:\n{title}{_talk(turns)}\nAnswer:")
        return "\n\n".join(parts)


class CategoryReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the first prompt asks for."""

    category: Category
    entity: str | None


class FactReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One fact of what the second prompt asks for."""

    knowledge: Knowledge
    statement: str
    turn: int
    words: str
    certain: bool


class KnowledgeReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the second prompt asks for."""

    facts: list[FactReply]


@cache
def prompt(name: str) -> Prompt:
    """A prompt file of the package."""
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Prompt)


@cache
def knowledge_prompts() -> dict[Category, Prompt]:
    """The prompt for each category that knowledge is taken from."""
    made = {each: prompt(name) for name in _KNOWLEDGE for each in prompt(name).categories}
    if made.keys() & set(LEFT_OUT):
        raise AssertionError("a prompt for a category that is left out")
    return made


def version() -> str:
    """The versions of all prompts in one word: `prompts-1.1.1.1.1`."""
    return "prompts-" + ".".join(str(prompt(name).version) for name in ("category", *_KNOWLEDGE))


def _talk(turns: tuple[tuple[Speaker, str], ...]) -> str:
    return "\n".join(
        json.dumps({"turn": number, "speaker": speaker, "text": text}, ensure_ascii=False)
        for number, (speaker, text) in enumerate(turns)
    )
