"""People who do not exist, planted into what growers and experts really wrote.

The names in `people.txt` were made up for this; they come from no list that Presidio or spaCy
ships. Each is planted once, in one of three ways that a keyed draw picks: where the release put
`<<name>>` (greetings and signatures), for a person who is spoken of ("my neighbor"), and in a
sentence of our own before or after a real one. A keyed draw also picks whether the whole name
stands there, the given name alone, or a title and the family name.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fieldtruth import draws
from fieldtruth.records import Dialogue

PEOPLE = Path(__file__).with_name("people.txt")
TRIED = 4  # of each origin, to try things out with; the others are measured
_SPOKEN_OF = re.compile(
    r"\b(?:[Mm]y|[Oo]ur|[Tt]he) (?:husband|wife|neighbor|friend|landscaper|arborist|client"
    r"|nursery grower|builders)\b(?!')"
)
_FRAMES = (
    "{name} told me about this. {text}", "{text} I asked {name} as well.",
    "{text} That is what {name} thinks, too.", "I am writing for {name}. {text}",
    "{text} {name} from the next farm has the same.", "{text} We got it from {name} last year.",
    "My neighbor {name} sent me here. {text}", "{text} Please answer to {name}, not to me.",
    "{name} and I planted it. {text}", "{text} It grows at the house of {name}.",
)  # fmt: skip


class Person(NamedTuple):
    """Somebody who does not exist."""

    given: str
    family: str
    origin: str


class Planted(NamedTuple):
    """A text with a name in it: where it stands, and in which way it came there."""

    text: str
    name: str
    start: int
    way: str
    origin: str


def people(*, measured: bool) -> Iterator[Person]:
    """The people to measure with, or those to try things out with."""
    for line in PEOPLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        origin, _, names = line.partition(": ")
        given, family = (half.split() for half in names.split(" | "))
        both = list(zip(given, family, strict=True))
        for first, last in both[TRIED:] if measured else both[:TRIED]:
            yield Person(first, last, origin)


def planted(dialogues: Sequence[Dialogue], seed: int, *, measured: bool) -> list[Planted]:
    """Each person in a sentence of these dialogues."""
    sentences = [
        sentence
        for dialogue in dialogues
        for turn in dialogue.turns
        for sentence in re.split(r"(?<=[.!?])\s+", turn.text)
        if 20 < len(sentence) < 300 and "http" not in sentence
    ]
    marked = [each for each in sentences if each.count("<<name>>") == 1]
    spoken = [each for each in sentences if _SPOKEN_OF.search(each)]
    plain = [each for each in sentences if "<<" not in each]
    made = []
    for person in people(measured=measured):
        rng = draws.rng(seed, "plant", f"{person.given} {person.family}")
        name = _form(person, int(rng.integers(4)))
        way = ("marked", "spoken of", "framed")[int(rng.integers(3))]
        if way == "marked":
            before, _, after = str(rng.choice(marked)).partition("<<name>>")
        elif way == "spoken of":
            sentence = str(rng.choice(spoken))
            match = _SPOKEN_OF.search(sentence)
            assert match
            before, after = sentence[: match.start()], sentence[match.end() :]
        else:
            frame = str(rng.choice(_FRAMES)).replace("{text}", str(rng.choice(plain)))
            before, _, after = frame.partition("{name}")
        made.append(Planted(f"{before}{name}{after}", name, len(before), way, person.origin))
    return made


def _form(person: Person, at: int) -> str:
    whole = f"{person.given} {person.family}"
    return (whole, whole, person.given, f"Dr. {person.family}")[at]


def gone(one: Planted, text: str) -> bool:
    """Whether no word of the name is left in what became of the text."""
    words = re.findall(r"[^\W\d_]{2,}", one.name.removeprefix("Dr. "))
    return not any(re.search(rf"\b{re.escape(word)}\b", text) for word in words)
