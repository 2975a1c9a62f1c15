"""Rows of conversations, as trainers take them, turned into turns and photos.

    TRL, ms-swift    {"messages": [{"role", "content"}], "images": [...]}; TRL's content may be
                     parts: [{"type": "image"}, {"type": "text", "text": ...}]
    TRL              {"prompt": ..., "completion": ..., "images": [...]}
    LLaMA-Factory    {"conversations": [{"from", "value"}], "images": [...]}
    Qwen's scripts   {"conversations": [...], "image": "a.jpg" or a list}

In plain text a photo stands as `<image>`, in what the user says and nowhere else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from fieldtruth.records import Space

TAG = "<image>"
# What each format calls who speaks; a tool's result takes the user's turn, a call the assistant's.
ROLES = {
    "system": "system", "user": "user", "human": "user", "observation": "user", "tool": "user",
    "tool_response": "user", "assistant": "assistant", "gpt": "assistant",
    "function_call": "assistant", "tool_call": "assistant",
}  # fmt: skip
_OF_IMAGES = ("image", "image_url")


@dataclass(slots=True)
class Turn:
    """What one side says. `parts` counts photos that stand as parts; None in plain text."""

    role: str
    text: str
    parts: int | None = None
    calls: bool = False  # a call of a tool, which may go without words


@dataclass(slots=True)
class Chat:
    """One row: its turns, its photos in the order they are shown, the space that it declares."""

    turns: list[Turn] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    own: int = 0  # photos that stand within the parts themselves
    space: Space | None = None

    @property
    def structured(self) -> bool:
        """Whether photos stand as parts, so that `<image>` would be no more than words."""
        return any(turn.parts is not None for turn in self.turns)

    @property
    def places(self) -> int:
        """How many photos the turns have room for."""
        if self.structured:
            return sum(turn.parts or 0 for turn in self.turns)
        return sum(turn.text.count(TAG) for turn in self.turns if turn.role != "assistant")


def shape(value: Mapping[str, Any]) -> str:
    """Which of the shapes a row has, by its fields; empty for none."""
    for name, needed in (
        ("messages", {"messages"}),
        ("conversations", {"conversations"}),
        ("prompt and completion", {"prompt", "completion"}),
    ):
        if needed <= value.keys():
            return name
    return ""


def parse(value: Mapping[str, Any]) -> Chat:
    """The conversation of a row. `ValueError` says what was expected and got."""
    chat = Chat()
    for role, said in _said(value):
        chat.turns.append(_turn(role, said, chat))
    if not chat.turns:
        raise ValueError("expected a conversation, got no turns")
    named = [name for name in ("images", "image") if value.get(name) is not None]
    for name in named:
        chat.images += _images(name, value[name])
    chat.space = next((each for each in get_args(Space) if each == value.get("space")), None)
    return chat


def _said(value: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Who speaks, as the format calls it, with the message."""
    name = shape(value)
    if name == "prompt and completion":
        for key, role in (("prompt", "user"), ("completion", "assistant")):
            said = value[key]
            turns = [{"role": role, "content": said}] if isinstance(said, str) else said
            yield from _listed(turns, key, "role")
    else:
        yield from _listed(value[name], name, "role" if name == "messages" else "from")


def _listed(turns: object, name: str, who: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(turns, list):
        raise ValueError(f"expected a list of turns in {name!r}, got {shown(turns)}")
    for turn in turns:
        if not isinstance(turn, dict) or not isinstance(turn.get(who), str):
            raise ValueError(f"expected turns with {who!r} in {name!r}, got {shown(turn)}")
        yield turn[who], turn


def _turn(role: str, said: Mapping[str, Any], chat: Chat) -> Turn:
    content = said.get("content", said.get("value"))
    calls = bool(said.get("tool_calls"))
    if isinstance(content, str) or (content is None and calls):
        return Turn(ROLES.get(role, role), content or "", calls=calls)
    if not isinstance(content, list):
        raise ValueError(f"expected words or a list of parts from {role!r}, got {shown(content)}")
    texts, parts = [], 0
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind in _OF_IMAGES:
            within = _within(part)
            chat.images += within
            chat.own += len(within)
            parts += not within
        elif not isinstance(kind, str) or kind == "text":
            raise ValueError(f"expected parts with a type and its text, got {shown(part)}")
    return Turn(ROLES.get(role, role), "\n".join(texts), parts=parts)


def _within(part: Mapping[str, Any]) -> list[str]:
    """The photo that a part holds itself, if it does."""
    held = part.get("image", part.get("image_url"))
    if isinstance(held, dict):
        held = held.get("url", held.get("path"))
    return [held] if isinstance(held, str) else []


def shown(value: object) -> str:
    """A value in a message: one line, cut when long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 100 else f"{text[:97]}..."


def _images(name: str, value: object) -> list[str]:
    """The photos of a row; a single one may stand under `image` without a list."""
    if isinstance(value, str) and name == "image":
        return [value]
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError(f"expected a list of photos in {name!r}, got {shown(value)}")
    found = [each.get("path") if isinstance(each, dict) else each for each in value]
    if not all(isinstance(each, str) and each for each in found):
        raise ValueError(f"expected paths of photos in {name!r}, got {shown(value)}")
    return [str(each) for each in found]
