"""What a photo's folder says: CROP,DISEASE, or its old Chinese name, or one part of each."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from fieldtruth import rows
from fieldtruth.records import Kind
from fieldtruth.taxonomy import crop_id, label_id, normalise


@dataclass(frozen=True, slots=True)
class Name:
    """What a target is called, with its crop."""

    kind: Kind
    label: str
    crop: str | None


@dataclass(frozen=True, slots=True)
class Folder:
    """What a folder's name says. `name` is None where it is healthy or cannot be read.

    `forms` are the ways that an answer may write the name, as `plain_text` makes them, the longest
    first; `plants` the last words of its crop's names.
    """

    crop: str | None
    name: Name | None
    healthy: bool
    forms: tuple[str, ...] = ()
    plants: frozenset[str] = frozenset()

    def says_crop(self, plain: str) -> bool:
        """Whether a plain text names the crop by the folder's own word for it."""
        return not self.plants.isdisjoint(plain.replace(".", " ").replace(",", " ").split())


_ASIDE = re.compile(r"\([^)]*\)")
_BEYOND = "\u0370"  # where letters other than Latin ones begin: Greek, Cyrillic, Chinese
CROPS = {
    "小麦": "wheat", "橙子": "orange", "水稻": "rice", "番茄": "tomato", "苹果": "apple",
    "玉米": "maize", "葡萄": "grape", "马铃薯": "potato", "土豆": "potato", "大豆": "soybean",
    "草莓": "strawberry", "樱桃": "cherry", "桃子": "peach", "桃": "peach", "辣椒": "pepper",
    "甜椒": "pepper", "蓝莓": "blueberry", "树莓": "raspberry", "南瓜": "squash",
}  # fmt: skip
DISEASES = {
    "健康": "healthy", "叶锈病": "leaf rust", "散黑穗病": "loose smut", "条锈病": "stripe rust",
    "斑枯病": "septoria leaf spot", "根腐病": "root rot", "秆锈病": "stem rust",
    "东格鲁病毒病": "tungro", "叶枯病": "leaf blight", "黑粉病": "leaf smut", "叶霉病": "leaf mold",
    "早疫病": "early blight", "晚疫病": "late blight", "白粉病": "powdery mildew",
    "细菌性斑点病": "bacterial spot", "花叶病毒病": "mosaic virus", "花叶病": "mosaic virus",
    "黄化曲叶病毒病": "yellow leaf curl virus", "斑点落叶病": "alternaria blotch",
    "灰斑病": "gray spot", "褐斑病": "brown spot", "锈病": "rust", "黑斑病": "scab",
    "青蛙眼叶斑病": "frogeye leaf spot",
}  # fmt: skip


@lru_cache(maxsize=4096)
def read_folder(place: str) -> Folder:
    """Crop and disease of a photo's folder, given by its name or its path.

    >>> read_folder("Corn,Gray Leaf Spot").name
    Name(kind='disease', label='gray leaf spot', crop='maize')
    >>> read_folder("小麦健康").crop, read_folder("小麦健康").healthy
    ('wheat', True)
    """
    text = place.rpartition("/")[2]
    plant, comma, name = text.replace("\uff0c", ",").partition(",")
    if not comma:
        plant = next((word for word in CROPS if text.startswith(word)), "")
        name = text.removeprefix(plant) if plant else ""
        name = name if name in DISEASES else ""
    plant, name = _english(plant, CROPS), _english(name, DISEASES)
    plant, name = _ASIDE.sub(" ", plant), name.strip()  # Corn (maize)
    crop = crop_id(plant) if normalise(plant) else None
    plants = frozenset(word.split()[-1] for word in (normalise(plant), crop) if word)
    if normalise(name) in ("healthy", "healthy leaf", "healthy leaves", "normal"):
        return Folder(crop, None, healthy=True, plants=plants)
    if not normalise(name):
        return Folder(crop, None, healthy=False, plants=plants)
    label = label_id(name, crop)
    asides = (aside[1:-1] for aside in _ASIDE.findall(name))
    forms = {plain_text(each) for each in (name, _ASIDE.sub(" ", name), *asides, label)}
    forms |= {form.removesuffix(" disease") for form in forms}
    return Folder(
        crop,
        Name(rows.kind_of(name, crop), label, crop),
        healthy=False,
        forms=tuple(sorted(filter(None, forms), key=lambda form: (-len(form), form))),
        plants=plants,
    )


def _english(part: str, words: Mapping[str, str]) -> str:
    """A part of a folder's name in English; "" where it is in Chinese and not of these words.

    >>> [_english(part, CROPS) for part in (" \u82f9\u679c", "Apple", "\u602a\u75c5")]
    ['apple', 'Apple', '']
    """
    found = words.get(part.strip(), part)
    return "" if other_letters(found) else found


def other_letters(text: str) -> int:
    """How many letters of a text are not Latin: a text of few others is not in English.

    >>> other_letters("caf\u00e9 5 mm"), other_letters("\u82f9\u679c 5 mm")
    (0, 2)
    """
    return 0 if text.isascii() else sum(each.isalpha() and each >= _BEYOND for each in text)


def plain_text(text: str) -> str:
    """Case, hyphens, apostrophes and British spellings made one; stops stay, for they end clauses.

    Done for every answer, so in plain replacements.
    """
    text = text.casefold()
    if "-" in text:
        text = text.replace("-", " ")
    if "_" in text:
        text = text.replace("_", " ")
    if "\u2019" in text:
        text = text.replace("\u2019", "'")
    if "grey" in text:
        text = text.replace("grey", "gray")
    if "mould" in text:
        text = text.replace("mould", "mold")
    return text.strip() if "  " not in text else " ".join(text.split())
