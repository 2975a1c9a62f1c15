"""The embedded default: facts by rules alone, without a model and in fractions of a second.

    plants    which plant a grower writes about
    names     whether words name a disease, an animal or a plant, and nothing vaguer
    naming    sentences that say what it is
    managing  sentences that say what to do
    looking   sentences that say how it looks
    telling   sentences about a named thing in general
    category  which of the eight categories a dialogue belongs to

Built to be right rather than complete: where a rule is in doubt there is no statement. VERSION
changes with any rule; its precision was measured on statements read by hand (docs/LOG.md).
"""

import re
from collections.abc import Iterator, Sequence

from fieldtruth.records import Category, Dialogue, Knowledge
from fieldtruth.stages.facts import filters
from fieldtruth.stages.facts.by_rules.category import category_of
from fieldtruth.stages.facts.by_rules.looking import looks_in
from fieldtruth.stages.facts.by_rules.managing import alone, measure_in
from fieldtruth.stages.facts.by_rules.names import ISSUE, PEST, SPECIES, Named
from fieldtruth.stages.facts.by_rules.naming import named_in
from fieldtruth.stages.facts.by_rules.plants import plant_asked_about
from fieldtruth.stages.facts.by_rules.telling import tells
from fieldtruth.stages.facts.sentences import Sentence, sentences
from fieldtruth.stages.facts.shapes import LEFT_OUT, Stated, Understood

VERSION = "rules 1"
_LONGEST = 450  # letters of a sentence that is looked at
_SHORTEST = 12
_MARKS = re.compile(r"\*\*|__|`")

_Found = tuple[int, Sentence, Named]


class Rules:
    """An extractor that needs nothing and nobody."""

    by = VERSION

    def read(self, dialogues: Sequence[Dialogue]) -> Iterator[Understood]:
        """What each dialogue says, in order."""
        return map(_understood, dialogues)


def _understood(dialogue: Dialogue) -> Understood:
    said = [
        (number, sentence)
        for number, turn in enumerate(dialogue.turns)
        if turn.speaker == "expert"
        for sentence in sentences(turn.text)
        if _SHORTEST <= len(sentence.text) <= _LONGEST
    ]
    found: list[_Found] = [
        (number, sentence, name) for number, sentence in said for name in named_in(sentence)
    ]
    firm = [each for each in found if filters.doubt(each[1].text) is None]
    category = category_of(dialogue, [name for _, _, name in firm])
    if category in LEFT_OUT:
        return Understood(category=category)
    species = _species(dialogue, category, firm)
    stated = [*_named(found, category), *_done(said), *_seen(said), *_told(said)]
    return Understood(category=category, species=species, stated=tuple(stated))


def _species(dialogue: Dialogue, category: Category, firm: Sequence[_Found]) -> str | None:
    """What the grower asks about: what the expert says it is, where that was the question."""
    if category in ("weed", "generic identification"):
        asked = max(
            (n for n, turn in enumerate(dialogue.turns)
             if turn.speaker == "expert" and filters.asks_back(turn.text)), default=-1,
        )  # fmt: skip
        kept = (name for number, _, name in firm if number >= asked)
        return next((name.name for name in kept if name.kind in (SPECIES, PEST)), None)
    wrote = [turn.text for turn in dialogue.turns if turn.speaker == "grower"]
    said = [turn.text for turn in dialogue.turns if turn.speaker == "expert"]
    return plant_asked_about("\n".join([dialogue.title, *wrote[:1]]), "\n".join(said))


def _named(found: Sequence[_Found], category: Category) -> Iterator[Stated]:
    for number, sentence, name in found:
        if name.kind == SPECIES and category not in ("weed", "generic identification"):
            continue  # the plant is known there: nobody asked what it is
        yield _stated(name.kind, name.told, number, sentence.text)


def _done(said: Sequence[tuple[int, Sentence]]) -> Iterator[Stated]:
    for number, sentence in said:
        measure = measure_in(sentence)
        if measure is not None:
            words = sentence.text[measure.start : measure.end]
            yield _stated("management instructions", alone(words), number, words)


def _seen(said: Sequence[tuple[int, Sentence]]) -> Iterator[Stated]:
    for number, sentence in said:
        if measure_in(sentence) is None and looks_in(sentence):
            yield _stated("symptom/visual description", sentence.text, number, sentence.text)


def _told(said: Sequence[tuple[int, Sentence]]) -> Iterator[Stated]:
    for number, sentence in said:
        if measure_in(sentence) is None and not looks_in(sentence) and tells(sentence):
            yield _stated("background", sentence.text, number, sentence.text)


def _stated(knowledge: Knowledge, statement: str, turn: int, words: str) -> Stated:
    plain = " ".join(_MARKS.sub("", statement).split())
    return Stated(
        knowledge=knowledge, statement=plain[:1].upper() + plain[1:]
        if knowledge not in (ISSUE, PEST, SPECIES) else plain, turn=turn, words=words,
    )  # fmt: skip
