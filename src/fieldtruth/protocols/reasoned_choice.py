"""A question with lettered options: reason first, then decide.

The same question and options as under `choice`, so that what the reasoning brings can be told;
AgMMU asks so for its error analysis (the paper, section 4.4), and PlantXpert reports a reasoned
arm beside the plain one: take the question apart, inspect, compare, answer (its section on prompt
instructions). The last decision of a reply counts.
"""

from collections.abc import Sequence

from fieldtruth.protocols.contract import QuestionProtocol, offered
from fieldtruth.records import Finish, Question, Reading
from fieldtruth.replies import read_choice


class ReasonedChoice:
    """The reasons, then the letter on a line of its own."""

    def suits(self, question: Question) -> bool:
        """Whether it has options."""
        return question.form == "mcq"

    def ask(self, question: Question) -> str:
        """The question, its options, and how to answer."""
        return (
            f"{offered(question)}\n"
            "First reason, in a few sentences: take the question apart, look for what bears on it "
            "in what is shown, and hold that against each option. Then end with a line of its own: "
            "the word Answer, a colon, and the letter of the right option."
        )

    def answer(self, question: Question) -> str:
        """The decision alone: which reasons are right is not known."""
        return f"Answer: {question.answer}"

    def read(self, text: str, options: Sequence[str] | None, finish: Finish) -> Reading:
        """See `replies.read_choice`."""
        return read_choice(text, options, finish)


QUESTIONS: QuestionProtocol = ReasonedChoice()
