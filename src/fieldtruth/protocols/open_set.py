"""No name is given: say what can be seen and find it, or say that there is nothing.

AgroGround's open-set instruction, in our own words (agroground.md, section 14). The prompt names
no disease, pest or weed, not even as an example, and lists every kind of target whatever the kind
of the truth, so that its words cannot tell which it is; a photo that shows something and a
healthy one are asked alike. Names are graded through the taxonomy, strictly and
leniently (`metrics/open_strict.py`, `metrics/open_lenient.py`).
"""

from fieldtruth.protocols.contract import Protocol
from fieldtruth.records import AskLevel, Finish, Item, Reading, Space
from fieldtruth.replies import read_boxes, spelling, write_boxes

_PLACES: dict[AskLevel, str] = {
    "lesion": "every separate place where it can be seen (a spot, a patch, an insect)",
    "object": "every whole thing that shows it or is it (a leaf, a fruit, a plant, an animal)",
}


class OpenSet:
    """Name what is there in words of the model's own, and locate it."""

    headline = ("open_strict", "open_lenient", "region_iou", "joint", "abstention")

    def suits(self, _: Item) -> bool:
        """Any item: nothing has to be known to ask this."""
        return True

    def names(self, _: Item) -> tuple[str, ...]:
        """None."""
        return ()

    def ask(self, item: Item, space: Space) -> str:
        """The prompt: the same for all items of one wording."""
        return (
            "One of these may be seen in this photo: a plant disease, a pest, a weed, a symptom, "
            "damage from stress, or an object to be found.\n"
            f"Give its name in a few words, and mark {_PLACES[item.wording]} with a box of its "
            "own.\n"
            f"{spelling('the name, in quotes', space)}\n"
            "If there is none of them in the photo, answer with the empty list [] and nothing else."
        )

    def answer(self, item: Item, space: Space) -> str:
        """A box for each true one, under its name; `[]` on a healthy photo."""
        label = item.label or ""
        return write_boxes(item.boxes, label, space, width=item.width, height=item.height)

    def read(self, text: str, space: Space, finish: Finish) -> Reading:
        """See `replies.read_boxes`."""
        return read_boxes(text, space, finish)


PROTOCOL: Protocol = OpenSet()
