"""Passages that a model proposes: what it is asked, and what its reply is.

The prompt is a file of this package with its version in its name; the schema beside it is what
servers are asked to keep to. What is proposed counts only where it stands in the paper.
"""

import json
from functools import cache
from pathlib import Path

import msgspec

from fieldtruth.models.contract import Request
from fieldtruth.papers.evidence import FigureType
from fieldtruth.papers.records import Figure
from fieldtruth.replies import visible
from fieldtruth.stages.evidence.kinds import TYPES

PROMPT = Path(__file__).with_name("proposed.v1.txt")
SCHEMA = Path(__file__).with_name("proposed.schema.json")
MOST = 12  # passages of one figure; more is a model that copies the paper
LONGEST = 200_000  # characters of a paper that are sent


class Proposal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model says of a figure."""

    figure_type: FigureType
    passages: list[str]


@cache
def _prompt() -> str:
    return PROMPT.read_text(encoding="utf-8")


def request(figure: Figure, text: str, root: Path) -> Request:
    """What the model is asked: the figure, its caption, and the whole paper (PlantXpert, 2.2)."""
    words = _prompt().format(
        most=MOST, types=", ".join(TYPES), label=json.dumps(figure.label, ensure_ascii=False),
        caption=json.dumps(figure.caption, ensure_ascii=False),
        text=json.dumps(text[:LONGEST], ensure_ascii=False),
    )  # fmt: skip
    return Request(id=figure.id, prompt=words, images=(root / figure.image,))


def read(text: str) -> Proposal:
    """The reply. `ValueError` for what is none.

    >>> read('{"figure_type": "chart", "passages": []}').figure_type
    'chart'
    """
    plain = visible.without_fences(visible.without_thinking(text))
    said = msgspec.json.decode(plain, type=Proposal)
    if len(said.passages) > 4 * MOST:
        raise ValueError(f"expected at most {MOST} passages, got {len(said.passages)}")
    return said
