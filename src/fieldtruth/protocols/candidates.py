"""One of four names may apply: say which, and find it, or say that none does.

AgroGround's candidate instruction, in our own words (agroground.md, sections 6 and 7). The names
are numbered, one a line, so a comma in one cannot split it (the published prompt joins them with
commas: section 16.4). They stand in the order frozen on the item. The
wording is the same whatever the kind of the truth, since a list may hold several kinds and the
wording would otherwise tell which of them it is.
"""

from fieldtruth.protocols.contract import Protocol
from fieldtruth.records import AskLevel, Finish, Item, Reading, Space
from fieldtruth.replies import read_boxes, spelling, write_boxes
from fieldtruth.taxonomy import same

_PLACES: dict[AskLevel, str] = {
    "lesion": "every separate place where it can be seen (a spot, a patch, an insect)",
    "object": "every whole thing that shows it or is it (a leaf, a fruit, a plant, an animal)",
}


class Candidates:
    """Choose among the numbered names, and locate the chosen one."""

    headline = ("recognition", "region_iou", "joint", "abstention", "first_option_share")

    def suits(self, item: Item) -> bool:
        """Whether it has a list to choose from."""
        return item.candidates is not None

    def names(self, item: Item) -> tuple[str, ...]:
        """The names on the list, in its order."""
        return item.candidates or ()

    def ask(self, item: Item, space: Space) -> str:
        """The prompt, with the list in the order frozen on the item."""
        lines = [f"{n}. {' '.join(name.split())}" for n, name in enumerate(self.names(item), 1)]
        return (
            "At most one of these can be seen in this photo:\n"
            + "\n".join(lines)
            + f"\nSay which one it is, and mark {_PLACES[item.wording]} with a box of its own.\n"
            f"{spelling('the chosen name, as it is written above', space)}\n"
            "If none of them is in the photo, answer with the empty list [] and nothing else."
        )

    def answer(self, item: Item, space: Space) -> str:
        """A box for each true one, under the name on the list; `[]` where none of them applies."""
        listed = [name for name in self.names(item) if item.label and same(name, item.label)]
        boxes = item.boxes if listed else ()
        label = listed[0] if listed else ""
        return write_boxes(boxes, label, space, width=item.width, height=item.height)

    def read(self, text: str, space: Space, finish: Finish) -> Reading:
        """See `replies.read_boxes`."""
        return read_boxes(text, space, finish)


PROTOCOL: Protocol = Candidates()
