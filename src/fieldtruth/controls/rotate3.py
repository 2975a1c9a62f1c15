"""The list of names rotated by 3: the fourth name stands first. The truth is the same."""

from functools import partial

from fieldtruth.controls.contract import Control, rotated

CONTROL = Control(question=partial(rotated, by=3))
