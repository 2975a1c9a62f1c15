"""What is handed to people: one row for each question in both its forms, figure, or passage.

A row's id is a number for people; what it stands for is in `sent.jsonl`, which also names the
export, so that a workbook of another one is found out.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

from fieldtruth.draws import rng
from fieldtruth.faults import Usage
from fieldtruth.records import LETTERS, Question, Record

SENT = "sent.jsonl"
# The four conditions (AgMMU, appendix B.4), each with what its box says while it is ticked.
CONDITIONS = {
    "faithfulness": "Question, answer and background say what the conversation says.",
    "certainty": "The expert is certain of the answer: no “may be”, no “send it to a lab”.",
    "quality": "The photos are sharp enough, and show what the answer needs.",
    "feasibility": "Every wrong option is wrong, and none is another name of the right one.",
}
# The same of a question about a paper's figure. PlantXpert (section 2.2) had people look at its
# evidence, and at each question for grounding, correctness and agronomic relevance.
OF_FIGURES = {
    "grounding": "The figure alone shows what the answer needs.",
    "correctness": "The marked option is right, and the others are wrong.",
    "relevance": "It asks about plants or how they are grown, not about how the paper is made.",
    "evidence": "The passages beside the figure are about it, and say nothing against the answer.",
}
# What a figure has to be (PlantXpert, section 2.1), before anything is asked about it.
OF_SCREENED = {
    "relevance": "It shows plants, fields, pests, diseases, or measurements of them: no screenshot "
    "and no diagram of a model.",
    "consistency": "The caption is that of this figure, and says enough to read it by.",
    "quality": "It is clear, legible and whole, and shows something worth asking about.",
}
# What a passage has to be (PlantXpert, section 2.2).
OF_PASSAGES = {
    "about": "It is about this figure, and not too broad to say anything of it.",
    "faithful": "It means here what it means in the paper, and nothing in it was made up.",
}
Kind = Literal["talks", "figures", "screened", "passages"]


_ASKED = {
    each: each for each in ("no", "type", "question", "background", "answer", "options")
}  # fmt: skip


class Sheet(Record, frozen=True, kw_only=True):
    """How rows of a kind are shown. `what` one row is; `conditions`: its boxes and what each says;
    `heads`: the columns before them, and what of a row each shows."""

    what: str
    conditions: dict[str, str]
    heads: dict[str, str]

    @property
    def tab(self) -> str:
        """The name of the workbook's sheet."""
        return f"{self.what}s"

    @property
    def page(self) -> str:
        """The name of the page."""
        return f"{self.tab}.html"


SHEETS: dict[Kind, Sheet] = {
    "talks": Sheet(what="question", conditions=CONDITIONS, heads=_ASKED),
    "figures": Sheet(what="question", conditions=OF_FIGURES, heads=_ASKED),
    "screened": Sheet(
        what="figure", conditions=OF_SCREENED,
        heads={"no": "no", "place": "background", "caption": "question"},
    ),
    "passages": Sheet(
        what="passage", conditions=OF_PASSAGES,
        heads={"no": "no", "found by": "type", "passage": "question", "place": "background"},
    ),
}  # fmt: skip


class Sent(Record, frozen=True, kw_only=True):
    """One row. `questions`: the ids of its forms, or of the figure or passage; `annotators`: who
    judges it; `third`: who decides where they do not all say the same."""

    id: str
    export: str
    questions: tuple[str, ...]
    qtype: str | None
    annotators: tuple[str, ...]
    kind: Kind = "talks"
    third: str | None = None

    @property
    def sheet(self) -> Sheet:
        """How it is shown."""
        return SHEETS[self.kind]

    @property
    def conditions(self) -> dict[str, str]:
        """What its boxes are called, and what each says."""
        return self.sheet.conditions


class Row(Record, frozen=True, kw_only=True):
    """A row with its questions, a choice first where there is one."""

    sent: Sent
    forms: tuple[Question, ...]

    @property
    def choice(self) -> Question | None:
        """The form with options."""
        return next((each for each in self.forms if each.form == "mcq"), None)

    @property
    def truth(self) -> str:
        """The answer in words."""
        for each in self.forms:
            if each.form == "open":
                return each.answer
        choice = self.forms[0]
        return (choice.options or ())[LETTERS.index(choice.answer)]


def rows(
    questions: Sequence[Question], annotators: Sequence[str], overlap: int | None, seed: int,
    kind: Kind | None = None, third: str | None = None,
) -> list[Row]:  # fmt: skip
    """The rows of a set, those of one conversation one after another.

    Forms are one row where group, type, photos, question and background are the same.
    `overlap` people judge each, all of them where it is None. `kind` is told by where the
    questions come from where it is None. Raises `Usage` for names that cannot be told apart or do
    not make files, and for a `third` where one person alone judges a row.
    """
    _names(annotators, third)
    number = len(annotators) if overlap is None else overlap
    if not 1 <= number <= len(annotators):
        raise Usage(f"--overlap: expected 1 to {len(annotators)} people, got {overlap}")
    if third is not None and number < 2:
        raise Usage(f"--third: expected two people or more to see each row, got {number}")
    together: dict[tuple[object, ...], list[Question]] = {}
    for each in sorted(questions, key=lambda q: (q.group, q.id)):
        key = (each.group, each.qtype, each.images, each.question, each.background)
        together.setdefault(key, []).append(each)
    whole = "\n".join(each.id for some in together.values() for each in some)
    export = sha256(f"{seed}\n{whole}".encode()).hexdigest()[:16]
    width = len(str(len(together)))
    if kind is None:
        kind = "figures" if all(each.source == "papers" for each in questions) else "talks"
    made = []
    for at, some in enumerate(together.values(), start=1):
        forms = tuple(sorted(some, key=lambda each: (each.form, each.id)))
        sent = Sent(
            id=f"{at:0{width}}", export=export, questions=tuple(each.id for each in forms),
            qtype=forms[0].qtype, annotators=_who(forms[0].id, annotators, number, seed),
            kind=kind, third=third,
        )  # fmt: skip
        made.append(Row(sent=sent, forms=forms))
    return made


def _who(name: str, annotators: Sequence[str], number: int, seed: int) -> tuple[str, ...]:
    drawn = rng(seed, "verification", name).permutation(len(annotators))[:number]
    return tuple(annotators[at] for at in sorted(drawn))


def _names(annotators: Sequence[str], third: str | None) -> None:
    named = (*annotators, *(() if third is None else (third,)))
    if not annotators or len({each.casefold() for each in named}) < len(named):
        raise Usage(f"--annotator: expected each person once, got {', '.join(named) or 'none'}")
    for each in named:
        if not each.isascii() or not each.replace("-", "").replace("_", "").isalnum():
            raise Usage(f"--annotator: expected letters, digits, - and _, got {each!r}")
