"""What could be asked about a dialogue: its facts of one type make one draft.

A draft is not yet a question: it has the truth, and what else is known. Each draft comes to
questions or is dropped once, so the books of `questions` are kept over drafts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fieldtruth import taxonomy
from fieldtruth.records import Category, Dialogue, Fact, Knowledge
from fieldtruth.stages.questions.settings import NAMING, SEVERAL, TYPES, VAGUE
from fieldtruth.taxonomy.giveaways import content_words, names_it
from fieldtruth.taxonomy.spelling import normalise, spelled

MOST_WORDS = 8  # of a name; a longer one is a sentence
MOST_STATEMENTS = 3  # in one option; AgMMU counts 2.7 and 1.8 a question (section 4.2)

# A species that is none (AgMMU, appendix C, "Dataset preparation"), and names that say no more.
VAGUE_NAMES = frozenset(
    [
        "ant", "bee", "beetle", "bug", "caterpillar", "compost", "disease", "evergreen", "flower",
        "fungus", "garden", "grass", "hedge", "houseplant", "insect", "lawn", "moth", "mushroom",
        "none", "perennial", "pest", "plant", "shrub", "snake", "soil", "spider", "tree",
        "unknown", "vegetable", "vine", "wasp", "weed", "yard",
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A dialogue with its facts and all its words, normalised once."""

    dialogue: Dialogue
    facts: tuple[Fact, ...]
    words: str

    @property
    def named(self) -> tuple[str, ...]:
        """Every name that is true in it: labels, short statements, and what it is about."""
        found = [f.label for f in self.facts if f.label]
        found += [f.statement for f in self.facts if f.knowledge in NAMING and is_name(f.statement)]
        found += [f.species for f in self.facts if f.species]
        return tuple(dict.fromkeys(normalise(each) for each in found))

    def of(self, knowledge: Knowledge) -> tuple[Fact, ...]:
        """Its facts of one kind, in the order they were said."""
        found = (fact for fact in self.facts if fact.knowledge == knowledge)
        return tuple(sorted(found, key=lambda fact: (fact.turn, self._place(fact), fact.id)))

    def _place(self, fact: Fact) -> int:
        turns = self.dialogue.turns
        return turns[fact.turn].text.find(fact.words) if fact.turn < len(turns) else -1

    def speaker(self, fact: Fact) -> str:
        """Who said it; empty where no turn has its number."""
        turns = self.dialogue.turns
        return turns[fact.turn].speaker if fact.turn < len(turns) else ""

    @property
    def species(self) -> str | None:
        """The living thing it is about, where a name for it tells one from another."""
        told = [f.species for f in self.facts if f.species]
        told += [f.statement for f in self.of("species") if is_name(f.statement)]
        return next((each for each in map(_plant, told) if not is_vague(each)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One thing to ask. `truths`: a name, or statements; `why_not`: why it cannot be asked."""

    id: str
    talk: Talk
    knowledge: Knowledge
    category: Category
    facts: tuple[Fact, ...]
    truths: tuple[str, ...]
    label: str | None
    crop: str | None
    why_not: str = ""
    detail: str = ""

    @property
    def naming(self) -> bool:
        """Whether the answer is a name."""
        return self.knowledge in NAMING

    @property
    def group(self) -> str:
        """The conversation."""
        return self.talk.dialogue.group

    @property
    def diverse(self) -> str:
        """What tells it from others of its type: its label, else what it is about."""
        return self.label or self.crop or self.talk.species or self.truths[0] if self.truths else ""


def _plant(name: str) -> str:
    """A plant's name without the word that says it is one: "peony plant" is a peony."""
    *before, last = normalise(name.partition("(")[0]).split() or [""]
    return " ".join(before if before and last in ("plant", "plants") else [*before, last])


def is_name(text: str) -> bool:
    """Whether a statement can be a name: not empty, and of a few words."""
    return 0 < len(normalise(text).split()) <= MOST_WORDS


def is_vague(name: str) -> bool:
    """Whether a name names nothing that could be told from its like."""
    plain = normalise(name)
    words = plain.split()
    return (
        plain in VAGUE_NAMES
        or (len(words) == 1 and words[0].removesuffix("s") in VAGUE_NAMES)
        or not content_words(plain)
    )


def talks(dialogues: Iterable[Dialogue], facts: Iterable[Fact]) -> list[Talk]:
    """The dialogues that have facts, ascending by id."""
    of: dict[str, list[Fact]] = {}
    for fact in facts:
        of.setdefault(fact.dialogue, []).append(fact)
    found = [
        Talk(
            dialogue=each,
            facts=tuple(sorted(of[each.id], key=lambda fact: fact.id)),
            words=" ".join((each.title, *(turn.text for turn in each.turns))),
        )
        for each in dialogues
        if each.id in of
    ]
    return sorted(found, key=lambda talk: talk.dialogue.id)


def drafts(talks: Sequence[Talk]) -> list[Draft]:
    """A draft for each type of question that a dialogue has facts of."""
    return [
        _draft(talk, knowledge, found)
        for talk in talks
        for knowledge in TYPES
        if (found := talk.of(knowledge))
    ]


def _draft(talk: Talk, knowledge: Knowledge, facts: tuple[Fact, ...]) -> Draft:
    crop = next((fact.crop for fact in talk.facts if fact.crop), None)
    blank = Draft(
        id=f"{talk.dialogue.id}:{TYPES[knowledge]}", talk=talk, knowledge=knowledge,
        category=facts[0].category, facts=facts, truths=(), label=None, crop=crop,
    )  # fmt: skip
    return _name(blank) if blank.naming else _statements(blank)


def _name(blank: Draft) -> Draft:
    """The one thing that the facts name.

    A fact that names less than another of them ("rust" beside "cedar apple rust") adds nothing.
    """
    named = [(fact, _shown(fact)) for fact in blank.facts]
    clear = [(fact, name) for fact, name in named if name and not is_vague(name)]
    clear.sort(key=lambda pair: (-len(pair[1].split()), pair[0].turn, pair[0].id))
    if not clear:
        told = ", ".join(fact.statement for fact in blank.facts)
        return replace(blank, why_not=VAGUE, detail=told[:200])
    first, name = clear[0]
    made = replace(blank, truths=(name,), label=first.label)
    others = [other for _, other in clear if not _one(name, other, first.crop)]
    told = ", ".join(dict.fromkeys((name, *others)))
    return replace(made, why_not=SEVERAL, detail=told[:200]) if others else made


def _shown(fact: Fact) -> str:
    """A name as it stands among options, spelt as the taxonomy spells, so that this tells nothing.

    The expert's own word for it where it is one ("plum curculio", not its label's name).
    """
    plain = spelled(normalise(fact.statement.partition("(")[0]))
    if is_name(plain) or not fact.label:
        return plain if is_name(plain) else ""
    return normalise(fact.label)


def _one(a: str, b: str, crop: str | None) -> bool:
    return taxonomy.conflict(a, b, crop) or names_it(a, b) or names_it(b, a)


def _statements(blank: Draft) -> Draft:
    """The statements, each once, as sentences."""
    said = tuple(dict.fromkeys(sentence(fact.statement) for fact in blank.facts))
    telling = tuple(each for each in said if content_words(each))
    label = next((fact.label for fact in blank.talk.facts if fact.label), None)
    if telling:
        return replace(blank, truths=telling, label=label)
    return replace(blank, label=label, why_not=VAGUE, detail=" ".join(said)[:200])


# They join a sentence to the one before it, and say nothing alone.
_JOINED = re.compile(
    r"(?:additionally|again|also|besides|finally|first|further|furthermore|however|in addition|"
    r"instead|lastly|meanwhile|moreover|next|otherwise|second|so|then|therefore|thus)\b[,:]?\s+",
    re.IGNORECASE,
)


def sentence(text: str) -> str:
    """One line that begins large and ends with a full stop, so that its form tells nothing.

    >>> sentence(" also, remove the leaves;\\n burn them ")
    'Remove the leaves; burn them.'
    """
    plain = " ".join(text.split()).strip(" \t-*\u2022").rstrip(" .;,:!")
    plain = _JOINED.sub("", plain, count=1) if _JOINED.match(plain) else plain
    return f"{plain[:1].upper()}{plain[1:]}." if plain else ""
