"""Share of positives, asked without any name, that are given the true one: label ids equal."""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive & e.open,
    top=lambda e: e.correct,
    bottom=lambda e: np.ones_like(e.hits),
)
