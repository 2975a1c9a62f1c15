"""Replies to questions -> verdicts: shares of correct, partial, incorrect and not attempted.

A letter is right or wrong; words that hold no letter are not attempted, and stay in every
denominator. An open answer that `exact` finds right is right; of any other the judge decides, if
there is one, and else `exact`; what was not decided is unscored. A failed call and a missing reply
leave the question unmeasured (design, section 2, rule 1). Truth comes from the questions only
(rule 6).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fieldtruth.faults import Usage
from fieldtruth.grading.exact import exact
from fieldtruth.grading.grades import Shares, Verdict, whole
from fieldtruth.grading.instruction import open_questions
from fieldtruth.grading.judge import Judge
from fieldtruth.records import Prediction, Question, Reading

OUTCOMES = (
    "letter", "text", "prose", "unreadable", "error", "truncated", "missing", "duplicate", "extra",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One model under one protocol. The lists are parallel: the measured questions, by id.

    `verdicts` has None where an answer is unscored; `outcomes` counts the replies; `asked` is how
    many questions the protocol asks.
    """

    model: str
    protocol: str
    questions: list[Question]
    texts: list[str]
    readings: list[Reading]
    verdicts: list[Verdict | None]
    outcomes: dict[str, int]
    asked: int

    @property
    def shares(self) -> list[Shares | None]:
        """What each answer is worth."""
        return [each and each.shares for each in self.verdicts]


def answered(
    questions: Iterable[Question],
    predictions: Iterable[Prediction],
    protocol: str,
    judge: Judge | None = None,
) -> Answered:
    """Read and grade the replies of one model under one protocol.

    Of several rows for one question the first is used and the others are duplicates; rows for
    questions that the benchmark lacks, or that this protocol does not ask, are extra. Raises
    `Usage` for an unknown protocol, several models, or no question it asks.
    """
    rows = list(predictions)
    models = sorted({row.model for row in rows})
    if len(models) != 1 or any(row.protocol != protocol for row in rows):
        raise Usage(
            f"grading takes the replies of one model under {protocol}, got {len(rows)} rows "
            f"of the models {models}"
        )
    spoken = open_questions(protocol)
    known = {question.id: question for question in questions if spoken.suits(question)}
    if not known:
        raise Usage(f"{protocol}: expected questions that can be asked this way, got none")
    counts = dict.fromkeys(OUTCOMES, 0)
    first: dict[str, Prediction] = {}
    for row in rows:
        if row.item not in known:
            counts["extra"] += 1
        elif row.item in first:
            counts["duplicate"] += 1
        else:
            first[row.item] = row
    counts["missing"] = len(known) - len(first)
    counts["error"] = sum(row.failed for row in first.values())
    measured = [known[name] for name in sorted(first) if not first[name].failed]
    told = [first[question.id] for question in measured]
    readings = [
        spoken.read(row.text, question.options, row.finish)
        for question, row in zip(measured, told, strict=True)
    ]
    for reading in readings:
        counts[reading.outcome] += 1
        counts["truncated"] += reading.truncated
    texts = [row.text for row in told]
    return Answered(
        model=models[0],
        protocol=protocol,
        questions=measured,
        texts=texts,
        readings=readings,
        verdicts=_verdicts(measured, readings, texts, judge),
        outcomes=counts,
        asked=len(known),
    )


def _verdicts(
    questions: Sequence[Question],
    readings: Sequence[Reading],
    texts: Sequence[str],
    judge: Judge | None,
) -> list[Verdict | None]:
    found = list(map(_alone, questions, readings, texts))
    if judge is not None:
        asks = [n for n, each in enumerate(readings) if each.outcome == "text"]
        asks = [place for place in asks if not _right(found[place])]
        graded = judge.grade([(questions[place], texts[place]) for place in asks])
        for place, verdict in zip(asks, graded, strict=True):
            found[place] = verdict
    return found


def _right(verdict: Verdict | None) -> bool:
    return verdict is not None and set(verdict.grades) == {"correct"}


def _alone(question: Question, reading: Reading, text: str) -> Verdict | None:
    """What a reply is worth without a judge."""
    if reading.outcome == "letter":
        return whole("correct" if reading.letter == question.answer else "incorrect")
    if reading.outcome == "text":
        return exact(question, text)
    return whole("not_attempted", len(question.facts) if question.form == "open" else 1)
