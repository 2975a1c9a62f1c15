"""Of positives answered with a listed candidate, the share that name the first.

A model without a bias for the position is near the share of items whose truth stands first.
"""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive & e.listed & e.in_list,
    top=lambda e: e.first,
    bottom=lambda e: np.ones_like(e.hits),
)
