"""A uniform grey photo of the same size: what a model answers from the words alone.

RGB (128, 128, 128), agroground.md, section 14. The truth is that of the photo which was taken
away: recognition says how often its name is guessed, boxes how well its places are, and every
answer that is not the explicit empty one was given without seeing anything. Healthy photos are
asked too: where abstention on them and false abstention differ, the prompts give the answer away.
"""

import numpy as np

from fieldtruth.controls.contract import Control, Pixels


def _grey(photo: Pixels, _: np.random.Generator) -> Pixels:
    return np.full_like(photo, 128)


CONTROL = Control(photo=_grey, leads=("false_abstention",), questions=True)
