"""What each field of a benchmark's records means, for the card and for croissant.json alike."""

from fieldtruth.records import Item, Question

MEANINGS: dict[type[Item] | type[Question], dict[str, str]] = {
    Item: {
        "id": "its name; predictions refer to it as `item`",
        "image": "the photo, relative to the benchmark's folder",
        "image_sha256": "SHA-256 of the photo's bytes",
        "width": "of the photo turned upright, in pixels",
        "height": "of the photo turned upright, in pixels",
        "source": "the dataset the photo comes from",
        "licence": "what the photo is given out under",
        "crop": "the plant, null where not recorded",
        "kind": "disease, pest, weed, symptom, stress or object; null where not recorded",
        "label": "what is shown; null on a healthy photo",
        "level": "`lesion`: boxes are around lesions; `object`: around whole organs, plants or "
        "animals; `healthy`: there is nothing to box",
        "boxes": "`[x1, y1, x2, y2]` in pixels of the upright photo, from its top left corner; "
        "`[]` on a healthy photo",
        "query": "the name asked for when the target is given; on a healthy photo one that could "
        "have been",
        "absent_query": "a name of the same crop that is certainly not on the photo, or null",
        "candidates": "four names to choose from, or null",
        "group": "photos of one group belong together",
        "ask_level": "the level that a healthy photo's prompt is worded for",
        "ask_kind": "the kind that a healthy photo's prompt is worded for",
    },
    Question: {
        "id": "its name; answers refer to it as `item`",
        "form": "`mcq`: choose a letter; `open`: answer in words",
        "images": "the photos shown, relative to the benchmark's folder",
        "question": "what is asked",
        "options": "the options in the order of their letters; null when open",
        "answer": "the letter, or the text",
        "facts": "the true statements of a question that holds several",
        "domain": "what it is about; null where not recorded",
        "challenge": "what makes it hard; null where not recorded",
        "crop": "the plant, null where not recorded",
        "qtype": "the type it is scored under; null where not recorded",
        "group": "questions of one group belong together",
        "evidence": "where the answer stands",
        "source": "the dataset it comes from",
        "licence": "what it is given out under",
        "background": "what a person would know besides, shown before the question; may be empty",
    },
}


def meanings(kind: type[Item] | type[Question]) -> dict[str, str]:
    """Every field of the record, in its order, with its meaning."""
    return {name: MEANINGS[kind].get(name, "") for name in kind.__struct_fields__}
