"""A row of a question set: what its words must be.

What `freeze` fills in (group, what is empty) may be left out, as in a set made by hand.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from fieldtruth.drafts import QuestionDraft
from fieldtruth.formats.chat import shown
from fieldtruth.records import LETTERS
from fieldtruth.stages.check.answers import literal
from fieldtruth.stages.check.problems import Found
from fieldtruth.taxonomy.giveaways import content_words
from fieldtruth.taxonomy.spelling import normalise

BESIDE = frozenset({"form", "options", "answer", "qtype"})  # one of them beside `question`
# Statements one under another, each behind a bullet or a number.
_LISTED = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,2}[.)])\s+\S", re.MULTILINE)


def parse(value: Mapping[str, Any]) -> QuestionDraft | Found:
    """The question of a row, or why it is none."""
    try:
        return msgspec.convert(value, QuestionDraft)
    except msgspec.ValidationError as error:
        return Found("bad_row", f"expected a Question: {error}")


def words(row: QuestionDraft) -> Iterator[Found]:
    """Everything that is wrong with the words of a question."""
    texts = [("the question", row.question), ("the answer", row.answer)]
    texts += [(f"option {letter(at)}", each) for at, each in enumerate(row.options or ())]
    texts += [(f"fact {at}", each) for at, each in enumerate(row.facts, start=1)]
    for where, text in texts:
        if not text.strip():
            yield Found("empty_text", where)
        yield from literal(text, where)
    if row.form == "mcq":
        yield from _choice(row)
    elif row.options is not None:
        yield Found("bad_row", f"expected no options on an open question, got {shown(row.options)}")
    elif not row.facts and len(_LISTED.findall(row.answer)) > 1:
        yield Found("no_facts", f"expected the statements under `facts`: {shown(row.answer)}")


def _choice(row: QuestionDraft) -> Iterator[Found]:
    options = row.options or ()
    if not 2 <= len(options) <= len(LETTERS):
        yield Found(
            "bad_row", f"expected 2 to {len(LETTERS)} options on an mcq, got {len(options)}"
        )
        return
    yield from _right(row, options)
    first: dict[str, int] = {}
    for at, option in enumerate(options):
        same = first.setdefault(normalise(option) or option, at)
        if same != at:
            yield Found("duplicate_options", f"{letter(same)} and {letter(at)}: {shown(option)}")


def _right(row: QuestionDraft, options: tuple[str, ...]) -> Iterator[Found]:
    """The letter, and that what it stands for is the answer."""
    if len(row.answer) != 1 or row.answer not in LETTERS[: len(options)]:
        written = len(row.answer.strip()) > 2  # a text in place of a letter
        if written and normalise(row.answer) not in map(normalise, options):
            yield Found("answer_absent", f"{shown(row.answer)} is no letter and no option")
        else:
            yield Found(
                "bad_letter", f"expected A to {letter(len(options) - 1)}, got {shown(row.answer)}"
            )
        return
    right = options[LETTERS.index(row.answer)]
    told = set(content_words(right))
    if row.facts and told and not any(told & set(content_words(each)) for each in row.facts):
        yield Found("answer_absent", f"{row.answer} {shown(right)} holds none of the facts")


def letter(at: int) -> str:
    """The letter of the option at a place from 0; a number where there are no letters left."""
    return LETTERS[at] if at < len(LETTERS) else str(at + 1)
