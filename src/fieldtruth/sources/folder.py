"""A folder of anyone's own photos, in class folders or not.

`ROOT/CLASS/photo.jpg`, at any depth; CLASS is the name of the folder that the photo lies in, such
as `Tomato___Late_blight`, `Pepper__bell___healthy` or `rust`. A folder named train, val or test
above it gives the split. A photo straight under ROOT has no class: it can be shown to a model and
not scored. A folder holds no boxes, so `annotate` drops every target.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fieldtruth import detections, images, store, taxonomy
from fieldtruth.faults import Refused, Unreadable, Usage
from fieldtruth.records import Annotation, Drop, Healthy, Kind, Record, Sample, Target
from fieldtruth.sources.contract import Source
from fieldtruth.taxonomy import crop_id, label_id, normalise

SUFFIXES = frozenset(
    (".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png", ".webp", ".tif", ".tiff", ".bmp", ".gif")
)
SPLITS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "test": "test",
    "testing": "test",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Crops that class names of public leaf sets begin with where nothing but one `_` parts them from
# the disease (PlantVillage, PlantDoc, Paddy Doctor, cassava and cotton sets).
CROPS = _words(
    "apple apricot avocado banana barley bean beans blackberry blueberry cabbage capsicum cassava "
    "cherry chili chilli citrus coffee corn cotton cucumber eggplant grape grapes grapevine guava "
    "jamun jute lemon lettuce maize mango melon millet oat okra olive onion orange paddy papaya "
    "pea peach peanut pear pepper plum pomegranate potato pumpkin radish raspberry rice rye "
    "sorghum soy soyabean soybean spinach squash strawberry sugarcane sunflower tea tobacco tomato "
    "watermelon wheat zucchini"
)
TWO_WORDS = {name for name in taxonomy.CROPS if " " in name}
# Words that say that it is a photo of a plant, and nothing about what is wrong with it.
PLAIN = _words("fresh green image images leaf leaves photo photos plant plants")
NAMELESS = _words(
    "affected background bad damaged disease diseased diseases ill infected other others sick "
    "unhealthy unknown without"
)
PESTS = _words(
    "aphid aphids armyworm beetle beetles borer bug bugs caterpillar caterpillars fly hispa "
    "hopper jassid leafhopper leafminer locust mealybug miner miners mite mites moth thrips "
    "weevil whitefly worm worms"
)
STRESSES = _words(
    "burn chlorosis deficiency drought frost hail herbicide nutrient scald scorch stress sunburn "
    "sunscald waterlogging"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a class name says: its crop, and the label, `healthy`, or nothing that can be used."""

    crop: str | None
    label: str | None
    healthy: bool


class Settings(Record, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    licence: str = "not stated"


class Folder:
    """The licence is the user's to know: nothing in a folder states it. `licence=` does."""

    paper = "none: a folder of photos"
    reasons = (
        "unsafe_path",
        "not_an_image",
        "unreadable",
        "no_class",
        "class_names_nothing",
        "no_boxes",
    )
    exhaustive = False  # a class name tells what is on a photo, and not what is not

    def __init__(self, settings: Settings) -> None:
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """Every file below the root, by its path; what is no photo is a drop. May raise `Usage`."""
        if not root.is_dir():
            raise Usage(f"{root}: expected a folder of photos, got something else")
        for place in sorted(_files(root)):
            yield _sample(root, place, self.licence)

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """What the folder's name says."""
        name = sample.native["class"]
        if not name:
            yield _drop(sample.images[0], "label", "no_class", "the photo lies in no class folder")
            return
        said = read_class(name)
        if said.healthy:
            yield Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop=said.crop)
        elif said.label is None:
            yield _drop(sample.images[0], "label", "class_names_nothing", name)
        else:
            yield Target(
                id=f"{sample.id}:target",
                sample=sample.id,
                kind=_kind(said.label),
                label=said.label,
                crop=said.crop,
            )

    def annotate(
        self,
        sample: Sample,
        target: Target,
        root: Path,  # noqa: ARG002  the contract's; other sources look for masks there
    ) -> Annotation | Drop:
        """Always a drop: a folder holds photos only."""
        name = f"{target.id}:annotate"
        return Drop(id=name, sample=sample.id, stage="annotate", reason="no_boxes")


