"""Mean over positive images of each image's own F1 at IoU 0.5 (agroground.md, 11.2)."""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: 2 * e.hits / np.maximum(e.said_boxes + e.true_boxes, 1),
    bottom=lambda e: np.ones_like(e.hits),
)
