"""Recall: matched boxes over true boxes, pooled over positive images."""

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: e.hits,
    bottom=lambda e: e.true_boxes,
)
