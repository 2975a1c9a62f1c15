"""Words -> readings -> arrays: the one road from a model's replies to what metrics count.

A failed call and a missing reply leave their item unmeasured; they never become an empty
answer (design, section 2, rule 1). Truth comes from the items only (rule 6).
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np

from fieldtruth import geometry
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.geometry import Boxes, Rule
from fieldtruth.grading.instruction import Instruction, open_protocol
from fieldtruth.metrics.contract import Bools, Evidence
from fieldtruth.protocols.contract import Protocol
from fieldtruth.records import Item, Prediction, Reading
from fieldtruth.taxonomy import akin, label_id

OUTCOMES = (
    "boxes", "empty", "prose", "unreadable", "error", "truncated", "missing", "duplicate", "extra",
)  # fmt: skip

# "2", "2.", "(2) rust", "option 2: rust": how a reply points at a numbered candidate.
_NUMBERED = re.compile(r"\s*(?:option\s*)?[(\[]?(\d{1,2})(?:[)\].:\s]+(.*))?", re.I | re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One model under one protocol. The lists are parallel, one entry per measured item.

    `items` are as they were asked about and ascend by id; `said` holds (k, 4) boxes in pixels of
    the upright image, clipped to it; `answers` the label id of each answer
    or None; `outcomes` the counts of the score contract (design, section 5). `asked`
    is how many items the protocol asks about; `beside` how many of the extra rows are of items that
    its control cannot ask.
    """

    model: str
    protocol: str
    items: list[Item]
    readings: list[Reading]
    said: list[Boxes]
    answers: list[str | None]
    evidence: Evidence
    outcomes: dict[str, int]
    asked: int
    beside: int = 0


def grade(
    items: Iterable[Item],
    predictions: Iterable[Prediction],
    protocol: str,
    *,
    matching: Rule = "greedy",
) -> Graded:
    """Read and measure the replies of one model under one protocol.

    Of several rows for one item the first is used and the others are counted as duplicates,
    whether or not they agree; rows for items that the benchmark lacks are counted as extra. An
    item that the protocol does not suit is not missing, but is measured where it was answered.
    An item that a control cannot ask has no truth under it: its rows are extra.

    Raises `Usage` for an unknown protocol, several models, or a control that none of the items can
    be asked under, `BadRecord` for a row without a box space.
    """
    instruction = open_protocol(protocol)
    spoken = instruction.protocol
    rows = list(predictions)
    models = sorted({row.model for row in rows})
    if len(models) != 1 or any(row.protocol != protocol for row in rows):
        raise Usage(
            f"grading takes the replies of one model under {protocol}, got {len(rows)} rows "
            f"of the models {models}"
        )
    shown_as = {item.id: instruction.asked(item) for item in items}
    known = {name: item for name, item in shown_as.items() if item is not None}
    if instruction.control is not None and not any(map(spoken.suits, known.values())):
        raise Usage(f"{protocol}: expected items that can be asked this way, got none")
    counts = dict.fromkeys(OUTCOMES, 0)
    first = _first(rows, known, counts)
    asked = _expected(known.values(), first, instruction)
    counts["missing"] = len(asked) - len(first)
    counts["error"] = sum(row.failed for row in first.values())
    measured = sorted((i for i in asked if i.id in first and not first[i.id].failed), key=_by_id)
    readings = [_read(spoken, first[item.id]) for item in measured]
    for reading in readings:
        counts[reading.outcome] += 1
        counts["truncated"] += reading.truncated
    said = [in_pixels(r, first[i.id], i) for r, i in zip(readings, measured, strict=True)]
    shown = [offered(spoken, item) for item in measured]
    answers = list(map(answer, (r.labels for r in readings), shown))
    empty = [reading.outcome == "empty" for reading in readings]
    return Graded(
        model=models[0],
        protocol=protocol,
        items=measured,
        readings=readings,
        said=said,
        answers=answers,
        evidence=as_asked(
            evidence(measured, said, answers, empty=empty, shown=shown, matching=matching),
            instruction,
            measured,
            answers,
        ),
        outcomes=counts,
        asked=len(asked),
        beside=sum(row.item in shown_as and row.item not in known for row in rows),
    )


