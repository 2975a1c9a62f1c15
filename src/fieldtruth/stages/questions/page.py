"""The page of a set of questions: its funnel, what it is made of, and some of it to read.

One offline HTML file without scripts; all words are escaped.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from fieldtruth.records import Question, Record
from fieldtruth.stages.questions.settings import TYPES

EXAMPLES = 2  # choices of each type


class Shown(Record, frozen=True, kw_only=True):
    """The figures of a set. `note`: what a reader has to know about the facts."""

    name: str
    note: str | None
    funnel: Mapping[str, int]
    asked: Mapping[str, int]
    categories: Mapping[str, int]
    drops: Mapping[str, int]
    extractors: tuple[str, ...]
    wrong_answers: str
    evaluation: int
    knowledge: int
    seed: int
    code: str


def render(shown: Shown, questions: Sequence[Question]) -> bytes:
    """The page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    here = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    most = max(shown.funnel.values(), default=0)
    rows = [(what, n, 100 * n / most if most else 0) for what, n in shown.funnel.items()]
    return here.get_template("page.html.j2").render(
        shown=shown, funnel=rows, examples=_examples(questions), letters="ABCDEFGHIJ"
    ).encode()  # fmt: skip


def _examples(questions: Sequence[Question]) -> list[Question]:
    """The first choices of each type."""
    choices = [each for each in questions if each.form == "mcq"]
    return [
        each
        for knowledge in TYPES
        for each in [one for one in choices if one.qtype == knowledge][:EXAMPLES]
    ]
