"""Sets of photos in, a report out: what is a copy of what, and what nobody can vouch for."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.builders import frozen, healthy_row, row
from tests.scenes import apart, at_distance, blank, collision, phash, save, scene, scenes

from fieldtruth import hashing, images, store
from fieldtruth.checks.contract import Report
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.run.progress import SILENT
from fieldtruth.stages.audit import Settings, audit, line, refuse

DATA = Path(__file__).parents[3] / "shared" / "data"
REAL = [
    *sorted(DATA.glob("plantvillage/*/*"))[::9],
    *sorted(DATA.glob("mirage/sample_images/*"))[::5],
    *sorted(DATA.glob("coffee/images/*/*.jpg"))[::90],
]


def audited(*sets: Path, **settings: Any) -> Report:
    return audit([str(each) for each in sets], Settings(**settings), SILENT)


def told(report: Report) -> set[tuple[str, str, str]]:
    """Each pair by its two names, in order, and its verdict."""
    return {(*sorted((pair.a, pair.b)), pair.verdict) for pair in report.pairs}  # type: ignore[misc]


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Photos 1 to 4; and 5, 6 and a recoded copy of 3."""
    scenes(tmp_path / "a", [1, 2, 3, 4])
    scenes(tmp_path / "b", [5, 6])
    save(scene(3).resize((480, 360)), tmp_path / "b" / "sub" / "copy.png")
    return tmp_path / "a", tmp_path / "b"


def test_a_copy_in_another_set(two: tuple[Path, Path]) -> None:
    report = audited(*two)
    (pair,) = report.pairs
    a, b = map(str, two)
    assert (pair.set_a, pair.a, pair.set_b, pair.b) == (a, "3.jpg", b, "sub/copy.png")
    assert (pair.verdict, pair.turn, pair.across) == ("copy", "as_is", True)
    assert pair.distance <= 2
    assert pair.correlation is not None
    assert pair.correlation > 0.99
    assert [[(each.set, each.path) for each in group] for group in report.groups] == [
        [(a, "3.jpg"), (b, "sub/copy.png")]
    ]
    assert [(each.images, each.readable, each.coverage) for each in report.sets.values()] == [
        (4, 4, 1.0), (3, 3, 1.0),
    ]  # fmt: skip
    assert (report.complete, report.found, report.coverage) == (True, 1, 1.0)
    assert report.hash == hashing.CONVENTION
    assert report.photos[a] == tuple(sorted(store.sha256(file) for file in two[0].iterdir()))


def test_a_collision_that_is_nearer_hides_no_copy(tmp_path: Path) -> None:
    """Each near pair is compared, not only the nearest."""
    photo = scene(2)
    false, true = collision(photo, 2), at_distance(photo, scene(52), 4)
    assert true is not None
    assert apart(photo, false) < apart(photo, true) == 4
    save(photo, tmp_path / "bench" / "photo.png")
    save(false, tmp_path / "train" / "false.png")
    save(true, tmp_path / "train" / "true.png")
    report = audited(tmp_path / "bench", tmp_path / "train")
    found = {(pair.a, pair.b): (pair.distance, pair.verdict) for pair in report.pairs}
    assert found["photo.png", "false.png"] == (0, "collision")
    assert found["photo.png", "true.png"] == (4, "copy")


def test_every_file_of_a_hash_is_compared(tmp_path: Path) -> None:
    """Of several files with one hash, one may be the copy and the others not."""
    photo = scene(1)
    save(photo, tmp_path / "bench" / "photo.png")
    for name in ("a", "b", "c"):
        save(collision(photo, ord(name)), tmp_path / "train" / f"{name}.png")
    save(photo, tmp_path / "train" / "d.png")
    mine = [pair for pair in audited(tmp_path / "bench", tmp_path / "train").pairs if pair.across]
    assert {(pair.b, pair.verdict) for pair in mine} >= {
        ("a.png", "collision"), ("b.png", "collision"), ("c.png", "collision"), ("d.png", "copy"),
    }  # fmt: skip


