"""Share of positives, asked without any name, given one that is, holds or lies in the true one.

Whole words only, the crop's left out: `taxonomy.akin`.
"""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive & e.open,
    top=lambda e: e.akin,
    bottom=lambda e: np.ones_like(e.hits),
)
