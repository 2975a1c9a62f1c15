"""Precision: matched boxes over predicted boxes, pooled over positive images.

Nothing to measure where no box was predicted on any of them.
"""

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: e.hits,
    bottom=lambda e: e.said_boxes,
)
