"""Share of positives, shown a list, whose answer is a name that is not on it."""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive & e.listed,
    top=lambda e: e.named & ~e.in_list,
    bottom=lambda e: np.ones_like(e.hits),
)
