"""Questions about figures: at most eight of four options each (PlantXpert, section 2.2).

labels     the six domains, the four challenges, and near-names of both
captions   what a caption says of each panel
by_rules   what a caption supports: panel, count, crop, condition, scale
by_model   what a model writes
drawn      an item before it is a question; why one is dropped
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fieldtruth.faults import Usage
from fieldtruth.papers.evidence import Evidence
from fieldtruth.papers.records import Figure
from fieldtruth.records import Drop, Question, Record
from fieldtruth.stages.questions.figures import by_model, by_rules
from fieldtruth.stages.questions.figures.by_model import Reply
from fieldtruth.stages.questions.figures.drawn import (
    OF_ITEMS,
    STAGE,
    TOO_MANY,
    Drawn,
    trouble,
)
from fieldtruth.stages.questions.options import laid_out
from fieldtruth.taxonomy.spelling import normalise

__all__ = ["EIGHT", "OF_FIGURES", "OF_ITEMS", "Asked", "Note", "Settings", "ask", "unasked"]

EIGHT = 8  # questions of a figure (PlantXpert, section 2.2)
NOTHING = "nothing that can be asked"
NO_EVIDENCE = "no evidence"
MODEL_FAILED, UNREADABLE = "model failed", "unreadable reply"
OF_FIGURES = (NOTHING, NO_EVIDENCE, MODEL_FAILED, UNREADABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`per_figure`: questions of one figure at most."""

    per_figure: int = EIGHT
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.per_figure <= by_model.MOST:
            raise Usage(f"--per-group: expected 1 to {by_model.MOST}, got {self.per_figure}")


class Note(Record, frozen=True, kw_only=True):
    """What goes with a question and is never shown to who answers it. Its id is the question's.

    `words`: of the caption, what a rule rests on; `sort`: of the rule, or `model`.
    """

    id: str
    figure: str
    figure_type: str
    difficulty: str
    visual_evidence: str
    words: str
    sort: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of a figure: every item is a question, with its note, or a drop."""

    items: tuple[str, ...]
    questions: tuple[Question, ...]
    notes: tuple[Note, ...]
    drops: tuple[Drop, ...]


def ask(figure: Figure, evidence: Evidence, reply: Reply | None, settings: Settings) -> Asked:
    """The questions of a figure: by rule, or of a model's `reply`.

    Rules stop at as many as are wanted; of a reply the items beyond are drops.
    """
    found: Iterable[Drawn | tuple[str, str, str]]
    if reply is None:
        found = by_rules.items(figure, evidence.crop, settings.seed)
    else:
        found = by_model.items(figure, reply)
    kept: list[Drawn] = []
    drops: list[Drop] = []
    seen: list[str] = []
    for each in found:
        if isinstance(each, Drawn):
            if len(kept) == settings.per_figure and reply is None:
                break
            name, (reason, detail) = each.id, trouble(each, seen, evidence.crop)
            if not reason and len(kept) == settings.per_figure:
                reason, detail = TOO_MANY, each.question
        else:
            name, reason, detail = each
        if reason:
            drops.append(_drop(figure.id, name, reason, detail))
        elif isinstance(each, Drawn):
            kept.append(each)
            seen.append(normalise(each.question))
    return Asked(
        items=(*(each.id for each in kept), *(each.parent or "" for each in drops)),
        questions=tuple(_question(figure, evidence, each, settings.seed) for each in kept),
        notes=tuple(_note(figure, evidence, each) for each in kept), drops=tuple(drops),
    )  # fmt: skip


def unasked(figure: Figure, reason: str, detail: str = "") -> Drop:
    """The drop of a whole figure."""
    return _drop(figure.id, figure.id, reason, detail)


def _drop(figure: str, name: str, reason: str, detail: str) -> Drop:
    return Drop(
        id=f"{name}:dropped", sample=figure, parent=name, stage=STAGE, reason=reason,
        detail=" ".join(detail.split())[:300],
    )  # fmt: skip


def _question(figure: Figure, evidence: Evidence, item: Drawn, seed: int) -> Question:
    options, letter = laid_out(item.truth, item.wrong, len(item.wrong) + 1, (seed, item.id))
    return Question(
        id=item.id, form="mcq", images=(figure.image,), question=item.question, options=options,
        answer=letter, facts=(), domain=item.domain, challenge=item.challenge,
        crop=evidence.crop, qtype=evidence.figure_type, group=figure.group,
        evidence=tuple(each for each in (item.visual,) if each), source=figure.source,
        licence=figure.licence,
    )  # fmt: skip


def _note(figure: Figure, evidence: Evidence, item: Drawn) -> Note:
    return Note(
        id=item.id, figure=figure.id, figure_type=evidence.figure_type,
        difficulty=item.difficulty, visual_evidence=item.visual, words=item.words, sort=item.sort,
    )  # fmt: skip