def test_what_is_like_but_not_the_same_is_ambiguous(tmp_path: Path) -> None:
    photo = scene(1)
    like = at_distance(photo, scene(51), 6)
    assert like is not None
    save(photo, tmp_path / "a" / "x.png")
    save(like, tmp_path / "b" / "y.png")
    report = audited(tmp_path / "a", tmp_path / "b")
    assert told(report) == {("x.png", "y.png", "ambiguous")}
    assert report.groups == ()
    assert [each.severity for each in report.findings if each.check == "near_duplicates"] == [
        "failure"
    ]


def test_two_constant_photos_are_unverified(tmp_path: Path) -> None:
    """Design, section 8: what cannot be compared is never a collision."""
    one, other = blank(tmp_path / "a" / "x.png", 90), blank(tmp_path / "b" / "y.png", 180)
    (pair,) = audited(one.parent, other.parent).pairs
    assert (pair.distance, pair.correlation, pair.verdict) == (0, None, "unverified")
    report = audited(one.parent, other.parent)
    assert [each.reason for each in report.sets[str(one.parent)].degenerate] == ["constant"]
    with pytest.raises(Refused, match="1 pairs between sets"):
        refuse(report)


@pytest.mark.parametrize("radius", [0, 6])
def test_black_and_white_are_a_constant_pair_too(tmp_path: Path, radius: int) -> None:
    one, other = blank(tmp_path / "a" / "x.png", 0), blank(tmp_path / "b" / "y.png", 255)
    (pair,) = audited(one.parent, other.parent, radius=radius).pairs
    assert (pair.distance, pair.correlation, pair.verdict) == (0, None, "unverified")


def test_a_gradient_is_degenerate_and_compared_all_the_same(tmp_path: Path) -> None:
    wide = np.tile(np.linspace(0, 255, 300), (200, 1)).astype(np.uint8)
    save(Image.fromarray(wide), tmp_path / "a" / "x.png")
    save(Image.fromarray(wide), tmp_path / "b" / "y.png")
    report = audited(tmp_path / "a", tmp_path / "b")
    assert report.sets[str(tmp_path / "a")].degenerate[0].reason == "few_frequencies"
    assert told(report) == {("x.png", "y.png", "copy")}


def test_what_cannot_be_read_is_counted_and_said(two: tuple[Path, Path]) -> None:
    """An unreadable image is an unverified image."""
    a, b = two
    (a / "text.jpg").write_text("no photo")
    (a / "none.png").touch()
    (a / "phone.heic").write_bytes(b"\0\0\0\x18ftypheic")
    (a / "._1.jpg").write_bytes(b"left by another system")
    (a / "notes.txt").write_text("about the photos")
    (a / "photo").write_bytes((a / "1.jpg").read_bytes())
    report = audited(a, b)
    mine = report.sets[str(a)]
    assert (mine.images, mine.readable, mine.coverage) == (8, 5, 5 / 8)
    assert {each.path: each.reason for each in mine.unreadable} == {
        "text.jpg": "not_a_photo", "none.png": "empty", "phone.heic": "not_a_photo",
    }  # fmt: skip
    assert ("1.jpg", "photo", "copy") in told(report)
    assert report.coverage == pytest.approx(8 / 11)
    assert sum(each.check == "coverage" for each in report.findings) == 3


def test_pairs_within_a_set_and_among_three(tmp_path: Path) -> None:
    """Everything with everything, whatever the sets are for."""
    for name in ("a", "b", "c"):
        save(scene(9), tmp_path / name / f"{name}.jpg", quality=60 + ord(name) % 5)
    save(scene(9), tmp_path / "a" / "again.jpg")
    report = audited(*(tmp_path / name for name in "abc"))
    assert len(report.pairs) == 6
    assert {pair.verdict for pair in report.pairs} == {"copy"}
    assert sum(pair.across for pair in report.pairs) == 5
    assert len(report.groups) == 1
    assert len(report.groups[0]) == 4


