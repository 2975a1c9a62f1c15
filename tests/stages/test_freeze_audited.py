"""A benchmark is frozen with its audit, and not against it (design, section 2, rule 11)."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.scenes import at_distance, blank, save, scene, scenes

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.run.progress import SILENT
from fieldtruth.stages.audit import Settings as Looking
from fieldtruth.stages.audit import audit
from fieldtruth.stages.freeze import Settings, freeze


def rows(path: Path, **groups: str | None) -> Path:
    """Healthy items `a.jpg` and so on, each with the group given."""
    lines = [
        {"id": name, "image": f"{name}.jpg", "source": "hand", "licence": "CC0",
         "level": "healthy", "group": group}
        for name, group in groups.items()
    ]  # fmt: skip
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """a, b, c in `photos`; in `train` two others."""
    for name, seed in {"a": 1, "b": 2, "c": 3}.items():
        save(scene(seed), tmp_path / "photos" / f"{name}.jpg")
    scenes(tmp_path / "train", [11, 12])
    return tmp_path / "photos"


def audited(photos: Path, *sets: Path, **settings: Any) -> Path:
    """The report as `audit --json` prints it."""
    report = audit([str(each) for each in sets], Looking(**settings), SILENT)
    path = photos.parent / "audit.json"
    path.write_bytes(msgspec.json.encode(report))
    return path


def frozen(photos: Path, lines: Path, report: Path, accept: str | None = None) -> store.Bench:
    settings = Settings(name="leaves", version="1", audited=report, accept=accept)
    freeze(lines, photos, photos.parent / "bench", settings)
    return store.open_bench(photos.parent / "bench")


def groups(bench: store.Bench) -> dict[str, str]:
    return {item.id: item.group for item in bench.items}


def test_a_clean_audit_is_frozen(photos: Path) -> None:
    lines = rows(photos.parent / "items.jsonl", a=None, b=None)
    report = audited(photos, photos, photos.parent / "train")
    manifest = frozen(photos, lines, report).manifest
    assert manifest.audit == store.Audit(coverage=1.0, findings={}, reason=None)
    assert manifest.inputs["audit:audit.json"] == store.sha256(report)
    card = (photos.parent / "bench" / "CARD.md").read_text()
    assert "An audit covered 100.0%" in card


def test_a_copy_in_another_set_is_refused_unless_told_why(photos: Path) -> None:
    save(scene(1), photos.parent / "train" / "leak.jpg", quality=70)
    lines = rows(photos.parent / "items.jsonl", a=None, b=None)
    report = audited(photos, photos, photos.parent / "train")
    with pytest.raises(Refused, match="1 pairs between groups: copy"):
        frozen(photos, lines, report)
    assert not (photos.parent / "bench").exists()
    made = frozen(photos, lines, report, " the trainer never sees it ").manifest.audit
    assert made == store.Audit(
        coverage=1.0,
        findings={"between groups": 1, "contamination": 2, "copy": 1},
        reason="the trainer never sees it",
    )


def test_a_leak_of_a_photo_that_is_not_frozen_is_none(photos: Path) -> None:
    save(scene(3), photos.parent / "train" / "leak.jpg", quality=70)
    lines = rows(photos.parent / "items.jsonl", a=None, b=None)
    made = frozen(photos, lines, audited(photos, photos, photos.parent / "train")).manifest.audit
    assert made == store.Audit(coverage=1.0, findings={"contamination": 2, "copy": 1})


def test_copies_within_make_one_group_where_none_is_given(photos: Path) -> None:
    save(scene(1), photos / "c.jpg", quality=60)
    report = audited(photos, photos)
    made = groups(frozen(photos, rows(photos.parent / "1.jsonl", a=None, b=None, c=None), report))
    assert made["a"] == made["c"] != made["b"]


@pytest.mark.parametrize(
    ("given", "refused"), [({"a": "g", "c": "g"}, None), ({"a": "g", "c": "h"}, "copy")]
)
def test_copies_within_may_not_be_put_into_two_groups(
    photos: Path, given: dict[str, str], refused: str | None
) -> None:
    save(scene(1), photos / "c.jpg", quality=60)
    lines, report = rows(photos.parent / "1.jsonl", **given), audited(photos, photos)
    if refused is None:
        assert frozen(photos, lines, report).manifest.audit == store.Audit(
            coverage=1.0, findings={"copy": 1}
        )
    else:
        with pytest.raises(Refused, match=f"1 pairs between groups: {refused}"):
            frozen(photos, lines, report)


def test_ambiguous_and_unverified_pairs_are_refused_too(photos: Path) -> None:
    like = at_distance(scene(1), scene(51), 6)
    assert like is not None
    save(like, photos.parent / "train" / "like.png")
    blank(photos / "c.jpg")
    blank(photos.parent / "train" / "blank.png", 30)
    lines = rows(photos.parent / "items.jsonl", a=None, c=None)
    report = audited(photos, photos, photos.parent / "train")
    with pytest.raises(Refused, match=r"groups: ambiguous; 1 pairs between groups: unverified"):
        frozen(photos, lines, report)


def test_collisions_and_quality_are_only_recorded(photos: Path) -> None:
    save(scene(2, (100, 90)), photos / "c.jpg")
    lines = rows(photos.parent / "items.jsonl", a=None, c=None)
    made = frozen(photos, lines, audited(photos, photos / "..", radius=0)).manifest.audit
    assert isinstance(made, store.Audit)
    assert made.reason is None
    assert made.findings["tiny"] == 1


def test_what_was_not_read_is_refused(photos: Path) -> None:
    """Also of the other sets, for nothing was held against it."""
    (photos.parent / "train" / "broken.jpg").write_text("no photo")
    lines = rows(photos.parent / "items.jsonl", a=None)
    report = audited(photos, photos, photos.parent / "train")
    with pytest.raises(Refused, match=r"coverage 83.33%"):
        frozen(photos, lines, report)
    made = frozen(photos, lines, report, "it is a text").manifest.audit
    assert made == store.Audit(coverage=5 / 6, findings={"coverage": 1}, reason="it is a text")


def test_photos_that_the_audit_has_not_seen(photos: Path) -> None:
    """An audit is of contents: another file of that name is another photo."""
    report = audited(photos, photos)
    lines = rows(photos.parent / "items.jsonl", a=None, b=None)
    save(scene(30), photos / "b.jpg")
    with pytest.raises(Refused, match=r"coverage 50.00%"):
        frozen(photos, lines, report)
    save(scene(31), photos / "a.jpg")
    for accept in (None, "because"):
        with pytest.raises(Refused, match="got one of others, or of these before they changed"):
            frozen(photos, lines, report, accept)


def test_a_list_that_was_cut_is_refused(photos: Path) -> None:
    for name in ("d", "e", "f"):
        save(scene(40), photos.parent / "train" / f"{name}.jpg")
    lines = rows(photos.parent / "items.jsonl", a=None)
    report = audited(photos, photos, photos.parent / "train", max_pairs=2)
    with pytest.raises(Refused, match="only 2 pairs listed"):
        frozen(photos, lines, report)


def test_the_set_is_known_by_its_photos_whatever_its_place_and_name(photos: Path) -> None:
    lines = rows(photos.parent / "items.jsonl", a=None, b=None)
    save(scene(2), photos.parent / "train" / "leak.jpg", quality=70)
    for sets in ((lines, photos.parent / "train"), (photos.parent / "train", photos)):
        settings = {"images": photos} if lines in sets else {}
        report = audited(photos, *sets, **settings)
        with pytest.raises(Refused, match="1 pairs between groups: copy"):
            frozen(photos, lines, report)


def test_questions_have_audits_too(photos: Path) -> None:
    question = {
        "id": "q", "form": "open", "images": ["a.jpg", "b.jpg"], "question": "Why?",
        "answer": "Rain.", "source": "hand", "licence": "CC0",
    }  # fmt: skip
    lines = photos.parent / "questions.jsonl"
    lines.write_text(json.dumps(question))
    assert frozen(photos, lines, audited(photos, lines, images=photos)).manifest.questions == 1


@pytest.mark.parametrize(
    ("content", "fault"), [("", BadRecord), ("[]", BadRecord), ('{"sets": {}}', BadRecord)]
)
def test_a_file_that_is_no_audit(photos: Path, content: str, fault: type[Exception]) -> None:
    path = photos.parent / "audit.json"
    path.write_text(content)
    lines = rows(photos.parent / "items.jsonl", a=None)
    with pytest.raises(fault, match="audit --json"):
        frozen(photos, lines, path)


def test_reasons_are_words_about_an_audit(photos: Path) -> None:
    lines = rows(photos.parent / "items.jsonl", a=None)
    with pytest.raises(Usage, match="got a blank one"):
        frozen(photos, lines, audited(photos, photos), "  ")
    with pytest.raises(Usage, match="give it with --audit"):
        freeze(lines, photos, photos / "x", Settings(name="a", version="1", accept="because"))
    with pytest.raises(Usage, match="got nothing there"):
        frozen(photos, lines, photos / "none.json")
