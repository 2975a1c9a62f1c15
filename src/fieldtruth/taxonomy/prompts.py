"""What a detector is asked to find: the name, how it looks, and where on which crop.

    early blight, brown dead patches on tomato leaf
    root rot, soft dark decay on avocado root
    colorado beetle

The organ is read off the words of the name ("ear rot" is on the ear), then off the data's hint; the
leaf is said only where the name is of something that shows on leaves, and else the crop alone.
Insects and weeds stand alone. A crop or organ that the name holds already is not said twice. The
look is, in this order: the recipe's own prompt as it stands, a cue that a person or a model wrote
(`cues`), or what the words of the name say.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fieldtruth.records import Kind
from fieldtruth.taxonomy.data import label
from fieldtruth.taxonomy.resolve import crop_id, label_id
from fieldtruth.taxonomy.spelling import normalise, one_crop_name, spellings

# The first organ one of whose words the name has. "Crown rust" is a rust of leaves: `_NOT_ORGANS`.
_ORGANS: Mapping[str, str] = {
    "root": "root", "roots": "root", "clubroot": "root", "rhizome": "root", "tuber": "tuber",
    "tubers": "tuber", "bulb": "bulb", "bulbs": "bulb", "corm": "corm", "crown": "crown",
    "collar": "stem base", "foot": "stem base", "ear": "ear", "cob": "ear", "kernel": "ear",
    "head": "head", "panicle": "panicle", "spike": "head", "glume": "head", "grain": "grain",
    "fruit": "fruit", "berry": "fruit", "drupe": "fruit", "pod": "pod", "boll": "boll",
    "bunch": "fruit", "cluster": "fruit", "blossom": "flower", "flower": "flower",
    "inflorescence": "flower", "seed": "seed", "cone": "cone", "needle": "needles",
    "needles": "needles", "needlecast": "needles", "bark": "bark", "trunk": "trunk",
    "butt": "trunk", "canker": "branch", "twig": "twig", "branch": "branch", "limb": "branch",
    "shoot": "shoot", "tip": "shoot", "cane": "cane", "stalk": "stalk", "stem": "stem",
    "pseudostem": "stem", "sheath": "leaf sheath", "petiole": "petiole", "neck": "neck",
    "bud": "bud", "leaf": "leaf", "leaves": "leaf", "foliar": "leaf", "foliage": "leaf",
    "leafroll": "leaf", "spur": "spur",
}  # fmt: skip
# Names whose words would mislead, and common names that no word tells the organ of.
_OF_NAME: Mapping[str, str] = {
    "black knot": "branch", "blossom end rot": "fruit", "botryosphaeria canker": "branch",
    "brown rot": "fruit", "bunt": "head", "common scab": "tuber", "common smut": "ear",
    "corn smut": "ear", "crown gall": "stem base", "crown rust": "leaf", "cytospora canker": "bark",
    "ergot": "head", "fire blight": "shoot", "fusarium head blight": "head",
    "loose smut": "head", "powdery scab": "tuber", "silver scurf": "tuber",
    "black scurf": "tuber", "soft rot": "", "stem rust": "stem", "take all": "root",
    "citrus canker": "leaf", "asiatic canker": "leaf", "bitter rot": "fruit",
}  # fmt: skip
_OF_PART: Mapping[str, str] = {
    "bark": "bark", "flower": "flower", "fruit": "fruit", "leaf": "leaf", "root": "root",
    "seed": "seed", "stem": "stem",
}  # fmt: skip
_ON_LEAVES = {
    "anthracnose", "blast", "blotch", "blight", "chlorosis", "curl", "eyespot", "freckle",
    "mildew", "mold", "mosaic", "mottle", "ringspot", "rust", "scab", "scorch", "speckle", "spot",
    "streak", "stripe", "yellows",
}  # fmt: skip
# How it looks, by the words of the name; the first that fits, two words before one.
_LOOKS: Mapping[str, str] = {
    "powdery mildew": "white powdery coating",
    "downy mildew": "yellow patches with gray downy growth",
    "sooty mold": "black sooty film",
    "gray mold": "gray fuzzy growth",
    "leaf mold": "pale patches with olive velvety growth",
    "black rot": "dark rotten patches",
    "soft rot": "soft wet decay",
    "root rot": "soft dark decay",
    "fire blight": "blackened wilted tips",
    "leaf miner": "winding pale tunnels",
    "leaf curl": "curled and thickened parts",
    "ring spot": "ring-shaped spots",
    "witches broom": "dense bunched shoots",
    "rust": "rusty orange pustules",
    "smut": "black powdery masses",
    "bunt": "black powdery grains",
    "mosaic": "light and dark green mottling",
    "mottle": "light and dark green mottling",
    "yellows": "yellowing",
    "chlorosis": "yellowing",
    "deficiency": "discoloured parts",
    "anthracnose": "sunken dark spots",
    "scab": "rough corky spots",
    "canker": "sunken cracked patches",
    "gall": "swollen lumps",
    "knot": "swollen black lumps",
    "wilt": "drooping parts",
    "blight": "brown dead patches",
    "blotch": "large irregular brown patches",
    "scorch": "brown dry edges",
    "scald": "bleached dry patches",
    "blast": "spindle-shaped gray spots",
    "streak": "long narrow stripes",
    "stripe": "long narrow stripes",
    "ringspot": "ring-shaped spots",
    "curl": "curled and thickened parts",
    "mildew": "pale coating",
    "mold": "fuzzy growth",
    "rot": "soft brown decay",
    "necrosis": "brown dead tissue",
    "spot": "small round spots",
    "speckle": "tiny dots",
    "scurf": "dark flaky crust",
    "dieback": "dead tips",
}
_COLOURS = ("black", "brown", "gray", "green", "orange", "pink", "purple", "red", "white", "yellow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a detector is asked: one line of text, and where its parts are from.

    `source` is `recipe`, `cue` or `words`; `organ` and `look` are empty where nothing tells.
    """

    text: str
    label: str
    organ: str
    look: str
    source: str


