"""Share of healthy images answered with the explicit empty answer, and nothing else.

Prose, unreadable words and failed calls abstain from nothing (design, section 2, rule 1).
"""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.healthy,
    top=lambda e: e.empty,
    bottom=lambda e: np.ones_like(e.hits),
)
