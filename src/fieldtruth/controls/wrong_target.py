"""A diseased photo, asked for something that it certainly does not show.

The name is the item's own `absent_query`, frozen with the benchmark: a label of the same crop. So
no draw is needed and nothing can differ between runs; the published control drew among all crops
where its own had no other, and drew anew when it was resumed (agroground.md, section 14). The
right answer is the empty one. Items without an `absent_query`, and healthy photos, are not asked.
"""

from msgspec.structs import replace

from fieldtruth.controls.contract import Control
from fieldtruth.records import Item


def _absent(item: Item) -> Item | None:
    if not item.positive or not item.absent_query:
        return None
    return replace(item, query=item.absent_query)


CONTROL = Control(question=_absent, absent=True, leads=("wrong_target_abstention",))
