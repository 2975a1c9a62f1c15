"""Grading: a model's words -> readings -> sums per item -> values with intervals.

`evidence` reads and measures, `bootstrap` totals and resamples; both serve scoring, controls and
rewards alike. `published` is frozen: it reproduces the published numbers and serves nothing else.
"""

from fieldtruth.grading.bootstrap import Estimate, Panel, differences, draw, estimates, panel
from fieldtruth.grading.evidence import OUTCOMES, Graded, grade, open_protocol

__all__ = [
    "OUTCOMES",
    "Estimate",
    "Graded",
    "Panel",
    "differences",
    "draw",
    "estimates",
    "grade",
    "open_protocol",
    "panel",
]
