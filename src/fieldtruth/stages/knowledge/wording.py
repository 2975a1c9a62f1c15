"""Facts of one dialogue put as questions and answers, as a grower would ask them.

What a photo shows can be asked where there is one. Without a photo only what can be known is asked:
how a named thing looks, and what is done about it; a name is never asked for.
"""

from collections.abc import Sequence
from typing import NamedTuple, get_args

from fieldtruth.records import Fact, Knowledge

ISSUE, PEST, SPECIES, MANAGEMENT, SYMPTOMS = get_args(Knowledge)[:5]
ORDER = (SPECIES, ISSUE, PEST, SYMPTOMS, MANAGEMENT)

_WITH_PHOTOS = {
    SPECIES: "What living thing is this? Give its name.",
    ISSUE: "What disease or other issue does {plant} have?",
    PEST: "Which insect or other pest is seen on {plant}, or did this damage?",
    SYMPTOMS: "What signs can be seen on {plant}?",
    MANAGEMENT: "What should be done about this problem of {plant}?",
}
_WITHOUT = {
    SYMPTOMS: "What does {thing} look like on {plant}?",
    MANAGEMENT: "What can be done about {thing} on {plant}?",
}
_PLANT = "this plant"


class Pair(NamedTuple):
    """One question with its answer, and the facts that it rests on."""

    knowledge: str
    question: str
    answer: str
    facts: tuple[str, ...]


def pairs(facts: Sequence[Fact], *, photos: bool) -> list[Pair]:
    """At most one pair of each kind of knowledge, in a fixed order; facts are of one dialogue.

    Several statements of a kind are one answer. Names that differ are joined by a semicolon.
    """
    by_kind: dict[str, list[Fact]] = {}
    for fact in facts:
        by_kind.setdefault(fact.knowledge, []).append(fact)
    thing = next((_names(by_kind[kind]) for kind in (ISSUE, PEST) if kind in by_kind), None)
    plant = next((fact.species for fact in facts if fact.species), None)
    found = []
    for kind in ORDER:
        question = (_WITH_PHOTOS if photos else _WITHOUT).get(kind)
        if kind not in by_kind or question is None or not (photos or (thing and plant)):
            continue
        some = by_kind[kind]
        said = _names(some) if kind in (SPECIES, ISSUE, PEST) else _sentences(some)
        asked = question.format(plant=_the(plant), thing=thing)
        found.append(Pair(kind, asked, said, tuple(fact.id for fact in some)))
    return found


def _the(plant: str | None) -> str:
    return f"the {plant}" if plant else _PLANT


def _names(facts: Sequence[Fact]) -> str:
    return "; ".join(dict.fromkeys(fact.statement.strip().rstrip(".") for fact in facts))


def _sentences(facts: Sequence[Fact]) -> str:
    said = dict.fromkeys(fact.statement.strip() for fact in facts)
    return " ".join(each if each[-1] in ".!?" else f"{each}." for each in said)
