"""Ten photos, what two people do with them in Label Studio, and what has to come back.

The edits are written as the browser posts them: regions of the prediction keep their id and say
`prediction`, those that were moved `prediction-changed`, drawn ones `manual`. What comes back is
written down in pixels, by hand.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from tests.builders import NAMES, leaf
from tests.labelstudio.server import Server

from fieldtruth.images import facts
from fieldtruth.stages.review import sending

SEED = 5
ALIKE = ((10.0, 12.0, 42.0, 36.0), (100.5, 60.25, 140.0, 90.0))
# id -> (photo, level, boxes as a machine drew them)
ITEMS: dict[str, tuple[str, str, Sequence[Sequence[float]]]] = {
    "farm:early blight/kept": ("a.png", "lesion", ALIKE),
    "farm:early blight/moved": ("b.png", "lesion", ALIKE),
    "farm:early blight/turned": ("turned.jpg", "lesion", [(30, 20, 60, 100)]),
    "farm:early blight/gone": ("c.tif", "lesion", [(10, 10, 50, 50)]),
    "web:rust/skipped": ("d.png", "object", [(10, 10, 50, 50)]),
    "web:rust/removed": ("e.png", "object", [(10, 10, 50, 50)]),
    "web:rust/apart": ("f.png", "object", [(10, 10, 50, 50)]),
    "web:rust/begun": ("i.png", "object", [(10, 10, 50, 50)]),
    "web:well/healthy": ("g.png", "healthy", ()),
    "web:well/unseen": ("h.png", "healthy", ()),
}


def photos(folder: Path) -> Path:
    """The photos: 160 x 120, one stored on its side (120 x 160 upright), one TIFF."""
    for at, (name, _, _) in enumerate(ITEMS.values()):
        leaf(folder / f"{name}.png", [(30, 30, 50, 50)], at)
        with Image.open(folder / f"{name}.png") as picture:
            exif = Image.Exif()
            if name == "turned.jpg":
                exif[0x0112] = 6  # upright after a quarter turn clockwise
            picture.save(folder / "part", format=picture_format(name), exif=exif)
        (folder / f"{name}.png").unlink()
        (folder / "part").rename(folder / name)
    return folder


def picture_format(name: str) -> str:
    return {"png": "PNG", "jpg": "JPEG", "tif": "TIFF"}[name.rpartition(".")[2]]


def items(folder: Path) -> Path:
    """The photos in `folder/photos` and their items in a file beside it."""
    (folder / "photos").mkdir(parents=True)
    root = photos(folder / "photos")
    rows = [row(name, root) for name in ITEMS]
    (folder / "items.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    return folder / "items.jsonl"


def row(name: str, root: Path) -> dict[str, Any]:
    image, level, boxes = ITEMS[name]
    seen = facts(root / image)
    well = level == "healthy"
    return {
        "id": name, "image": image, "image_sha256": seen.sha256, "width": seen.width,
        "height": seen.height, "source": name.partition(":")[0], "licence": "CC0",
        "crop": "tomato", "kind": None if well else "disease", "label": None if well else NAMES[0],
        "level": level, "boxes": [list(box) for box in boxes], "query": NAMES[0],
        "absent_query": None, "candidates": None, "group": name,
    }  # fmt: skip


def sent(folder: Path, blind: float = 0.0) -> Path:
    """The items as they are sent to the two."""
    rows = items(folder)
    settings = sending.Settings(annotators=2, seed=SEED, blind=blind)
    sending.send(rows, folder / "photos", folder / "sent", settings)
    return folder / "sent"


def task_of(folder: Path) -> dict[str, str]:
    """Item id -> task id."""
    rows = [json.loads(line) for line in (folder / "sent.jsonl").read_text().splitlines()]
    return {row["item"]["id"]: row["id"] for row in rows}


# --- what they do ------------------------------------------------------------------------------


def begun(server: Server, folder: Path, title: str = "review") -> tuple[int, dict[str, Any]]:
    """A project of this folder: its number, and its tasks as the server has them, by ours."""
    about = json.loads((folder / "project.json").read_text()) | {"title": title}
    project = server.call("POST", "/api/projects", about)["id"]
    tasks = json.loads((folder / "tasks.json").read_text())
    server.call("POST", f"/api/projects/{project}/import", tasks)
    fields = "fields=all&page_size=100"
    listed = server.call("GET", f"/api/tasks?project={project}&{fields}")["tasks"]
    return project, {each["data"]["task"]: each for each in listed}


def second_person(server: Server) -> int:
    """Another account; its number."""
    people = server.call("GET", "/api/users")
    for each in people:
        if each["email"] == "second@example.org":
            return int(each["id"])
    told = {"email": "second@example.org", "username": "second", "first_name": "Second"}
    return int(server.call("POST", "/api/users", told)["id"])


def ticked(name: str, *values: str) -> dict[str, Any]:
    return {
        "id": f"pick-{name}", "from_name": name, "to_name": "image", "type": "choices",
        "origin": "manual", "value": {"choices": list(values)},
    }  # fmt: skip


def drawn(
    name: str, x: float, y: float, width: float, height: float, turn: float = 0
) -> dict[str, Any]:
    """A rectangle on a photo of 160 x 120, drawn by hand, in percent."""
    value = {"x": x, "y": y, "width": width, "height": height, "rotation": turn}
    return {
        "id": name, "from_name": "box", "to_name": "image", "type": "rectanglelabels",
        "origin": "manual", "image_rotation": 0, "value": value | {"rectanglelabels": ["target"]},
        "original_width": 160, "original_height": 120,
    }  # fmt: skip


def taken(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The prediction as the browser puts it into a new annotation."""
    result: list[dict[str, Any]] = task["predictions"][0]["result"]
    return [each | {"origin": "prediction"} for each in result]


