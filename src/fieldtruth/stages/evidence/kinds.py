"""What kind of figure it is, by the words of its caption."""

import re
from typing import get_args

from fieldtruth.papers.evidence import FigureType

TYPES: tuple[FigureType, ...] = get_args(FigureType)
# How it is drawn goes before what it is about: a chart of lesions is a chart.
_WORDS: tuple[tuple[FigureType, str], ...] = (
    ("diagram", (
        r"workflow|flow ?chart|pipeline|schematics?|diagrams?|architectures?|framework"
        r"|overview of the (?:method|system|model|approach)"
    )),
    ("chart", (
        r"box ?plots?|scatter ?plots?|histograms?|bar (?:charts?|plots?|graphs?)|heat ?maps?"
        r"|curves?|plots? of|error bars?|confusion matri\w+|correlations?|regressions?|r2"
        r"|progression of|standard (?:error|deviation)s?|anova|f1 score|loss"
    )),
    ("field imagery", (
        r"uavs?|drones?|aerial|satellites?|orthomosaics?|ndvi|multispectral|hyperspectral"
        r"|field (?:view|scene|image|photo)s?"
    )),
    ("disease symptoms", (
        r"diseased?|diseases|symptoms?|lesions?|blights?|rusts?|mildews?|infect\w+|pathogens?"
        r"|spots?|scab|mosaic|wilts?|rot|virus(?:es)?|fung\w+|canker"
    )),
    ("pest damage", (
        r"pests?|insects?|aphids?|larvae?|caterpillars?|beetles?|mites?|whitefl(?:y|ies)|thrips"
        r"|bollworms?|feeding damage|borers?|moths?|weevils?|stink bugs?"
    )),
    ("weeds", r"weeds?|herbicid\w+|palmer amaranth|waterhemp"),
    ("crop yield", r"yields?|grain weight|biomass|harvest\w*|pods? per|bolls? per|lint"),
    ("plant traits", (
        r"leaf|leaves|roots?|canop(?:y|ies)|plants?|stems?|flowers?|seeds?|pods?|bolls?"
        r"|phenotyp\w+|seedlings?|growth|height"
    )),
)  # fmt: skip
_PATTERNS = {name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in _WORDS}
_DRAWN: tuple[FigureType, ...] = ("diagram", "chart", "field imagery")


def kind_of(caption: str) -> FigureType:
    """The type of the closed list that most words of the caption tell, `other` where none does.

    >>> kind_of("Fig. 2. Lesions on leaves."), kind_of("Fig. 3. Box plots of lesions.")
    ('disease symptoms', 'chart')
    """
    count = {name: len(words.findall(caption)) for name, words in _PATTERNS.items()}
    for some in (_DRAWN, tuple(name for name in _PATTERNS if name not in _DRAWN)):
        best = max(some, key=lambda name: count[name])
        if count[best]:
            return best
    return "other"
