"""Evidence: what a paper's text says of each of its figures, and what kind of figure each is.

    text       running text in the order of reading; whether words stand in it
    mentions   which figures a sentence speaks of
    kinds      the figure's type, by its caption
    proposed   passages and type by a model, where one is given

By rule a passage is a sentence that mentions the figure, with the one after it where that goes on
without another figure. Whoever proposes a passage: it stands in the paper, or is dropped
(PlantXpert, section 2.2, has people remove what a model made up).
"""

from collections.abc import Iterator, Mapping, Sequence

from fieldtruth.papers.evidence import Evidence, Passage
from fieldtruth.papers.layout import BROKEN
from fieldtruth.papers.records import Figure
from fieldtruth.records import Drop
from fieldtruth.stages.evidence.kinds import kind_of
from fieldtruth.stages.evidence.mentions import mentioned, of_figure
from fieldtruth.stages.evidence.proposed import Proposal
from fieldtruth.stages.evidence.text import Part, Text, sentences, within
from fieldtruth.taxonomy.lexicon import crop_in

__all__ = [
    "OF_FIGURES", "OF_PASSAGES", "STAGE", "Part", "Text", "by_paper", "drop", "gather", "passages",
]  # fmt: skip

STAGE = "evidence"
NOT_THERE, CAPTION, TWICE = "not in the paper", "the caption itself", "said already"
OF_PASSAGES = (NOT_THERE, CAPTION, TWICE)
MODEL_FAILED, UNREADABLE = "model failed", "unreadable reply"
OF_FIGURES = ("changed", *BROKEN, MODEL_FAILED, UNREADABLE)


def passages(figures: Sequence[Figure], text: Text) -> dict[str, list[Passage]]:
    """Figure id -> the passages that mention it, in the order of the text."""
    names: dict[str, list[str]] = {}
    for figure in figures:
        names.setdefault(of_figure(figure.number, figure.label), []).append(figure.id)
    known = frozenset(names)
    made: dict[str, list[Passage]] = {figure.id: [] for figure in figures}
    for paragraph in text.paragraphs:
        said = [(each, set(mentioned(each, known))) for each in sentences(paragraph.text)]
        for name in sorted(known):
            for words in _runs(said, name):
                for one in names[name]:
                    made[one].append(Passage(text=words, page=paragraph.page, by="rules"))
    return made


def _runs(said: Sequence[tuple[str, set[str]]], name: str) -> Iterator[str]:
    """Sentences that mention a figure, each with the next where that mentions none."""
    run: list[str] = []
    due = False
    for words, figures in said:
        if name in figures or (due and not figures):
            run.append(words)
            due = name in figures
            continue
        if run:
            yield " ".join(run)
        run, due = [], False
    if run:
        yield " ".join(run)


def gather(
    figure: Figure, mine: Sequence[Passage], text: Text, said: Proposal | None, crops: Sequence[str]
) -> tuple[Evidence, list[Drop]]:
    """The evidence of one figure, and a drop for each proposed passage that does not hold.

    `mine` are those by rule; `said` is a model's proposal, where one was asked.
    """
    kept = list(mine)
    drops: list[Drop] = []
    for at, words in enumerate(said.passages if said else (), start=1):
        found = text.find(words)
        if found is None:
            drops.append(drop(figure.id, NOT_THERE, words, f"p{at}"))
        elif within(found.text, figure.caption):
            drops.append(drop(figure.id, CAPTION, words, f"p{at}"))
        elif any(within(found.text, each.text) for each in kept):
            drops.append(drop(figure.id, TWICE, words, f"p{at}"))
        else:
            kept.append(Passage(text=found.text, page=found.page, by="model"))
    made = Evidence(
        id=figure.id, figure_type=said.figure_type if said else kind_of(figure.caption),
        type_by="model" if said else "rules", crop=_crop(figure.caption, crops),
        passages=tuple(kept),
    )  # fmt: skip
    return made, drops


def _crop(caption: str, crops: Sequence[str]) -> str | None:
    """The one crop of a figure; None where its caption or its paper names several."""
    named = {crop for each in sentences(caption.replace("(", ". (")) if (crop := crop_in(each))}
    if named:
        return named.pop() if len(named) == 1 else None
    return crops[0] if len(crops) == 1 else None


def drop(figure: str, reason: str, detail: str, passage: str = "") -> Drop:
    """The drop of a figure, or of a passage proposed for it."""
    name = f"{figure}:{passage}" if passage else figure
    return Drop(
        id=f"{name}:dropped", sample=figure, parent=name, stage=STAGE, reason=reason,
        detail=" ".join(detail.split())[:300],
    )  # fmt: skip


def by_paper(figures: Sequence[Figure]) -> Mapping[str, list[Figure]]:
    """The figures of each paper, in their order."""
    made: dict[str, list[Figure]] = {}
    for figure in figures:
        made.setdefault(figure.paper, []).append(figure)
    return made
