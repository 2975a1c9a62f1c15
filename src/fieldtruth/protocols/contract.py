"""What a protocol is: how to ask, what a right reply looks like, and how a reply is read.

All three live in one file, so they cannot drift apart: `read(answer(item)) == truth` for every
item and box space. A protocol's file ends in `PROTOCOL: Protocol = ...`, or in
`QUESTIONS: QuestionProtocol = ...` where it asks the questions of a question benchmark. Boxes are
asked for, written and read in the one space the model declares (design, section 2, rule 4).
"""

from collections.abc import Sequence
from typing import Protocol as Shape

from fieldtruth.records import LETTERS, Finish, Item, Question, Reading, Space


class Protocol(Shape):
    """One instruction. `headline` names the metrics its tables lead with."""

    @property
    def headline(self) -> tuple[str, ...]: ...

    def suits(self, item: Item) -> bool:
        """Whether this item can be asked this way (it has the query or the list)."""
        ...

    def names(self, item: Item) -> tuple[str, ...]:
        """The names the prompt offers, in the order it offers them."""
        ...

    def ask(self, item: Item, space: Space) -> str:
        """The prompt: it never holds the truth beyond what the instruction gives."""
        ...

    def answer(self, item: Item, space: Space) -> str:
        """The right reply: a training target, and what `read` turns back into the truth."""
        ...

    def read(self, text: str, space: Space, finish: Finish) -> Reading:
        """What the words say; never raises, whatever the words."""
        ...


class QuestionProtocol(Shape):
    """One way to ask a question; no boxes, so no space."""

    def suits(self, question: Question) -> bool:
        """Whether this question can be asked this way."""
        ...

    def ask(self, question: Question) -> str:
        """The prompt: nothing in it depends on the answer."""
        ...

    def answer(self, question: Question) -> str:
        """The right reply."""
        ...

    def read(self, text: str, options: Sequence[str] | None, finish: Finish) -> Reading:
        """What the words say; never raises, whatever the words."""
        ...


def asked(question: Question) -> str:
    """What a person would know besides, where it is told, and the question."""
    return "\n".join(filter(None, (question.background.strip(), question.question.strip())))


def offered(question: Question) -> str:
    """A question with its background, and its options one a line under their letters, in the order
    frozen on it."""
    lines = [
        f"{letter}. {' '.join(text.split())}"
        for letter, text in zip(LETTERS, question.options or (), strict=False)
    ]
    return "\n".join([asked(question), *lines])
