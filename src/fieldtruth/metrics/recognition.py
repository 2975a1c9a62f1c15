"""Share of positive images whose answer names the true label."""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: e.correct,
    bottom=lambda e: np.ones_like(e.hits),
)
