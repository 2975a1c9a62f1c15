"""From saved replies to questions to their scores, with a judge where there is one.

`score --out` leaves `graded.jsonl` beside `score.json`: what each answer was read as and the grades
it got, so that the page is drawn, errors are sorted and people grade without a judge being paid.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldtruth import store
from fieldtruth.faults import TooManyFailed, Usage
from fieldtruth.grading import few_groups
from fieldtruth.grading.grades import Grades
from fieldtruth.grading.hand import agreements, read_hand
from fieldtruth.grading.questions import Answered
from fieldtruth.records import Outcome, Prediction, Record
from fieldtruth.run import asking
from fieldtruth.run.judging import Judging, Tell, open_judge, place
from fieldtruth.stages import score_questions as scoring
from fieldtruth.stages.score_questions.parts import score_parts

GRADED = "graded.jsonl"


class Graded(Record, frozen=True, kw_only=True):
    """One answer: what it was read as, and its grades; null where it is unscored."""

    item: str
    protocol: str
    model: str
    outcome: Outcome
    letter: str | None
    grades: Grades | None
    text: str


class Request(Record, frozen=True, kw_only=True):
    """How to score answers: the settings, who judges, and grades by hand to hold that against."""

    settings: scoring.Settings
    judging: Judging = Judging()
    hand: Path | None = None


def score(
    bench: store.Bench, predictions: Sequence[Path], wanted: Request, tell: Tell | None
) -> tuple[dict[str, Any], list[Graded]]:
    """The scores of the replies in some files, and every answer with its grades."""
    who = wanted.judging
    bench.outside(place(who, predictions[0]))
    by_hand = read_hand(wanted.hand) if wanted.hand else None
    rows = [row for path in predictions for row in asking.replies(path)]
    judge = open_judge(who, predictions[0], tell)
    graded = scoring.gather(bench, rows, wanted.settings, judge)
    scores = scoring.score_questions(bench, graded, wanted.settings)
    scores |= score_parts(graded, wanted.settings)
    for entry, most in _photos(predictions, rows, scores):
        entry["max_photos"] = most
    if judge is not None:
        for one in graded:
            if failed := one.verdicts.count(None):
                scores["models"][one.model][one.protocol]["unjudged"] = failed
    if by_hand is not None:
        scores["agreement"] = agreements(graded, by_hand)
    scores["settings"] = {
        "unit": wanted.settings.unit,
        "resamples": wanted.settings.resamples,
        "allow_missing": wanted.settings.allow_missing,
        "as_published": wanted.settings.as_published,
        "judge": who.about(),
    }
    return few_groups.aside(scores), list(_graded(graded))


def check(scores: Mapping[str, Any]) -> None:
    """Raise `TooManyFailed` where the judge failed on more answers than may be missing.

    The scores are right then too, and speak of the other answers alone.
    """
    bar: float = scores["settings"]["allow_missing"]
    for model, protocols in scores["models"].items():
        for protocol, entry in protocols.items():
            failed, n = entry.get("unjudged", 0), entry["all"]["n"]
            if failed and failed / n > bar:  # as `score` counts what is missing
                raise TooManyFailed(
                    f"{model} under {protocol}: the judge failed on {failed} of {n} answers, "
                    f"expected at most a share of {bar:g}; the same command asks only those again, "
                    "or accept a larger share with --allow-missing"
                )


def _photos(
    predictions: Sequence[Path], rows: Sequence[Prediction], scores: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], int | str]]:
    """How many photos of a question were shown at most, where `predict` made the replies."""
    for path in predictions:
        made = asking.made_with(path)
        if "max_photos" not in made:
            continue
        name = str(made.get("model", "")).split(": ")[0]
        entry = scores["models"].get(name, {}).get(made.get("protocol"))
        if entry is not None and rows:
            most = str(made["max_photos"])
            yield entry, int(most) if most.isdigit() else most


def _graded(graded: Sequence[Answered]) -> Iterator[Graded]:
    for one in graded:
        for question, text, reading, verdict in zip(
            one.questions, one.texts, one.readings, one.verdicts, strict=True
        ):
            yield Graded(
                item=question.id,
                protocol=one.protocol,
                model=one.model,
                outcome=reading.outcome,
                letter=reading.letter,
                grades=verdict.grades if verdict else None,
                text=text,
            )


def read_graded(folder: Path) -> list[Graded]:
    """What `score --out` left of every answer; `Usage` where there is nothing."""
    path = folder / GRADED
    if not path.is_file():
        raise Usage(f"{folder}: expected {GRADED}; make it with `score ... --out {folder}`")
    return list(store.read(path, Graded))
