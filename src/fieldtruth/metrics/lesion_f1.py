"""F1 over the images whose truth boxes are single lesions."""

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.lesion,
    top=lambda e: 2 * e.hits,
    bottom=lambda e: e.said_boxes + e.true_boxes,
)
