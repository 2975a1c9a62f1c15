"""Grading: a model's words -> readings -> sums per item -> values with intervals.

`instruction` opens a protocol with its control, `evidence` reads and measures, `bootstrap` totals
and resamples; all serve scoring, controls and rewards alike. `position` sets the orders of a list
side by side. `published` is frozen: it reproduces the published numbers and serves nothing else.
"""

from fieldtruth.grading.bootstrap import Estimate, Panel, differences, draw, estimates, panel
from fieldtruth.grading.evidence import OUTCOMES, Graded, grade
from fieldtruth.grading.instruction import Instruction, open_protocol
from fieldtruth.grading.position import position

__all__ = [
    "OUTCOMES",
    "Estimate",
    "Graded",
    "Instruction",
    "Panel",
    "differences",
    "draw",
    "estimates",
    "grade",
    "open_protocol",
    "panel",
    "position",
]
