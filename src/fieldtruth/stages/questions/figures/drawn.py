"""An item before it is a question, and why one is dropped."""

import re
from collections.abc import Sequence

from fieldtruth import taxonomy
from fieldtruth.records import Record
from fieldtruth.taxonomy.giveaways import catch_all, content_words, given_away
from fieldtruth.taxonomy.spelling import normalise

STAGE = "questions"
OPTIONS = 4
NOT_FOUR = "not four options"
NO_ANSWER = "no such answer"
ALIKE = "equal options"
CATCH_ALL = "speaks of other options"
GIVEN_AWAY = "answer in the question"
ALSO_RIGHT = "a wrong option that is right"
OF_TEXT = "asks about the text"
NO_DOMAIN = "no such domain"
NO_CHALLENGE = "no such challenge"
TWICE = "asked already"
TOO_MANY = "more than was asked for"
OF_ITEMS = (
    NOT_FOUR, NO_ANSWER, ALIKE, CATCH_ALL, GIVEN_AWAY, ALSO_RIGHT, OF_TEXT, NO_DOMAIN,
    NO_CHALLENGE, TWICE, TOO_MANY,
)  # fmt: skip
# What nobody can see who has the image alone.
_OF_TEXT = re.compile(
    r"\b(?:the|its|this) (?:caption|legend text|passage|paragraph|main text|article)\b"
    r"|\baccording to the (?:text|paper|study|authors?|context)\b"
    r"|\b(?:the )?(?:authors?|paper|study) (?:say|state|report|conclude|mention|find|found)s?\b",
    re.IGNORECASE,
)


class Drawn(Record, frozen=True, kw_only=True):
    """One item: the truth and three wrong options, in no order yet. `words`: what it rests on."""

    id: str
    question: str
    truth: str
    wrong: tuple[str, ...]
    domain: str
    challenge: str
    difficulty: str
    visual: str
    words: str = ""
    sort: str = ""  # of a rule: panel, count, crop, condition, scale


def trouble(item: Drawn, asked: Sequence[str], crop: str | None) -> tuple[str, str]:
    """Why an item is no question, and the detail; ("", "") where it is one.

    `asked` are the questions of its figure so far, normalised.
    """
    options = (item.truth, *item.wrong)
    if len(options) != OPTIONS or not all(each.strip() for each in (*options, item.question)):
        return NOT_FOUR, f"{len(options)} options"
    if len({normalise(each) or each for each in options}) < OPTIONS:
        return ALIKE, "; ".join(options)
    for each in options:
        if catch_all(each):
            return CATCH_ALL, each
    if told := _given_away(item):
        return GIVEN_AWAY, ", ".join(told)
    if _OF_TEXT.search(item.question):
        return OF_TEXT, item.question
    for each in item.wrong:
        if _known(each, crop) and _known(item.truth, crop) and taxonomy.conflict(
            each, item.truth, crop
        ):  # fmt: skip
            return ALSO_RIGHT, f"{each} beside {item.truth}"
    return (TWICE, item.question) if normalise(item.question) in asked else ("", "")


def _given_away(item: Drawn) -> tuple[str, ...]:
    """Half of the answer's words in the question, and none of those of any wrong option."""
    words, told = content_words(item.truth), given_away(item.truth, item.question)
    if not words or 2 * len(told) < len(words):
        return ()
    return () if any(given_away(each, item.question) for each in item.wrong) else told


def _known(name: str, crop: str | None) -> bool:
    return taxonomy.label(taxonomy.label_id(name, crop)) is not None
