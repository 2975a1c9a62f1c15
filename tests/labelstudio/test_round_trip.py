"""There and back through a server: what its own JSON says after edits through its API."""

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.builders import boxed, four, plain, target
from tests.labelstudio import people
from tests.labelstudio.server import Server

from fieldtruth.records import Drop, Item
from fieldtruth.stages.export import export
from fieldtruth.stages.review import returning
from fieldtruth.stages.review.sampling import Boxed, Settings, sample
from fieldtruth.stages.review.verdicts import audit
from fieldtruth.store import read

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
# What the server exported once lies beside the tests that run without one; with KEEP set, anew.
KEPT = Path(__file__).parents[1] / "formats" / "label_studio"
KEEP = "KEEP"
EXPORT = "/api/projects/{}/export?exportType={}&download_all_tasks=true"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people.sent(tmp_path_factory.mktemp("round"))


@pytest.fixture(scope="module")
def project(server: Server, folder: Path) -> int:
    return people.annotate(server, folder)


def exported(server: Server, project: int, kind: str, to: Path) -> Path:
    to.write_bytes(server.fetch("GET", EXPORT.format(project, kind)))
    return to


def test_what_people_did_comes_back(
    server: Server, folder: Path, project: int, tmp_path: Path
) -> None:
    path = exported(server, project, "JSON", tmp_path / "full.json")
    made = returning.receive(path, folder, tmp_path / "out")
    items = {each.id: each for each in read(tmp_path / "out" / "items.jsonl", Item)}
    told = {name: (each.level, [list(box) for box in each.boxes]) for name, each in items.items()}
    assert told == people.BOXES
    drops = read(tmp_path / "out" / "drops.jsonl", Drop)
    assert {each.sample: each.reason for each in drops} == people.DROPS
    assert (made.annotators, made.unknown, made.twice) == (2, 0, 0)


def test_the_lean_export_holds_the_same_boxes(
    server: Server, folder: Path, project: int, tmp_path: Path
) -> None:
    path = exported(server, project, "JSON_MIN", tmp_path / "min.json")
    returning.receive(path, folder, tmp_path / "out")
    items = {each.id: each for each in read(tmp_path / "out" / "items.jsonl", Item)}
    told = {name: (each.level, [list(box) for box in each.boxes]) for name, each in items.items()}
    assert told == people.BOXES


def test_untouched_predictions_come_back_as_they_went(
    server: Server, folder: Path, tmp_path: Path
) -> None:
    project, tasks = people.begun(server, folder, "untouched")
    for each in tasks.values():
        result = people.taken(each) if each["predictions"] else [people.ticked("verdict", "absent")]
        server.call("POST", f"/api/tasks/{each['id']}/annotations/", {"result": result})
    path = exported(server, project, "JSON", tmp_path / "full.json")
    returning.receive(path, folder, tmp_path / "out")
    before = {each.id: each for each in read(folder.parent / "items.jsonl", Item)}
    assert {each.id: each for each in read(tmp_path / "out" / "items.jsonl", Item)} == before


def test_the_server_takes_our_config_and_shows_our_photos(server: Server, folder: Path) -> None:
    name = folder.name
    (server.files / name).symlink_to(folder)
    config = (folder / "config.xml").read_text()
    server.call("POST", "/api/projects/validate", {"label_config": config})
    project, tasks = people.begun(server, folder, "photos")
    storage = {"project": project, "path": str(server.files / name / "images"), "title": "photos"}
    server.call("POST", "/api/storages/localfiles", storage)
    for each in tasks.values():
        photo = each["data"]["image"].rpartition("/")[2]
        raw = server.fetch("GET", f"/data/local-files/?d={name}/images/{photo}")
        assert raw == (folder / "images" / photo).read_bytes()


def test_the_photos_are_upright_whatever_a_browser_makes_of_them(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "sent.jsonl").read_text().splitlines()]
    for row in rows:
        with Image.open(folder / "images" / row["photo"]) as picture:
            assert picture.size == (row["item"]["width"], row["item"]["height"])
            assert picture.getexif().get(0x0112, 1) == 1