@pytest.mark.parametrize("method", list(Image.Transpose))
def test_flips_and_turns(tmp_path: Path, method: Image.Transpose) -> None:
    """Whichever of the two was turned."""
    save(scene(4), tmp_path / "a" / "x.png")
    save(scene(4).transpose(method), tmp_path / "b" / "y.png")
    sets = (tmp_path / "a", tmp_path / "b")
    assert audited(*sets).pairs == ()
    ((there,), (back,)) = audited(*sets, flips=True).pairs, audited(*sets[::-1], flips=True).pairs
    assert (there.verdict, back.verdict) == ("copy", "copy")
    assert there.distance <= 2
    inverse = {"rotate_90": "rotate_270", "rotate_270": "rotate_90"}
    assert back.turn == inverse.get(there.turn, there.turn) != "as_is"


def test_a_turned_search_finds_the_rest_too(two: tuple[Path, Path]) -> None:
    assert audited(*two, flips=True).pairs == audited(*two).pairs
    save(scene(7).transpose(Image.Transpose.FLIP_LEFT_RIGHT), two[1] / "turned.png")
    save(scene(7), two[0] / "7.png")
    symmetric = Image.fromarray(np.hstack([np.asarray(scene(8)), np.asarray(scene(8))[:, ::-1]]))
    save(symmetric, two[0] / "symmetric.png")
    assert told(audited(*two, flips=True)) == {
        ("3.jpg", "sub/copy.png", "copy"), ("7.png", "turned.png", "copy"),
    }  # fmt: skip


def test_a_list_that_is_cut_says_so_and_keeps_the_worst(tmp_path: Path) -> None:
    for number in range(6):
        save(scene(1), tmp_path / "a" / f"{number}.jpg")
    save(scene(1), tmp_path / "b" / "leak.jpg")
    report = audited(tmp_path / "a", tmp_path / "b", max_pairs=6)
    assert (report.complete, report.found, len(report.pairs)) == (False, 21, 6)
    assert all(pair.across for pair in report.pairs)
    assert [len(group) for group in report.groups] == [7]
    assert "only 6 of 21" in line(report)
    with pytest.raises(Refused, match="more near pairs than the 6 listed"):
        refuse(report)


@pytest.mark.slow
def test_hundreds_of_blank_photos(tmp_path: Path) -> None:
    for number in range(300):
        blank(tmp_path / "a" / f"{number}.png", number % 250 + 2)
    report = audited(tmp_path / "a", max_pairs=50)
    assert (len(report.pairs), report.complete) == (50, False)
    assert len(report.sets[str(tmp_path / "a")].degenerate) == 300


@pytest.mark.parametrize("radius", [0, 2, 6])
def test_the_radius_is_of_the_exact_hash(tmp_path: Path, radius: int) -> None:
    for seed in (3, 7):
        save(scene(seed), tmp_path / "a" / f"{seed}.jpg")
        for distance in (2, 4, 6, 8):
            mixed = at_distance(scene(seed), scene(seed + 50), distance)
            assert mixed is not None
            save(mixed, tmp_path / "a" / f"{seed}-{distance}.jpg", quality=80)
    assert_decided_as_the_exact_hash(tmp_path / "a", radius)


@pytest.mark.data
@pytest.mark.skipif(not REAL, reason="the real photos are not at hand")
@pytest.mark.slow
def test_real_copies_and_near_misses_are_decided_by_the_exact_hash(tmp_path: Path) -> None:
    """Photos with others mixed in so far that their hashes lie 4, 6 and 8 bits away."""
    for number, path in enumerate(REAL):
        photo = images.open_upright(path)
        photo.thumbnail((512, 512))
        save(photo, tmp_path / "a" / f"{number}.jpg")
        other = images.open_upright(REAL[number - 1])
        for distance in (4, 6, 8) if number % 3 == 0 else (2 * (number % 3) + 4,):
            mixed = at_distance(photo, other, distance)
            if mixed is not None:
                save(mixed, tmp_path / "a" / f"{number}-{distance}.jpg", quality=85)
    assert assert_decided_as_the_exact_hash(tmp_path / "a", 6) > 20


def assert_decided_as_the_exact_hash(folder: Path, radius: int) -> int:
    """The pairs of an audit are those of ImageHash, each with each."""
    files = sorted(folder.iterdir())
    hashes = [phash(Image.open(file)) for file in files]
    expected = {
        (*sorted((files[a].name, files[b].name)), (hashes[a] ^ hashes[b]).bit_count())
        for a in range(len(files))
        for b in range(a)
        if (hashes[a] ^ hashes[b]).bit_count() <= radius
    }
    report = audited(folder, radius=radius)
    assert {(*sorted((p.a, p.b)), p.distance) for p in report.pairs} == expected
    return len(expected)


