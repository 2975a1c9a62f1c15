"""Grading: a model's words -> readings -> sums per item -> values with intervals.

`instruction` opens a protocol with its control, `evidence` reads and measures, `bootstrap` totals
and resamples; all serve scoring, controls and rewards alike. `position` sets the orders of a list
side by side. `published` is frozen: it reproduces the published numbers and serves nothing else.

Questions have a road of their own: `questions` reads and grades replies to them, by equality
(`exact`) and by a `judge`; `grades` is what an answer is worth, `published_questions` what it was
worth as published.
"""

from fieldtruth.grading.bootstrap import Estimate, Panel, differences, draw, estimates, panel
from fieldtruth.grading.evidence import OUTCOMES, Graded, grade
from fieldtruth.grading.instruction import (
    Instruction,
    asks_questions,
    open_protocol,
    open_questions,
    question_control,
)
from fieldtruth.grading.position import position

__all__ = [
    "OUTCOMES",
    "Estimate",
    "Graded",
    "Instruction",
    "Panel",
    "asks_questions",
    "differences",
    "draw",
    "estimates",
    "grade",
    "open_protocol",
    "open_questions",
    "panel",
    "position",
    "question_control",
]
