"""A question without its photos: what a model answers from the words alone.

The same prompt as ever, and no photo beside it. Items are always asked with their photo, so this is
of questions only. Questions that more models answer so than chance lets them do not test sight;
`fieldtruth guessable` names them (PlantXpert wants items that the figure alone answers).
"""

from fieldtruth.controls.contract import Control
from fieldtruth.records import Item


def _never(_: Item) -> None:
    return None


CONTROL = Control(question=_never, questions=True, bare=True)
