"""Dialogues -> facts: what experts stated, each with the words it rests on (AgMMU, section 3.2).

    shapes     what an extractor hands over
    by_rules   the embedded default
    by_model   any model that is asked, with prompts of its own for each category
    sentences  a turn in sentences
    quoting    where quoted words stand
    filters    doubt, referral and asking back: the word lists

Whoever extracts, the same is asked of what comes: the words stand in an expert's turn, the
sentence around them doubts nothing and sends the grower nowhere, no later turn takes it back, it
holds nothing personal, and the dialogue has an identification or a measure. What fails goes
into the drops with its reason. A dialogue is the parent of statements or of one drop; a statement
is the parent of a fact or of one drop.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from fieldtruth.privacy import rules
from fieldtruth.records import Dialogue, Drop, Fact, Knowledge
from fieldtruth.stages.facts import filters
from fieldtruth.stages.facts.quoting import span
from fieldtruth.stages.facts.sentences import Sentence, around, sentences
from fieldtruth.stages.facts.shapes import (
    LEFT_OUT,
    NAMING,
    Extractor,
    Failure,
    Stated,
    Understood,
)
from fieldtruth.taxonomy import crop_id, resolve
from fieldtruth.taxonomy.lexicon import crop_in

STAGE = "facts"
FAILED = ("model failed", "unreadable reply")  # errors: nothing is known about these dialogues
OF_DIALOGUES = (*LEFT_OUT, "no expert", "nothing stated", "too long", *FAILED)
OF_STATEMENTS = (
    "unsupported", "grower's words", "uncertain", "referral", "unsettled", "repeated",
    "neither issue nor management", "personal data", "too long",
)  # fmt: skip
AT_ONCE = 256  # dialogues that an extractor is given at a time
LONGEST = 100_000  # letters of a dialogue; Ask Extension's longest has some twelve thousand
LONGEST_STATEMENT = 600
_BLANKS = re.compile(r"\s+")


def personal_in(text: str) -> bool:
    """Whether a text holds what tells who somebody is, by the rules of `privacy`."""
    return bool(rules.find(text))


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one dialogue: a drop of its own, or what became of each of its statements."""

    dialogue: Dialogue
    dropped: Drop | None
    statements: tuple[str, ...]  # their ids
    records: tuple[Fact | Drop, ...]


def extract(dialogues: Iterable[Dialogue], extractor: Extractor) -> Iterator[Made]:
    """What became of each dialogue, in order."""
    rows = iter(dialogues)
    while some := list(islice(rows, AT_ONCE)):
        asked = [each for each in some if _unasked(each) is None]
        answers = extractor.read(asked)
        for dialogue in some:
            reason = _unasked(dialogue)
            if reason is not None:
                yield _lost(dialogue, reason, "")
            else:
                yield _made(dialogue, next(answers), extractor.by)


def _unasked(dialogue: Dialogue) -> str | None:
    if not any(turn.speaker == "expert" and turn.text.strip() for turn in dialogue.turns):
        return "no expert"
    size = len(dialogue.title) + sum(len(turn.text) for turn in dialogue.turns)
    return "too long" if size > LONGEST else None


def _lost(dialogue: Dialogue, reason: str, why: str) -> Made:
    drop = Drop(id=dialogue.id, sample=dialogue.id, stage=STAGE, reason=reason, detail=why)
    return Made(dialogue, drop, (), ())


def _made(dialogue: Dialogue, answer: Understood | Failure, by: str) -> Made:
    if isinstance(answer, Failure):
        return _lost(dialogue, answer.reason, answer.why)
    if answer.category in LEFT_OUT:
        return _lost(dialogue, answer.category, "")
    if not answer.stated:
        return _lost(dialogue, "nothing stated", answer.category)
    whole = [sentences(turn.text) for turn in dialogue.turns]
    named = {id_of(dialogue, each): each for each in reversed(answer.stated)}
    records: list[Fact | Drop] = []
    told: set[tuple[Knowledge, str]] = set()
    for name in reversed(named):
        stated = named[name]
        made = _weighed(dialogue, stated, whole)
        key = (stated.knowledge, _key(stated.statement))
        if not isinstance(made, _Why) and key in told:
            made = _Why("repeated", stated.statement)
        if isinstance(made, _Why):
            records.append(_drop(dialogue, name, made))
            continue
        told.add(key)
        records.append(_fact(dialogue, answer, stated, made, by))
    return Made(dialogue, None, tuple(reversed(named)), tuple(_of_use(dialogue, records)))


def id_of(dialogue: Dialogue, stated: Stated) -> str:
    """The statement's id: of its dialogue and its own words, whatever else is found there."""
    parts = (stated.knowledge, stated.statement, str(stated.turn), stated.words)
    return f"{dialogue.id}#{sha256(chr(31).join(parts).encode()).hexdigest()[:10]}"


