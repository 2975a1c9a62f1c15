"""A judge of open answers: any backend that answers in JSON of a fixed schema.

AgMMU's two ways (agroground.md, 15.4 and 15.5; the paper, section 4). A short answer gets one
grade. An answer to a question of several true statements is split into statements, each of which
may speak about one of them. Statements and true statements are then matched one to one, so that
what is said once counts once, however often the judge names it, and a true statement counts once,
however often it is said; one that nobody spoke of is not attempted. One call a question, where
the published way takes 1 + P x G and may give a question more than 1.

What the judge is told, and the schema it answers in, are versioned files in `prompts/`. A call
that failed, or a reply of another shape, gives no grade: never a wrong answer.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

import msgspec

from fieldtruth.grading.grades import Grade, Statement, Verdict, whole
from fieldtruth.models.contract import (
    Metered,
    Model,
    Replies,
    Request,
    Spent,
    Words,
    as_known,
    failed,
    in_order,
)
from fieldtruth.records import Question, Space
from fieldtruth.replies import said
from fieldtruth.taxonomy import normalise

PROMPTS = Path(__file__).with_name("prompts")
SHORT, STATEMENTS = "short-1", "statements-1"  # names of files; a change of words is a new file

# One pair of a better grade outweighs all pairs of worse ones; no answer has 1,000 statements.
_WEIGHTS = {"correct": 10**6, "partial": 10**3, "incorrect": 1}
_MOST = 300  # statements of one reply that are looked at


class _Short(msgspec.Struct):
    grade: Grade


class _Statement(msgspec.Struct):
    text: str
    fact: int | None
    grade: Literal["correct", "partial", "incorrect", "irrelevant"]


class _Statements(msgspec.Struct):
    statements: list[_Statement]


class Judge:
    """Grades answers: `short` and `statements` are backends that answer in the schema so named.

    `tell` gets what the calls would cost before the first of them, and what failed after the last.
    """

    def __init__(
        self, short: Model, statements: Model, tell: Callable[[str], None] | None = None
    ) -> None:
        self._short = short
        self._statements = statements
        self._tell = tell or (lambda _: None)

    def grade(self, asked: Sequence[tuple[Question, str]]) -> list[Verdict | None]:
        """A verdict for each (question, reply), in order; None where the judge failed."""
        found: list[Verdict | None] = [None] * len(asked)
        why: dict[str, int] = {}
        for places, requests, model in self._work(asked):
            self._estimate(model, requests)
            words = in_order(as_known(model, requests))
            for place, request, told in zip(places, requests, words, strict=True):
                found[place] = None if told.error else read_verdict(request, told.text)
                if found[place] is None:
                    reason = told.error or UNFIT
                    why[reason] = why.get(reason, 0) + 1
        if why:
            most = max(why, key=why.__getitem__)
            self._tell(
                f"judge: {sum(why.values())} of {len(asked)} answers stay unscored, most with: "
                f"{most}; the same command asks only those again"
            )
        return found

    def _estimate(self, model: Model, requests: Sequence[Request]) -> None:
        cost = model.estimate(requests) if isinstance(model, Metered) else None
        if cost:
            self._tell(f"judge: {cost}")

    def _work(
        self, asked: Sequence[tuple[Question, str]]
    ) -> Iterator[tuple[list[int], list[Request], Model]]:
        for several, model in ((False, self._short), (True, self._statements)):
            places = [n for n, (each, _) in enumerate(asked) if (len(each.facts) > 1) is several]
            if places:
                yield places, [to_judge(*asked[place]) for place in places], model


UNFIT = "the judge's reply is not of the schema it was given"


def to_judge(question: Question, reply: str) -> Request:
    """What the judge is asked; `names` are the true statements of a question of several.

    The reply stands in it as a JSON string, so that it cannot end what it stands in.
    """
    several = len(question.facts) > 1
    truth = list(question.facts) if several else question.answer
    case = {"question": question.question, "truth": truth, "reply": said(reply)}
    return Request(
        id=question.id,
        prompt=told_with(STATEMENTS if several else SHORT, case),
        images=(),
        names=question.facts if several else (),
    )


def told_with(prompt: str, case: object) -> str:
    """A prompt of `prompts/`, and under it the case as one line of JSON."""
    words = (PROMPTS / f"{prompt}.md").read_text(encoding="utf-8")
    return f"{words.rstrip()}\n\n{msgspec.json.encode(case).decode()}"


def read_verdict(request: Request, text: str) -> Verdict | None:
    """A judge's words as a verdict; None where they are not of the schema it was given."""
    raw = said(text).encode(errors="replace")
    try:
        if not request.names:
            return whole(msgspec.json.decode(raw, type=_Short).grade)
        told = msgspec.json.decode(raw, type=_Statements).statements
    except (ValueError, RecursionError):
        return None
    count = len(request.names)
    statements = []
    for each in told:
        if each.grade == "irrelevant":
            continue
        if each.fact is None or not 1 <= each.fact <= count:
            return None
        statements.append(Statement(each.text, each.fact - 1, each.grade))
    return Verdict(matched(statements[:_MOST], count), tuple(statements))


def matched(statements: Sequence[Statement], count: int) -> tuple[Grade, ...]:
    """A grade for each of `count` true statements, from a one-to-one matching.

    Statements of the same words are one. Of all matchings that with the most correct pairs counts,
    then with the most partial, then with the most incorrect ones.
    """
    from scipy.optimize import linear_sum_assignment

    number = {words: row for row, words in enumerate(dict.fromkeys(map(_words, statements)))}
    worth = [[0] * count for _ in number]
    best: dict[tuple[int, int], Grade] = {}
    for each in statements:
        row, weight = number[_words(each)], _WEIGHTS[each.grade]
        if weight > worth[row][each.fact]:
            worth[row][each.fact] = weight
            best[row, each.fact] = each.grade
    grades: list[Grade] = ["not_attempted"] * count
    if worth:
        rows, facts = linear_sum_assignment(worth, maximize=True)
        for row, fact in zip(rows.tolist(), facts.tolist(), strict=True):
            grades[fact] = best.get((row, fact), "not_attempted")
    return tuple(grades)


def _words(statement: Statement) -> str:
    return normalise(statement.text)


class Strict:
    """A judge's backend whose replies of another shape are errors, so that no cache keeps them."""

    def __init__(self, model: Model, fits: Callable[[Request, str], bool]) -> None:
        self._model = model
        self._fits = fits
        self.space: Space = model.space
        self.version = model.version

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order."""
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        """Each as the backend gives it."""
        with closing(as_known(self._model, requests)) as replies:
            for place, words in replies:
                good = words.error is not None or self._fits(requests[place], words.text)
                yield place, words if good else failed(UNFIT)

    def estimate(self, requests: Sequence[Request]) -> str | None:
        """The backend's own."""
        return self._model.estimate(requests) if isinstance(self._model, Metered) else None

    @property
    def spent(self) -> Spent:
        """The backend's own."""
        return self._model.spent if isinstance(self._model, Metered) else Spent()


def is_verdict(request: Request, text: str) -> bool:
    """Whether a judge's words are of the schema it was given: what `Strict` holds to."""
    return read_verdict(request, text) is not None
