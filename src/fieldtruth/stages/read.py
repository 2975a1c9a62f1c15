"""What each saved reply is read as, and why: `fieldtruth read` (design, section 8).

The same reader as scoring, on the same words; nothing here looks at the truth. A failed call has
no words, so its outcome is `error` and nothing of its text is read.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fieldtruth.faults import BadRecord
from fieldtruth.grading import asks_questions, open_protocol, open_questions
from fieldtruth.records import Prediction, Question, Reading


def read_file(
    predictions: Iterable[Prediction], questions: Iterable[Question] | None = None
) -> list[dict[str, Any]]:
    """One row per prediction, in the order given.

    Keys: item, protocol, outcome, boxes (lists, in the declared space), labels (parallel), letter,
    repairs, truncated. `questions` give the options' texts; without them letters are still read.
    Raises `Usage` for a protocol that is not known, `BadRecord` for boxes without a space.
    """
    options = {question.id: question.options for question in questions or ()}
    return [_row(row, _read(row, options)) for row in predictions]


def outcomes(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """How many replies of each protocol were read as what, and `truncated` beside them."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        of = counts.setdefault(row["protocol"], Counter())
        of[row["outcome"]] += 1
        of["truncated"] += row["truncated"]
    return {protocol: dict(of) for protocol, of in counts.items()}


def _read(row: Prediction, options: Mapping[str, Sequence[str] | None]) -> Reading:
    base = row.protocol.partition("+")[0]  # a control changes what is shown, not how it is read
    asks = asks_questions(base)
    if row.failed:
        return Reading(outcome="error", truncated=row.finish == "length")
    if asks:
        return open_questions(base).read(row.text, options.get(row.item), row.finish)
    if row.space is None:
        raise BadRecord(
            f"prediction of {row.model} for item {row.item} under {row.protocol}: expected the box "
            "space that the model writes in (pixel, pixel_resized, pixel840, norm1000, norm1, "
            "yx1000 or loc1024), got null; write it into the line"
        )
    return open_protocol(base).protocol.read(row.text, row.space, row.finish)


def _row(row: Prediction, reading: Reading) -> dict[str, Any]:
    return {
        "item": row.item,
        "protocol": row.protocol,
        "outcome": reading.outcome,
        "boxes": [list(box) for box in reading.boxes],
        "labels": list(reading.labels),
        "letter": reading.letter,
        "repairs": list(reading.repairs),
        "truncated": reading.truncated,
    }