def test_files_of_items(two: tuple[Path, Path]) -> None:
    """Items go by their ids; two that show one file are no pair of their own."""
    rows = [
        {"id": "i1", "image": "1.jpg", "label": "rust", "level": "lesion", "source": "s"},
        {"id": "i3", "image": "3.jpg", "label": "rust", "level": "lesion", "more": 1},
        {"id": "again", "image": "3.jpg", "level": "healthy"},
        {"id": "gone", "image": "gone.jpg"},
        {"id": "q", "images": ["2.jpg", "4.jpg"], "question": "What?"},
    ]
    lines = two[0] / "items.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in rows))
    report = audited(lines, two[1])
    assert told(report) == {("i3", "sub/copy.png", "copy"), ("again", "sub/copy.png", "copy")}
    mine = report.sets[str(lines)]
    assert (mine.images, mine.readable) == (5, 4)
    assert [(each.path, each.reason) for each in mine.unreadable] == [("gone.jpg", "missing")]
    assert [each.check for each in report.conflicts] == ["healthy_and_diseased"]
    elsewhere = two[0].parent / "items.jsonl"
    lines.rename(elsewhere)
    moved = audited(elsewhere, two[1], images=two[0])
    assert told(moved) == told(report)
    assert audited(elsewhere).coverage == 0


@pytest.mark.parametrize("image", ["../b/5.jpg", "/etc/passwd"])
def test_paths_that_lead_out_are_refused(two: tuple[Path, Path], image: str) -> None:
    lines = two[0] / "items.jsonl"
    lines.write_text(json.dumps({"id": "i", "image": image}))
    with pytest.raises(Refused, match="expected a path inside"):
        audited(lines)


def test_frozen_benchmarks(tmp_path: Path) -> None:
    bench = frozen(tmp_path / "bench", [row("p0"), healthy_row("h0")])
    report = audited(bench, tmp_path / "photos")
    assert {pair.a for pair in report.pairs if pair.across} == {"p0", "h0"}
    assert report.sets[str(bench)].images == 2
    (bench / "images" / "extra.png").write_bytes(b"")
    with pytest.raises(Refused, match=r"images/extra.png extra"):
        audited(bench)


def test_one_file_in_two_sets_is_a_copy(tmp_path: Path) -> None:
    (photo,) = scenes(tmp_path / "a" / "sub", [1])
    report = audited(tmp_path / "a", tmp_path / "a" / "sub")
    assert told(report) == {("1.jpg", "sub/1.jpg", "copy")}
    photo.write_text("no photo")
    assert audited(tmp_path / "a", tmp_path / "a" / "sub").pairs == ()


def test_two_audits_are_equal_and_the_order_of_sets_changes_no_verdict(
    two: tuple[Path, Path],
) -> None:
    first = audited(*two)
    assert audited(*two) == first
    assert told(audited(*two[::-1])) == told(first)


@pytest.mark.parametrize(
    ("names", "settings", "said"),
    [
        (["a", "a"], {}, "different names"),
        (["nowhere"], {}, "nothing there"),
        (["empty"], {}, "got none"),
        (["a"], {"radius": -1}, "--radius: expected 0 to 16"),
        (["a"], {"radius": 17}, "--radius: expected 0 to 16"),
        (["a"], {"max_pairs": 0}, "--max-pairs: expected 1"),
    ],
)
def test_what_cannot_be_audited(
    two: tuple[Path, Path], names: list[str], settings: dict[str, int], said: str
) -> None:
    (two[0].parent / "empty").mkdir()
    with pytest.raises(Usage, match=said):
        audited(*(two[0].parent / name for name in names), **settings)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    lines = tmp_path / "items.jsonl"
    lines.write_text('{"id": "a"}\n{"image": "b.jpg"}\n')
    with pytest.raises(BadRecord, match=r"items.jsonl:2"):
        audited(lines)
