"""F1 of boxes at IoU 0.5, from counts pooled over positive images (design, section 6)."""

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: 2 * e.hits,
    bottom=lambda e: e.said_boxes + e.true_boxes,
)
