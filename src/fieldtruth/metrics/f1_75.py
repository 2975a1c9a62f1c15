"""F1 of boxes at IoU 0.75, from counts pooled over positive images (agroground.md, 11.2)."""

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive,
    top=lambda e: 2 * e.hits_75,
    bottom=lambda e: e.said_boxes + e.true_boxes,
)