@dataclass(frozen=True, slots=True)
class _Why:
    """Why a statement goes no further."""

    reason: str
    detail: str


def _weighed(
    dialogue: Dialogue, stated: Stated, whole: Sequence[list[Sentence]]
) -> tuple[int, str] | _Why:
    """The turn and the exact words that a statement rests on, or why it is no fact."""
    if not stated.statement.strip() or not 0 <= stated.turn < len(dialogue.turns):
        return _Why("unsupported", f"turn {stated.turn}: {stated.words[:200]}")
    if len(stated.statement) > LONGEST_STATEMENT or len(stated.words) > 2 * LONGEST_STATEMENT:
        return _Why("too long", stated.statement[:200])
    turn = dialogue.turns[stated.turn]
    place = span(stated.words, turn.text)
    if place is None:
        return _Why("unsupported", f"turn {stated.turn}: {stated.words[:200]}")
    if turn.speaker != "expert":
        return _Why("grower's words", f"turn {stated.turn}: {stated.words[:200]}")
    near = around(whole[stated.turn], *place)
    why = _unsure(stated, near) or _sent_on(stated, near)
    why = why or _unsettled(dialogue, stated, near, whole[stated.turn])
    words = turn.text[place[0] : place[1]]
    if why is None and (personal_in(words) or personal_in(stated.statement)):
        why = _Why("personal data", f"turn {stated.turn}")
    return why or (stated.turn, words)


def _unsure(stated: Stated, near: Sequence[Sentence]) -> _Why | None:
    if not stated.certain:
        return _Why("uncertain", "the extractor says so")
    for text in (stated.statement, *(each.text for each in near)):
        word = filters.doubt(text)
        if word is None and stated.knowledge in NAMING:
            word = filters.open_ended(text)
        if word is not None:
            return _Why("uncertain", word)
    if near and near[0].asks:
        return _Why("uncertain", "a question")
    return None


def _sent_on(stated: Stated, near: Sequence[Sentence]) -> _Why | None:
    """Sent elsewhere: in the statement itself; of a measure, anywhere in its sentence."""
    texts = [stated.statement, stated.words]
    if stated.knowledge == "management instructions":
        texts += [each.text for each in near]
    word = next(filter(None, map(filters.referral, texts)), None)
    return _Why("referral", word) if word else None


def _unsettled(
    dialogue: Dialogue, stated: Stated, near: Sequence[Sentence], own: Sequence[Sentence]
) -> _Why | None:
    """A name is open while the expert still asks: in the same turn after a soft word, or later."""
    if stated.knowledge not in NAMING:
        return None
    soft = any(filters.soft(each.text) for each in near)
    if soft and any(each.asks or filters.asks_back(each.text) for each in own):
        return _Why("unsettled", "named by its look, with a question in the same turn")
    for number, turn in enumerate(dialogue.turns[stated.turn + 1 :], stated.turn + 1):
        if turn.speaker == "expert" and filters.asks_back(turn.text):
            return _Why("unsettled", f"asked back in turn {number}")
    return None


def _of_use(dialogue: Dialogue, records: Sequence[Fact | Drop]) -> Iterator[Fact | Drop]:
    """The records, facts only where one of them identifies or tells a measure (section 3.2)."""
    kinds = {each.knowledge for each in records if isinstance(each, Fact)}
    useful = not kinds.isdisjoint((*NAMING, "management instructions"))
    for each in records:
        if useful or isinstance(each, Drop):
            yield each
        else:
            yield _drop(dialogue, each.id, _Why("neither issue nor management", each.statement))


def _drop(dialogue: Dialogue, name: str, why: _Why) -> Drop:
    return Drop(
        id=name, sample=dialogue.id, parent=name, stage=STAGE, reason=why.reason, detail=why.detail
    )


def _fact(
    dialogue: Dialogue, answer: Understood, stated: Stated, rests: tuple[int, str], by: str
) -> Fact:
    crop = crop_in(answer.species) if answer.species else None
    label = None
    if stated.knowledge in NAMING:
        found = resolve(stated.statement, crop).label
        label = found.id if found else None
    # A fact is handed out with its photos, in the knowledge base: none that may show a face.
    images = tuple(image for image in dialogue.images if image not in dialogue.faces)
    return Fact(
        id=id_of(dialogue, stated), dialogue=dialogue.id, category=answer.category,
        knowledge=stated.knowledge, statement=stated.statement.strip(), turn=rests[0],
        words=rests[1], species=answer.species, label=label,
        crop=crop_id(crop) if crop else None, images=images, group=dialogue.group,
        source=dialogue.source, licence=dialogue.licence, extractor=by,
    )  # fmt: skip


def _key(statement: str) -> str:
    return _BLANKS.sub(" ", statement).strip(" .").casefold()
