"""What a paper says of one of its figures: passages of its text, and what kind of figure it is."""

from typing import Literal

from fieldtruth.records import Record

By = Literal["rules", "model"]
# PlantXpert (section 2.2) labels figures so, and names three: disease symptoms, pest damage, crop
# yields. The others are ours.
FigureType = Literal[
    "disease symptoms", "pest damage", "weeds", "crop yield", "plant traits", "field imagery",
    "chart", "diagram", "other",
]  # fmt: skip


class Passage(Record, frozen=True, kw_only=True):
    """Words that stand so in the paper's text, hyphens at line ends undone; `page`: where."""

    text: str
    page: int
    by: By


class Evidence(Record, frozen=True, kw_only=True):
    """All that goes with a figure when it is asked about. Its id is the figure's.

    `crop` is the one that its caption names, else the paper's, where that is about a single one.
    """

    id: str
    figure_type: FigureType
    type_by: By
    crop: str | None = None
    passages: tuple[Passage, ...] = ()
