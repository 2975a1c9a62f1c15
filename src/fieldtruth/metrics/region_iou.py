"""Mean over positive images of the exact IoU of the two unions of boxes; no boxes is 0."""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: e.region_iou,
    bottom=lambda e: np.ones_like(e.hits),
)
