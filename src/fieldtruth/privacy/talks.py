"""A dialogue without personal data, and what still has some.

Placeholders stand for what was found (`<<name>>`, `<<phone>>`); the notes count them by kind and
never hold a value. A name found once in a dialogue is looked for in all of it: who is greeted in
one turn is spoken of in the next.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from fieldtruth.privacy import plants, rules
from fieldtruth.privacy.rules import Found
from fieldtruth.records import Dialogue, Record


class Names(Protocol):
    """Who looks for names in running text: the module `names`."""

    def find(self, text: str) -> Sequence[Found]: ...

    def common(self, word: str) -> bool: ...


PERSONAL = "personal data"  # why a dialogue, or what is made of it, is not given out
_NOTE = re.compile(r"(?P<kind>[a-z ]+) hidden: (?P<count>\d+)")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class Looked(Record, frozen=True, kw_only=True):
    """Who looked for personal data in a folder's dialogues, and how much was hidden of each kind.

    `names` says whether names in running text were looked for; `faces` how many photos were and
    how many are flagged, null where nobody looked.
    """

    detectors: tuple[str, ...]
    names: bool
    hidden: dict[str, int]
    faces: dict[str, int] | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Personal data that is still there: in which turn (-1: the title), where, of what kind."""

    turn: int
    start: int
    end: int
    kind: rules.Kind


def scrub(dialogue: Dialogue, names: Names | None = None) -> Dialogue:
    """The dialogue with placeholders for what the rules find, and `names` where it is given.

    What was hidden can bring more to light ("Bo Poe Hi Ann,"), so the rules look again until they
    find nothing: `still_personal` of the result is empty.
    """
    made = _once(dialogue, names)
    while still_personal(made):
        made = _once(made, None)
    return made


def _once(dialogue: Dialogue, names: Names | None) -> Dialogue:
    texts = [dialogue.title, *(turn.text for turn in dialogue.turns)]
    found = [_found(text, names) for text in texts]
    known = _known(texts, found, names)
    hidden: Counter[str] = Counter()
    clean = []
    for text, some in zip(texts, found, strict=True):
        every = _joined(some, _again(text, known))
        hidden.update(each.kind for each in every)
        clean.append(_hide(text, every))
    turns = tuple(
        msgspec.structs.replace(turn, text=text)
        for turn, text in zip(dialogue.turns, clean[1:], strict=True)
    )
    return msgspec.structs.replace(
        dialogue, title=clean[0], turns=turns, notes=_noted(dialogue.notes, hidden)
    )


def still_personal(dialogue: Dialogue) -> tuple[Finding, ...]:
    """What the rules still find in a dialogue. While there is anything, it must not be given out.

    Names in running text are no pattern: whether they were looked for is in the folder's manifest.
    """
    texts = [dialogue.title, *(turn.text for turn in dialogue.turns)]
    return tuple(
        Finding(turn=at - 1, start=each.start, end=each.end, kind=each.kind)
        for at, text in enumerate(texts)
        for each in rules.find(text)
    )


def hidden(notes: Iterable[str]) -> Counter[str]:
    """How much was hidden of each kind, read back from the notes of dialogues.

    >>> hidden(["quoted mail taken out: 2 turns", "name hidden: 3"])
    Counter({'name': 3})
    """
    found: Counter[str] = Counter()
    for note in notes:
        if match := _NOTE.fullmatch(note):
            found[match["kind"]] += int(match["count"])
    return found


def _found(text: str, names: Names | None) -> list[Found]:
    some = rules.find(text)
    return _joined(some, names.find(text)) if names is not None else some


def _joined(some: Sequence[Found], more: Iterable[Found]) -> list[Found]:
    """Both, without those of the second that touch one of the first."""
    extra = [
        each
        for each in more
        if all(each.end <= other.start or other.end <= each.start for other in some)
    ]
    return sorted([*some, *extra])


def _known(
    texts: Sequence[str], found: Sequence[Sequence[Found]], names: Names | None
) -> frozenset[str]:
    """The words of the names that were found, but for those that are everyday words as well."""
    words = {
        word
        for text, some in zip(texts, found, strict=True)
        for each in some
        if each.kind == "name"
        for word in _WORD.findall(text[each.start : each.end])
        if len(word) > 2 and not plants.covers(word) and not (names and names.common(word))
    }
    small = {word for text in texts for word in _WORD.findall(text) if word.islower()}
    return frozenset(word for word in words if word.casefold() not in small)


def _again(text: str, known: frozenset[str]) -> list[Found]:
    spared = plants.spans(text)
    return [
        Found(match.start(), match.end(), "name")
        for match in _WORD.finditer(text)
        if _bare(match[0]) in known
        and not any(start <= match.start() < end for start, end in spared)
    ]


def _bare(word: str) -> str:
    return re.sub(r"['’]s$", "", word)


def _hide(text: str, found: Sequence[Found]) -> str:
    """The text with placeholders; names side by side are one."""
    parts, at = [], 0
    for each in sorted(found):
        parts += [text[at : each.start], f"<<{each.kind}>>"]
        at = each.end
    return re.sub(r"<<name>>(?: <<name>>)+", "<<name>>", "".join([*parts, text[at:]]))


def _noted(notes: tuple[str, ...], more: Counter[str]) -> tuple[str, ...]:
    whole = hidden(notes) + more
    others = tuple(note for note in notes if not _NOTE.fullmatch(note))
    return (*others, *(f"{kind} hidden: {count}" for kind, count in sorted(whole.items())))
