"""Region IoU over the positive images that were answered with boxes."""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive & (e.said_boxes > 0),
    top=lambda e: e.region_iou,
    bottom=lambda e: np.ones_like(e.hits),
)