def shifted(region: Mapping[str, Any], x: float) -> dict[str, Any]:
    value = region["value"] | {"x": region["value"]["x"] + x}
    return dict(region) | {"value": value, "origin": "prediction-changed"}


def annotate(server: Server, folder: Path) -> int:
    """Both people's work in a new project; its number."""
    project, tasks = begun(server, folder)
    other = second_person(server)
    mine = {item: tasks[task] for item, task in task_of(folder).items()}

    def post(item: str, result: Sequence[Mapping[str, Any]], **more: Any) -> int:
        body = {"result": result, "lead_time": 7.5} | more
        made = server.call("POST", f"/api/tasks/{mine[item]['id']}/annotations/", body)
        return int(made["id"])

    kept = taken(mine["farm:early blight/kept"])
    post("farm:early blight/kept", kept)
    post("farm:early blight/kept", [kept[0], kept[-1]], completed_by=other)  # one box fewer
    first, second, level = taken(mine["farm:early blight/moved"])
    number = post("farm:early blight/moved", [first, second, level])
    edited = [
        shifted(first, 0.625), level,  # the second is deleted: a pixel to the right
        drawn("new", 50, 75, 12.5, 25),
        drawn("edge", 95, -0.5, 5.5, 10.5),  # a hand that went over the edge
        drawn("tilt", 25, 50, 10, 10, turn=90),
        drawn("slip", 3, 3, 0, 4),
        {"id": "words", "from_name": "note", "to_name": "image", "type": "textarea",
         "origin": "manual", "value": {"text": ["a <b>note</b>"]}},
    ]  # fmt: skip
    server.call("PATCH", f"/api/annotations/{number}/", {"result": edited})
    turned = taken(mine["farm:early blight/turned"])
    post("farm:early blight/turned", [*turned[:-1], ticked("level", "object")])
    post("farm:early blight/gone", [ticked("verdict", "absent")])
    post("web:rust/skipped", [], was_cancelled=True)
    removed = [ticked("verdict", "remove"), ticked("reason", "poor_photo", "other")]
    post("web:rust/removed", removed)
    post("web:rust/apart", taken(mine["web:rust/apart"]))
    post("web:rust/apart", [ticked("verdict", "flag"), ticked("reason", "ambiguous")],
         completed_by=other)  # fmt: skip
    post("web:well/healthy", [ticked("verdict", "absent")])
    begun_with = {"result": taken(mine["web:rust/begun"])}
    server.call("POST", f"/api/tasks/{mine['web:rust/begun']['id']}/drafts", begun_with)
    return project


# --- what has to come back ---------------------------------------------------------------------

BOXES: dict[str, tuple[str, list[list[float]]]] = {
    "farm:early blight/kept": ("lesion", [[10, 12, 42, 36], [100.5, 60.25, 140, 90]]),
    "farm:early blight/moved": (
        "lesion",
        [[11, 12, 43, 36], [80, 90, 100, 120], [152, 0, 160, 12], [28, 60, 40, 76]],
    ),
    "farm:early blight/turned": ("object", [[30, 20, 60, 100]]),
    "web:well/healthy": ("healthy", []),
}
DROPS = {
    "farm:early blight/gone": "absent",
    "web:rust/skipped": "skipped",
    "web:rust/removed": "removed",
    "web:rust/apart": "annotators_disagree",
    "web:rust/begun": "draft_only",
    "web:well/unseen": "not_annotated",
}
