"""Why a line is not the record a file promises, in words that say what to do about it."""

import json
import re
from collections import Counter
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import msgspec

from fieldtruth.records import Record

_ID = re.compile(rb'"(?:id|item)"\s*:\s*"([^"\\]{1,200})"')
_PLACE = re.compile(r"^(?P<said>.*?)(?: - at `\$\.?(?P<place>.*)`)?$", re.DOTALL)
_FIELD = re.compile(r"(?:unknown|required) field `(?P<field>.*)`")


def explain(line: bytes, kind: type[Record], error: Exception, *, whole: bool = True) -> str:
    """What follows FILE:LINE in a message: the id if it can be read, expected, got, what to do.

    `line` is the raw line, `error` what msgspec raised for it; `whole` is false when the line is
    longer than a record may be and was cut.
    """
    who = whose(line)
    try:
        value = _parsed(line, whole=whole)
    except ValueError as fault:
        return f"{who}: {fault}"
    return f"{who}: {_not_kind(value, kind, error)}"


def whose(line: bytes) -> str:
    """` (id 'ID')` where a line has an id or names an item, else nothing."""
    found = _ID.search(line[:4096])
    return f" (id {found[1].decode(errors='replace')!r})" if found else ""


def twice(line: bytes) -> str | None:
    """The first field that an object of a line has twice; JSON lets it pass, and the last counts.

    >>> twice(b'{"label": "rust", "boxes": [], "label": "scab"}'), twice(b'{"a": {"b": 1}, "b": 2}')
    ('label', None)
    """
    try:
        _ONCE.decode(line.decode("utf-8-sig"))
    except _TwiceError as found:
        return str(found)
    except (ValueError, RecursionError):  # whoever reads the line says what is wrong with it
        return None
    return None


class _TwiceError(Exception):
    """A field that an object has twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise _TwiceError(next(name for name in fields if counts[name] > 1))
    return fields


_ONCE = json.JSONDecoder(object_pairs_hook=_once)


def named(record: Record) -> str:
    """` 'ID'` where a record has an id (or names an item), else nothing."""
    mine = getattr(record, "id", None) or getattr(record, "item", None)
    return f" {mine!r}" if mine else ""


def _parsed(line: bytes, *, whole: bool) -> dict[str, Any]:
    """The JSON object of a line; `ValueError` saying what it is instead."""
    if not line.strip():
        raise ValueError("expected a record, got a blank line; remove the line")
    if not whole:
        raise ValueError("expected one record a line, got one too long; is it a JSONL file?")
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"expected UTF-8 text, got the byte 0x{line[error.start]:02x} at position "
            f"{error.start + 1}; save the file as UTF-8"
        ) from None
    try:
        value = json.loads(text.strip("\r\n"), parse_constant=_Constant)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"expected one JSON object a line, got broken JSON ({error.msg}, column "
            f"{error.colno}); write each record on one line of its own"
        ) from None
    except RecursionError:
        raise ValueError("expected a record, got JSON nested too deeply; remove it") from None
    if not isinstance(value, dict):
        got = _short(value)
        raise ValueError(f"expected a JSON object {{...}}, got {got}; write one object a line")
    if said := _constant_in(value):
        raise ValueError(said)
    return value


class _Constant(str):
    """NaN, Infinity or -Infinity: Python reads and writes them, JSON has none."""


def _constant_in(value: Any, place: str = "") -> str | None:
    if isinstance(value, _Constant):
        return f"expected a finite number in {place}, got {value}; JSON has none: repair it"
    pairs: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        pairs = [(f"{place}.{name}" if place else name, each) for name, each in value.items()]
    elif isinstance(value, list):
        pairs = [(f"{place}[{index}]", each) for index, each in enumerate(value)]
    return next((said for where, each in pairs if (said := _constant_in(each, where))), None)


def _not_kind(value: dict[str, Any], kind: type[Record], error: Exception) -> str:
    """The fault of a JSON object that is not a `kind`, from what msgspec said of it."""
    match = _PLACE.match(str(error))
    said, place = (match["said"], match["place"] or "") if match else (str(error), "")
    got = _short(_at(value, place))
    where = f" in {place}" if place else ""
    name = kind.__name__.lstrip("_")
    if field := _FIELD.search(said):
        return _wrong_field(kind, name, field["field"], missing="required" in said)
    if said.startswith("expected"):  # a class's own check: it says what it got
        return f"{said}{where}; correct the line"
    rules: tuple[tuple[str, Callable[[], str]], ...] = (
        ("Invalid enum value", lambda: f"expected {_choices(kind, place)}"),
        ("Number out of range", lambda: "expected a finite number"),
        ("Expected", lambda: "expected " + _plain(said[9:].split(", got")[0])),
    )
    for start, expected in rules:
        if said.startswith(start):
            return f"{expected()}{where}, got {got}; correct the value"
    if re.search(r"\\ud[89a-f]", json.dumps(value)):
        return "expected text, got half a surrogate pair (\\ud...); replace that character"
    return f"expected a record of the kind {name}, got: {said}; correct the line"


def _wrong_field(kind: type[Record], name: str, field: str, *, missing: bool) -> str:
    known = kind.__struct_encode_fields__
    if missing:
        return f"expected the field {field!r} of {name}, got none; add it to the line"
    near = get_close_matches(field, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "; remove it"
    return f"expected only fields of {name} ({', '.join(known)}), got {field!r}{hint}"


def _choices(kind: type[Record], place: str) -> str:
    """`one of a, b, c` for a field that takes only some words."""
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    info = msgspec.inspect.type_info(fields.get(place.split("[")[0].split(".")[0], str))
    options = info.types if isinstance(info, msgspec.inspect.UnionType) else (info,)
    words = [
        str(value)
        for option in options
        if isinstance(option, msgspec.inspect.LiteralType)
        for value in option.values
    ]
    return f"one of {', '.join(words)}" if words else "one of the listed words"


_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object {...}",
    "|": "or",
}


def _plain(said: str) -> str:
    """msgspec's names of types in words: `int | null` is a whole number or null."""
    return " ".join(_WORDS.get(word, word) for word in said.replace("`", "").split())


def _at(value: Any, place: str) -> Any:
    """What lies at a path as msgspec writes it, such as `boxes[0][1]`; else the nearest above."""
    for step in re.findall(r"[^.\[\]]+", place):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, ValueError, TypeError):
            return value
    return value


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
