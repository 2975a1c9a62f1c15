"""What we know about names and the open vocabularies do not say, or say wrongly.

Names as public data sets and growers write them. All keys are normalised and spelled as
`spelling.spelled` leaves them; no target is a key.
"""

from collections.abc import Mapping

# One thing under several names. Left: as written; right: the label id.
SYNONYMS: Mapping[str, str] = {
    "alga": "algae",
    "asochyta blight": "ascochyta blight",
    "bacteria wilt": "bacterial wilt",
    "black measles": "esca",
    "blast disease": "blast",
    "blast of rice": "blast",
    "box elder bug": "boxelder bug",
    "boxelder bug nymph": "boxelder bug",
    "cercospora leaf spot gray leaf spot": "gray leaf spot",  # PlantVillage's maize class
    "citrus greening disease": "citrus greening",
    "crapemyrtle bark scale": "crape myrtle bark scale",
    "damping off disease": "damping off",
    "early leaf blight": "early blight",
    "fussarium wilt": "fusarium wilt",
    "greening june": "citrus greening",  # AgroMind's class
    "greening of citrus": "citrus greening",
    "haunglongbing": "citrus greening",  # PlantVillage's spelling
    "hlb": "citrus greening",
    "huanglongbing": "citrus greening",
    "late leaf blight": "late blight",
    "leaf footed bug": "leaffooted bug",
    "leafminer": "leaf miner",
    "polysora": "southern corn rust",
    "powder mildew": "powdery mildew",
    "rice blast": "blast",
    "rice blast disease": "blast",
    "rusts": "rust",
    "spot clothing wax cicada": "spotted lanternfly",
    "target leaf spot": "target spot",
    "tomato spotted wilt": "tomato spotted wilt virus",
    "tylcv": "tomato yellow leaf curl virus",
    "witches broom disease": "witches broom",
    "ylcv": "tomato yellow leaf curl virus",
    "ylcv virus": "tomato yellow leaf curl virus",
    "zeaemaydis": "gray leaf spot",
    "zeaemaydis tehon and daniels": "gray leaf spot",  # AgroMind's class: half a species' name
}
# One thing on one crop only: (crop id, as written) -> the label id.
OF_CROP: Mapping[tuple[str, str], str] = {
    ("coffee", "miner"): "coffee leaf miner",
    ("tomato", "mold"): "leaf mold",  # PlantDoc's class
    ("tomato", "yellow virus"): "tomato yellow leaf curl virus",  # PlantDoc's class
}
# Words of the data that are not synonyms of the label that they stand beside.
NOT_SYNONYMS: frozenset[tuple[str, str]] = frozenset(
    {("hemp nettle", "dead nettle")}  # Galeopsis and Lamium
)
# What class names put behind a name that says what causes it, that it is one, or how old it is.
# "Virus" is not one of them: it is part of the names that it stands in.
TAILS = (
    "water mold", "fungus", "bacteria", "disease", "damage", "infection", "nymph", "nymphs",
    "larva", "larvae", "adult", "adults",
)  # fmt: skip
