"""What is asked: a protocol, and the control that it is asked under, if any.

`NAME` or `NAME+CONTROL` (design, section 3). Asking and grading both open it here, so that what a
reply is held against is what was asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fieldtruth import controls, protocols, rooms
from fieldtruth.controls.contract import Control
from fieldtruth.faults import Usage
from fieldtruth.protocols.contract import Protocol, QuestionProtocol
from fieldtruth.records import Finish, Item, Question, Reading


@dataclass(frozen=True, slots=True)
class Instruction:
    """`protocol` asks about, and reads, items as `asked` gives them."""

    protocol: Protocol
    control: Control | None = None

    @property
    def headline(self) -> tuple[str, ...]:
        """The metrics its tables lead with."""
        if self.control is None:
            return self.protocol.headline
        if self.control.absent:
            return self.control.leads
        return tuple(dict.fromkeys((*self.control.leads, *self.protocol.headline)))

    @property
    def absent(self) -> bool:
        """Whether what is asked for is never on the photo."""
        return self.control is not None and self.control.absent

    @property
    def changes_photo(self) -> bool:
        """Whether the photo shown is another than the item's."""
        return self.control is not None and self.control.photo is not None

    def asked(self, item: Item) -> Item | None:
        """The item as it is asked about; None where the control cannot be asked of it.

        A control of the question that changes none of the names offered would only ask the
        protocol's own question again, so it cannot be asked either.
        """
        if self.control is None:
            return item
        changed = self.control.question(item)
        if changed is None or self.control.photo is not None:
            return changed
        same = self.protocol.names(changed) == self.protocol.names(item)
        return None if same else changed

    def suits(self, item: Item) -> bool:
        """Whether this item can be asked this way."""
        changed = self.asked(item)
        return changed is not None and self.protocol.suits(changed)


def asks_questions(name: str) -> bool:
    """Whether a protocol, with its control if it has one, asks questions; `Usage` if unknown."""
    return hasattr(rooms.open_room(protocols, name.partition("+")[0]), "QUESTIONS")


def open_protocol(name: str) -> Instruction:
    """The box protocol of that name, with its control; `Usage` names those there are."""
    base, plus, control = name.partition("+")
    if asks_questions(name):
        raise Usage(f"{name}: expected a protocol of items, got one that asks questions")
    protocol: Protocol = rooms.open_room(protocols, base).PROTOCOL
    if not plus:
        return Instruction(protocol)
    return Instruction(protocol, rooms.open_room(controls, control).CONTROL)


@dataclass(frozen=True, slots=True)
class _Unseen:
    """A protocol that asks of the photos of questions: those without photos it cannot ask."""

    protocol: QuestionProtocol

    def suits(self, question: Question) -> bool:
        return bool(question.images) and self.protocol.suits(question)

    def ask(self, question: Question) -> str:
        return self.protocol.ask(question)

    def answer(self, question: Question) -> str:
        return self.protocol.answer(question)

    def read(self, text: str, options: Sequence[str] | None, finish: Finish) -> Reading:
        return self.protocol.read(text, options, finish)


def open_questions(name: str) -> QuestionProtocol:
    """The protocol of that name that asks questions, under its control if it has one.

    Raises `Usage` where it asks none, or the control is of items only.
    """
    if not asks_questions(name):
        raise Usage(f"{name}: expected a protocol of questions, got one of items")
    spoken: QuestionProtocol = rooms.open_room(protocols, name.partition("+")[0]).QUESTIONS
    return spoken if question_control(name) is None else _Unseen(spoken)


def question_control(name: str) -> Control | None:
    """The control that questions are asked under; `Usage` for one that is of items only."""
    _, plus, control = name.partition("+")
    if not plus:
        return None
    found: Control = rooms.open_room(controls, control).CONTROL
    if not found.questions:
        able = [n for n in rooms.names(controls) if rooms.open_room(controls, n).CONTROL.questions]
        raise Usage(
            f"{name}: expected a control of questions ({', '.join(able)}), got one of items"
        )
    return found
