"""The knowledge base: experts' facts to learn from and to look up (AgMMU, section 4.5, appendix C).

wording   facts of one dialogue as questions and answers
general   rows of a general instruction set beside them

A fact that a benchmark knows, by its conversation or by a photo, never comes in. Facts whose living
thing is called no more than "tree" or "insect" teach nothing; the words are the paper's.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from fieldtruth import draws
from fieldtruth.privacy import PERSONAL, rules
from fieldtruth.records import Drop, Fact, Record
from fieldtruth.stages.knowledge import general
from fieldtruth.stages.knowledge.general import General
from fieldtruth.stages.knowledge.wording import SPECIES, Pair, pairs

__all__ = [
    "REASONS", "Base", "General", "Known", "Settings", "Talk", "build", "general", "share_of",
]  # fmt: skip

REASONS = (
    "benchmark_conversation",  # a question of the benchmark was made of this conversation
    "benchmark_photo",  # a photo of the benchmark is one of this dialogue's
    "vague_species",  # its living thing is named by no more than a word such as "tree"
    "other_knowledge",  # with --only: another kind of knowledge
    PERSONAL,  # its words hold what looks like a person's
)
VAGUE = frozenset(
    {
        "ant", "bee", "beetle", "caterpillar", "fungus", "grass", "insect", "moth",
        "mushroom", "none", "plant", "shrub", "snake", "spider", "tree", "wasp", "weed",
    }
)  # fmt: skip


class Settings(Record, frozen=True, kw_only=True):
    """`only`: species questions alone. `rows` of a general set, or so many that they are `share` of
    all conversations. `vague`: keep what the list of vague names would drop."""

    only: Literal["all", "species"] = "all"
    rows: Annotated[int, Meta(ge=0)] | None = None
    share: Annotated[float, Meta(ge=0, lt=1)] | None = None
    vague: Literal["drop", "keep"] = "drop"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rows is not None and self.share is not None:
            raise ValueError("expected rows or a share of the general set, got both")


@dataclass
class Known:
    """What benchmarks are made of: conversations, and photos by the hash of their bytes."""

    groups: set[str] = field(default_factory=set)
    photos: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Talk:
    """A training conversation: what was asked and answered of one dialogue's facts, in turns."""

    id: str
    pairs: tuple[Pair, ...]
    images: tuple[str, ...]
    group: str
    source: str
    licence: str


@dataclass(frozen=True)
class Base:
    """What came of the facts; `kept` are those to look up, in the order given."""

    kept: list[Fact]
    talks: list[Talk]
    drops: list[Drop]


def build(
    facts: Sequence[Fact], photos: Mapping[str, str], known: Known, settings: Settings
) -> Base:
    """Facts to look up and to learn from. `photos`: the SHA-256 of each image that is there.

    Every fact is kept, and learnt from where something can be asked about it, or is a drop.
    """
    kept, drops = [], []
    for fact in facts:
        why, detail = _why_not(fact, photos, known, settings)
        if why:
            drops.append(
                Drop(
                    id=f"{fact.id}:{why}", sample=fact.dialogue, parent=fact.id, stage="knowledge",
                    reason=why, detail=detail,
                )
            )  # fmt: skip
        else:
            kept.append(fact)
    by_dialogue: dict[str, list[Fact]] = {}
    for fact in kept:
        by_dialogue.setdefault(fact.dialogue, []).append(fact)
    talks = [_talk(some, photos) for some in by_dialogue.values()]
    return Base(kept, _shuffled([talk for talk in talks if talk.pairs], settings.seed), drops)


def _why_not(
    fact: Fact, photos: Mapping[str, str], known: Known, settings: Settings
) -> tuple[str, str]:
    """The reason to leave a fact out, with what was seen; empty where there is none."""
    if rules.find(fact.statement) or rules.find(fact.words):
        return PERSONAL, fact.knowledge
    if fact.group in known.groups:
        return "benchmark_conversation", fact.group
    for image in fact.images:
        if photos.get(image) in known.photos:
            return "benchmark_photo", image
    if settings.only == "species" and fact.knowledge != SPECIES:
        return "other_knowledge", fact.knowledge
    name = (fact.statement if fact.knowledge == SPECIES else fact.species or "").strip().lower()
    if settings.vague == "drop" and (name in VAGUE or name.removesuffix("s") in VAGUE):
        return "vague_species", name
    return "", ""


def _talk(facts: Sequence[Fact], photos: Mapping[str, str]) -> Talk:
    first = facts[0]
    images = tuple(
        dict.fromkeys(image for fact in facts for image in fact.images if image in photos)
    )
    return Talk(
        id=first.dialogue, pairs=tuple(pairs(facts, photos=bool(images))), images=images,
        group=first.group, source=first.source, licence=first.licence,
    )  # fmt: skip


def _shuffled(talks: list[Talk], seed: int) -> list[Talk]:
    return sorted(talks, key=lambda talk: (draws.key(seed, "knowledge", talk.id), talk.id))


def share_of(talks: int, settings: Settings) -> int:
    """How many rows of the general set are wanted beside so many conversations."""
    if settings.share is not None:
        return round(talks * settings.share / (1 - settings.share))
    return settings.rows or 0


def counts(base: Base) -> Mapping[str, Mapping[str, int]]:
    """What a manifest says: pairs by knowledge, conversations by licence."""
    return {
        "knowledge": _sorted(pair.knowledge for talk in base.talks for pair in talk.pairs),
        "licence": _sorted(talk.licence for talk in base.talks),
        "photos": _sorted("with" if talk.images else "without" for talk in base.talks),
    }


def _sorted(names: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(names).items()))
