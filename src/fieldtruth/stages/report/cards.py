"""Which photos a model's results are shown by, and what stands on each card.

The best and the worst are the ends of one order; of the other kinds a keyed draw shows a few, so
that neither the first of a file nor the most striking stand for all.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fieldtruth.draws import key
from fieldtruth.grading import Graded
from fieldtruth.records import Item, Prediction, Reading
from fieldtruth.stages.report.numbers import digits
from fieldtruth.stages.report.photos import Album, Photo

SHOWN = 200  # characters of a reply before the fold
KEPT = 4_000  # and behind it
DRAWN = 60  # boxes of one reply on a photo

Rect = tuple[float, float, float, float]  # x, y, width, height in pixels of the upright image


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One photo with its truth, what was said, and what that was read as."""

    item: Item
    photo: Photo
    true: tuple[Rect, ...]
    said: tuple[tuple[Rect, str], ...]
    undrawn: int  # boxes beyond those drawn
    facts: tuple[tuple[str, str], ...]
    reply: str | None  # None: the words are not at hand
    rest: str
    cut: int  # characters of the reply that are not on the page


@dataclass(frozen=True, slots=True)
class Gallery:
    """Cards of one kind; `total` is how many such items there are."""

    title: str
    about: str
    cards: tuple[Card, ...]
    total: int


@dataclass(frozen=True, slots=True)
class _Row:
    """One measured item of a `Graded`, with the numbers a card is chosen and labelled by."""

    item: Item
    reading: Reading
    said: tuple[Rect, ...]
    answer: str | None
    iou: float
    hits: int
    correct: bool
    listed: bool


_FAILED = "No answer came. These photos are not measured, and nothing is concluded from them."


class Gallerist:
    """Hangs the galleries of one page: at most `most` cards each, photos from one album."""

    def __init__(self, album: Album, most: int) -> None:
        self._album = album
        self._most = most

    def galleries(
        self, graded: Graded, items: Iterable[Item], replies: Mapping[str, Prediction]
    ) -> list[Gallery]:
        """Best, worst, missed, false alarms, unread and failed; a kind without items is absent.

        `replies` maps item ids to the predictions behind `graded`, as far as they are known;
        `items` are the benchmark's.
        """
        rows = _rows(graded)
        boxed = sorted(
            (row for row in rows if row.item.positive and row.reading.outcome == "boxes"),
            key=lambda row: (row.listed and not row.correct, -row.iou, row.item.id),
        )
        best = [row for row in boxed if row.iou > 0][: self._most]
        worst = sorted(boxed[len(best) :], key=lambda row: (row.iou, row.correct, row.item.id))
        kinds: list[tuple[str, str, list[_Row], int]] = [
            ("Best", "Rightly named where a list was shown, and fitting best.", best, len(boxed)),
            ("Worst", "Boxes that fit the truth least.", worst, len(boxed)),
        ]
        for title, about, belongs in _KINDS:
            found = _drawn([row for row in rows if belongs(row)])
            kinds.append((title, about, found, len(found)))
        hung = [
            Gallery(
                title,
                about,
                tuple(self._card(row, replies.get(row.item.id)) for row in rows[: self._most]),
                total,
            )
            for title, about, rows, total in kinds
            if rows
        ]
        return hung + self._failed(items, replies)

    def _failed(self, items: Iterable[Item], replies: Mapping[str, Prediction]) -> list[Gallery]:
        """The calls that failed: no words to show but the error's own."""
        known = {item.id: item for item in items}
        lost = [
            (known[name], reply)
            for name, reply in sorted(replies.items())
            if reply.failed and name in known
        ]
        cards = tuple(self._failure(item, reply) for item, reply in lost[: self._most])
        return [Gallery("Failed calls", _FAILED, cards, len(lost))] if lost else []

    def _card(self, row: _Row, reply: Prediction | None) -> Card:
        item = row.item
        words = reply.text if reply is not None else None
        labels = row.reading.labels if len(row.reading.labels) == len(row.said) else ()
        names = labels or ("",) * len(row.said)
        return Card(
            item=item,
            photo=self._album.photo(item),
            true=tuple(_rect(box) for box in item.boxes),
            said=tuple(zip(row.said, names, strict=True))[:DRAWN],
            undrawn=max(0, len(row.said) - DRAWN),
            facts=tuple(_facts(row)),
            reply=None if words is None else words[:SHOWN],
            rest="" if words is None else words[SHOWN : SHOWN + KEPT],
            cut=0 if words is None else max(0, len(words) - SHOWN - KEPT),
        )

    def _failure(self, item: Item, reply: Prediction) -> Card:
        return Card(
            item=item,
            photo=Photo(key=None, reason="The call failed."),
            true=(),
            said=(),
            undrawn=0,
            facts=(("Error", reply.error or "no reason given"), ("Read as", "error: no answer")),
            reply=reply.text[:SHOWN],
            rest=reply.text[SHOWN : SHOWN + KEPT],
            cut=max(0, len(reply.text) - SHOWN - KEPT),
        )


_KINDS: tuple[tuple[str, str, Callable[[_Row], bool]], ...] = (
    (
        "Missed",
        "Diseased, answered as empty: false abstention.",
        lambda row: row.item.positive and row.reading.outcome == "empty",
    ),
    (
        "False alarms",
        "Healthy, answered with boxes.",
        lambda row: not row.item.positive and row.reading.outcome == "boxes",
    ),
    (
        "Not read as an answer",
        "Prose and unreadable words: no boxes, no name, and no abstention either.",
        lambda row: row.reading.outcome in ("prose", "unreadable"),
    ),
)


def _drawn(rows: list[_Row]) -> list[_Row]:
    return sorted(rows, key=lambda row: (key(0, "report", row.item.id), row.item.id))


def _rows(graded: Graded) -> list[_Row]:
    seen = graded.evidence
    return [
        _Row(
            item=item,
            reading=graded.readings[index],
            said=tuple(_rect(box) for box in graded.said[index].tolist()),
            answer=graded.answers[index],
            iou=float(seen.region_iou[index]),
            hits=int(seen.hits[index]),
            correct=bool(seen.correct[index]),
            listed=bool(seen.listed[index]),
        )
        for index, item in enumerate(graded.items)
    ]


def _rect(box: Iterable[float]) -> Rect:
    """Corners to x, y, width, height, to a tenth of a pixel."""
    x1, y1, x2, y2 = (float(side) for side in box)
    return round(x1, 1), round(y1, 1), round(x2 - x1, 1), round(y2 - y1, 1)


def _facts(row: _Row) -> Iterable[tuple[str, str]]:
    item, reading = row.item, row.reading
    yield "Truth", item.label or "healthy"
    if row.listed:
        right = "right" if row.correct else "wrong"
        yield (
            "Named",
            f"{row.answer} ({right})" if row.answer and item.positive else row.answer or "–",
        )
    elif item.query and item.query != item.label:
        yield "Asked for", item.query
    read_as = reading.outcome + (", cut off at the length limit" if reading.truncated else "")
    repairs = ", ".join(reading.repairs).replace("_", " ")
    yield "Read as", read_as + (f" (repaired: {repairs})" if repairs else "")
    yield "Boxes", f"{len(row.said)} said, {len(item.boxes)} true, {row.hits} hit"
    if item.positive:
        yield "Region IoU", digits(row.iou)
