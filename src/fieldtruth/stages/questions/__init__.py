"""Questions: experts' facts become four-option and open questions, and a knowledge base apart.

    settings    how many, of which shape; why one is not asked
    drafts      what could be asked about a dialogue: one draft for each of the five types
    wording     the question and its background; nothing in them gives the answer away
    photos      which photos are there; which conversations share one
    choosing    even over types and categories, over as many labels as there are
    names       wrong answers that are names       statements   those that are statements
    invented    those that a model writes          taken        which of them hold
    options     which are taken, and where the right one stands

Conversations that share a photo are one group. A group of which anything is asked is of the
evaluation, with all its facts; the facts of all others are the knowledge base (AgMMU, sections 3.2
and 3.3, appendices B.3 and C).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fieldtruth.duplicates import Passing
from fieldtruth.privacy import still_personal
from fieldtruth.records import Dialogue, Drop, Fact, Question
from fieldtruth.stages.questions.choosing import choose
from fieldtruth.stages.questions.drafts import Draft, drafts, talks
from fieldtruth.stages.questions.options import laid_out
from fieldtruth.stages.questions.photos import Seen, look
from fieldtruth.stages.questions.settings import (
    GIVEN_AWAY,
    MODEL_FAILED,
    NOT_CHOSEN,
    PERSONAL,
    REASONS,
    TOO_FEW,
    TYPES,
    Settings,
)
from fieldtruth.stages.questions.statements import shown
from fieldtruth.stages.questions.taken import Pool, Ready
from fieldtruth.stages.questions.wording import worded

__all__ = ["REASONS", "TYPES", "Asked", "Draft", "Plan", "Ready", "Settings", "ask", "plan"]

STAGE = "questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be asked: each of `drafts` is chosen, or one of `drops`.

    `personal` holds the dialogues in which personal data is left: nothing of them is given out.
    """

    drafts: Sequence[Draft]
    chosen: Sequence[Ready]
    drops: Sequence[Drop]
    seen: Seen
    personal: Mapping[str, str]  # dialogue -> what is left, by kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The questions, by the number of options of their choices; an open one is with each.

    `evaluation`, `knowledge` and `personal` hold each fact once.
    """

    questions: Mapping[int, Sequence[Question]]
    drops: Sequence[Drop]
    personal: Sequence[Drop]
    evaluation: Sequence[Fact]
    knowledge: Sequence[Fact]


def plan(
    dialogues: Sequence[Dialogue],
    facts: Sequence[Fact],
    root: Path | None,
    settings: Settings,
    track: Passing,
) -> Plan:
    """Everything up to the wrong answers. Photos are below `root`; none are where it is None.

    A draft that cannot be asked for what it says is dropped for that, whether it has photos or
    not; then for its photos; then because others were chosen.
    """
    seen = look(dialogues, root, settings, track)
    personal = _personal(dialogues)
    made = drafts(talks([each for each in dialogues if each.id not in personal], facts))
    ready: dict[str, Ready] = {}
    drops: list[Drop] = []
    for draft in made:
        found = _ready(draft, seen)
        if isinstance(found, Drop):
            drops.append(found)
        else:
            ready[draft.id] = found
    chosen = choose([each.draft for each in ready.values()], seen.group, settings)
    taken = {draft.id for draft in chosen}
    drops += [dropped(each.draft, NOT_CHOSEN) for name, each in ready.items() if name not in taken]
    return Plan(
        drafts=made, chosen=[ready[draft.id] for draft in chosen], drops=drops, seen=seen,
        personal=personal,
    )  # fmt: skip


def _personal(dialogues: Sequence[Dialogue]) -> dict[str, str]:
    left = {each.id: {one.kind for one in still_personal(each)} for each in dialogues}
    return {name: ", ".join(sorted(kinds)) for name, kinds in left.items() if kinds}


def _ready(draft: Draft, seen: Seen) -> Ready | Drop:
    if draft.why_not:
        return dropped(draft, draft.why_not, draft.detail)
    words = worded(draft)
    option = words.truths[0] if draft.naming and words.truths else shown(draft, words.truths)
    if not option:
        return dropped(draft, GIVEN_AWAY, ", ".join(words.given) or "names its own plant")
    if draft.talk.dialogue.id in seen.why_not:
        return dropped(draft, *seen.why_not[draft.talk.dialogue.id])
    return Ready(
        draft=draft, question=words.question, background=words.background, truths=words.truths,
        option=option,
    )  # fmt: skip


def dropped(draft: Draft, reason: str, detail: str = "") -> Drop:
    """The drop of a draft: its parent is the draft, its sample the dialogue."""
    return Drop(
        id=f"{draft.id}:dropped", sample=draft.talk.dialogue.id, parent=draft.id, stage=STAGE,
        reason=reason, detail=detail,
    )  # fmt: skip


def ask(
    made: Plan,
    facts: Sequence[Fact],
    invented: Mapping[str, Sequence[str] | None],
    settings: Settings,
) -> Asked:
    """The questions of a plan. `invented`: draft -> wrong answers that a model wrote, None where
    it could not be asked; a draft that is not there was not asked about."""
    pool = Pool(made.drafts)
    questions: dict[int, list[Question]] = {count: [] for count in settings.options}
    drops: list[Drop] = []
    groups: set[str] = set()
    for ready in made.chosen:
        draft = ready.draft
        own = invented.get(draft.id, ())
        if own is None:
            drops.append(dropped(draft, MODEL_FAILED))
            continue
        wrong = pool.wrong(ready, own, settings.wrong, settings.seed)
        if len(wrong) < settings.wrong:
            drops.append(dropped(draft, TOO_FEW, f"{len(wrong)} of {settings.wrong}"))
            continue
        group = made.seen.group[draft.group]
        groups.add(group)
        for count, some in questions.items():
            some += _both(ready, wrong, count, (settings.seed, group))
    held_out = {name for name, group in made.seen.group.items() if group in groups}
    clean = [fact for fact in facts if fact.dialogue not in made.personal]
    return Asked(
        questions=questions,
        drops=drops,
        personal=[
            Drop(
                id=f"{fact.id}:dropped", sample=fact.dialogue, parent=fact.id, stage=STAGE,
                reason=PERSONAL, detail=made.personal[fact.dialogue],
            )
            for fact in facts if fact.dialogue in made.personal
        ],
        evaluation=[fact for fact in clean if fact.group in held_out],
        knowledge=[fact for fact in clean if fact.group not in held_out],
    )  # fmt: skip


def _both(ready: Ready, wrong: Sequence[str], count: int, of: tuple[int, str]) -> list[Question]:
    """A draft as a choice and as an open question."""
    draft, (seed, group) = ready.draft, of
    options, letter = laid_out(ready.option, wrong, count, (seed, draft.id))
    said = " ".join(ready.truths)
    return [
        _question(ready, "mcq", options, letter, group),
        _question(ready, "open", None, said, group),
    ]


def _question(
    ready: Ready, form: str, options: tuple[str, ...] | None, answer: str, group: str
) -> Question:
    draft, dialogue = ready.draft, ready.draft.talk.dialogue
    return Question(
        id=f"{draft.id}:{form}",
        form="mcq" if form == "mcq" else "open",
        images=dialogue.images,
        question=ready.question,
        options=options,
        answer=answer,
        facts=() if draft.naming else ready.truths,
        domain=draft.category,
        challenge=None,
        crop=draft.crop,
        qtype=draft.knowledge,
        group=group,
        evidence=tuple(dict.fromkeys(fact.words for fact in draft.facts)),
        source=dialogue.source,
        licence=dialogue.licence,
        background=ready.background,
    )
