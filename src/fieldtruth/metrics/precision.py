"""Precision: matched boxes over predicted boxes, pooled over positive images."""

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive & (e.said_boxes > 0),
    top=lambda e: e.hits,
    bottom=lambda e: e.said_boxes,
)
