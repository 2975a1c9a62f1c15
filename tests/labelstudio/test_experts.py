"""Two experts through the API of a real server, from questions without answers to gold."""

import json
import os
from pathlib import Path

import pytest
from tests.labelstudio import experts, people
from tests.labelstudio.server import Server
from tests.labelstudio.test_round_trip import EXPORT, KEEP, KEPT, exported, timeless

from fieldtruth.records import Question
from fieldtruth.stages import silver
from fieldtruth.stages.adjudicate import adjudicate
from fieldtruth.stages.review import answers
from fieldtruth.store import read

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
KINDS = {"JSON": "experts.json", "JSON_MIN": "experts_lean.json"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return experts.sent(tmp_path_factory.mktemp("experts"))


@pytest.fixture(scope="module")
def project(server: Server, folder: Path) -> int:
    return experts.annotate(server, folder)


def test_from_export_to_gold(server: Server, folder: Path, project: int, tmp_path: Path) -> None:
    path = exported(server, project, "JSON", tmp_path / "full.json")
    root = folder.parent
    some = list(read(root / "questions.jsonl", Question))
    out = tmp_path / "out"
    made = answers.receive(path, folder, some, root / "photos", out)
    assert (made.tasks, made.answered, made.flagged) == (8, 7, 2)
    assert made.drops == {"one_expert": 1}
    settled = adjudicate(out / "A.jsonl", out / "B.jsonl", out / "key.jsonl")
    assert {each.id: each.answer for each in settled.gold} == experts.GOLD
    assert {each.id: each.reason for each in settled.dropped} == experts.DROPPED
    assert (settled.valid, settled.agreed, settled.by_key) == (5, 2, 2)
    reviewed = [*experts.GOLD, *experts.DROPPED]
    parted = silver.part(some, experts.GOLD, reviewed, "published")
    assert [each.id for each in parted.silver] == ["alone", "flagged", "skipped", "three"]


def test_the_server_takes_our_config_and_holds_no_answer(server: Server, folder: Path) -> None:
    config = (folder / "config.xml").read_text()
    server.call("POST", "/api/projects/validate", {"label_config": config})
    _, tasks = people.begun(server, folder, "no answer")
    assert len(tasks) == 8
    for each in tasks.values():
        assert set(each["data"]) == {"task", "ask", "images"}
        assert each["predictions"] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_kept_export_is_what_this_server_exports(
    kind: str, server: Server, project: int
) -> None:
    kept = KEPT / KINDS[kind]
    now = json.loads(server.fetch("GET", EXPORT.format(project, kind)))
    if KEEP in os.environ:
        kept.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
    assert timeless(now) == timeless(json.loads(kept.read_text()))
