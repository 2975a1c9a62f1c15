"""What an open answer is worth where no judge is asked: equality, of words or of meaning.

Correct: the same words once case, marks and a lead-in ("It looks like ...") are left out, or a
name of the same label or crop (`taxonomy`). Not attempted: blank words, or a refusal. Incorrect: a
short answer that is neither and shares no name with the truth. Everything else is not decided:
a longer answer that is not equal, and a name within the other's ("rust" for "leaf rust").

Of several true statements each is matched to at most one statement of the reply that is equal to
it, and the others were not attempted. That is not decided either where something else was said
that may mean one of them: it has a word of it, or is long.
"""

import re

from fieldtruth.grading.grades import Grade, Verdict, whole
from fieldtruth.records import Question
from fieldtruth.replies import said
from fieldtruth.taxonomy import akin, crop_id, label_id, normalise

SHORT = 6  # words of an answer that can be wrong by not being equal

_LEAD = re.compile(
    r"\A(?:the )?(?:answer|diagnosis|plant|disease|pest|insect|species|problem)? ?"
    r"(?:(?:it|this|that|here)s? )?(?:(?:is|are|was|looks like|appears to be|seems to be|s)\b ?)?"
    r"(?:(?:most )?(?:likely|probably) )?(?:an? |the )?"
)
_REFUSAL = re.compile(
    r"\b(?:i (?:do not|dont|don t|cannot|cant|can t|am not able to|am unable to) "
    r"(?:know|tell|say|see|determine|identify|answer|assist|help|provide|diagnose)"
    r"|(?:unable|impossible|not possible) to (?:tell|say|determine|identify|answer|know)"
    r"|(?:cannot|can not|cant) be (?:determined|identified|told|said)"
    r"|no idea|not sure|im sorry|i m sorry|i am sorry)\b"
    r"|\A(?:unknown|unsure|not known|n a|undetermined|none given)\Z"
)
_YET = re.compile(r"\b(?:but|however|though|likely|probably|maybe|perhaps|could be|may be)\b")
_STATEMENTS = re.compile(r"(?<=[.!?;])\s+|\n+")
_NUMBER = re.compile(r"\A\s*(?:[-*\u2022]|\(?\d{1,2}[.)])\s+")
_SMALL = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is", "it",
    "its", "of", "on", "or", "that", "the", "this", "to", "was", "were", "with",
})  # fmt: skip
_LONG = 4000  # characters; a longer reply is no name and no refusal


def exact(question: Question, text: str) -> Verdict | None:
    """The verdict on an open answer, or None where equality cannot decide."""
    reply = said(text)
    count = max(len(question.facts), 1)
    if not any(mark.isalnum() for mark in reply):
        return whole("not_attempted", count)
    plain = normalise(reply[:_LONG])
    if count > 1:
        return _several(question, reply)
    return _one(question, plain)


def refused(text: str) -> bool:
    """Whether a reply declines to answer and goes on to nothing else."""
    return _refused(normalise(said(text)[:_LONG]))


def _one(question: Question, plain: str) -> Verdict | None:
    truths = [normalise(truth) for truth in (question.answer, *question.facts) if truth.strip()]
    bare = _LEAD.sub("", plain, count=1) or plain
    if any(_same(form, truth, question.crop) for form in (plain, bare) for truth in truths):
        return whole("correct")
    near = any(akin(bare, truth, question.crop) or akin(plain, truth) for truth in truths)
    if near or not truths:
        return None
    if _refused(plain):
        return whole("not_attempted")
    longest = max(len(each.split()) for each in (bare, *truths))
    return whole("incorrect") if longest <= SHORT else None


def _same(one: str, other: str, crop: str | None) -> bool:
    if not (one and other):
        return False
    return (
        one == other
        or label_id(one, crop) == label_id(other, crop) != ""
        or crop_id(one) == crop_id(other) != ""
    )


def _refused(plain: str) -> bool:
    return bool(len(plain) < _LONG and _REFUSAL.search(plain) and not _YET.search(plain))


def _several(question: Question, reply: str) -> Verdict | None:
    """A grade for each true statement, or None where something may mean one that was not said."""
    parts = (_NUMBER.sub("", each) for each in _STATEMENTS.split(reply[:_LONG]))
    told = list(dict.fromkeys(filter(None, map(normalise, parts))))
    left = list(told)
    grades: list[Grade] = []
    missed: set[str] = set()
    for fact in map(normalise, question.facts):
        equal = next((each for each in left if _same(each, fact, question.crop)), None)
        grades.append("correct" if equal is not None else "not_attempted")
        if equal is not None:
            left.remove(equal)
        else:
            missed |= set(fact.split()) - _SMALL
    open_ones = [each for each in left if not _refused(each)]
    if missed and any(len(w) > SHORT or missed & set(w) for w in map(str.split, open_ones)):
        return None
    return Verdict(tuple(grades))
