"""What a protocol is: how to ask, what a right reply looks like, and how a reply is read.

All three live in one file, so they cannot drift apart: `read(answer(item)) == truth` for every
item and box space. A protocol's file ends in `PROTOCOL: Protocol = ...`. Boxes are asked for,
written and read in the one space the model declares (design, section 2, rule 4).
"""

from typing import Protocol as Shape

from fieldtruth.records import Finish, Item, Reading, Space


class Protocol(Shape):
    """One instruction. `headline` names the metrics its tables lead with."""

    @property
    def headline(self) -> tuple[str, ...]: ...

    def suits(self, item: Item) -> bool:
        """Whether this item can be asked this way (it has the query or the list)."""
        ...

    def names(self, item: Item) -> tuple[str, ...]:
        """The names the prompt offers, in the order it offers them."""
        ...

    def ask(self, item: Item, space: Space) -> str:
        """The prompt: it never holds the truth beyond what the instruction gives."""
        ...

    def answer(self, item: Item, space: Space) -> str:
        """The right reply: a training target, and what `read` turns back into the truth."""
        ...

    def read(self, text: str, space: Space, finish: Finish) -> Reading:
        """What the words say; never raises, whatever the words."""
        ...