def grounding_prompt(
    name: str,
    *,
    kind: Kind | None = None,
    crop: str | None = None,
    recipe: Mapping[str, str] | None = None,
    cues: Mapping[str, str] | None = None,
) -> Prompt:
    """The prompt for one label. `recipe` holds whole prompts and `cues` looks, by label id.

    A key is a label id, or `label id@crop id` for one crop alone, which comes first.

    >>> grounding_prompt("corn ear rot", crop="maize").text
    'ear rot, soft brown decay on maize ear'
    >>> grounding_prompt("Colorado beetle", crop="potato").text
    'colorado beetle'
    """
    own = crop_id(crop) if crop else None
    plain = label_id(name, own)
    what = label(plain)
    kind = kind or (what.kind if what else "disease")
    given = _given(recipe, plain, own)
    organ = "" if kind in ("pest", "weed", "object") else organ_of(name) or organ_of(plain)
    if given:
        return Prompt(text=given, label=plain, organ=organ, look="", source="recipe")
    cue = _given(cues, plain, own)
    look = cue or ("" if kind in ("pest", "weed", "object") else look_of(plain))
    text = f"{plain}, {look}" if look else plain
    if kind not in ("pest", "weed", "object"):
        text += _where(plain, own, organ)
    return Prompt(text=text, label=plain, organ=organ, look=look, source="cue" if cue else "words")


def organ_of(name: str) -> str:
    """The organ that a disease shows on, or "" where neither its name nor the data tell.

    >>> organ_of("fusarium ear rot"), organ_of("early blight"), organ_of("verticillium wilt")
    ('ear', 'leaf', '')
    """
    plain = label_id(name)
    for whole, organ in _OF_NAME.items():
        if f" {whole} " in f" {plain} ":
            return organ
    words = plain.split()
    found = {_ORGANS[word] for word in words if word in _ORGANS}
    if found:
        return "leaf" if "leaf" in found else next(_ORGANS[w] for w in words if w in _ORGANS)
    what = label(plain)
    hint = _OF_PART.get(what.part, "") if what else ""
    if hint:
        return hint
    return "leaf" if not _ON_LEAVES.isdisjoint(words) else ""


def look_of(name: str) -> str:
    """How a symptom looks, as far as the words of its name tell.

    >>> look_of("powdery mildew"), look_of("brown spot"), look_of("huanglongbing")
    ('white powdery coating', 'small round brown spots', '')
    """
    padded = f" {label_id(name)} "
    look = next((look for words, look in _LOOKS.items() if f" {words} " in padded), "")
    colour = next((each for each in _COLOURS if f" {each} " in padded), "")
    if colour and look.startswith("small round"):
        return f"small round {colour} spots"
    return look


def _where(plain: str, crop: str | None, organ: str) -> str:
    """`on tomato leaf`, without what the name has already."""
    held = f" {one_crop_name(plain)} "
    if crop and any(f" {word} " in held for word in spellings(crop)):
        crop = None
    place = " ".join(filter(None, (crop, organ)))
    return f" on {place}" if place else ""


def _given(table: Mapping[str, str] | None, plain: str, crop: str | None) -> str:
    """The entry for this label, that of the crop first, on one line: a file may break it."""
    if not table:
        return ""
    known = {_key(key): " ".join(text.split()) for key, text in table.items()}
    return known.get(f"{plain}@{crop}", "") or known.get(plain, "")


def _key(key: str) -> str:
    name, at, crop = key.partition("@")
    own = crop_id(crop) if normalise(crop) else None
    return f"{label_id(name, own)}{at}{own or ''}"
