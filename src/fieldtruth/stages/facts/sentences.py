"""A turn's text in sentences, each with where it stands.

Line ends part sentences, as do bullets and numbers at the start of a line; a full stop parts them
where a blank and a new beginning follow and the word before it is no abbreviation. What growers
and experts paste (links, signatures, one endless line) never costs more than linear time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LINE = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_END = re.compile(
    r"[.!?\u2026]{1,3}[\"'\u2019\u201d)\]*]{0,3}(?=\s+[\"'\u2018\u201c(\[*]{0,3}[A-Z0-9]|\s{2,}|$)"
)
# "fungus.It", "2019).The": a blank that e-mail lost. Not in a link, nor between initials.
_LOST = re.compile(r"(?<=[a-z)]{2})[.!?](?=[A-Z][a-z' ])")
_BULLET = re.compile(r"\s*(?:[-*\u2022\u2013>#]+\s+|\(?\d{1,2}[.)]\s+)?")
_SHORT = _words(
    "approx ca cf dept dr e.g eg etc ext fig ft gal i.e ie in inc jr lb lbs ltd mr mrs ms mt "
    "no oz prof sp spp sq st subsp sr tbsp tsp u.s var viz vs"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text` is exactly what stands at `start` of its turn, without its bullet."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The place behind its last letter."""
        return self.start + len(self.text)

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return "?" in self.text[-4:]


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order; blanks around them and bullets before them are in none.

    >>> [each.text for each in sentences("1. See Dr. Lee.  It is E. coli.\\n- Prune it!")]
    ['See Dr. Lee.', 'It is E. coli.', 'Prune it!']
    """
    found = []
    for line in _LINE.finditer(text):
        begin = line.start() + _BULLET.match(line[0]).end()  # type: ignore[union-attr]
        for start, end in _parts(text, begin, line.end()):
            part = text[start:end]
            bare = part.strip()
            if bare:
                at = start + len(part) - len(part.lstrip())
                found.append(Sentence(bare, at))
    return found


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    stops = sorted({m.end() for m in _END.finditer(text, start, end)}
                   | {m.end() for m in _LOST.finditer(text, start, end)})  # fmt: skip
    for stop in stops:
        if stop < end and _abbreviates(text[max(start, stop - 12) : stop]):
            continue
        yield start, stop
        start = stop
    if start < end:
        yield start, end


def _abbreviates(before: str) -> bool:
    """Whether the text ends in an abbreviation or an initial, so that its stop ends nothing."""
    if not before.endswith("."):
        return False
    word = before[:-1].rpartition(" ")[2].lstrip("([\"'*")
    return word.casefold() in _SHORT or (len(word) == 1 and word.isupper() and word != "I")


def around(whole: list[Sentence], start: int, end: int) -> list[Sentence]:
    """The sentences that a span of the text touches."""
    return [each for each in whole if each.start < end and start < each.end]
