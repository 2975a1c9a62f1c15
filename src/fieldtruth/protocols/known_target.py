"""The target is named: find every place that shows it, or say that it is not there.

AgroGround's known-target instruction, in our own words (agroground.md, section 6, "clause
phrasing"): the bare label, lesion or object wording, a JSON list, and one last sentence that asks
for an empty list when there is nothing. A photo that shows the target and a healthy one
are asked in exactly the same words, so the prompt cannot give the answer away. The words fit the
kind of target; for a healthy photo, of what it is asked about (`ask_kind`).
"""

import json

from fieldtruth.protocols.contract import Protocol
from fieldtruth.records import AskLevel, Finish, Item, Kind, Reading, Space
from fieldtruth.replies import read_boxes, spelling, write_boxes
from fieldtruth.taxonomy import same

# What one box goes around, by kind of target; for the object level with the whole thing named.
_PLACES: dict[tuple[AskLevel, Kind], str] = {
    ("lesion", "disease"): "every separate spot or patch of the plant that {} has affected",
    ("lesion", "pest"): "every single {} that can be seen, wherever it sits",
    ("lesion", "weed"): "every separate {} plant",
    ("lesion", "symptom"): "every separate region that shows {}",
    ("lesion", "stress"): "every separate region of the plant that suffers from {}",
    ("lesion", "object"): "every single {}",
    ("object", "disease"): "every whole leaf, fruit or plant that {} has affected",
    ("object", "pest"): "every whole {}, or the whole group where they cannot be told apart",
    ("object", "weed"): "every whole {} plant, or the whole stand where they grow together",
    ("object", "symptom"): "every whole leaf, fruit or plant that shows {}",
    ("object", "stress"): "every whole leaf, fruit or plant that suffers from {}",
    ("object", "object"): "every whole {}",
}


class KnownTarget:
    """Locate what the prompt names."""

    headline = ("f1", "region_iou", "abstention", "false_abstention")

    def suits(self, item: Item) -> bool:
        """Whether it has a target to ask about."""
        return bool(item.query)

    def names(self, item: Item) -> tuple[str, ...]:
        """The one name the prompt gives."""
        return (item.query,) if item.query else ()

    def ask(self, item: Item, space: Space) -> str:
        """The prompt; the target stands in quotes, so no comma in it can be misread."""
        target = json.dumps(item.query or "", ensure_ascii=False)
        place = _PLACES[item.wording, item.asked_kind].format(target)
        return (
            f"Look for {target} in this photo. Mark {place} with a box of its own.\n"
            f"{spelling(target, space)}\n"
            f"If {target} is nowhere in the photo, answer with the empty list [] and nothing else."
        )

    def answer(self, item: Item, space: Space) -> str:
        """A box for each true one, under the name that was asked for; `[]` where it is absent."""
        there = item.query is not None and item.label is not None and same(item.query, item.label)
        boxes = item.boxes if there else ()
        return write_boxes(boxes, item.query or "", space, width=item.width, height=item.height)

    def read(self, text: str, space: Space, finish: Finish) -> Reading:
        """See `replies.read_boxes`."""
        return read_boxes(text, space, finish)


PROTOCOL: Protocol = KnownTarget()
