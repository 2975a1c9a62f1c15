"""The list of names rotated by 2: the third name stands first. The truth is the same."""

from functools import partial

from fieldtruth.controls.contract import Control, rotated

CONTROL = Control(question=partial(rotated, by=2))