def read_class(name: str) -> Named:
    """Crop and label of a class folder's name, as label ids.

    >>> read_class("Pepper__bell___Bacterial_spot")
    Named(crop='pepper', label='bacterial spot', healthy=False)
    >>> read_class("Tomato_healthy").healthy, read_class("unhealthy").healthy
    (True, False)
    """
    name = re.sub(r"\([^)]*\)?", " ", name)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)  # YellowLeaf
    first, mark, rest = name.partition("___")
    if not mark:
        first, mark, rest = name.partition("__")
    crop = crop_id(first) if mark and normalise(first) else None
    words = normalise(rest if crop else name).split()
    if crop is None and words and words[0] in CROPS:
        crop = crop_id(words[0])
    elif crop is None and " ".join(words[:2]) in TWO_WORDS:  # bell pepper
        crop, words = crop_id(" ".join(words[:2])), words[2:]
    while words and crop is not None and crop_id(words[0]) == crop:  # Tomato__Tomato_mosaic_virus
        words = words[1:]
    telling = [word for word in words if word not in PLAIN and word not in CROPS]
    if telling == ["healthy"]:
        return Named(crop=crop, label=None, healthy=True)
    useless = "healthy" in telling or not telling or NAMELESS.issuperset(telling)
    return Named(crop=crop, label=None if useless else label_id(_once(words), crop), healthy=False)


def _once(words: list[str]) -> str:
    """The name without the plain words behind it, and once where it is given twice.

    >>> _once("spider mites two spotted spider mite".split()), _once("scab leaf".split())
    ('two spotted spider mite', 'scab')
    """
    while len(words) > 1 and words[-1] in PLAIN:
        words = words[:-1]
    alike = [word.removesuffix("s") for word in words]
    for cut in range(1, len(words)):  # the general name, then the exact one that ends in it
        if len(words) > 2 * cut and alike[-cut:] == alike[:cut]:
            return " ".join(words[cut:])
    return " ".join(words)


def _kind(label: str) -> Kind:
    words = set(label.split())
    if words & PESTS:
        return "pest"
    return "stress" if words & STRESSES else "disease"


def _files(root: Path) -> Iterator[str]:
    """Every file's path relative to the root; links to folders are named and not followed."""
    for folder, below, files in os.walk(root):
        here = Path(folder)
        links = [name for name in below if (here / name).is_symlink()]
        for name in (*files, *links):
            yield (here / name).relative_to(root).as_posix()


def _sample(root: Path, place: str, licence: str) -> Sample | Drop:
    if not place.isprintable():  # control characters, or bytes that are no UTF-8
        return _drop(place, "ingest", "unsafe_path", "a name that cannot be printed")
    try:
        photo = store.inside(root, place)
    except Refused as fault:
        return _drop(place, "ingest", "unsafe_path", str(fault))
    if Path(place).suffix.lower() not in SUFFIXES:
        return _drop(place, "ingest", "not_an_image", "")
    try:
        images.open_upright(photo)
    except Unreadable as fault:
        return _drop(place, "ingest", "unreadable", str(fault))
    folders = place.split("/")[:-1]
    split = next((SPLITS[f.lower()] for f in folders if f.lower() in SPLITS), None)
    classes = [f for f in folders if f.lower() not in SPLITS]
    native = {"class": classes[-1] if classes else ""}
    return Sample(
        id=f"folder:{place}",
        source="folder",
        images=(place,),
        native=native | ({"split": split} if split else {}),
        licence=licence,
    )


def _drop(place: str, stage: str, reason: str, detail: str) -> Drop:
    name = "folder:" + place.encode("utf-8", "backslashreplace").decode()
    return Drop(id=f"{name}:{stage}", sample=name, stage=stage, reason=reason, detail=detail)


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return Folder(detections.settings_of(options, Settings))


SOURCE: Source = Folder(Settings())
