"""A set made by hand becomes a benchmark, and what is wrong with it is said by line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import ExifTags, Image

from fieldtruth import store
from fieldtruth.faults import BadRecord, Busy, Fault, Refused, Unreadable, Usage
from fieldtruth.images import facts
from fieldtruth.stages.freeze import Settings, freeze, line
from fieldtruth.store.licences import may_copy

SETTINGS = Settings(name="leaves", version="1.0")
SICK: dict[str, Any] = {
    "id": "sick", "image": "a.png", "source": "hand", "licence": "CC BY 4.0", "label": "rust",
    "level": "lesion", "boxes": [[1, 2, 10, 12]],
}  # fmt: skip
WELL: dict[str, Any] = {
    "id": "well", "image": "sub/b.jpg", "source": "hand", "licence": "CC BY 4.0",
    "level": "healthy",
}  # fmt: skip


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """a.png 30x20 and sub/b.jpg 40x30; same.png has the pixels of a.png in other bytes."""
    root = tmp_path / "photos"
    (root / "sub").mkdir(parents=True)
    green = Image.new("RGB", (30, 20), (20, 120, 30))
    green.save(root / "a.png")
    green.save(root / "same.png", compress_level=0)
    Image.new("RGB", (40, 30), (60, 160, 30)).save(root / "sub" / "b.jpg")
    (root / "text.jpg").write_text("no photo")
    return root


def written(photos: Path, *rows: object) -> Path:
    path = photos.parent / "set.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def made(photos: Path, *rows: object, settings: Settings = SETTINGS) -> store.Bench:
    freeze(written(photos, *rows), photos, photos.parent / "bench", settings)
    assert store.verify(photos.parent / "bench") == []
    return store.open_bench(photos.parent / "bench")


def test_what_the_photo_tells_is_filled_in(photos: Path) -> None:
    bench = made(photos, WELL, {**SICK, "group": None, "width": None, "image_sha256": None})
    sick, well = bench.items
    assert (sick.id, sick.width, sick.height) == ("sick", 30, 20)
    assert sick.image_sha256 == store.sha256(photos / "a.png")
    assert bench.photo(sick.image).read_bytes() == (photos / "a.png").read_bytes()
    assert (sick.query, sick.boxes, sick.group) == (
        "rust", ((1, 2, 10, 12),), facts(photos / "a.png").pixels,
    )  # fmt: skip
    assert (well.label, well.boxes, well.query, well.width) == (None, (), None, 40)
    assert well.group != sick.group


def test_the_manifest_counts_and_says_what_it_was_made_from(photos: Path) -> None:
    settings = Settings(name=" leaves ", version="2", split="train", config={"seed": "7"})
    manifest = made(photos, SICK, {**SICK, "id": "again"}, WELL, settings=settings).manifest
    assert (manifest.name, manifest.version, manifest.split) == ("leaves", "2", "train")
    assert (manifest.items, manifest.questions, manifest.images) == (3, 0, 2)
    assert manifest.counts == {
        "level": {"healthy": 1, "lesion": 2}, "kind": {"none": 3}, "source": {"hand": 3},
        "licence": {"CC BY 4.0": 3}, "crop": {"none": 3},
    }  # fmt: skip
    assert manifest.audit == "not audited"
    assert manifest.config == {"seed": "7"}
    assert manifest.inputs == {"set.jsonl": store.sha256(photos.parent / "set.jsonl")}
    assert len(manifest.digest) == 64
    assert line(manifest, Path("B")) == "leaves 2: 3 items, 2 photos, not audited: B"


def test_photos_that_tell_where_or_by_whom_are_counted_and_kept_as_they_are(photos: Path) -> None:
    """Their bytes are their identity; who gives the benchmark out has to know."""
    exif = Image.Exif()
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitude] = (39.0, 17.0, 0.0)
    Image.new("RGB", (40, 30), (60, 160, 30)).save(photos / "here.jpg", exif=exif)
    exif[ExifTags.Base.Artist] = "Jane Roe"
    Image.new("RGB", (40, 30), (60, 160, 90)).save(photos / "both.jpg", exif=exif)
    exif[ExifTags.Base.Artist] = "Jane Doe"
    Image.new("RGB", (40, 30), (60, 160, 60)).save(photos / "fetched.jpg", exif=exif)
    shown = [
        {**WELL, "id": "again", "image": "here.jpg"}, {**WELL, "id": "here", "image": "here.jpg"},
        {**WELL, "id": "both", "image": "both.jpg"},
        {**WELL, "id": "gone", "image": "fetched.jpg", "licence": "unknown"},  # by its hash alone
    ]  # fmt: skip
    bench = made(photos, SICK, *shown)
    assert bench.manifest.counts["metadata"] == {"person": 1, "place": 2}
    told = "a person (photos: 1) and a place (photos: 2)"
    assert f"4 photos (1 by reference: see fetch.py), whose files tell of {told}, not" in line(
        bench.manifest, Path("B")
    )
    card = (bench.folder / "CARD.md").read_text("utf-8")
    assert f"of {told}. Look at them before this folder is given out." in card
    assert "| metadata |" not in card
    (both,) = (each for each in bench.items if each.id == "both")
    assert bench.photo(both.image).read_bytes() == (photos / "both.jpg").read_bytes()


def test_an_audit_is_frozen_with_it(photos: Path) -> None:
    audit = store.Audit(coverage=1.0, findings={"collision": 2}, reason="seen by hand")
    settings = Settings(name="leaves", version="1", audit=audit)
    assert made(photos, SICK, settings=settings).manifest.audit == audit


@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        ([("a.png", None), ("same.png", None), ("sub/b.jpg", None)], ["A", "A", "B"]),
        ([("a.png", "g"), ("same.png", None), ("sub/b.jpg", None)], ["g", "g", "B"]),
        ([("a.png", None), ("a.png", "g"), ("sub/b.jpg", "h")], ["g", "g", "h"]),
        ([("a.png", "g"), ("same.png", "h"), ("a.png", None)], ["g", "h", "g"]),
    ],
)
def test_equal_pixels_are_one_group(
    photos: Path, rows: list[tuple[str, str | None]], groups: list[str]
) -> None:
    names = {"A": facts(photos / "a.png").pixels, "B": facts(photos / "sub" / "b.jpg").pixels}
    drafts = [
        {**SICK, "id": str(number), "image": image, "group": group}
        for number, (image, group) in enumerate(rows)
    ]
    assert [i.group for i in made(photos, *drafts).items] == [names.get(g, g) for g in groups]


CHOICE = {
    "id": "q1", "form": "mcq", "images": ["sub/b.jpg"], "question": "What is it?",
    "options": ["rust", "blight"], "answer": "B", "source": "hand", "licence": "CC0",
}  # fmt: skip
OPEN = {
    "id": "q0", "form": "open", "images": ["a.png", "sub/b.jpg"], "question": "Why?",
    "answer": "Rain.", "source": "hand", "licence": "CC0", "facts": ["It rained."],
}  # fmt: skip
WORDS = {**OPEN, "id": "q2", "images": []}


def test_questions_are_told_by_their_fields_and_photos_shown_together_are_one_group(
    photos: Path,
) -> None:
    bench = made(photos, CHOICE, OPEN, WORDS)
    together, choice, words = bench.questions
    assert [q.id for q in bench.questions] == ["q0", "q1", "q2"]
    assert bench.items == ()
    assert choice.images == (together.images[1],)
    assert bench.photo(choice.images[0]).read_bytes() == (photos / "sub" / "b.jpg").read_bytes()
    least = min(facts(photos / "a.png").pixels, facts(photos / "sub" / "b.jpg").pixels)
    assert (together.group, choice.group, words.group) == (least, least, "q2")
    assert bench.manifest.counts["form"] == {"mcq": 1, "open": 2}


FOUR = ["rust", "late blight", "scab", "canker"]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({**SICK, "colour": "red"}, "expected only fields of Item"),
        ({**SICK, "licence": " "}, "expected the licence"),
        ({k: v for k, v in SICK.items() if k != "licence"}, "expected the field 'licence'"),
        ({**SICK, "image_sha256": "0" * 64}, "expected image_sha256 .* another photo"),
        ({**SICK, "width": 20}, r"expected width 30 \(of 'a.png' turned upright\), got 20"),
        ({**SICK, "height": 30}, "expected height 20"),
        ({**SICK, "boxes": [[1, 2, 31, 12]]}, "x1 < x2 <= 30"),
        ({**SICK, "boxes": [[5, 2, 5, 12]]}, "expected boxes"),
        ({**SICK, "boxes": []}, "expected boxes on a lesion-level image"),
        ({**SICK, "label": None}, "expected a label on a lesion-level image"),
        ({**WELL, "id": "sick", "boxes": [[1, 2, 3, 4]]}, "expected no boxes on a healthy image"),
        ({**SICK, "query": "scab"}, "expected query to name the label 'rust', got 'scab'"),
        ({**SICK, "absent_query": "Rust"}, "certainly not on the image"),
        ({**SICK, "absent_query": "leaf rust"}, "certainly not on the image"),
        ({**SICK, "candidates": ["mite", *FOUR[1:]]}, "expected the label 'rust' among"),
        ({**SICK, "candidates": [*FOUR[:3], "apple scab"]}, "exclude each other"),
        ({**SICK, "candidates": [*FOUR[:3], "Late-Blight"]}, "exclude each other"),
        ({**SICK, "candidates": FOUR[:3]}, "expected four distinct candidates"),
        ({**CHOICE, "id": "sick"}, "expected only fields of Item"),
    ],
)
def test_a_wrong_line_is_named_with_its_id_and_nothing_is_left(
    photos: Path, row: object, told: str
) -> None:
    out = photos.parent / "bench"
    with pytest.raises(BadRecord, match=rf"set\.jsonl:2 \(id 'sick'\): .*{told}"):
        freeze(written(photos, WELL, row), photos, out, SETTINGS)
    assert sorted(path.name for path in photos.parent.iterdir()) == ["photos", "set.jsonl"]


@pytest.mark.parametrize(
    ("row", "fault", "told"),
    [
        ({**SICK, "image": "absent.png"}, Unreadable, r"set\.jsonl:2 \(id 'sick'\)"),
        ({**SICK, "image": "text.jpg"}, Unreadable, r"set\.jsonl:2 \(id 'sick'\)"),
        ({**SICK, "image": "sub"}, Unreadable, r"set\.jsonl:2 \(id 'sick'\)"),
        ({**SICK, "image": "../photos/a.png"}, Refused, r"set\.jsonl:2 \(id 'sick'\)"),
        ({**SICK, "image": "/etc/passwd"}, Refused, r"set\.jsonl:2 \(id 'sick'\)"),
        ({**WELL}, BadRecord, r"set\.jsonl:2 \(id 'well'\): .* line 1"),
    ],
)
def test_photos_and_ids_that_cannot_be(
    photos: Path, row: object, fault: type[Fault], told: str
) -> None:
    with pytest.raises(fault, match=told):
        freeze(written(photos, WELL, row), photos, photos.parent / "bench", SETTINGS)


def test_a_wrong_question_is_named(photos: Path) -> None:
    with pytest.raises(BadRecord, match=r"set\.jsonl:1 \(id 'q1'\): expected one of AB, got 'C'"):
        made(photos, {**CHOICE, "answer": "C"})


def test_a_truth_that_is_told_twice_is_none(photos: Path) -> None:
    path = photos.parent / "set.jsonl"
    path.write_text(json.dumps(SICK)[:-1] + ', "label": "scab"}\n')
    with pytest.raises(BadRecord, match=r"set\.jsonl:1 \(id 'sick'\): .*'label' twice"):
        freeze(path, photos, photos.parent / "bench", SETTINGS)


def test_an_empty_file_is_no_benchmark(photos: Path) -> None:
    with pytest.raises(BadRecord, match="got an empty file"):
        made(photos)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(name=" ", version="1"), "--name"),
        (Settings(name="a", version=""), "--version"),
        (Settings(name="a", version="1", split="dev"), "--split: expected one of train, val, test"),
    ],
)
def test_settings_that_cannot_be_used(photos: Path, settings: Settings, told: str) -> None:
    with pytest.raises(Usage, match=told):
        made(photos, SICK, settings=settings)


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_two_freezes_are_byte_equal_and_the_order_of_the_lines_does_not_tell(photos: Path) -> None:
    rows = [SICK, {**SICK, "id": "b", "image": "same.png", "licence": "unknown"}, WELL]
    records = written(photos, *rows)
    for out in ("one", "two"):
        freeze(records, photos, photos.parent / out, SETTINGS)
    one = everything(photos.parent / "one")
    assert one == everything(photos.parent / "two")
    freeze(written(photos, *reversed(rows)), photos, photos.parent / "three", SETTINGS)
    three = everything(photos.parent / "three")
    assert one.keys() == three.keys()
    assert {name for name in one if one[name] != three[name]} == {"manifest.json"}  # its input


def test_a_frozen_benchmark_is_not_changed(photos: Path) -> None:
    out = photos.parent / "bench"
    made(photos, SICK)
    before = everything(out)
    assert freeze(written(photos, SICK), photos, out, SETTINGS).digest  # again: nothing to do
    with pytest.raises(Usage, match="got another benchmark"):
        freeze(written(photos, WELL), photos, out, SETTINGS)
    assert everything(out) == before
    (out / "items.jsonl").write_text("")
    with pytest.raises(Usage, match="got another benchmark"):
        freeze(written(photos, SICK), photos, out, SETTINGS)


def test_a_folder_of_other_files_is_left_alone(photos: Path) -> None:
    with pytest.raises(Usage, match="expected no such folder or an empty one"):
        freeze(written(photos, SICK), photos, photos, SETTINGS)
    (photos.parent / "empty").mkdir()
    freeze(written(photos, SICK), photos, photos.parent / "empty", SETTINGS)
    assert store.verify(photos.parent / "empty") == []


def test_what_a_killed_freeze_left_is_no_hindrance_and_two_at_once_are_refused(
    photos: Path,
) -> None:
    (photos.parent / ".bench.part" / "images").mkdir(parents=True)
    with store.lock(photos.parent / "bench"), pytest.raises(Busy):
        made(photos, SICK)
    made(photos, SICK)
    assert not (photos.parent / ".bench.part").exists()


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("CC0", True), ("CC BY-NC-ND 4.0", True), ("The Unlicense", True), ("Apache-2.0", True),
        ("(c) A. Grower. All Rights Reserved.", False), ("unknown", False), ("Not stated", False),
        ("research-only", False), ("Proprietary", False), ("no licence given", False),
        ("", False), ("?", False),
    ],
)  # fmt: skip
def test_which_licences_let_a_photo_be_copied(licence: str, allowed: bool) -> None:  # noqa: FBT001
    assert may_copy(licence) == allowed


def test_photos_that_may_not_be_copied_are_fetched_by_hash(photos: Path) -> None:
    closed = {"licence": "All rights reserved"}
    bench = made(photos, SICK, {**SICK, **closed, "id": "shared"}, {**WELL, **closed}, OPEN_ITEM)
    out = bench.folder
    apart = {each.image for each in bench.items if each.id != "open"}
    assert set(bench.not_fetched()) == apart
    assert {r.original for r in bench.manifest.references.values()} == {"a.png", "sub/b.jpg"}
    assert len(list((out / "images").iterdir())) == 1
    command = [sys.executable, "-I", "-S", str(out / "fetch.py"), str(photos)]
    subprocess.run(command, check=True)
    assert store.verify(out) == []
    assert store.open_bench(out).not_fetched() == []


OPEN_ITEM = {**SICK, "id": "open", "image": "same.png"}
