"""Parquet files with photos inside, unpacked into photos on the disk and rows that name them.

Hubs give sets out this way; everything else here looks at files. A photo gets the name of its shard
and row, never one from outside, and the ending of its content; it is not opened here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, Usage

ROWS, PHOTOS = "rows.jsonl", "images"
AT_ONCE = 64  # rows that are in memory at a time, with their photos
_ENDINGS = ((b"\xff\xd8\xff", ".jpg"), (b"\x89PNG", ".png"), (b"RIFF", ".webp"), (b"GIF8", ".gif"))


def found(root: Path) -> list[Path]:
    """The parquet files below a folder, or the one that is named, in the order of their paths."""
    if root.is_file():
        return [root] if root.suffix.lower() == ".parquet" else []
    return sorted(path for path in root.rglob("*.parquet") if path.is_file())


def unpack(root: Path, into: Path, column: str) -> int:
    """`into/rows.jsonl` with `column` as the photo's path, and `into/images/`; how many rows.

    `into` is not there yet; it is there whole or not at all. Raises `Usage` where pyarrow is not
    installed, `BadRecord` where a file is not parquet or has no such column.
    """
    count = 0
    with store.drafting(into) as draft:
        (draft / PHOTOS).mkdir()
        with store.replacing(draft / ROWS) as file:
            for shard in found(root):
                stem = shard.relative_to(root).with_suffix("") if shard != root else Path(root.stem)
                name = "-".join(stem.parts)
                for number, row in enumerate(_rows(shard, column), start=1):
                    row[column] = _photo(row[column], draft, f"{PHOTOS}/{name}-{number}")
                    file.write(msgspec.json.encode(row) + b"\n")
                    count += 1
        store.publish(draft, into)
    return count


def _rows(path: Path, column: str) -> Iterator[dict[str, Any]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise Usage(
            f"{path}: expected the package pyarrow, got none; pip install 'fieldtruth[parquet]'"
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            if column not in file.schema_arrow.names:
                names = ", ".join(file.schema_arrow.names)
                raise BadRecord(f"{path}: expected the column {column!r}, got {names}")
            for batch in file.iter_batches(AT_ONCE):
                yield from batch.to_pylist()
    except (ArrowException, OSError) as error:
        raise BadRecord(f"{path}: expected a parquet file, got: {error}") from None


def _photo(value: object, draft: Path, place: str) -> str | None:
    """Writes what the column holds; the photo's path, null where there is none."""
    data = value.get("bytes") if isinstance(value, dict) else value
    if not isinstance(data, bytes) or not data:
        return None
    place += next((end for start, end in _ENDINGS if data.startswith(start)), ".bin")
    (draft / place).write_bytes(data)
    return place
