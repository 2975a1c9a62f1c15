"""F1 over the images whose truth boxes are whole leaves, plants or animals."""

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.object,
    top=lambda e: 2 * e.hits,
    bottom=lambda e: e.said_boxes + e.true_boxes,
)
