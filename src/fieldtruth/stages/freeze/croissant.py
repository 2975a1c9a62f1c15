"""croissant.json: the benchmark for machines (Croissant 1.0, mlcommons.org/croissant/1.0).

1.0 and not 1.1, since mlcroissant 1.1.1 reads lists of boxes only in the way of 1.0 (`repeated`).
Every text is schema.org's over https. Files are named by path and SHA-256; nothing is dated
unless a date was given. Of the fields on responsible use (RAI) only those are filled that the
records and the manifest answer. A reader's flaw to know: mlcroissant turns ids that are all
digits into numbers (`007` into `7`), the file keeps them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from fieldtruth.records import Item, Question
from fieldtruth.stages.freeze.card import About, audit, citation, limits
from fieldtruth.stages.freeze.fields import meanings
from fieldtruth.store import ITEMS, QUESTIONS, Manifest, licences

CROISSANT = "croissant.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.0"

# The specification's own, word for word: a reader takes any other for a mistake.
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty",
            "fileObject", "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key",
            "md5", "parentField", "path", "recordSet", "references", "regex", "repeated",
            "replace", "samplingRate", "separator", "source", "subField", "transform",
        )
    },
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}  # fmt: skip

# JPEG and PNG first: mlcroissant reads a mixed set by the first type it knows.
_TYPES = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".ppm": "image/x-portable-pixmap",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".webp": "image/webp",
}
_UNNAMED = "application/octet-stream"
_PHOTOS = "images/"

_TEXT = "sc:Text"
_OTHER = {"width": "sc:Integer", "height": "sc:Integer", "boxes": "cr:BoundingBox"}
_LISTS = ("boxes", "candidates", "images", "options", "facts", "evidence")


def render(manifest: Manifest, made: Sequence[Item | Question], about: About) -> bytes:
    """The bytes of croissant.json. `manifest` holds the records, photos and fetch.py so far."""
    flat = msgspec.json.encode(_dataset(manifest, made, about))
    return msgspec.json.format(flat, indent=2) + b"\n"


def _dataset(manifest: Manifest, made: Sequence[Item | Question], about: About) -> dict[str, Any]:
    items = bool(manifest.items)
    photos = [path for path in manifest.files if path.startswith(_PHOTOS)]
    told: dict[str, Any] = {
        "@context": dict(_CONTEXT),
        "@type": "sc:Dataset",
        "name": manifest.name,
        "description": _description(manifest),
        "conformsTo": CONFORMS_TO,
        "license": sorted({licences.page(each) for each in manifest.counts["licence"]}),
        "version": manifest.version,
        "citeAs": about.cite or citation(manifest, about),
        "keywords": _keywords(manifest),
    }
    if about.published:
        told["datePublished"] = about.published
    if about.url:
        told["url"] = about.url
    if about.creator:
        told["creator"] = {"@type": "sc:Organization", "name": about.creator}
    told |= _responsible(manifest, made)
    told["distribution"] = list(_distribution(manifest, photos))
    told["recordSet"] = list(_record_sets(items=items, photos=bool(photos)))
    return told


def _description(manifest: Manifest) -> str:
    count = f"{manifest.items} items" if manifest.items else f"{manifest.questions} questions"
    levels = manifest.counts.get("level", {})
    told = ", ".join(f"{number} {level}" for level, number in levels.items())
    apart = len(manifest.references)
    return (
        f"A frozen benchmark of {count} on {manifest.images} photos (split: {manifest.split})"
        + (f"; by level: {told}" if told else "")
        + (
            f". {apart} of the photos may not be handed on and are not part of this distribution: "
            "manifest.json gives their hashes, fetch.py brings them in from the originals"
            if apart
            else ""
        )
        + ". CARD.md says how it was made, checked, and is to be used; manifest.json holds the "
        "SHA-256 of every file."
    )


def _keywords(manifest: Manifest) -> list[str]:
    named = {
        name for group in ("kind", "crop", "domain") for name in manifest.counts.get(group, {})
    }
    return ["agriculture", "benchmark", *sorted(named - {"none"})[:20]]


def _responsible(manifest: Manifest, made: Sequence[Item | Question]) -> dict[str, Any]:
    """The RAI fields that can be answered truly."""
    sources = ", ".join(
        f"{name} ({count})" for name, count in manifest.counts.get("source", {}).items()
    )
    boxes = (
        "Boxes are x1, y1, x2, y2 in pixels of the upright photo, around lesions, or around whole "
        "organs, plants or animals, as `level` says. "
    )
    use = (
        "Measuring models; training, or choosing anything, on it is not a use of it."
        if manifest.split == "test"
        else f"Training and development (split: {manifest.split})."
    )
    return {
        "rai:dataCollection": f"Taken from the sources {sources}, counted in records.",
        "rai:dataPreprocessingProtocol": [
            "Photos are the original files, byte for byte; no pixel was changed."
        ],
        "rai:dataAnnotationProtocol": [
            (boxes if manifest.items else "")
            + "Who made the annotations is not recorded in the records; the sources tell."
        ],
        "rai:dataAnnotationAnalysis": [audit(manifest)],
        "rai:dataUseCases": [use],
        "rai:dataLimitations": limits(manifest, made),
    }


def _distribution(manifest: Manifest, photos: Sequence[str]) -> Iterator[dict[str, Any]]:
    types = {ITEMS: "application/jsonlines", QUESTIONS: "application/jsonlines"}
    for path, digest in sorted(manifest.files.items()):
        if not path.startswith(_PHOTOS):
            yield {
                "@type": "cr:FileObject",
                "@id": path,
                "name": path,
                "contentUrl": path,
                "encodingFormat": types.get(path, "text/x-python"),
                "sha256": digest,
            }
    if photos:
        suffixes = {PurePosixPath(path).suffix for path in photos}
        found = {_TYPES.get(suffix, _UNNAMED) for suffix in suffixes}
        ordered = [name for name in dict.fromkeys((*_TYPES.values(), _UNNAMED)) if name in found]
        yield {
            "@type": "cr:FileSet",
            "@id": "photo-files",
            "name": "photo-files",
            "description": f"{len(photos)} of the benchmark's {manifest.images} photos.",
            "encodingFormat": ordered,
            "includes": f"{_PHOTOS}*",
        }


def _record_sets(*, items: bool, photos: bool) -> Iterator[dict[str, Any]]:
    """The photos; the items, each joined to its photo; or the questions."""
    if photos:
        yield {
            "@type": "cr:RecordSet",
            "@id": "photos",
            "name": "photos",
            "description": "The photos as stored: a reader has to apply the EXIF orientation.",
            "key": {"@id": "photos/path"},
            "field": [
                _file_field("path", _TEXT, "fullpath", "as records name it"),
                _file_field("photo", "sc:ImageObject", "content", "the photo"),
            ],
        }
    name, file = ("items", ITEMS) if items else ("questions", QUESTIONS)
    fields = {
        field: _line_field(f"{name}/{field}", file, meaning)
        for field, meaning in meanings(Item if items else Question).items()
    }
    if items and photos:
        fields["image"]["references"] = {"field": {"@id": "photos/path"}}
        fields["photo"] = {
            "@type": "cr:Field",
            "@id": "items/photo",
            "name": "photo",
            "description": "the photo; null where it is not part of the distribution",
            "dataType": "sc:ImageObject",
            "source": {"field": {"@id": "photos/photo"}},
        }
    yield {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"One record a line of {file}.",
        "key": {"@id": f"{name}/id"},
        "field": list(fields.values()),
    }


def _line_field(place: str, file: str, meaning: str) -> dict[str, Any]:
    name = place.rpartition("/")[2]
    source: dict[str, Any] = {"fileObject": {"@id": file}, "extract": {"column": name}}
    if name == "boxes":
        source["format"] = "XYXY"
    field = {
        "@type": "cr:Field",
        "@id": place,
        "name": name,
        "description": meaning,
        "dataType": _OTHER.get(name, _TEXT),
        "source": source,
    }
    return field | ({"repeated": True} if name in _LISTS else {})


def _file_field(name: str, data_type: str, of: str, description: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"photos/{name}",
        "name": name,
        "description": description,
        "dataType": data_type,
        "source": {"fileSet": {"@id": "photo-files"}, "extract": {"fileProperty": of}},
    }
