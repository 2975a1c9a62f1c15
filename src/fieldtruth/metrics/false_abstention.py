"""Share of positive images answered with the explicit empty answer."""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: e.empty,
    bottom=lambda e: np.ones_like(e.hits),
)
