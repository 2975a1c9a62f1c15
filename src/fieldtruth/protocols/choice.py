"""A question with lettered options: answer with one letter.

AgMMU's and PlantXpert's multiple choice in our own words (agroground.md, section 15.2). The
options stand one a line in the order frozen on the question, as many as it has; nothing in the
prompt depends on which of them is right.
"""

from collections.abc import Sequence

from fieldtruth.protocols.contract import QuestionProtocol, offered
from fieldtruth.records import Finish, Question, Reading
from fieldtruth.replies import read_choice


class Choice:
    """Only the letter is asked for."""

    def suits(self, question: Question) -> bool:
        """Whether it has options."""
        return question.form == "mcq"

    def ask(self, question: Question) -> str:
        """The question, its options, and how to answer."""
        return f"{offered(question)}\nAnswer with the letter of the right option and nothing else."

    def answer(self, question: Question) -> str:
        """The letter of the right option."""
        return question.answer

    def read(self, text: str, options: Sequence[str] | None, finish: Finish) -> Reading:
        """See `replies.read_choice`."""
        return read_choice(text, options, finish)


QUESTIONS: QuestionProtocol = Choice()
