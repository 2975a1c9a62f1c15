"""Answers of several statements, and wrong ones: what experts said in other dialogues.

A wrong answer is what an expert said of the same kind about something else, of as many statements
as the truth shows. It is left out where it may hold here as well: where it says nearly what a true
statement says, or is of its sort (`sorts`); where most of its words stand in the dialogue; where
the other dialogue was about the same trouble. What names its own plant, a crop or an animal would
be told by that and is left out too, and so is what cannot be understood alone, and what holds
everywhere. Where experts described too few looks there are some of ours (`descriptions`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fieldtruth import taxonomy
from fieldtruth.draws import rng
from fieldtruth.records import Category, Knowledge
from fieldtruth.stages.questions.descriptions import LOOKS
from fieldtruth.stages.questions.drafts import MOST_STATEMENTS, Draft
from fieldtruth.stages.questions.sorts import same_sort
from fieldtruth.taxonomy.giveaways import alike, content_words, given_away
from fieldtruth.taxonomy.lexicon import crop_in, words_in

# Words of both over words of either; two experts on one remedy share more.
TOO_ALIKE = 0.3
# Of a wrong statement's words that the dialogue holds: beyond it somebody may have said it there.
TOO_KNOWN = 0.6
CHOICE = 2  # as many as are needed, times this, are enough to draw from
MOST_LETTERS = 240  # of an option of several statements


@dataclass(frozen=True, slots=True)
class Said:
    """What an expert said of one kind in one dialogue, as an option would hold it."""

    statements: tuple[str, ...]
    category: Category
    labels: frozenset[str]
    group: str


class Statements:
    """All that experts said, by question type, to draw from."""

    def __init__(self, drafts: Iterable[Draft]) -> None:
        self._said: dict[Knowledge, list[Said]] = {}
        for draft in sorted(drafts, key=lambda each: each.id):
            if draft.naming or draft.why_not:
                continue
            plain = tuple(
                each
                for each in _plain(draft.truths, draft)
                if _alone(each) and not _TRUISM.search(each) and len(each) <= MOST_LETTERS
            )
            if plain:
                labels = frozenset(fact.label for fact in draft.talk.facts if fact.label)
                said = Said(plain, draft.category, labels, draft.group)
                self._said.setdefault(draft.knowledge, []).append(said)

    def wrong(self, draft: Draft, truth: str, said: str, needed: int, seed: int) -> list[str]:
        """Texts that may stand beside the truth and beside each other, its category first."""
        there = set(content_words(draft.talk.words))
        found: list[str] = []
        for text in self._offered(draft, truth, said, there, seed):
            if len(found) == CHOICE * needed:
                break
            if is_apart(text, found, draft.knowledge):
                found.append(text)
        if len(found) < needed:  # rather two that advise one thing than no question
            for text in self._offered(draft, truth, said, there, seed):
                if len(found) < needed and all(alike(text, each) < TOO_ALIKE for each in found):
                    found.append(text)
        return found

    def _offered(
        self, draft: Draft, truth: str, said: str, there: set[str], seed: int
    ) -> Iterator[str]:
        """What was said elsewhere and fits, then looks of ours."""
        labels = [fact.label for fact in draft.talk.facts if fact.label]
        for other in self._others(draft, seed):
            if any(taxonomy.conflict(a, b, draft.crop) for a in other.labels for b in labels):
                continue
            fit = [each for each in other.statements if fits(each, draft, said, there)]
            if fit:
                yield _as_long(fit, len(truth))
        if draft.knowledge == "symptom/visual description":
            yield from (each for each in LOOKS if fits(each, draft, said, there))

    def _others(self, draft: Draft, seed: int) -> Iterator[Said]:
        """What was said elsewhere, in an order drawn for the draft, its own category first."""
        said = self._said.get(draft.knowledge, [])
        order = rng(seed, "questions statements", draft.id).permutation(len(said)).tolist()
        order.sort(key=lambda at: said[at].category != draft.category)  # stable
        return (said[at] for at in order if said[at].group != draft.group)


def shown(draft: Draft, truths: tuple[str, ...]) -> str:
    """The truth as an option holds it: statements that do not name its own plant, those first
    that can be understood alone, as many as an option takes."""
    plain = sorted(_plain(truths, draft), key=lambda each: not _alone(each))  # stable
    taken = plain[:1]
    for each in plain[1:MOST_STATEMENTS]:
        if len(" ".join((*taken, each))) <= MOST_LETTERS:
            taken.append(each)
    return " ".join(taken)


def _plain(truths: Iterable[str], draft: Draft) -> list[str]:
    """Statements that do not name their plant; of those rather the ones that name no animal."""
    found = [each for each in truths if not _of_its_own(each, draft)]
    return [each for each in found if "pest" not in words_in(each)] or found


def _as_long(statements: Sequence[str], size: int) -> str:
    """The first statements, so many that their length is nearest to this."""
    texts = [" ".join(statements[:n]) for n in range(1, len(statements[:MOST_STATEMENTS]) + 1)]
    return min(texts, key=lambda each: abs(len(each) - size))


# It speaks of something before it, or of what this one grower has: "Both are effective", "use these
# to block", "since you prefer", "your hedge".
_DANGLING = re.compile(
    r"^(?:both|either|he|it|neither|she|such|that|they|this)\b|\b(?:these|those)\b|"
    r"\buse (?:this|it|them)\b|\b(?:above|below|following|same) (?:methods?|products?|steps?)\b|"
    r"\bsince you\b|\byou(?:['’]ve| (?:have|prefer|mention|describe|sent|show))|"
    r"\bthe (?:image|photo|picture)s?\b|"
    r"\byour (?!garden|lawn|plant|soil|tree|yard)",
    re.IGNORECASE,
)
# It holds everywhere, and so it is wrong nowhere: "always choose a method that is safe".
_TRUISM = re.compile(
    r"\b(?:beneficial|consult|diverse|encourag\w+|environment|good care|health|healthy|label|"
    r"professional|safe|safely|safety)\b",
    re.IGNORECASE,
)


def _alone(statement: str) -> bool:
    """Whether a statement can be understood without the one before it."""
    whole = statement.count("(") == statement.count(")")
    return whole and _DANGLING.search(statement) is None


def _of_its_own(statement: str, draft: Draft) -> bool:
    """Whether a statement names the plant that it was said of, or any crop."""
    if crop_in(statement) is not None:
        return True
    return bool(draft.talk.species and given_away(draft.talk.species, statement))


def fits(statement: str, draft: Draft, said: str, there: set[str]) -> bool:
    """Whether a statement may be wrong here. `there`: the words that the dialogue holds."""
    words = content_words(statement)
    if not words or given_away(statement, said) or "pest" in words_in(statement):
        return False
    if any(same_sort(draft.knowledge, statement, truth) for truth in draft.truths):
        return False
    if sum(word in there for word in words) > TOO_KNOWN * len(words):
        return False
    return all(alike(statement, truth) < TOO_ALIKE for truth in draft.truths)


def apart(found: Iterable[str], knowledge: Knowledge) -> list[str]:
    """Texts of which no two say nearly one thing, nor advise one thing, in their order."""
    kept: list[str] = []
    for text in found:
        if is_apart(text, kept, knowledge):
            kept.append(text)
    return kept


def is_apart(text: str, others: Sequence[str], knowledge: Knowledge) -> bool:
    """Whether a text says nearly what none of the others says, and advises nothing of it."""
    if any(alike(text, other) >= TOO_ALIKE for other in others):
        return False
    advice = knowledge == "management instructions"
    return not (advice and any(same_sort(knowledge, text, other) for other in others))