@pytest.mark.parametrize("kind", ["JSON", "JSON_MIN"])
def test_the_kept_export_is_what_this_server_exports(
    kind: str, server: Server, project: int, tmp_path: Path
) -> None:
    kept = KEPT / {"JSON": "full.json", "JSON_MIN": "lean.json"}[kind]
    path = exported(server, project, kind, tmp_path / "now.json")
    now = json.loads(path.read_text())
    if KEEP in os.environ:
        kept.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
    assert timeless(now) == timeless(json.loads(kept.read_text()))


def timeless(value: Any) -> Any:
    """An export without what differs from run to run: times, and numbers of rows and people."""
    passing = {
        "id", "created_at", "updated_at", "unique_id", "project", "task", "updated_by", "inner_id",
        "completed_by", "annotator", "annotation_id", "created_ago", "predictions", "image",
        "user", "created_username", "last_created_by",
    }  # fmt: skip
    if isinstance(value, dict):
        return {name: timeless(each) for name, each in value.items() if name not in passing}
    return [timeless(each) for each in value] if isinstance(value, list) else value


def test_tilted_boxes_are_where_the_server_says_they_are(
    server: Server, folder: Path, tmp_path: Path
) -> None:
    """Its own export of rotated rectangles gives their corners."""
    project, tasks = people.begun(server, folder, "tilted")
    item = "farm:early blight/kept"
    task = tasks[people.task_of(folder)[item]]
    tilts = [people.drawn(f"t{turn}", 40, 40, 15, 20, turn=turn) for turn in (0, 33, 90, 200)]
    server.call("POST", f"/api/tasks/{task['id']}/annotations/", {"result": tilts})
    path = exported(server, project, "JSON", tmp_path / "full.json")
    returning.receive(path, folder, tmp_path / "out")
    (mine,) = read(tmp_path / "out" / "items.jsonl", Item)
    packed = server.fetch("GET", f"/api/projects/{project}/export?exportType=YOLO_OBB")
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        told = [files.read(each) for each in files.namelist() if each.startswith("labels/")]
    rows = [line.split()[1:] for each in told for line in each.decode().splitlines()]
    theirs = []
    for row in rows:
        xs, ys = [160 * float(x) for x in row[::2]], [120 * float(y) for y in row[1::2]]
        theirs.append((min(xs), min(ys), max(xs), max(ys)))
    assert len(mine.boxes) == len(theirs) == 4
    for box, their in zip(mine.boxes, theirs, strict=True):
        assert box == pytest.approx(their, abs=2e-3)


def test_verdicts_on_machine_boxes_come_back(server: Server, tmp_path: Path) -> None:
    rows = []
    for at in range(4):
        of = target(f"s:{at}")
        plain(tmp_path / f"{at}.png", at)
        mark = boxed(of, image=f"{at}.png", scores=(0.1 * at,))
        rows.append(Boxed(mark, of, "s", tmp_path))
    sample(rows, tmp_path / "audit", Settings())
    project, tasks = people.begun(server, tmp_path / "audit", "audit")
    said = dict(zip(sorted(tasks), ("correct", "too_large", "correct", "wrong"), strict=True))
    for name, verdict in said.items():
        result = [*people.taken(tasks[name]), people.ticked("verdict", verdict)]
        path = f"/api/tasks/{tasks[name]['id']}/annotations/"
        server.call("POST", path, {"result": result})
    found = audit(exported(server, project, "JSON", tmp_path / "e.json"), tmp_path / "audit")
    assert (found.judged, found.unusable) == (4, 0)
    assert {name: each.count for name, each in found.rates.items()} == {
        "correct": 2, "too_large": 1, "missed": 0, "duplicate": 0, "wrong": 1,
    }  # fmt: skip


def test_a_benchmark_is_taken_with_its_labels(server: Server, tmp_path: Path) -> None:
    export("label_studio", four(tmp_path / "bench"), tmp_path / "out")
    about = {"title": "benchmark", "label_config": (tmp_path / "out" / "config.xml").read_text()}
    project = server.call("POST", "/api/projects", about)["id"]
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text())
    made = server.call("POST", f"/api/projects/{project}/import", tasks)
    assert (made["task_count"], made["prediction_count"]) == (4, 4)
