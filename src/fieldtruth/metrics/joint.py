"""Share of positive images named rightly and with a region IoU of at least 0.5.

Design, section 6.
"""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: e.correct & (e.region_iou >= 0.5),
    bottom=lambda e: np.ones_like(e.hits),
)
