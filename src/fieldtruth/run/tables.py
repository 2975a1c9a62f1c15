"""Tables of settings as they stand in TOML: a slip is named, one setting is put in its place.

What may stand where, and of which type, is read off a record's fields.
"""

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from fieldtruth.faults import Usage

S = TypeVar("S", bound=msgspec.Struct)


def read(path: Path, settings: Sequence[str], whole: type[msgspec.Struct]) -> dict[str, Any]:
    """What a recipe says with some settings (`a.b=value`) replaced; only keys that `whole` has.

    Raises `Usage` naming file and key for what is not TOML or not a setting.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Usage(f"{path}: expected a recipe, got: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Usage(f"{path}: expected a recipe in TOML, got: {error}") from None
    for setting in settings:
        put(raw, setting, whole)
    for trouble in unknown(raw, whole):
        raise Usage(f"{path}: {trouble}")
    return raw


def converted(raw: Mapping[str, Any], whole: type[S], path: Path) -> S:
    """A recipe's tables as the record they are; `Usage` naming file and key where they are none."""
    try:
        return msgspec.convert(raw, whole)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        what = what.replace("Object missing required field", "expected the setting")
        key = where.rstrip("`").lstrip(".") or "the recipe"
        raise Usage(f"{path}: {key}: {what[0].lower()}{what[1:]}") from None


def put(raw: dict[str, Any], setting: str, whole: type[msgspec.Struct]) -> None:
    """Replace one setting (`a.b=value`) in what the file says, as its type in `whole` asks.

    Raises `Usage` for what is no setting, and for a value of another type.
    """
    key, equals, value = setting.partition("=")
    try:
        nested = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        nested = {}
    if not equals or "\n" in key or not nested:
        raise Usage(f"--set: expected key=value with a key such as draw.leaves, got {setting!r}")
    steps: list[str] = []
    inner: Any = nested
    while isinstance(inner, dict):
        ((step, inner),) = inner.items()
        steps.append(step)
    kind: inspect.Type | None = inspect.type_info(whole)
    place = raw
    for number, step in enumerate(steps):
        fields, inner_kind = _inside(kind)
        if fields is None and inner_kind is None:
            raise Usage(f"--set {setting}: {'.'.join(steps[:number])} is no table of settings")
        if fields is not None and step not in fields:
            raise Usage(f"--set: {_no_such(steps[:number], step, list(fields))}")
        kind = fields[step] if fields is not None else inner_kind
        if number + 1 < len(steps):
            place = place.setdefault(step, {})
            if not isinstance(place, dict):
                raise Usage(f"--set {setting}: {'.'.join(steps[: number + 1])} is no table")
    place[steps[-1]] = _typed(value, kind, setting)


def _typed(value: str, kind: inspect.Type | None, setting: str) -> object:
    """The words after `=` as what the setting is: text as it stands, a list parted by commas.

    What may be anything is read as TOML has it, and is text where it is none.
    """
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    if isinstance(kind, inspect.AnyType):
        try:
            return tomllib.loads(f"it = {value}")["it"] if "\n" not in value else value
        except tomllib.TOMLDecodeError:
            return value
    if any(isinstance(each, inspect.StrType | inspect.LiteralType) for each in kinds):
        return value
    for each in kinds:
        if isinstance(each, inspect.VarTupleType):
            parts = [part.strip() for part in value.split(",") if part.strip()]
            return [_typed(part, each.item_type, setting) for part in parts]
    targets: dict[type, type] = {
        inspect.IntType: int, inspect.FloatType: float, inspect.BoolType: bool,
    }  # fmt: skip
    for each in kinds:
        if type(each) in targets:
            wanted = targets[type(each)]
            try:
                return msgspec.convert(value, wanted, strict=False)
            except msgspec.ValidationError:
                told = {int: "a whole number", float: "a number", bool: "true or false"}[wanted]
                raise Usage(f"--set {setting}: expected {told}, got {value!r}") from None
    raise Usage(f"--set {setting}: this is a table of settings; set one in it")


def unknown(raw: object, whole: type[msgspec.Struct]) -> Iterator[str]:
    """Every key that is no setting, with the settings there are."""
    yield from _unknown(raw, inspect.type_info(whole), ())


def _unknown(raw: object, kind: inspect.Type | None, where: Sequence[str]) -> Iterator[str]:
    fields, inner = _inside(kind)
    if not isinstance(raw, Mapping) or (fields is None and inner is None):
        return
    for key, value in raw.items():
        if fields is not None and key not in fields:
            yield _no_such(where, key, list(fields))
        else:
            yield from _unknown(value, fields[key] if fields is not None else inner, (*where, key))


def _inside(
    kind: inspect.Type | None,
) -> tuple[dict[str, inspect.Type] | None, inspect.Type | None]:
    """The settings of a table by name, or the one kind that all its values have, or neither."""
    for each in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if isinstance(each, inspect.StructType):
            return {field.name: field.type for field in each.fields}, None
        if isinstance(each, inspect.DictType):
            return None, each.value_type
        if isinstance(each, inspect.AnyType):  # a table, too
            return None, each
    return None, None


def _no_such(where: Sequence[str], key: str, known: Sequence[str]) -> str:
    table = f"[{'.'.join(where)}]" if where else "the recipe"
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{table} has no setting {key!r}{hint}; it has: {', '.join(known)}"
