"""Share of positive images whose answer names the true label.

The answer is the majority label of its boxes; ties: the first given (design, section 6).
"""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: e.correct,
    bottom=lambda e: np.ones_like(e.hits),
)
