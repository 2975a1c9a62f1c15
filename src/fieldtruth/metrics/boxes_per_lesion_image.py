"""Mean number of predicted boxes over lesion images."""

import numpy as np

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.lesion,
    top=lambda e: e.said_boxes,
    bottom=lambda e: np.ones_like(e.hits),
)
