"""Where running text speaks of a figure: "Fig. 3", "Figure 3a", "Figs 2-4 and 6", "Fig. S1".

Figures of the supplement, of extended data and of appendices have names of their own (S1, E1, A1),
so that "Supplementary Fig. 1" is none of "Fig. 1". A figure of somebody else's paper is none.
"""

import re
from collections.abc import Iterator

_BEFORE = (
    r"(?P<before>(?:supplement(?:ary|al)|suppl?\.?|online|additional|extended\s+data|appendix)\s+)?"
)
_WORD = r"(?:fig(?:ure|ura|uur)?(?P<many>s)?|abb(?:ildung(?:en)?)?|afb|рис(?:ун\w+)?|图|圖|図|그림)"
_ONE = (
    r"(?P<number>(?:[A-ES]\s?[.-]?\s?)?\d{1,3}(?:\.\d{1,2})*)"
    r"(?P<panel>[a-zA-Z](?![a-zA-Z])(?:\s?[-–,&]\s?[a-zA-Z](?![\w]))*)?"
    r"(?P<asides>\s?\([a-zA-Z](?:\s?[-–,]\s?[a-zA-Z])*\))?(?!\w)"
)
_FIRST = re.compile(rf"(?<![A-Za-z]){_BEFORE}{_WORD}\.?\s*{_ONE}", re.IGNORECASE)
_NEXT = re.compile(
    rf"\s*(?P<join>,\s*(?:and|und|et|y)\b|[,;&]|(?:and|und|et|y|to|bis)\b|[-–—])\s*{_ONE}",
    re.IGNORECASE,
)
_RANGE = frozenset(("-", "–", "—", "to", "bis"))
_MOST = 30  # figures that a range may span
# What follows is the paper that the figure is of.
_ELSEWHERE = re.compile(
    r"[)\]]?,?\s*(?:of|in|from|by)\s+(?:refs?\b|reference\b|\[\d|[A-Z][\w'’-]+"
    r"(?:\s+(?:et\s+al|and|&)\b|,?\s*\(?(?:19|20)\d\d))"
)


def name_of(number: str, before: str = "") -> str:
    """One name for every way a figure's number is written.

    >>> name_of("S 2"), name_of("2", "Supplementary "), name_of("2"), name_of("1", "Extended data")
    ('S2', 'S2', '2', 'E1')
    """
    plain = re.sub(r"\s", "", number).upper()
    found = re.match(r"([A-Z])[.-]?(?=\d)", plain)
    letter = found[1] if found else ""
    rest = plain[found.end() :] if found else plain
    word = before.strip().casefold()
    if word and not letter:
        letter = "E" if word.startswith("extended") else "A" if word.startswith("app") else "S"
    return letter + rest


def of_figure(number: str, label: str) -> str:
    """The name of a figure that was cut out, by its number and its label."""
    before = re.match(_BEFORE, label, re.IGNORECASE)
    return name_of(number, before["before"] or "" if before else "")


def mentioned(text: str, known: frozenset[str]) -> Iterator[str]:
    """The names of all figures that a text speaks of, of those that are `known`, each once.

    >>> sorted(mentioned("See Figs. 2-4 and S1.", frozenset(("1", "2", "3", "4", "S1"))))
    ['2', '3', '4', 'S1']
    """
    there: dict[str, None] = {}
    for first in _FIRST.finditer(text):
        names, end = _listed(text, first)
        if not _ELSEWHERE.match(text, end):
            there.update(dict.fromkeys(each for each in names if each in known))
    yield from there


def _listed(text: str, first: re.Match[str]) -> tuple[list[str], int]:
    """The names in one list of figures, and where it ends."""
    before = first["before"] or ""
    names = list(_of_one(first, before))
    last, end = name_of(first["number"], before), first.end()
    while more := _NEXT.match(text, end):
        join = more["join"].casefold()
        name = name_of(more["number"], before)
        if join in _RANGE:
            names += _between(last, name)
        elif not _is_listed(text, first, more):
            break
        names += _of_one(more, before)
        last, end = name, more.end()
    return names, end


def _of_one(found: re.Match[str], before: str) -> Iterator[str]:
    """The figure's name; and with its panel, and without what may be no part of its number."""
    name = name_of(found["number"], before)
    yield name
    if found["panel"]:
        yield name + found["panel"][0].upper()
    if "." in name:
        yield name.partition(".")[0]


def _is_listed(text: str, first: re.Match[str], more: re.Match[str]) -> bool:
    """Whether a number after a comma is a figure's: "Fig. 2, 30 plants" counts plants."""
    if first["many"] or more["panel"] or more["join"].strip(", ").isalpha() or more["join"] == "&":
        return True
    return re.match(r"\s*(?:[)\].;,]|$)", text[more.end() :]) is not None


def _between(low: str, high: str) -> list[str]:
    a, b = re.fullmatch(r"([A-Z]?)(\d+)", low), re.fullmatch(r"([A-Z]?)(\d+)", high)
    if a is None or b is None or b[1] not in ("", a[1]) or not 0 < int(b[2]) - int(a[2]) <= _MOST:
        return []
    return [f"{a[1]}{at}" for at in range(int(a[2]) + 1, int(b[2]) + 1)]
