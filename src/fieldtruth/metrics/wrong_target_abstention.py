"""Asked for what its photo certainly does not show: the share of explicit empty answers.

The control `+wrong_target` (agroground.md, section 14): diseased photos, each with a name of its
crop that was frozen as absent. Prose and unreadable words abstain from nothing.
"""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.absent,
    top=lambda e: e.empty,
    bottom=lambda e: np.ones_like(e.hits),
)
