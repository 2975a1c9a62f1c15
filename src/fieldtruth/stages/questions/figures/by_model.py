"""Questions that a model writes: what it is asked for a figure, and what its reply is.

The keys of the reply are PlantXpert's (appendix B). The prompt is a file of this package with its
version in its name; the schema beside it is what servers are asked to keep to. A server that does
not keep to it may write near-names and letters in other words; both are understood, and told.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth.models.contract import Request
from fieldtruth.papers.evidence import Evidence
from fieldtruth.papers.records import Figure
from fieldtruth.replies import visible
from fieldtruth.stages.questions.figures.drawn import (
    NO_ANSWER,
    NO_CHALLENGE,
    NO_DOMAIN,
    NOT_FOUR,
    Drawn,
)
from fieldtruth.stages.questions.figures.labels import (
    CHALLENGES,
    DOMAINS,
    challenge_of,
    domain_of,
)
from fieldtruth.taxonomy.spelling import normalise

PROMPT = Path(__file__).with_name("figure_questions.v1.txt")
SCHEMA = Path(__file__).with_name("figure_questions.schema.json")
MOST = 64  # items of one reply; more is a model that repeats itself
_BARE = re.compile(r"^\W*(?:option\s+)?([A-D])\W*$", re.IGNORECASE)
# "A. rust" and "(A) rust", never "A rust", which may be an article before other words, nor
# "C-shaped spots".
_LETTER = re.compile(
    r"^\W*(?:option\s+)?([A-D])\s*(?:[.:)\]]|[^\w\s](?!\w)).*$", re.IGNORECASE | re.DOTALL
)


class Said(msgspec.Struct, frozen=True):
    """One item of a reply, as written."""

    question: str
    options: dict[str, str] | list[str]
    correct_answer: str
    primary_challenge: str
    expert_field: str
    difficulty_explanation: str = ""
    visual_evidence: str = ""


class Reply(msgspec.Struct, frozen=True):
    """What a model writes for a figure."""

    questions: list[Said]


@cache
def _prompt() -> str:
    return PROMPT.read_text(encoding="utf-8")


def request(figure: Figure, evidence: Evidence, count: int, root: Path) -> Request:
    """What the model is asked: the figure, its caption, its evidence."""
    words = _prompt().format(
        count=count, caption=_json(figure.caption),
        passages=_json([each.text for each in evidence.passages]),
        crop=_json(evidence.crop or "not told"), figure_type=evidence.figure_type,
        domains=_json(DOMAINS), challenges=_json(CHALLENGES),
    )  # fmt: skip
    return Request(id=figure.id, prompt=words, images=(root / figure.image,))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read(text: str) -> Reply:
    """The reply. `ValueError` for what is none, and for one without a question."""
    plain = visible.without_fences(visible.without_thinking(text))
    found = msgspec.json.decode(plain, type=Reply)
    if not 0 < len(found.questions) <= MOST:
        raise ValueError(f"expected 1 to {MOST} questions, got {len(found.questions)}")
    return found


def items(figure: Figure, reply: Reply) -> Iterator[Drawn | tuple[str, str, str]]:
    """The items of a reply in its order; (id, reason, detail) for what is none."""
    for at, said in enumerate(reply.questions, start=1):
        name = f"{figure.id}:m{at}"
        made = _item(name, said)
        yield made if isinstance(made, Drawn) else (name, *made)


def _item(name: str, said: Said) -> Drawn | tuple[str, str]:
    given = said.options
    options = list(given.values()) if isinstance(given, dict) else given
    options = [" ".join(each.split()) for each in options]
    if len(options) != 4 or (isinstance(given, dict) and sorted(given) != list("ABCD")):
        return NOT_FOUR, f"{len(options)} options"
    if isinstance(given, dict):
        options = [" ".join(given[letter].split()) for letter in "ABCD"]
    right = _right(said.correct_answer, options)
    if right is None:
        return NO_ANSWER, said.correct_answer
    domain, challenge = domain_of(said.expert_field), challenge_of(said.primary_challenge)
    if domain is None:
        return NO_DOMAIN, said.expert_field
    if challenge is None:
        return NO_CHALLENGE, said.primary_challenge
    return Drawn(
        id=name, question=" ".join(said.question.split()), truth=options[right],
        wrong=tuple(each for at, each in enumerate(options) if at != right), domain=domain,
        challenge=challenge, difficulty=said.difficulty_explanation.strip(),
        visual=said.visual_evidence.strip(), sort="model",
    )  # fmt: skip


def _right(said: str, options: list[str]) -> int | None:
    """The place of the answer: a letter, an option's words, or a letter with more behind it.

    A bare letter is what was asked for: options that are letters, of panels, do not change that.
    """
    plain = normalise(said)
    found = _BARE.match(said)
    same = [at for at, each in enumerate(options) if plain and normalise(each) == plain]
    if found is None and len(same) == 1:
        return same[0]
    found = found or _LETTER.match(said)
    return "ABCD".index(found[1].upper()) if found else None
