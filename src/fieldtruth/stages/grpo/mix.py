"""Which examples are asked about: what cannot be is left out first, then quotas are met exactly.

The published builder met its quotas first and dropped large photos afterwards, so that 18,750 of
19,000 prompts were left (reference, section 13).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import floor

from fieldtruth import draws
from fieldtruth.faults import Usage
from fieldtruth.records import Example, Record
from fieldtruth.stages.grpo.settings import Mix
from fieldtruth.tuning.rows import Rows

STAGE = "grpo"
TOO_LARGE, UNFIT, SPARE = "too_large", "unfit", "spare"  # why an example is not asked about
DUST = 1e-9  # what rounding leaves of a share of nothing, and takes from a whole number


class Cell(Record, frozen=True, kw_only=True):
    """One kind of prompt: how many there were, and how many are asked."""

    had: int
    taken: int


class Books(Record, frozen=True, kw_only=True):
    """Every example is taken, or dropped for one reason: `too_large`, `unfit` or `spare`.

    `examples` is the sum of both. `unfit` is what the reward cannot pay.
    """

    examples: int
    taken: int
    cells: Mapping[str, Cell]
    dropped: Mapping[str, int]


def kind_of(example: Example, mix: Mix) -> str:
    """Of which kind a prompt is: `dense listed`, `healthy named`."""
    what: str = example.role
    if example.role == "positive" and not mix.uniform:
        what = "dense" if len(example.boxes) >= mix.dense_boxes else "sparse"
    return f"{what} {'listed' if example.candidates else 'named'}"


def shares(mix: Mix) -> dict[str, float]:
    """The share of each kind; they add up to 1."""
    positive = 1 - mix.healthy - mix.wrong_target
    kinds = {"healthy": mix.healthy, "wrong_target": mix.wrong_target}
    if mix.uniform:
        kinds["positive"] = positive
    else:
        kinds |= {"dense": positive * mix.dense, "sparse": positive * (1 - mix.dense)}
    return {
        f"{kind} {form}": share * part
        for kind, share in kinds.items()
        for form, part in (("listed", mix.listed), ("named", 1 - mix.listed))
        if share * part > DUST
    }


def draw(
    rows: Rows, mix: Mix, seed: int, unfit: Callable[[Example], bool]
) -> tuple[list[int], Books]:
    """Numbers of the examples that are asked about, by their drawn order, and the books.

    Raises `Usage` where a kind has fewer than its share of `mix.size`, or none at all.
    """
    cells, dropped = defaultdict[str, list[tuple[int, int]]](list), Counter[str]()
    for number in range(len(rows)):
        example, _ = rows[number]
        if example.width * example.height > mix.photo_pixels:
            dropped[TOO_LARGE] += 1
        elif unfit(example):
            dropped[UNFIT] += 1
        else:
            kind = kind_of(example, mix)
            cells[kind].append((draws.key(seed, STAGE, example.id), number))
    wanted = _wanted(shares(mix), {kind: len(some) for kind, some in cells.items()}, mix.size)
    taken = [pair for kind, count in wanted.items() for pair in sorted(cells[kind])[:count]]
    spare = sum(map(len, cells.values())) - len(taken)
    books = Books(
        examples=len(rows), taken=len(taken),
        cells={
            kind: Cell(had=len(cells[kind]), taken=wanted.get(kind, 0)) for kind in sorted(cells)
        },
        dropped={**dropped, **({SPARE: spare} if spare else {})},
    )  # fmt: skip
    return [number for _, number in sorted(taken)], books


def _wanted(
    shares: Mapping[str, float], had: Mapping[str, int], size: int | None
) -> dict[str, int]:
    """How many of each kind: of the size that is asked for, or of the largest that there is."""
    if size is None:
        size = min(floor(had.get(kind, 0) / share + DUST) for kind, share in shares.items())
        while any(n > had.get(k, 0) for k, n in _quotas(shares, size).items()):
            size -= 1
    wanted, least = _quotas(shares, size), 0 if size else 1  # of 0 a kind has none at all
    for kind, count in wanted.items():
        if max(count, least) > had.get(kind, 0):
            raise Usage(
                f"mix: expected {max(count, least):,} prompts that are {kind}, got "
                f"{had.get(kind, 0):,} after "
                "what cannot be asked was left out; lower mix.size, change its shares, or compose "
                "more"
            )
    return wanted


def _quotas(shares: Mapping[str, float], size: int) -> dict[str, int]:
    """Whole numbers that add up to the size: what is left goes to the largest fractions."""
    made = {kind: floor(share * size) for kind, share in shares.items()}
    rest = size - sum(made.values())
    by_fraction = sorted(shares, key=lambda kind: (made[kind] - shares[kind] * size, kind))
    for kind in by_fraction[:rest]:
        made[kind] += 1
    return made


def order(rows: Rows, taken: Sequence[int], seed: int, prompts: int) -> list[int]:
    """`prompts` of them, each pass through the mix in an order of its own."""
    names = {number: rows[number][0].id for number in taken}
    asked: list[int] = []
    turn = 0
    while len(asked) < prompts:
        stage = f"{STAGE} {turn}"
        asked += sorted(taken, key=lambda number: draws.key(seed, stage, names[number]))
        turn += 1
    return asked[:prompts]
