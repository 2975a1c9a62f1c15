"""What is kept of an ablation: small enough to be committed, whole enough to go on from.

OUT/ROW-seedN/scores.json             what the row was made with, and its values with intervals
OUT/ROW-seedN/predictions.jsonl.gz    its words, by benchmark and protocol
OUT/benchmarks/NAME.jsonl.gz          the items of a benchmark, whose photos are drawn anew

Files of the same content have the same bytes: there are no dates in them.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord
from fieldtruth.records import SCHEMA, Item, Prediction, Record

SCORES, WORDS, BENCHMARKS = "scores.json", "predictions.jsonl.gz", "benchmarks"
UNPACKED = 1 << 28  # bytes of one file; more is no row of ours

R = TypeVar("R", bound=Record)


class Part(Record, frozen=True, kw_only=True):
    """A row's values on one benchmark: protocol -> metric -> value, low, high, n; and outcomes.

    A value that stands on few groups has `groups` too. `digest` is of the benchmark's items.
    """

    digest: str
    items: int
    metrics: Mapping[str, Mapping[str, Mapping[str, float | int | None]]]
    outcomes: Mapping[str, Mapping[str, int]]


class Learnt(Record, frozen=True, kw_only=True):
    """How the training went.

    `cpu_seconds` are of the process that ended it; null where another one scored.

    `seen` are examples with repeats: in so many steps, so many right replies were shown or so many
    prompts asked; `replies` how many replies came to those. Losses of a reward say nothing: there
    `reward_first` and `reward_last` are means over the first and last rounds.
    """

    examples: int
    steps: int
    weights: int
    loss_first: float
    loss_last: float
    cpu_seconds: int | None
    seen: int | None = None
    replies: int | None = None
    reward_first: float | None = None
    reward_last: float | None = None
    best: int | None = None  # the step of the weights that are asked
    alarms: tuple[str, ...] = ()


class Scores(Record, frozen=True, kw_only=True):
    """`scores.json`. `key` is a hash of all that may change the row."""

    schema: int = SCHEMA
    row: str
    seed: int
    key: str
    told: Mapping[str, Any]
    learnt: Learnt | None
    benchmarks: Mapping[str, Part]


class Said(Record, frozen=True, kw_only=True):
    """A line of the kept words: a reply, and the benchmark it is to."""

    benchmark: str
    reply: Prediction


def place(out: Path, row: str, seed: int) -> Path:
    """The folder of a row with a seed."""
    return out / f"{row}-seed{seed}"


def scores(folder: Path) -> Scores | None:
    """A row that is done, or None; `BadRecord` for a file that is no such thing."""
    path = folder / SCORES
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Scores)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRecord(
            f"{path}: expected the scores of a row, got: {error}; remove {folder} to do it again"
        ) from None


def keep(folder: Path, made: Scores, said: Iterable[Said]) -> None:
    """A row in place of what was there. Its scores go first and come last: they say it is done."""
    store.make_folder(folder)
    (folder / SCORES).unlink(missing_ok=True)
    _pack(folder / WORDS, b"".join(msgspec.json.encode(each) + b"\n" for each in said))
    whole = msgspec.json.encode(made, order="deterministic")
    with store.replacing(folder / SCORES) as file:
        file.write(msgspec.json.format(whole, indent=1) + b"\n")


def words(folder: Path) -> list[Said]:
    """A row's words; `BadRecord` for what is not."""
    found = list(_unpack(folder / WORDS, Said))
    if not found:
        raise BadRecord(f"{folder / WORDS}: expected the words of a row, got none")
    return found


def keep_items(out: Path, name: str, bench: Path) -> None:
    """The items of a frozen benchmark, byte for byte: their hash is that of the file."""
    path = _items(out, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    _pack(path, (bench / store.ITEMS).read_bytes())


def items(out: Path, name: str) -> list[Item]:
    """The items that were kept, by id; none where there are none."""
    path = _items(out, name)
    return sorted(_unpack(path, Item), key=lambda each: each.id) if path.is_file() else []


def digest(out: Path, name: str) -> str | None:
    """What `Part.digest` is of the rows that were asked about them; None where there are none."""
    path = _items(out, name)
    return sha256(_raw(path)).hexdigest() if path.is_file() else None


def _items(out: Path, name: str) -> Path:
    return out / BENCHMARKS / f"{name}.jsonl.gz"


def _pack(path: Path, raw: bytes) -> None:
    with store.replacing(path) as file:
        file.write(gzip.compress(raw, 9, mtime=0))


def _unpack(path: Path, kind: type[R]) -> Iterator[R]:
    for number, line in enumerate(_raw(path).splitlines(), start=1):
        try:
            yield msgspec.json.decode(line, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadRecord(f"{path}:{number}: {error}") from None


def _raw(path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            raw = file.read(UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadRecord(f"{path}: expected what an ablation keeps, got: {error}") from None
    if len(raw) > UNPACKED:
        raise BadRecord(f"{path}: expected at most {UNPACKED} bytes when unpacked")
    return raw
