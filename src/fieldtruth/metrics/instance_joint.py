"""Share of positive images named rightly and with at least one box matched at 0.5."""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: e.correct & (e.hits >= 1),
    bottom=lambda e: np.ones_like(e.hits),
)
