"""JSON as models write it: found anywhere in a text, read as far as it goes.

A stack machine goes once over the text, so the time is in proportion to its length and nothing
recurses. Brackets that never close, trailing commas, python's quotes and names, comments and
words in between do not stop it: each leaves a note, and each container knows whether it was
closed (`whole`) and held only values (`clean`).
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

DEPTH = 24  # deeper brackets are counted, to find their ends, but not kept
MOST = 50_000  # containers kept of one reply; a list of 1,000 boxes has 2,001


class Junk(Enum):
    """Something that is no value: a stray word, or nothing between two commas."""

    WORD = "word"


@dataclass(slots=True)
class Array:
    """`[...]`. `whole`: it was closed. `clean`: nothing but values between its brackets."""

    items: list["Node"] = field(default_factory=list)
    whole: bool = False
    clean: bool = True
    open: bool = True  # a value may come: nothing since the last comma

    def take(self, value: "Node", notes: dict[str, None]) -> None:
        """One more value, with or without a comma before it."""
        if not self.open:
            notes["missing_comma"] = None
        self.clean = self.clean and value is not Junk.WORD
        self.items.append(value)
        self.open = False

    def comma(self) -> None:
        """The end of a value, or an empty place."""
        if self.open:
            self.items.append(Junk.WORD)
        self.open = True

    def colon(self) -> None:
        """Out of place in a list."""
        self.clean = False


@dataclass(slots=True)
class Table:
    """`{...}`. `loose` holds containers that came without a key, as in a prose brace."""

    fields: dict[str, "Node"] = field(default_factory=dict)
    loose: list["Node"] = field(default_factory=list)
    whole: bool = False
    clean: bool = True
    key: str | None = None
    asked: bool = False  # a colon has come, the value not yet

    @property
    def open(self) -> bool:
        """Whether the last thing was a comma, with fields before it."""
        return bool(self.fields) and self.key is None and not self.asked

    def take(self, value: "Node", notes: dict[str, None]) -> None:
        """A key, or the value of one."""
        if self.asked and self.key is not None:
            self.fields[self.key.strip().casefold()] = value
            self.asked = False
        elif isinstance(value, str):
            if self.key is not None:
                notes["missing_comma"] = None
            self.key = value
        else:
            self.clean = False
            self.loose.append(value)

    def comma(self) -> None:
        """The end of a field."""
        self.key, self.asked = None, False

    def colon(self) -> None:
        """What follows is the value."""
        self.asked = self.key is not None
        self.clean = self.clean and self.asked


Node = Array | Table | Junk | str | float | bool | None
_WORDS: dict[str, Node] = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
    "NaN": float("nan"), "nan": float("nan"), "Infinity": float("inf"), "inf": float("inf"),
    "-Infinity": float("-inf"), "-inf": float("-inf"),
}  # fmt: skip
_PYTHON = frozenset({"True", "False", "None", "nan", "inf", "-inf"})


@dataclass(slots=True)
class Root:
    """One outermost container, where it stands in the text, and the liberties taken with it."""

    node: Array | Table
    start: int
    end: int
    notes: dict[str, None] = field(default_factory=dict)


# An opening bracket that may begin JSON: not that of "[see the figure]" or "{name}".
_OPENER = re.compile(
    r"""\[(?=\s*+(?:[\[\]{"'0-9+.,-]|//|/\*|\Z|(?:null|None|true|false|True|False|NaN)\b))
      | \{(?=\s*+(?:["'}{\[]|//|/\*|\Z|\w{1,40}+\s*+:))""",
    re.VERBOSE,
)
# A single quote begins a string unless it is an apostrophe, and ends one before a mark only.
_TOKEN = re.compile(
    r"""\s*+(?:
      (?P<mark>[\[\]{},:])
    | (?P<number>[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?(?![\w.%]))
    | (?P<string>"(?:[^"\\\n]|\\.)*+"?)
    | (?P<single>(?<![\w'])'(?:[^'\\\n]|\\.|'(?!\s*+(?:[,:\]}]|//|/\*|\Z)))*+'?)
    | (?P<fence>```)
    | (?P<line>(?<!:)//[^\n]*+)
    | (?P<block>/\*)
    | (?P<word>[^\s\[\]{},:"'/`]++|[^\s])
    )""",
    re.VERBOSE,
)
_DEEP = re.compile(r"[\[{][\[{\s]*+|[\]}]|```")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_QUOTE = re.compile(r"\\.|\"", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def containers(text: str) -> Iterator[Root]:
    """Every outermost container of a text, in order, up to `MOST` containers in all."""
    reader, position = _Reader(text), 0
    while reader.kept < MOST and (opener := _OPENER.search(text, position)):
        root = reader.read(opener.start())
        yield root
        position = root.end


class _Reader:
    """Reads one outermost container after another."""

    def __init__(self, text: str) -> None:
        self.text, self.position, self.kept = text, 0, 0
        self.stack: list[Array | Table] = []
        self.opened: dict[type[Array] | type[Table], int] = {Array: 0, Table: 0}
        self.notes: dict[str, None] = {}

    def read(self, start: int) -> Root:
        """The container that begins there, closed or not, and where it ends."""
        self.notes, self.position = {}, start + 1
        node = self._open(self.text[start])
        while self.stack:
            token = _TOKEN.match(self.text, self.position)
            if token is None or token.lastgroup == "fence":
                break
            self.position = token.end()
            self._take(token)
        if self.stack:
            self.notes["cut_off"] = None
            self._pop_to(0)
        return Root(node, start, self.position, self.notes)

    def _take(self, token: re.Match[str]) -> None:
        kind, word = token.lastgroup, token[token.lastindex or 0]
        if kind == "mark":
            self._mark(word)
        elif kind == "line":
            self.notes["comment"] = None
        elif kind == "block":
            end = self.text.find("*/", self.position)
            self.position = len(self.text) if end < 0 else end + 2
            self.notes["comment"] = None
        else:
            self.stack[-1].take(self._value(kind, word), self.notes)

    def _value(self, kind: str | None, word: str) -> Node:
        if kind == "number":
            return float(word) if len(word) <= 400 else float("inf")
        if kind in ("string", "single"):
            return self._string(word)
        if word in _WORDS:
            if word in _PYTHON:
                self.notes["python"] = None
            return _WORDS[word]
        top = self.stack[-1]
        if isinstance(top, Table) and top.key is None:
            self.notes["unquoted"] = None
            return word
        return Junk.WORD

    def _string(self, word: str) -> Node:
        quote = word[0]
        if len(word) < 2 or word[-1] != quote:
            return Junk.WORD
        if quote == "'":
            self.notes["python"] = None
        return unescape(word[1:-1])

    def _mark(self, mark: str) -> None:
        top = self.stack[-1]
        if mark == ",":
            top.comma()
        elif mark == ":":
            top.colon()
        elif mark in "]}":
            self._close(Array if mark == "]" else Table)
        elif len(self.stack) < DEPTH and self.kept < MOST:
            self._open(mark)
        else:
            self._skip()

    def _open(self, mark: str) -> Array | Table:
        node: Array | Table = Array() if mark == "[" else Table()
        self.stack.append(node)
        self.kept += 1
        self.opened[type(node)] += 1
        return node

    def _close(self, kind: type[Array] | type[Table]) -> None:
        if not self.opened[kind]:
            self.notes["stray_bracket"] = None
            return
        depth = len(self.stack) - 1
        while not isinstance(self.stack[depth], kind):
            depth -= 1
        self._pop_to(depth + 1)
        top = self.stack[-1]
        if top.open and (not isinstance(top, Array) or top.items):
            self.notes["trailing_comma"] = None
        top.whole = True
        self._pop_to(depth)

    def _pop_to(self, depth: int) -> None:
        """Take containers off the stack, each into the one that holds it."""
        while len(self.stack) > depth:
            node = self.stack.pop()
            self.opened[type(node)] -= 1
            if self.stack:
                self.stack[-1].take(node, self.notes)

    def _skip(self) -> None:
        """Pass over brackets nested too deep, or too many, to be an answer."""
        level = 1
        while level and (found := _DEEP.search(self.text, self.position)):
            if found[0] == "```":
                break
            self.position = found.end()
            level += (found[0].count("[") + found[0].count("{")) or -1
        if level and not found:
            self.position = len(self.text)
        self.notes["too_many"] = None
        self.stack[-1].take(Junk.WORD, self.notes)


def unescape(body: str) -> str:
    """What stands between the quotes of a string; half a surrogate pair becomes U+FFFD.

    >>> unescape("leaf\\u0027s edge"), unescape("50\\\\% rust")
    ("leaf's edge", '50% rust')
    """
    text = body
    if "\\" in body:
        fit = _QUOTE.sub(lambda at: {"\\'": "'", '"': '\\"'}.get(at[0], at[0]), body)
        try:
            text = str(json.loads(f'"{fit}"', strict=False))
        except ValueError:
            text = _ESCAPE.sub(r"\1", body)
    return _SURROGATE.sub("\ufffd", text)
