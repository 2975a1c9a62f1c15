"""The file that says how a question-answer set is to be read: which field is what.

files = ["data/*.jsonl"]        # relative to PATH; every .json, .jsonl, .csv, .parquet if absent
photos = "images"               # the folder that the photos' names are relative to
licence = "CC BY 4.0"           # where no field holds it
crop = "tomato"                 # where no field holds it
list_mark = ";"                 # what parts a list that is written as one text
count_from = 1                  # answers are numbers of options, from 0 or from 1
ignore = ["created", "meta"]    # fields that are known and not used

[fields]                        # a name, or `a.b` for b within a
images = "image"                # one text, a list of them, or several fields: ["img1", "img2"]
options = ["A", "B", "C", "D"]  # a list or an object in one field, or one field each
answer = "answer"               # needed, if there is no label; a letter stands for its option
id = "question_id"              # and question, crop, label, kind, split, licence, group

[kinds]                         # what the words of the kind's field mean: a kind, "healthy",
"Plant Disease" = "disease"     # or one of the drop reasons
"how many" = "count"
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import msgspec

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Kind, Record
from fieldtruth.sources.vqa.routing import REASONS

NAME = "mapping.toml"
ENDINGS = (".json", ".jsonl", ".csv", ".parquet")
LEAST = '''
[fields]
images = "image"
question = "question"
answer = "answer"'''


class Fields(Record, frozen=True, kw_only=True):
    """Which field of a row is what; empty where there is none."""

    images: str | tuple[str, ...]
    id: str = ""
    question: str = ""
    options: str | tuple[str, ...] = ()
    answer: str = ""
    crop: str = ""
    label: str = ""
    kind: str = ""
    split: str = ""
    licence: str = ""
    group: str = ""


class Plan(Record, frozen=True, kw_only=True):
    """The whole mapping, and how it takes a row apart."""

    fields: Fields
    filed: tuple[str, ...] = msgspec.field(name="files", default=())
    photos: str = ""
    licence: str = ""
    crop: str = ""
    list_mark: str = ""
    count_from: int | None = None
    ignore: tuple[str, ...] = ()
    kinds: Mapping[str, str] = {}

    def files(self, root: Path) -> list[Path]:
        """The set's files below `root`, sorted. Raises `Usage` where there is none."""
        patterns = self.filed or tuple(f"**/*{ending}" for ending in ENDINGS)
        for pattern in patterns:
            store.inside(root, pattern)
        found = {path for pattern in patterns for path in root.glob(pattern) if path.is_file()}
        if not found:
            raise Usage(f"{root}: expected files like {', '.join(patterns)}, got none")
        return sorted(found)

    def single(self) -> dict[str, str]:
        """What is one text of a row -> its field."""
        names = ("question", "answer", "crop", "label", "kind", "split", "licence", "group")
        return {name: getattr(self.fields, name) for name in names}

    def known(self) -> list[str]:
        """Every field that a row may have, the outermost name of `a.b` only, in order."""
        several = (self.fields.images, self.fields.options)
        named = [self.fields.id, *self.single().values()]
        for each in several:
            named += [each] if isinstance(each, str) else each
        tops = [name.partition(".")[0] for name in named if name]
        return list(dict.fromkeys([*(name for name in named if name), *tops, *self.ignore]))

    def text(self, row: Mapping[str, Any], field: str) -> str:
        """A field as text, "" for none. Raises `ValueError` for a list or an object."""
        value = value_of(row, field) if field else None
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if value is None:
            return ""
        if isinstance(value, list | dict):
            raise ValueError(f"{field}: expected a text or a number, got {str(value)[:60]!r}")
        return str(value).strip()

    def images(self, row: Mapping[str, Any]) -> list[str]:
        """The paths of a row's photos relative to PATH. Raises `ValueError` for what is no path."""
        found = self._texts(row, self.fields.images)
        folder = f"{self.photos}/" if self.photos else ""
        return [folder + place.removeprefix("./") for place in found if place]

    def options(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """The options in letter order. Raises `ValueError` for what is no list of texts."""
        return tuple(self._texts(row, self.fields.options))

    def _texts(self, row: Mapping[str, Any], field: str | tuple[str, ...]) -> list[str]:
        if not isinstance(field, str):
            return [text for name in field if (text := self.text(row, name))]
        value = value_of(row, field) if field else None
        if isinstance(value, dict):  # {"A": ...}, or a photo as datasets keep it
            value = value["path"] if "path" in value else list(value.values())
        if isinstance(value, str):
            parts = value.split(self.list_mark) if self.list_mark else [value]
            return [part.strip() for part in parts if part.strip()]
        if value is None:
            return []
        if not isinstance(value, list):
            raise ValueError(f"{field}: expected a text or a list, got {str(value)[:60]!r}")
        return [_one(each, field) for each in value]


def _one(value: object, field: str) -> str:
    if isinstance(value, dict) and isinstance(value.get("path"), str):
        return str(value["path"])
    if not isinstance(value, str | int | float):
        raise ValueError(f"{field}: expected texts, got {str(value)[:60]!r}")
    return str(value).strip()


def value_of(row: Mapping[str, Any], field: str) -> Any:
    """The value of a field; `a.b` is b within a, where no field has that whole name."""
    if field in row:
        return row[field]
    value: Any = row
    for part in field.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def read(root: Path, name: str) -> Plan:
    """The mapping of that name, else `mapping.toml` in the set. Raises `Usage` for a bad one."""
    path = Path(name) if name else root / NAME
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        plan = msgspec.convert(raw, Plan)
    except OSError as error:
        raise Usage(
            f"{path}: expected the mapping of the set, got: {error.strerror}; write it there, or "
            f"name another with --source-args mapping=FILE.toml. The least that it says, where "
            f"these are names of the rows' fields:\n{LEAST}"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise Usage(f"{path}: expected a mapping, got: {error}; {_help()}") from None
    for wrong in _wrong(plan):
        raise Usage(f"{path}: {wrong}")
    return plan


def _help() -> str:
    return f"[fields] knows {', '.join(Fields.__struct_fields__)}"


def _wrong(plan: Plan) -> Iterator[str]:
    """What a mapping cannot say."""
    if not plan.fields.answer and not plan.fields.label:
        yield "expected the field of the answer or of the label under [fields], got neither"
    if plan.fields.kind and not plan.kinds:
        yield "expected [kinds] to say what the words of the kind's field mean, got none"
    allowed = (*get_args(Kind), "healthy", *REASONS)
    for word, meaning in plan.kinds.items():
        if meaning not in allowed:
            yield f"[kinds] {word!r}: expected one of {', '.join(allowed)}, got {meaning!r}"
    if plan.count_from not in (None, 0, 1):
        yield f"count_from: expected 0 or 1, got {plan.count_from}"
