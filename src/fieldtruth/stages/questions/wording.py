"""The words of a question, and what a person would know besides.

Species questions see only symptoms; symptom questions see the species (AgMMU, appendix B.3). No
word of the answer stands in the question or its background: what would give it away is left out
of the background, and where the question itself would, it is not asked. The background names the
plant, the place (a state) and the month, and what the grower told; it is kept apart from the
question, so that both can be shown with it and without.
"""

from dataclasses import dataclass

from fieldtruth.records import Dialogue, Knowledge
from fieldtruth.stages.questions.drafts import Draft, Talk, sentence
from fieldtruth.taxonomy.giveaways import given_away
from fieldtruth.taxonomy.lexicon import words_in

ASKED: dict[Knowledge, str] = {
    "disease/issue identification": "What disease or other issue is seen here?",
    "insect/pest": "Which insect or other pest is this, or did this damage?",
    "species": "Which species is this?",
    "management instructions": "What is the recommended way to manage this?",
    "symptom/visual description": "What symptoms or visual features are seen here?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """A question and its background; `truths` is what of the answer can be asked for so.

    None are left where each would be given away; `given` are the words that do.
    """

    question: str
    background: str
    truths: tuple[str, ...]
    given: tuple[str, ...] = ()


def worded(draft: Draft) -> Worded:
    """The question of a draft with as much background as does not give its answer away."""
    asked = ASKED[draft.knowledge]
    if draft.knowledge == "symptom/visual description" and draft.talk.species:
        asked = f"Asked about: {draft.talk.species}. {asked}"
    truths = tuple(each for each in draft.truths if not given_away(each, asked))
    told = {word for each in draft.truths for word in given_away(each, asked)}
    kept = [line for line in _lines(draft) if not given_away(" ".join(truths), line)]
    return Worded(
        question=asked, background="\n".join(kept), truths=truths, given=tuple(sorted(told))
    )


def _lines(draft: Draft) -> list[str]:
    talk = draft.talk
    if draft.knowledge == "species":
        seen = talk.of("symptom/visual description")
        return [f"Seen: {sentence(fact.statement)}" for fact in seen]
    lines = [f"{_what(talk)}: {talk.species}"] if talk.species else []
    if draft.knowledge == "symptom/visual description":
        lines = []  # it stands in the question
    lines += [f"Place: {talk.dialogue.place}"] if talk.dialogue.place else []
    lines += [f"Asked in: {month}"] if (month := _month(talk.dialogue)) else []
    told = [fact for fact in talk.of("background") if talk.speaker(fact) == "grower"]
    return lines + [f"Told by the grower: {sentence(fact.statement)}" for fact in told]


def _what(talk: Talk) -> str:
    """`Plant`, unless the living thing's name tells of an animal."""
    return "Living thing" if "pest" in words_in(talk.species or "") else "Plant"


def _month(dialogue: Dialogue) -> str:
    """Year and month of an ISO time; nothing where it is none."""
    time = dialogue.time or ""
    year, _, rest = time.partition("-")
    month = rest[:2]
    fit = len(year) == 4 and year.isdigit() and len(month) == 2 and month.isdigit()
    return f"{year}-{month}" if fit else ""
