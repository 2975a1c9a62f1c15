"""What an extractor hands over: how it understood a dialogue, or that it could not."""

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

from fieldtruth.records import Category, Dialogue, Knowledge, Record

# Seldom about what a photo shows; they leave before knowledge is looked for (AgMMU, section 3.2).
LEFT_OUT: tuple[Category, ...] = ("growing advice", "other")
NAMING: tuple[Knowledge, ...] = ("disease/issue identification", "insect/pest", "species")


class Stated(Record, frozen=True, kw_only=True):
    """One thing that is said to have been stated, in turn number `turn`, in these `words`."""

    knowledge: Knowledge
    statement: str
    turn: int
    words: str
    certain: bool = True  # as the extractor sees it; the filters look for themselves


class Understood(Record, frozen=True, kw_only=True):
    """A dialogue's category, the living thing asked about, and what was stated in it."""

    category: Category
    species: str | None = None
    stated: tuple[Stated, ...] = ()


class Failure(Record, frozen=True, kw_only=True):
    """A dialogue that could not be understood, which says nothing about what is in it."""

    reason: Literal["model failed", "unreadable reply"]
    why: str


class Extractor(Protocol):
    """`by` names who extracts, with the version of the rules or of model and prompts."""

    @property
    def by(self) -> str: ...

    def read(self, dialogues: Sequence[Dialogue]) -> Iterator[Understood | Failure]:
        """One of the two for each dialogue, in order."""
        ...
