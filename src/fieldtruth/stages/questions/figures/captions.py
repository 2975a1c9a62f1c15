"""What a caption says of each panel of its figure."""

import re
from dataclasses import dataclass

from fieldtruth.papers.records import Figure
from fieldtruth.taxonomy.giveaways import content_words
from fieldtruth.taxonomy.spelling import normalise

_MARK = re.compile(
    r"\(([A-Za-z]|\d{1,2})\)\s*[,.:]?\s*|(?:(?<=[.;:|,] )|^)([A-Za-z])[.):]\s+|"
    r"(?:(?<=[.;:|] )|^)([A-Z]),\s+"
)
_SENTENCE = re.compile(r"(?<=[a-z\d)])(?<!spp)(?<!pv)(?<!sp)(?<!cv)(?<!var)\.\s+(?=[A-Z])")
LONGEST = 120  # characters of a description that is an option


@dataclass(frozen=True, slots=True)
class Said:
    """A caption: its words before the panels, and what each panel is, by its name as printed."""

    head: str
    panels: dict[str, str]


def said(figure: Figure) -> Said:
    """The caption taken apart. A panel that is named twice, or as one of several, is left out."""
    text = figure.caption.removeprefix(figure.label).lstrip(" .:|：│—–-")
    names = {panel.name for panel in figure.panels}
    marks = [each for each in _MARK.finditer(text) if _name(each) in names]
    head = text[: marks[0].start()] if marks else text
    found: dict[str, str] = {}
    twice: set[str] = set()
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(text)
        words = _description(text[mark.end() : end])
        name = _name(mark)
        if name in found:
            twice.add(name)
        found[name] = words
    kept = {name: words for name, words in found.items() if words and name not in twice}
    return Said(head=" ".join(head.split()), panels=kept)


def _name(mark: re.Match[str]) -> str:
    return mark[1] or mark[2] or mark[3]


def _description(text: str) -> str:
    """The first sentence after a panel's mark; nothing where it is no description."""
    words = _SENTENCE.split(" ".join(text.split()))[0].strip(" ,;.:")
    words = re.sub(r"\s*[,;]?\s+(?:and|or)$", "", words)
    if not content_words(words) or len(words) > LONGEST or words.count("(") != words.count(")"):
        return ""
    return words


def apart(panels: dict[str, str]) -> dict[str, str]:
    """The panels whose description holds for no other one: none has all the words of another."""
    words = {name: set(normalise(text).split()) for name, text in panels.items()}
    return {
        name: text for name, text in panels.items()
        if not any(words[name] <= words[other] or words[other] <= words[name]
                   for other in panels if other != name)
    }  # fmt: skip


def counted(panels: dict[str, str]) -> bool:
    """Whether the descriptions count along with the panels (leaf 1, leaf 1, leaf 2): order tells.

    >>> counted({"a": "leaf 1", "b": "leaf 2"}), counted({"a": "rust", "b": "scab in 2019"})
    (True, False)
    """
    numbers = [tuple(map(int, re.findall(r"\d{1,9}", text))) for text in panels.values()]
    return bool(numbers) and all(numbers) and numbers == sorted(numbers) and len(set(numbers)) > 1