def _first(
    rows: Iterable[Prediction], known: Container[str], counts: dict[str, int]
) -> dict[str, Prediction]:
    """The first row of each known item; the others are counted."""
    first: dict[str, Prediction] = {}
    for row in rows:
        if row.item not in known:
            counts["extra"] += 1
        elif row.item in first:
            counts["duplicate"] += 1
        else:
            first[row.item] = row
    return first


def _expected(
    items: Iterable[Item], answered: Container[str], instruction: Instruction
) -> list[Item]:
    """The items that should have a row.

    A control may be asked of positives only, as published (agroground.md, section 14): where no
    healthy photo has a row under it, none is missing.
    """
    asked = [item for item in items if item.id in answered or instruction.protocol.suits(item)]
    if instruction.control is None or any(not i.positive and i.id in answered for i in asked):
        return asked
    return [item for item in asked if item.positive]


def _by_id(item: Item) -> str:
    return item.id


def _where(row: Prediction) -> str:
    return f"prediction of {row.model} for item {row.item} under {row.protocol}"


def _read(spoken: Protocol, row: Prediction) -> Reading:
    if row.space is None:
        raise BadRecord(
            f"{_where(row)}: expected a box space (pixel, pixel_resized, pixel840, norm1000, "
            "norm1, yx1000 or loc1024), got null; declare the one the model writes in"
        )
    return spoken.read(row.text, row.space, row.finish)


def in_pixels(reading: Reading, row: Prediction, item: Item) -> Boxes:
    """The boxes of a reading on the upright image: corners in order, clipped, none left out.

    A box outside the image keeps its row with no area: it was said, and it matches nothing.
    """
    if not reading.boxes or row.space is None:
        return np.zeros((0, 4))
    boxes = geometry.as_boxes(reading.boxes)
    boxes = geometry.to_pixels(boxes, row.space, item.width, item.height)
    return geometry.clipped(geometry.ordered(boxes), item.width, item.height)


def offered(spoken: Protocol, item: Item) -> tuple[str, ...]:
    """The candidates shown with an item, in the order shown; none where it was not a choice."""
    names = spoken.names(item) if item.candidates is not None and spoken.suits(item) else ()
    return names if len(names) > 1 else ()


def answer(labels: Sequence[str], shown: Sequence[str]) -> str | None:
    """The label id that a reply answers with: the majority of its non-empty labels.

    Ties: the first given (design, section 6). Where candidates were shown, their number stands
    for the name.
    """
    given = votes(labels, shown)
    return winner(given) if given else None


def winner(given: Mapping[str, int]) -> str:
    """The name that most boxes have; ties: the first given."""
    return max(given, key=given.__getitem__)


def votes(labels: Sequence[str], shown: Sequence[str]) -> dict[str, int]:
    """How many boxes name each label id, in the order given; a box without a name has no vote."""
    written = dict.fromkeys(labels, len(labels))
    if len(written) > 1:  # few replies have more than one name
        written = Counter(labels)
    found: dict[str, int] = {}
    for label, times in written.items():
        name = resolve(label, shown) if label else ""
        if name:
            found[name] = found.get(name, 0) + times
    return found


def resolve(label: str, shown: Sequence[str]) -> str:
    """The label id of a name as written; `2` and `2. rust` name the second candidate shown.

    A number before another candidate's name does not count: the name does.
    """
    plain = label_id(label)
    if not shown or plain in (ids := _ids(tuple(shown))):
        return plain
    found = _NUMBERED.fullmatch(label)
    if found is None:
        return plain
    number, rest = int(found[1]), label_id(found[2] or "")
    if rest in ids:
        return rest
    return ids[number - 1] if not rest and 1 <= number <= len(ids) else plain


@lru_cache(maxsize=256)
def _ids(shown: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(label_id, shown))


