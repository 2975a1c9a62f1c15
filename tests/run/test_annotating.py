"""Annotate with a model: books, cache, what failed asked again, what is written."""

import json
from pathlib import Path

import pytest
from tests.builders import class_folders, table

from fieldtruth import store
from fieldtruth.faults import TooManyFailed, Usage
from fieldtruth.records import Annotation, Drop, Sample, Target
from fieldtruth.run import annotating, workspace
from fieldtruth.run.annotating import Job


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    class_folders(tmp_path / "release")
    out = tmp_path / "out"
    workspace.ingest("folder", tmp_path / "release", out)
    workspace.label(out)
    return out


def script(out: Path, *, skip: int = 0) -> Job:
    """A detector that boxes every target but the first `skip`, whose calls fail."""
    rows = [
        {"bbox_2d": [2, 2, 22, 22], "label": "x", "score": 0.5},
        {"bbox_2d": [0, 0, 150, 100], "label": "x", "score": 0.25},
        {"bbox_2d": [2, 2, 2.5, 2.5], "label": "x", "score": 0.75},
    ]
    samples = {each.id: each for each in store.read(out / "samples.jsonl", Sample)}
    said = {
        f"{target.id}:{samples[target.sample].images[0]}": json.dumps(rows)
        for target in list(store.read(out / "targets.jsonl", Target))[skip:]
    }
    path = table(out.parent / f"said-{skip}.jsonl", said)
    return Job(model="scripted", options={"table": str(path), "space": "pixel"})


def test_every_target_gets_its_boxes_and_the_manifest_says_what_became_of_them(
    labelled: Path,
) -> None:
    books = annotating.annotate(labelled, script(labelled))
    targets = list(store.read(labelled / "targets.jsonl", Target))
    marks = list(store.read(labelled / "annotations.jsonl", Annotation))
    assert books.counts["annotations"] == len(marks) == 2 * len(targets) > 0
    assert {mark.level for mark in marks} == {"lesion", "object"}
    source = books.source
    assert books.boxes == {
        f"{source}: kept lesion": len(targets),
        f"{source}: kept object": len(targets),
        f"{source}: lesion and object": len(targets),
        f"{source}: said": 3 * len(targets),
        f"{source}: too_small": len(targets),
    }
    assert "too_small" in annotating.line(books, labelled)


def test_what_failed_is_asked_again_and_nothing_else(labelled: Path, tmp_path: Path) -> None:
    job = script(labelled, skip=2)
    books = annotating.annotate(labelled, job)
    drops = [d for d in store.read(labelled / "drops.jsonl", Drop) if d.stage == "annotate"]
    assert [drop.reason for drop in drops] == ["model_failed"] * 2
    with pytest.raises(TooManyFailed, match="2 of"):
        annotating.check(books, labelled, job)
    kept = set((labelled / "replies").rglob("*.json"))
    assert len(kept) == books.counts["targets"] - 2
    again = annotating.annotate(labelled, job)
    assert set((labelled / "replies").rglob("*.json")) == kept
    assert again == books


def test_two_runs_write_the_same_bytes(labelled: Path) -> None:
    annotating.annotate(labelled, script(labelled))
    first = (labelled / "annotations.jsonl").read_bytes()
    annotating.annotate(labelled, script(labelled))
    assert (labelled / "annotations.jsonl").read_bytes() == first


def test_prompts_of_ones_own_are_read(tmp_path: Path) -> None:
    path = tmp_path / "prompts.toml"
    path.write_text('[cues]\n"late blight@tomato" = "wet patches"\n')
    assert annotating.read_prompts(path).cues == {"late blight@tomato": "wet patches"}
    for wrong in ("[cue]\na = 'b'", "[cues]\na = 1", "[cues"):
        path.write_text(wrong)
        with pytest.raises(Usage, match=r"prompts\.toml: expected TOML"):
            annotating.read_prompts(path)


def test_what_cannot_be_asked_is_named(labelled: Path) -> None:
    with pytest.raises(Usage, match=r"no model 'nobody'; it has: source, leaf_box, .*sam2"):
        annotating.annotate(labelled, Job(model="nobody"))
    with pytest.raises(Usage, match="source is no model that is asked"):
        annotating.annotate(labelled, Job(model="source", options={"a": "b"}))
    with pytest.raises(Usage, match="--rules: expected ours or published"):
        annotating.rules_of("mine")
