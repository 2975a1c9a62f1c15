"""What `ingest` is given: options of the source, and archives."""

import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.builders import class_folders
from tests.sources.releases import RELEASES

from fieldtruth import store
from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Annotation, Sample
from fieldtruth.run import composing, workspace


def test_the_source_is_opened_with_its_options_at_every_stage(tmp_path: Path) -> None:
    release, rules = RELEASES["plantseg"](tmp_path / "release"), {}
    for rule in ("ours", "published_test"):
        out = tmp_path / rule
        books = workspace.ingest("plantseg", release.root, out, options={"rule": rule})
        assert books.options == {"rule": rule}
        assert books.counts["rows"] == len(release.rows)
        workspace.label(out)
        workspace.annotate(out)
        rules[rule] = {mark.rule for mark in store.read(out / "annotations.jsonl", Annotation)}
        composing.compose_items(out, tmp_path / f"{rule}.jsonl")
    assert rules == {rule: {f"plantseg {rule}"} for rule in rules}


def test_options_that_a_source_does_not_have(tmp_path: Path) -> None:
    photos = class_folders(tmp_path / "photos", each=1, healthy=1)
    with pytest.raises(Usage, match="--source-args: expected none for coffee, got rule"):
        workspace.ingest("coffee", photos, tmp_path / "out", options={"rule": "ours"})
    with pytest.raises(Usage, match="--source-args"):
        workspace.ingest("coco", photos, tmp_path / "out", options={"rule": "ours"})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("top", ["", "release/"])
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_an_archive_is_ingested_as_its_folder_is(tmp_path: Path, kind: str, top: str) -> None:
    photos = class_folders(tmp_path / "photos", each=1, healthy=1)
    path = tmp_path / "photos.bin"
    files = {f"{top}{p.relative_to(photos).as_posix()}": p for p in sorted(photos.rglob("*.png"))}
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, file in files.items():
                archive.write(file, name)
    else:
        with tarfile.open(path, "w:gz") as archive_:
            for name, file in files.items():
                archive_.add(file, name)
    workspace.ingest("folder", path, tmp_path / "out")
    books = workspace.ingest("folder", path, tmp_path / "out")  # takes the place of the first
    plain = workspace.ingest("folder", photos, tmp_path / "plain")
    assert books.counts == plain.counts
    samples = [list(store.read(tmp_path / n / "samples.jsonl", Sample)) for n in ("out", "plain")]
    assert samples[0] == samples[1]
    workspace.label(tmp_path / "out")
    workspace.annotate(tmp_path / "out", "leaf_box")
    made = composing.compose_items(tmp_path / "out", tmp_path / "items.jsonl")
    assert made.items == 5


def test_an_archive_that_climbs_out_is_refused_and_nothing_is_ingested(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("rust/a.jpg", b"")
        archive.writestr("../../odd.jpg", b"")
    with pytest.raises(Refused, match="step up"):
        workspace.ingest("folder", tmp_path / "a.zip", tmp_path / "out")
    assert not (tmp_path / "out/samples.jsonl").exists()
    assert not (tmp_path / "out/release").exists()
