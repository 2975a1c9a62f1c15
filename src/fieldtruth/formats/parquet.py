"""A benchmark as parquet files that dataset hubs show and `datasets.load_dataset` reads.

    DIR/README.md            a YAML header with licence, configuration and features; the card
    DIR/data/test.parquet    one row a record, its photo inside: struct{bytes, path}

The photo's column is what the `datasets` library calls an Image: it is decoded when a row is
read, upright. It is null where the photo is not there to be handed on. Boxes stay pixels of the
upright photo. Row groups are small, so that a viewer can show one without reading the file.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth.faults import Usage
from fieldtruth.formats.contract import Exported, Exporter
from fieldtruth.formats.markdown import dataset, header, inline, split_name
from fieldtruth.records import Item, Question
from fieldtruth.store import Bench

PHOTOS = 100  # in a row group, at most
BYTES = 128 * 2**20  # of photos in a row group, at most one photo more
ROWS = 1_000  # of questions without photos in a row group

_WHOLE, _TEXT, _TEXTS, _BOXES, _PHOTO, _ALL_PHOTOS = (
    "int64", "string", "strings", "boxes", "photo", "photos",
)  # fmt: skip
_KINDS = {
    "width": _WHOLE,
    "height": _WHOLE,
    "boxes": _BOXES,
    "candidates": _TEXTS,
    "options": _TEXTS,
    "facts": _TEXTS,
    "evidence": _TEXTS,
    "image_paths": _TEXTS,
    "image": _PHOTO,
    "images": _ALL_PHOTOS,
}


def write(bench: Bench, folder: Path, *, fetched: bool) -> Exported:
    """Write README.md and the data into `folder`. Two exports with one pyarrow are byte-equal.

    Photos that are only referenced are null unless `fetched`, and then only where they are not
    there. Raises `Usage` when pyarrow is not installed.
    """
    arrow, parquet = _pyarrow()
    columns = _columns(Item if bench.items else Question)
    schema = _schema(arrow, columns)
    path = folder / "data" / f"{split_name(bench.manifest)}.parquet"
    path.parent.mkdir(parents=True)
    photos = _Photos(bench, fetched=fetched)
    plain = [name for name, kind in columns.items() if kind not in (_PHOTO, _ALL_PHOTOS)]
    rows = 0
    # Statistics and dictionaries of the photos' bytes would only make the file longer.
    with parquet.ParquetWriter(
        path, schema, use_dictionary=plain, write_statistics=plain, write_page_index=True
    ) as file:
        for group in _row_groups(bench, photos):
            rows += len(group)
            file.write_table(
                arrow.Table.from_pylist(group, schema=schema), row_group_size=len(group)
            )
    made = Exported(rows=rows, photos=photos.embedded, absent=photos.absent)
    (folder / "README.md").write_text(_readme(bench, columns, made, path), encoding="utf-8")
    return made


EXPORT: Exporter = write
PHOTOS_INSIDE = True  # so one that is left out cannot be brought in later


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise Usage(
            "export parquet: expected the package pyarrow, got none; pip install "
            "'fieldtruth[parquet]'"
        ) from None
    return pyarrow, pyarrow.parquet


class _Photos:
    """Reads photos one at a time and counts what is inside the file and what is null."""

    def __init__(self, bench: Bench, *, fetched: bool) -> None:
        self._bench, self._fetched = bench, fetched
        self.embedded = self.absent = 0

    def read(self, image: str) -> dict[str, Any] | None:
        """`{bytes, path}` as the file has them, or None."""
        path = self._bench.photo(image)
        referenced = image in self._bench.manifest.references
        if referenced and not (self._fetched and path.exists()):
            self.absent += 1
            return None
        self.embedded += 1
        return {"bytes": path.read_bytes(), "path": image}


def _row_groups(bench: Bench, photos: _Photos) -> Iterator[list[dict[str, Any]]]:
    """Rows in order of id, in groups; memory holds one group of photos."""
    group: list[dict[str, Any]] = []
    held = size = 0
    for record in bench.items or bench.questions:
        row = _row(record, photos)
        shown = row["images"] if "images" in row else [row["image"]]
        group.append(row)
        held += len(shown)
        size += sum(len(each["bytes"]) for each in shown if each)
        if held >= PHOTOS or size >= BYTES or len(group) >= ROWS:
            yield group
            group, held, size = [], 0, 0
    if group:
        yield group


def _row(record: Item | Question, photos: _Photos) -> dict[str, Any]:
    row = msgspec.structs.asdict(record)
    if isinstance(record, Item):
        return row | {"image": photos.read(record.image), "image_path": record.image}
    return row | {
        "images": [photos.read(image) for image in record.images],
        "image_paths": record.images,
    }


def _columns(kind: type[Item | Question]) -> dict[str, str]:
    """Name and kind of each column: the record's fields in their order, then the photo's path."""
    names = [*kind.__struct_fields__, "image_path" if kind is Item else "image_paths"]
    return {name: _KINDS.get(name, _TEXT) for name in names}


def _schema(arrow: Any, columns: Mapping[str, str]) -> Any:
    photo = arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
    kinds = {
        _WHOLE: arrow.int64(),
        _TEXT: arrow.string(),
        _TEXTS: arrow.list_(arrow.string()),
        _BOXES: arrow.list_(arrow.list_(arrow.float64())),
        _PHOTO: photo,
        _ALL_PHOTOS: arrow.list_(photo),
    }
    # What `datasets` takes the features from where there is no README; its oldest spelling,
    # which all its versions read.
    features = {name: _FEATURES[kind] for name, kind in columns.items()}
    told = json.dumps({"info": {"features": features}})
    return arrow.schema([(name, kinds[kind]) for name, kind in columns.items()]).with_metadata(
        {"huggingface": told}
    )


def _value(dtype: str) -> dict[str, Any]:
    return {"dtype": dtype, "_type": "Value"}


def _list(feature: Mapping[str, Any]) -> dict[str, Any]:
    return {"feature": feature, "_type": "Sequence"}


_FEATURES: Mapping[str, Any] = {
    _WHOLE: _value("int64"),
    _TEXT: _value("string"),
    _TEXTS: _list(_value("string")),
    _BOXES: _list(_list(_value("float64"))),
    _PHOTO: {"_type": "Image"},
    _ALL_PHOTOS: _list({"_type": "Image"}),
}
_YAML: Mapping[str, Mapping[str, Any]] = {
    _WHOLE: {"dtype": "int64"},
    _TEXT: {"dtype": "string"},
    _TEXTS: {"sequence": "string"},
    _BOXES: {"sequence": {"sequence": "float64"}},
    _PHOTO: {"dtype": "image"},
    _ALL_PHOTOS: {"sequence": "image"},
}


def _readme(bench: Bench, columns: Mapping[str, str], made: Exported, path: Path) -> str:
    split = split_name(bench.manifest)
    features = [{"name": name, **_YAML[kind]} for name, kind in columns.items()]
    told = {"name": split, "num_bytes": path.stat().st_size, "num_examples": made.rows}
    fields = dataset(bench.manifest, f"data/{path.name}")
    fields["dataset_info"] = {"features": features, "splits": [told]}
    return f"{header(fields)}\n\n{_words(bench, made, split)}\n{_card(bench)}"


def _words(bench: Bench, made: Exported, split: str) -> str:
    manifest = bench.manifest
    null = f"Null, since they may not be handed on: {made.absent}. " if made.absent else ""
    noun = "item" if bench.items else "question"
    return f"""# {inline(manifest.name)}, version {inline(manifest.version)}, as parquet

{made.rows} {noun}s with {made.photos} photos inside, made from the frozen benchmark whose digest is
`{manifest.digest}`.
{null}Boxes are pixels of the upright photo.

```python
from datasets import load_dataset

rows = load_dataset("PATH_OF_THIS_FOLDER", split="{split}")
```

Scores are measured on the frozen benchmark, not on this copy. What follows is its card; commands
there are meant for its own folder.
"""


def _card(bench: Bench) -> str:
    """The benchmark's card without its header; what was frozen before there were cards has none."""
    path = bench.folder / "CARD.md"
    if "CARD.md" not in bench.manifest.files:
        return ""
    _, _, body = path.read_text(encoding="utf-8").partition("\n---\n")
    return body
