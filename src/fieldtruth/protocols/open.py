"""A question without options: answer in words of one's own.

AgMMU's open questions in our own words (agroground.md, section 15.2), except that the question
itself is always asked: the published runner puts a fixed sentence in its place for management and
symptoms. Those two types, and any question of several true statements, are asked for a full
answer, the others for a short one.
"""

from collections.abc import Sequence

from fieldtruth.protocols.contract import QuestionProtocol, asked
from fieldtruth.records import Finish, Question, Reading
from fieldtruth.replies import read_text

DESCRIBED = ("management instructions", "symptom/visual description")


class Open:
    """Free text."""

    def suits(self, question: Question) -> bool:
        """Whether it is a question without options."""
        return question.form == "open"

    def ask(self, question: Question) -> str:
        """The question, and how long an answer is wanted."""
        how = "Answer in one to three words."
        if len(question.facts) > 1 or question.qtype in DESCRIBED:
            how = "Be descriptive: say each separate point in a sentence of its own."
        return f"{asked(question)}\n{how}"

    def answer(self, question: Question) -> str:
        """The true statements, one a line, or the answer where there are not several."""
        return "\n".join(question.facts) if len(question.facts) > 1 else question.answer

    def read(self, text: str, _: Sequence[str] | None, finish: Finish) -> Reading:
        """See `replies.read_text`."""
        return read_text(text, finish)


QUESTIONS: QuestionProtocol = Open()
