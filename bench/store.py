"""Records a second, read with validation and written, beside plain json; whether memory is flat.

    python bench/store.py

One run measures ours and the peer on the same records: benchmark items with 3.5 boxes on
average. The peer is what a script does: `json.loads` and the same checks by hand, `json.dumps`
and a file. CPU time of this process, the best of five interleaved rounds. Exits 1 when a target
is missed.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fieldtruth import store
from fieldtruth.records import Item

RECORDS, ROUNDS = 50_000, 5
READ_TARGET, WRITE_TARGET = 150_000, 100_000  # records a second
GROWTH_TARGET = 8.0  # MiB that ten times the records may add to the peak
LABELS = ("late blight", "early blight", "leaf rust", "scab")


def items(count: int) -> Iterator[Item]:
    """Items like those of a benchmark, 1 to 6 boxes each, made one at a time."""
    for n in range(count):
        x, y = n % 50, n % 40
        boxes = tuple(
            (x + 7.5 * k, y + 5.25 * k, x + 7.5 * k + 61.75, y + 5.25 * k + 33.5)
            for k in range(1 + n % 6)
        )
        yield Item(
            id=f"field:{n:07}", image=f"images/{n:032x}.jpg", image_sha256=f"{n:064x}",
            width=640, height=480, source="field", licence="CC BY 4.0", crop="tomato",
            kind="disease", label=LABELS[n % 4], level="lesion", boxes=boxes,
            query=LABELS[n % 4], absent_query="canker", candidates=LABELS, group=f"plant-{n // 3}",
        )  # fmt: skip


TEXTS = ("id", "image", "image_sha256", "source", "licence", "group")
MAYBE = ("crop", "label", "query", "absent_query")
KINDS = {"disease", "pest", "weed", "symptom", "stress", "object", None}
FIELDS = set(Item.__struct_fields__)


def checked_by_hand(row: dict[str, Any]) -> dict[str, Any]:
    """What `Item` checks, written out on a dictionary."""
    if row.keys() != FIELDS:
        raise ValueError("fields")
    if not all(isinstance(row[name], str) for name in TEXTS):
        raise ValueError("text")
    if not all(row[name] is None or isinstance(row[name], str) for name in MAYBE):
        raise ValueError("text or null")
    width, height = row["width"], row["height"]
    if not (isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0):
        raise ValueError("size")
    if row["kind"] not in KINDS or row["level"] not in ("lesion", "object", "healthy"):
        raise ValueError("words")
    for box in row["boxes"]:
        x1, y1, x2, y2 = box
        if not all(isinstance(side, int | float) for side in box):
            raise ValueError("numbers")
        if not (0 <= x1 < x2 <= width and 0 <= y1 < y2 <= height):
            raise ValueError("boxes")
    if len(set(row["candidates"] or range(4))) != 4:
        raise ValueError("candidates")
    return row


def peer_read(path: Path) -> int:
    """Read as a script does."""
    with path.open(encoding="utf-8") as file:
        return sum(1 for line in file if checked_by_hand(json.loads(line)))


def peer_write(path: Path, rows: list[dict[str, Any]]) -> int:
    """Write as a script does."""
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    return len(rows)


def seconds(work: Callable[[], int]) -> float:
    """CPU seconds of one run that handles all records."""
    begun = time.process_time()
    assert work() == RECORDS
    return time.process_time() - begun


def peak(count: int) -> float:
    """MiB at the peak of a fresh process that writes and reads so many records."""
    said = subprocess.run(
        [sys.executable, __file__, str(count)], capture_output=True, text=True, check=True
    )
    return float(said.stdout)


def pass_through(count: int) -> None:
    """Write and read so many records and print this process's peak memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "items.jsonl")
        assert store.write(path, items(count)) == count
        assert sum(1 for _ in store.read(path, Item)) == count
    unit = 2**20 if sys.platform == "darwin" else 2**10
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


def main() -> int:
    """The table; 1 when a target is missed."""
    # First, while this process is small: a child's peak starts from its parent's.
    small, large = peak(RECORDS), peak(10 * RECORDS)
    made = list(items(RECORDS))
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder, "items.jsonl"), Path(folder, "peer.jsonl")
        store.write(path, made)
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        work: dict[str, Callable[[], int]] = {
            "read": lambda: sum(1 for _ in store.read(path, Item)),
            "peer read": lambda: peer_read(path),
            "written": lambda: store.write(path, made),
            "peer written": lambda: peer_write(other, rows),
        }
        best = dict.fromkeys(work, float("inf"))
        for _ in range(ROUNDS):
            for name, each in work.items():
                best[name] = min(best[name], seconds(each))
    missed = 0
    for name, target in (("read", READ_TARGET), ("written", WRITE_TARGET)):
        ours, peer = RECORDS / best[name], RECORDS / best[f"peer {name}"]
        missed += ours < target
        print(
            f"{name:8} {ours:>9,.0f}/s   json by hand {peer:>9,.0f}/s   {ours / peer:4.1f}x   "
            f"target {target:,}/s: {'reached' if ours >= target else 'MISSED'}"
        )
    flat = large - small <= GROWTH_TARGET
    print(
        f"memory   {small:.1f} MiB at {RECORDS:,} records, {large:.1f} MiB at {10 * RECORDS:,}   "
        f"target +{GROWTH_TARGET:g} MiB: {'reached' if flat else 'MISSED'}"
    )
    return int(bool(missed) or not flat)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        pass_through(int(sys.argv[1]))
    else:
        sys.exit(main())
