"""Sentences that tell of a named thing itself: "Dogwoods prefer partial shade", "X is caused by Y".

They are background: true whatever the photos show.
"""

import re

from fieldtruth.stages.facts.by_rules.names import named
from fieldtruth.stages.facts.by_rules.plants import plants_in
from fieldtruth.stages.facts.sentences import Sentence

_TELLS = re.compile(
    r"\s*(?:,[^,]{2,60},\s*|\([^()]{2,60}\)\s*|plants?\s+|trees?\s+|shrubs?\s+)?"
    r"(?:(?:also|typically|generally|usually|often|commonly|mostly|mainly|primarily|normally|"
    r"actually|always|only|all|will|do|does)\s+)*"
    r"(?:is|are|attacks?|attracts?|belongs?|blooms?|bores?|breeds?|causes?|contains?|emerges?|"
    r"enters?|favou?rs?|feeds?|flowers?|grows?|hatch(?:es)?|hibernates?|infects?|invades?|lays?|"
    r"lives?|"
    r"needs?|occurs?|overwinters?|prefers?|produces?|requires?|reproduces?|secretes?|spreads?|"
    r"survives?|thrives?|tolerates?|transmits?|varies|vary)\s+\w+",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:in general|generally|typically|unfortunately|fortunately|usually|also|additionally|"
    r"however|yes|the|most|many|some|all|mature|adult)\s*,?\s+)*",
    re.IGNORECASE,
)
# What is said of this one plant or case, or of the talk, is not background.
_OF_THIS = re.compile(
    r"\b(?:your|you|i|we|my|our|this year|these|this|that is why|if|should|not|no|yet|photos?|"
    r"pictures?|"
    r"symptoms|match(?:es)?|suggests?|(?:is|are) (?:just |only |also )*\w+ing)\b",
    re.IGNORECASE,
)
_LEAST = 6


def tells(sentence: Sentence) -> bool:
    """Whether a sentence says something in general of a thing that it names first.

    >>> tells(Sentence("Dogwoods typically prefer partial shade and moist soil.", 0))
    True
    """
    text = sentence.text
    if sentence.asks or len(text.split()) < _LEAST or _OF_THIS.search(text):
        return False
    at = _LEAD.match(text).end()  # type: ignore[union-attr]
    name = named(text, at)
    if name is not None and name.start <= at + 1:
        return _TELLS.match(text, name.end) is not None
    plant = next(iter(plants_in(text[at : at + 40])), None)
    if plant is None or not text.startswith(plant, at):
        return False
    return _TELLS.match(text, at + len(plant)) is not None
