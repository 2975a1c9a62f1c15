"""Every step finds the photos of a release that was given by a relative path, from anywhere."""

from pathlib import Path

import pytest
from tests.sources.asked_more import cddm

from fieldtruth import store
from fieldtruth.records import Annotation, Drop, Target
from fieldtruth.run import annotating, workspace


def test_photos_are_found_by_each_step_wherever_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The published steps join `./datasets` to what holds it already, and lose CDDM whole."""
    cddm(tmp_path / "datasets" / "cddm")
    monkeypatch.chdir(tmp_path)
    workspace.ingest("cddm", Path("datasets/cddm"), Path("work"))
    workspace.label(Path("work"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    out = Path("../work")
    annotating.annotate(out, annotating.Job(model="leaf_box"))
    targets = {each.id for each in store.read(out / "targets.jsonl", Target)}
    assert len(targets) == 6
    said = {each.target for each in store.read(out / "annotations.jsonl", Annotation)}
    lost = {each.parent for each in store.read(out / "drops.jsonl", Drop)
            if each.reason == "photo_unreadable"}  # fmt: skip
    assert (said, lost) == (targets, set())
