"""Domains and challenges of questions about figures, and what models write in their place.

The lists are PlantXpert's (appendix B). Its own prompt shows a challenge that is not on its list,
"Quantitative & Statistical Estimation", so near-names are what models are taught to write.
"""

import re
from collections.abc import Mapping, Sequence

DOMAINS = (
    "Plant Health & Pathology", "Plant Biology & Physiology", "Crop Science & Agronomy",
    "Remote Sensing & Imaging", "Entomology & Weed Science", "Others",
)  # fmt: skip
CHALLENGES = ("Reasoning", "Visual", "Quantitative", "Others")

# Near-name, as `_plain` writes it -> the name of the list.
DOMAIN_ALIASES: Mapping[str, str] = {
    "plant health": DOMAINS[0], "plant pathology": DOMAINS[0], "pathology": DOMAINS[0],
    "phytopathology": DOMAINS[0], "plant disease": DOMAINS[0], "disease": DOMAINS[0],
    "plant protection": DOMAINS[0], "plant pathology and health": DOMAINS[0],
    "plant biology": DOMAINS[1], "plant physiology": DOMAINS[1], "physiology": DOMAINS[1],
    "botany": DOMAINS[1], "plant science": DOMAINS[1], "plant genetics": DOMAINS[1],
    "crop science": DOMAINS[2], "agronomy": DOMAINS[2], "crop science agronomy": DOMAINS[2],
    "soil science": DOMAINS[2], "crop production": DOMAINS[2], "plant breeding": DOMAINS[2],
    "remote sensing": DOMAINS[3], "imaging": DOMAINS[3], "phenotyping and imaging": DOMAINS[3],
    "computer vision": DOMAINS[3], "precision agriculture": DOMAINS[3],
    "entomology": DOMAINS[4], "weed science": DOMAINS[4], "weed management": DOMAINS[4],
    "pest management": DOMAINS[4], "pest control": DOMAINS[4],
    "entomology weed science": DOMAINS[4], "other": DOMAINS[5], "none": DOMAINS[5],
    "general": DOMAINS[5],
}  # fmt: skip
CHALLENGE_ALIASES: Mapping[str, str] = {
    "multi step reasoning": "Reasoning", "multistep reasoning": "Reasoning",
    "logical reasoning": "Reasoning", "causal reasoning": "Reasoning",
    "causal inference": "Reasoning", "spatial reasoning": "Reasoning",
    "temporal reasoning": "Reasoning", "biological reasoning": "Reasoning",
    "expert knowledge": "Reasoning", "expert level reasoning": "Reasoning",
    "domain knowledge": "Reasoning", "negation": "Reasoning", "negation handling": "Reasoning",
    "reasoning and inference": "Reasoning", "inference": "Reasoning", "comparison": "Reasoning",
    "visual recognition": "Visual", "visual perception": "Visual", "visual analysis": "Visual",
    "visual interpretation": "Visual", "visual discrimination": "Visual",
    "fine grained visual recognition": "Visual", "fine grained visual discrimination": "Visual",
    "visual identification": "Visual", "perception": "Visual", "recognition": "Visual",
    "quantitative and statistical estimation": "Quantitative",
    "quantitative statistical estimation": "Quantitative", "counting": "Quantitative",
    "quantitative estimation": "Quantitative", "quantitative reasoning": "Quantitative",
    "quantitative analysis": "Quantitative", "estimation": "Quantitative",
    "measurement": "Quantitative", "statistical reasoning": "Quantitative",
    "numerical reasoning": "Quantitative", "numerical": "Quantitative",
    "statistical": "Quantitative", "quantification": "Quantitative",
    "counting and quantification": "Quantitative", "counting and estimation": "Quantitative",
    "spatial": "Reasoning", "temporal": "Reasoning", "causal": "Reasoning",
    "domain expertise": "Reasoning", "phd level expertise": "Reasoning",
    "visual perception and recognition": "Visual", "other": "Others", "none": "Others",
}  # fmt: skip

_TOLD: tuple[tuple[str, str], ...] = (
    (DOMAINS[0], r"diseas\w*|symptoms?|lesions?|blights?|rusts?|mildews?|infect\w*|pathogens?|scab"
                 r"|spots?|mosaic|wilts?|rot|virus(?:es)?|fung\w+|healthy"),
    (DOMAINS[4], r"insects?|pests?|aphids?|larvae?|beetles?|mites?|moths?|weevils?|borers?"
                 r"|bollworms?|thrips|whitefl(?:y|ies)|weeds?|herbicid\w+"),
    (DOMAINS[3], r"uavs?|drones?|aerial|satellites?|ndvi|multispectral|hyperspectral|rgb|thermal"
                 r"|images?|imagery|segment\w*|classif\w+|networks?|deep learning|f1|train\w*"
                 r"|dataset|grayscale|gray scale|activations?"),
    (DOMAINS[2], r"yields?|sowing|planting|fertili[sz]\w+|irrigat\w+|tillage|cultivars?|plots?"
                 r"|harvest\w*|row spacing|rotation|nitrogen|management"),
    (DOMAINS[1], r"roots?|stomata\w*|photosynth\w+|growth|genes?|expression|chlorophyll|stress"
                 r"|germinat\w+|flower\w*|biomass|height|transpir\w+|drought"),
)  # fmt: skip
_PATTERNS = tuple((name, re.compile(rf"\b(?:{some})\b", re.IGNORECASE)) for name, some in _TOLD)


def domain_of(said: str) -> str | None:
    """The domain that a model means; None where it is none of the six.

    >>> domain_of("plant health and pathology"), domain_of("Entomology"), domain_of("Cooking")
    ('Plant Health & Pathology', 'Entomology & Weed Science', None)
    >>> domain_of("Agronomy / Crop Science")
    'Crop Science & Agronomy'
    """
    return _named(said, DOMAINS, DOMAIN_ALIASES)


def challenge_of(said: str) -> str | None:
    """The challenge that a model means; None where it is none of the four.

    >>> challenge_of("Quantitative & Statistical Estimation"), challenge_of("Hard")
    ('Quantitative', None)
    """
    return _named(said, CHALLENGES, CHALLENGE_ALIASES)


def told_by(words: str) -> str:
    """The domain that most words tell, `Others` where none does.

    >>> told_by("Rust lesions on leaves"), told_by("A map")
    ('Plant Health & Pathology', 'Others')
    """
    count = {name: len(pattern.findall(words)) for name, pattern in _PATTERNS}
    best = max(count, key=lambda name: count[name])
    return best if count[best] else "Others"


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^a-z]+", " ", text.casefold().replace("&", " and ")).split())


def _words(plain: str) -> list[str]:
    """The words, whatever their order: models turn the two halves of a name round."""
    return sorted(word for word in plain.split() if word != "and")


def _named(said: str, names: Sequence[str], aliases: Mapping[str, str]) -> str | None:
    plain = _plain(said)
    for name in names:
        if _words(plain) == _words(_plain(name)):
            return name
    return aliases.get(plain) or aliases.get(plain.replace(" and ", " "))
