"""F1 over lesion images with five or more true boxes (agroground.md, 11.2: "dense")."""

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.lesion & (e.true_boxes >= 5),
    top=lambda e: 2 * e.hits,
    bottom=lambda e: e.said_boxes + e.true_boxes,
)
