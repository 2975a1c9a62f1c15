"""The rows of a JSON, JSON lines, CSV or parquet file as objects; no field goes unnoticed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import rows
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.rows import Bad
from fieldtruth.sources.vqa.mapping import Plan

BATCH = 1024  # rows of a parquet file that are in memory at a time
_BOM = b"\xef\xbb\xbf"


def read(path: Path, plan: Plan) -> Iterator[tuple[int, dict[str, Any] | Bad]]:
    """The rows with their numbers. Raises `BadRecord` for a field that the mapping does not know.

    Raises `Usage` for another ending, and where parquet needs a package that is not installed.
    """
    ending = path.suffix.lower()
    if ending in (".json", ".jsonl", ".ndjson"):
        return _json(path, plan)
    if ending == ".csv":
        known = plan.known()
        return ((number, row if isinstance(row, Bad) else dict(row))
                for number, row in rows.read_table(path, (), known))  # fmt: skip
    if ending == ".parquet":
        return _parquet(path, plan)
    raise Usage(f"{path}: expected a .json, .jsonl, .csv or .parquet file")


def _json(path: Path, plan: Plan) -> Iterator[tuple[int, dict[str, Any] | Bad]]:
    names = [name for name in plan.known() if "." not in name or name in plan.ignore]
    kind = msgspec.defstruct(
        "Row",
        [(f"f{at}", Any, None) for at in range(len(names))],
        rename={f"f{at}": name for at, name in enumerate(names)},
        forbid_unknown_fields=True,
    )
    with path.open("rb") as file:
        a_list = file.read(64).removeprefix(_BOM).lstrip().startswith(b"[")
    found = rows.read_list(path, kind) if a_list else rows.read_lines(path, kind)
    try:
        for number, row in found:
            yield number, row if isinstance(row, Bad) else _filled(row, names)
    except BadRecord as fault:
        raise BadRecord(f"{fault}; a field of no use goes under ignore in the mapping") from None


def _filled(row: msgspec.Struct, names: list[str]) -> dict[str, Any]:
    values = (getattr(row, f"f{at}") for at in range(len(names)))
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _parquet(path: Path, plan: Plan) -> Iterator[tuple[int, dict[str, Any] | Bad]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise Usage("parquet needs pyarrow; install it with: pip install 'fieldtruth[parquet]'") \
            from None  # fmt: skip
    known, number = frozenset(plan.known()), 0
    try:
        with parquet.ParquetFile(path) as file:
            unknown = [name for name in file.schema_arrow.names if name not in known]
            if unknown:
                raise BadRecord(
                    f"{path}: expected only the fields {', '.join(plan.known())}, got "
                    f"{', '.join(unknown)}; use them or list them under ignore"
                )
            for batch in file.iter_batches(BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield number, {k: v for k, v in row.items() if v is not None}
    except (ArrowException, OSError) as error:
        raise BadRecord(f"{path}: expected a parquet file, got: {error}") from None