def evidence(
    items: Sequence[Item],
    said: Sequence[Boxes],
    answers: Sequence[str | None],
    *,
    empty: Sequence[bool],
    shown: Sequence[Sequence[str]],
    matching: Rule = "greedy",
) -> Evidence:
    """What metrics count, of many items in one pass; all sequences are parallel to `items`.

    `said` are boxes in pixels, in order and clipped; `answers` label ids; `shown` the candidates
    the prompt listed, `()` where it listed none.
    """
    true_counts = np.array([len(item.boxes) for item in items], dtype=np.int64)
    said_counts = np.array([len(boxes) for boxes in said], dtype=np.int64)
    corners = chain.from_iterable(chain.from_iterable(item.boxes for item in items))
    true = np.fromiter(corners, dtype=np.float64).reshape(-1, 4)
    said_all = np.concatenate([np.zeros((0, 4)), *said])
    hits, hits_75 = _hits(said_all, true, said_counts, true_counts, matching)
    levels = np.array([item.level for item in items], dtype=np.str_)
    both = (said_counts > 0) & (true_counts > 0)
    region = np.zeros(len(items))
    regions = geometry.region_ious(
        said_all[np.repeat(both, said_counts)],
        true[np.repeat(both, true_counts)],
        said_counts[both],
        true_counts[both],
    )
    region[both] = regions.round(geometry.DIGITS)
    names = _namings(items, answers, shown)
    return Evidence(
        lesion=levels == "lesion",
        object=levels == "object",
        healthy=levels == "healthy",
        empty=np.array(empty, dtype=np.bool_),
        true_boxes=true_counts,
        said_boxes=said_counts,
        hits=hits,
        hits_75=hits_75,
        region_iou=region,
        listed=names[:, 0],
        named=names[:, 1],
        correct=names[:, 2],
        in_list=names[:, 3],
        first=names[:, 4],
        absent=np.zeros(len(items), dtype=np.bool_),
        open=np.zeros(len(items), dtype=np.bool_),
        akin=np.zeros(len(items), dtype=np.bool_),
    )


def as_asked(
    found: Evidence, instruction: Instruction, items: Sequence[Item], answers: Sequence[str | None]
) -> Evidence:
    """The evidence with what only the instruction knows; `items` and `answers` parallel to it."""
    if instruction.absent:
        nothing = np.zeros(len(items), dtype=np.bool_)
        return replace(found, lesion=nothing, object=nothing, healthy=nothing, absent=~nothing)
    spoken = instruction.protocol
    unnamed = [spoken.suits(item) and not spoken.names(item) for item in items]
    near = [
        no_list
        and item.label is not None
        and name is not None
        and akin(name, item.label, item.crop)
        for no_list, item, name in zip(unnamed, items, answers, strict=True)
    ]
    flags = np.array([unnamed, near], dtype=np.bool_).reshape(2, -1)
    return replace(found, open=flags[0], akin=flags[1])


def _namings(
    items: Sequence[Item], answers: Sequence[str | None], shown: Sequence[Sequence[str]]
) -> Bools:
    """`_naming` of every item, shape (n, 5); the few distinct cases are worked out once."""
    cases: dict[tuple[str | None, str | None, tuple[str, ...]], int] = {}
    rows = [
        cases.setdefault((item.label, name, tuple(names)), len(cases))
        for item, name, names in zip(items, answers, shown, strict=True)
    ]
    table = np.array([_naming(*case) for case in cases], dtype=np.bool_).reshape(-1, 5)
    return table[np.array(rows, dtype=np.int64)]


def _naming(label: str | None, name: str | None, shown: tuple[str, ...]) -> tuple[bool, ...]:
    """(listed, named, correct, in_list, first) of one item."""
    if name is None:
        return bool(shown), False, False, False, False
    ids = [label_id(each) for each in shown]
    correct = label is not None and name == label_id(label)
    return bool(shown), True, correct, name in ids, name in ids[:1]


def _hits(
    said: Boxes,
    true: Boxes,
    said_counts: geometry.Ints,
    true_counts: geometry.Ints,
    matching: Rule,
) -> tuple[geometry.Ints, geometry.Ints]:
    """One-to-one matches per item at IoU 0.5 and at 0.75."""
    n = len(said_counts)
    if matching != "greedy":
        said_rows = np.split(said, np.cumsum(said_counts)[:-1])
        true_rows = np.split(true, np.cumsum(true_counts)[:-1])
        both = [
            [len(geometry.match(a, b, bar, matching)) for bar in (0.5, 0.75)]
            for a, b in zip(said_rows, true_rows, strict=True)
        ]
        table = np.array(both, dtype=np.int64).reshape(-1, 2)[:n]
        return table[:, 0], table[:, 1]
    first, second, overlap = geometry.near(said, true, said_counts, true_counts)
    taken = geometry.greedy(first, second, overlap)
    image = np.repeat(np.arange(n), said_counts)[first[taken]]
    fine = image[overlap[taken] >= 0.75]
    return np.bincount(image, minlength=n), np.bincount(fine, minlength=n)
