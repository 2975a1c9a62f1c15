"""F1 over every positive that is not a lesion image with five or more true boxes.

The complement of `dense_f1` (design, section 5).
"""

from fieldtruth.metrics.contract import Metric, Ratio

METRIC: Metric = Ratio(
    speaks_of=lambda e: e.positive & ~(e.lesion & (e.true_boxes >= 5)),
    top=lambda e: 2 * e.hits,
    bottom=lambda e: e.said_boxes + e.true_boxes,
)
