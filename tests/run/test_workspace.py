"""A release on its road to items: nothing is lost, and a second walk leaves the same bytes."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.builders import class_folders, leaf

from fieldtruth import store
from fieldtruth.faults import BadRecord, Busy, Fault, Refused, Usage
from fieldtruth.records import Annotation, Drop, Healthy, Item, Record, Sample, Target
from fieldtruth.run import composing, workspace
from fieldtruth.sources import drawn

LINES: dict[str, type[Record]] = {
    "samples": Sample, "targets": Target, "healthy": Healthy, "annotations": Annotation,
    "drops": Drop,
}  # fmt: skip


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Twelve sick leaves of four names, three healthy ones, and four files that lead nowhere."""
    root = class_folders(tmp_path / "photos")
    leaf(root / "loose.png", shade=90)
    leaf(root / "Tomato___unknown" / "a.png", shade=91)
    (root / "Tomato___healthy" / "broken.png").write_text("no photo")
    (root / "readme.txt").write_text("my photos")
    return root


def walked(photos: Path, out: Path) -> Path:
    workspace.ingest("folder", photos, out)
    workspace.label(out)
    workspace.annotate(out, "leaf_box")
    return out


def lines(out: Path, name: str) -> list[Record]:
    found: Iterator[Record] = store.read(out / f"{name}.jsonl", LINES[name])
    return list(found)


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_books_balance_at_every_stage(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "work"
    books = workspace.ingest("folder", photos, out)
    assert books.counts == {"rows": 19, "samples": 17}
    assert books.drops == {"ingest: not_an_image": 1, "ingest: unreadable": 1}
    books = workspace.label(out)
    assert books.counts == {"rows": 19, "samples": 17, "targets": 12, "healthy": 3}
    assert books.drops == {
        "ingest: not_an_image": 1, "ingest: unreadable": 1, "label: class_names_nothing": 1,
        "label: no_class": 1,
    }  # fmt: skip
    books = workspace.annotate(out, "leaf_box")
    assert books.counts["annotations"] == 12
    assert sum(books.drops.values()) == 4
    assert (books.schema, books.source, books.licence) == (1, "folder", "not stated")
    assert (out / books.root).resolve() == photos.resolve()
    assert {name: len(lines(out, name)) for name in LINES} == {
        "samples": 17, "targets": 12, "healthy": 3, "annotations": 12, "drops": 4,
    }  # fmt: skip
    manifest = json.loads((out / "manifest.json").read_bytes())
    assert manifest["counts"] == books.counts
    assert manifest["drops"] == books.drops
    assert sorted(everything(out)) == sorted(
        [*(f"{name}.jsonl" for name in LINES), "manifest.json"]
    )


def test_every_line_names_its_sample(photos: Path, tmp_path: Path) -> None:
    """Design, section 8: of targets, healthy and drops; every sample has its fate, and one only."""
    out = walked(photos, tmp_path / "work")
    rows = [json.loads(line) for name in ("targets", "healthy", "drops")
            for line in (out / f"{name}.jsonl").read_text().splitlines()]  # fmt: skip
    fates = Counter(row["sample"] for row in rows)
    samples = {json.loads(line)["id"] for line in (out / "samples.jsonl").read_text().splitlines()}
    assert samples <= set(fates)
    assert set(fates.values()) == {1}
    assert len(fates) == 19


def test_what_a_person_reads(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "work"
    assert workspace.line(workspace.ingest("folder", photos, out), Path("W")) == (
        "folder: 19 rows, 17 samples; dropped: ingest: not_an_image 1, ingest: unreadable 1. In W"
    )
    made = composing.Composed(
        items=3, positives=2, healthy=1, without_candidates=1, drops={"other_split": 4}
    )
    assert composing.composed_line(made, Path("W")) == (
        "3 items (2 positive, 1 healthy, 1 without candidates); left out: other_split 4. In W"
    )


def test_a_second_walk_leaves_the_same_bytes_here_and_elsewhere(
    photos: Path, tmp_path: Path
) -> None:
    out = walked(photos, tmp_path / "work")
    composing.compose_items(out, out / "items.jsonl", seed=3)
    before = everything(out)
    walked(photos, out)
    composing.compose_items(out, out / "items.jsonl", seed=3)
    assert everything(out) == before
    other = walked(photos, tmp_path / "elsewhere")
    composing.compose_items(other, other / "items.jsonl", seed=3)
    assert everything(other) == before


def test_a_stage_run_again_keeps_the_drops_before_it_and_forgets_what_came_after(
    photos: Path, tmp_path: Path
) -> None:
    out = walked(photos, tmp_path / "work")
    before = everything(out)
    leaf(photos / "Tomato___healthy" / "new.png", shade=99)
    books = workspace.annotate(out, "source")  # a folder holds no boxes: every target is dropped
    assert books.counts["annotations"] == 0
    assert books.drops["annotate: no_boxes"] == 12
    assert sum(books.drops.values()) == 16
    assert {each.parent for each in store.read(out / "drops.jsonl", Drop) if each.parent} == {
        each.id for each in store.read(out / "targets.jsonl", Target)
    }
    books = workspace.label(out)
    assert sum(books.drops.values()) == 4
    assert "annotations" not in books.counts
    assert not (out / "annotations.jsonl").exists()
    workspace.annotate(out, "leaf_box")
    assert everything(out) == before  # the new photo is not seen before the next ingest
    books = workspace.ingest("folder", photos, out)
    assert books.counts == {"rows": 20, "samples": 18}
    assert sorted(everything(out)) == ["drops.jsonl", "manifest.json", "samples.jsonl"]


def test_compose_accounts_for_every_target_and_healthy_photo(photos: Path, tmp_path: Path) -> None:
    out = walked(photos, tmp_path / "work")
    composing.compose_items(out, tmp_path / "all.jsonl", seed=1)
    whole = {each.id: each for each in store.read(tmp_path / "all.jsonl", Item)}
    assert len(whole) == 15
    assert list(whole) == sorted(whole)
    seen: dict[str, Item] = {}
    for split in ("train", "val", "test"):
        made = composing.compose_items(out, tmp_path / f"{split}.jsonl", split, 1)
        some = list(store.read(tmp_path / f"{split}.jsonl", Item))
        drops = list(store.read(tmp_path / f"{split}.drops.jsonl", Drop))
        assert (made.items, made.drops) == (len(some), {"other_split": len(drops)})
        assert made.positives + made.healthy == made.items
        assert made.items + len(drops) == 15
        assert not seen.keys() & {each.id for each in some}
        seen |= {each.id: each for each in some}
    assert seen == whole


def test_a_split_of_nothing_says_so_and_writes_nothing(photos: Path, tmp_path: Path) -> None:
    out = walked(photos, tmp_path / "work")
    with pytest.raises(Usage, match=r"photos of the split 'dev', got none; .*'other_split': 15"):
        composing.compose_items(out, tmp_path / "dev.jsonl", "dev")
    assert not list(tmp_path.glob("dev*"))


def test_drawn_leaves_on_the_same_road(tmp_path: Path) -> None:
    count = drawn.draw(tmp_path / "leaves", leaves=8, seed=5)
    out = tmp_path / "work"
    books = workspace.ingest("drawn", tmp_path / "leaves", out)
    assert books.counts == {"rows": count, "samples": count}
    workspace.label(out)
    books = workspace.annotate(out)
    assert books.counts["targets"] == books.counts["annotations"] > 0
    made = composing.compose_items(out, tmp_path / "items.jsonl")
    assert made.items == books.counts["targets"] + books.counts["healthy"]
    for item in store.read(tmp_path / "items.jsonl", Item):
        assert store.sha256(tmp_path / "leaves" / item.image) == item.image_sha256


@pytest.mark.parametrize(
    ("stage", "told"),
    [
        ("label", r"expected samples\.jsonl and manifest\.json; run `ingest` first"),
        ("annotate", r"expected targets\.jsonl and manifest\.json; run `label` first"),
        ("compose", r"expected annotations\.jsonl and manifest\.json; run `annotate` first"),
    ],
)
def test_a_stage_before_its_time_names_the_one_to_run(
    photos: Path, tmp_path: Path, stage: str, told: str
) -> None:
    out = tmp_path / "work"

    def go() -> None:
        if stage == "label":
            workspace.label(out)
        elif stage == "annotate":
            workspace.annotate(out)
        else:
            composing.compose_items(out, tmp_path / "items.jsonl")

    with pytest.raises(Usage, match=told):
        go()
    assert not out.exists()
    if stage != "label":
        workspace.ingest("folder", photos, out)
        before = everything(out)
        with pytest.raises(Usage, match=told):
            go()
        assert everything(out) == before


def test_names_and_folders_that_are_not_there(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "work"
    with pytest.raises(Usage, match="expected the raw release of folder, got nothing there"):
        workspace.ingest("folder", tmp_path / "absent", out)
    with pytest.raises(Usage, match="expected a folder of photos"):
        workspace.ingest("folder", photos / "readme.txt", out)
    with pytest.raises(Usage, match=r"sources has no 'foldr'; it has: .*coffee.*drawn.*folder"):
        workspace.ingest("foldr", photos, out)
    assert everything(tmp_path).keys() == {f"photos/{name}" for name in everything(photos)}
    workspace.ingest("folder", photos, out)
    workspace.label(out)
    with pytest.raises(Usage, match="annotate has no model 'sam'; it has: source, leaf_box"):
        workspace.annotate(out, "sam")


@pytest.mark.parametrize(
    ("text", "fault", "told"),
    [
        ('{"schema": 2, "something": "new"}', Refused, "schema 2 is newer than 1; update"),
        ('{"schema": 1, "something": "new"}', BadRecord, "expected what `ingest` writes"),
        ("[]", BadRecord, "expected what `ingest` writes"),
        ("{", BadRecord, "expected what `ingest` writes"),
        ("", BadRecord, "expected what `ingest` writes"),
    ],
)
def test_books_that_cannot_be_read(
    photos: Path, tmp_path: Path, text: str, fault: type[Fault], told: str
) -> None:
    out = tmp_path / "work"
    workspace.ingest("folder", photos, out)
    (out / "manifest.json").write_text(text)
    with pytest.raises(fault, match=rf"manifest\.json: .*{told}"):
        workspace.label(out)
    assert not (out / "targets.jsonl").exists()


def test_a_broken_line_ends_the_stage_and_leaves_what_was_there(
    photos: Path, tmp_path: Path
) -> None:
    out = walked(photos, tmp_path / "work")
    text = (out / "samples.jsonl").read_text().splitlines()
    (out / "samples.jsonl").write_text("\n".join([*text[:3], text[3][:-9], *text[4:]]))
    before = everything(out)
    with pytest.raises(BadRecord, match=r"samples\.jsonl:4 "):
        workspace.label(out)
    assert everything(out) == before


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("samples", "ingest"),
        ("targets", "label"),
        ("healthy", "label"),
        ("annotations", "annotate"),
    ],
)
def test_a_file_cut_short_between_two_lines_is_refused(
    photos: Path, tmp_path: Path, name: str, stage: str
) -> None:
    out = walked(photos, tmp_path / "work")
    text = (out / f"{name}.jsonl").read_text().splitlines(keepends=True)
    (out / f"{name}.jsonl").write_text("".join(text[:-1]))
    told = (
        rf"{name}\.jsonl: expected the {len(text)} records .*, got {len(text) - 1}; run `{stage}`"
    )

    def go() -> None:
        if name == "samples":
            workspace.label(out)
        else:
            composing.compose_items(out, tmp_path / "items.jsonl")

    with pytest.raises(Refused, match=told):
        go()
    if name == "targets":
        with pytest.raises(Refused, match=told):
            workspace.annotate(out, "leaf_box")
    assert not (tmp_path / "items.jsonl").exists()


def test_two_at_work_on_one_folder_are_refused(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "work"
    workspace.ingest("folder", photos, out)
    with store.lock(out):
        for stage in (workspace.label, lambda at: workspace.ingest("folder", photos, at)):
            with pytest.raises(Busy, match="expected no other process at work here"):
                stage(out)
    workspace.label(out)


def test_paths_with_blanks_and_letters_of_other_scripts(tmp_path: Path) -> None:
    root = tmp_path / "my photos \u2603"
    leaf(root / "\u0939\u0930\u093e ___rust" / "\u00e4 #1 (a).png")
    leaf(root / "\u0939\u0930\u093e ___healthy" / "b.png", shade=3)
    out = walked(root, tmp_path / "w \u00fc")
    assert len(lines(out, "samples")) == 2
    made = composing.compose_items(out, tmp_path / "items.jsonl")
    assert (made.items, made.positives) == (2, 1)
