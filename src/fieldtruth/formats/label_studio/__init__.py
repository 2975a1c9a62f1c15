"""Label Studio: tasks for people, and what they sent back.

    writing  tasks.json with pre-annotations in percent, the labelling config, photos as browsers
             show them
    reading  what a server exported, as JSON or JSON-MIN: boxes in pixels, choices, who and when

`export label_studio BENCH` writes a benchmark's boxes as predictions, for a look or as a start.
`review export` and `review import` are the road for people's work: there the annotator sees
neither id nor label file name, and every decision comes back to its item.
"""

from pathlib import Path
from typing import Any
from urllib.parse import quote

from fieldtruth.formats.contract import Classes, Exported, Exporter, copy_photos
from fieldtruth.formats.label_studio.writing import (
    LOCAL,
    boxes_config,
    dump,
    prediction,
    regions,
)
from fieldtruth.store import Bench


def export(bench: Bench, folder: Path, *, fetched: bool) -> Exported:
    """Write `tasks.json`, `config.xml` and the photos; healthy photos are tasks without boxes.

    The photos' addresses are those of Label Studio's local files, with `folder` as its root.
    """
    photos, absent = copy_photos(bench, folder, fetched=fetched)
    tasks, classes = list[dict[str, Any]](), Classes(bench.items)
    for item in bench.items:
        named = regions(item.boxes, item.width, item.height, classes.of(item))
        data = {
            "image": LOCAL + quote(item.image), "item": item.id, "level": item.level,
            "label": item.label or "", "crop": item.crop or "", "query": item.query or "",
        }  # fmt: skip
        tasks.append({"data": data, "predictions": [prediction(named, "truth")]})
    dump(folder / "tasks.json", tasks)
    (folder / "config.xml").write_text(boxes_config(classes.names), encoding="utf-8")
    return Exported(rows=len(tasks), photos=photos, absent=absent)


EXPORT: Exporter = export
