"""Photos to groups, groups to splits: what belongs together stays together; what leaks shows."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.scenes import at_distance, blank, collision, save, scene, scenes

from fieldtruth import draws
from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Place, Sample
from fieldtruth.run.progress import SILENT
from fieldtruth.stages.split import Leakage, Origin, Settings, check, line, refuse, split

Places = Mapping[tuple[int, str], Place]


def sample(name: str, *images: str, **native: str) -> Sample:
    return Sample(id=name, source="s", images=images, native=native, licence="CC0")


def one_each(root: Path, **native: str) -> list[Sample]:
    """A sample for each file below the root."""
    paths = sorted(each.relative_to(root).as_posix() for each in root.rglob("*.*"))
    return [sample(f"s:{path}", path, **native) for path in paths]


def run(*origins: tuple[Path, Sequence[Sample]], **settings: Any) -> tuple[Places, Leakage]:
    made = [Origin(samples=samples, root=root) for root, samples in origins]
    places, leakage = split(made, Settings(**settings), SILENT)
    return {(n, place.id): place for n, rows in enumerate(places) for place in rows}, leakage


def groups(places: Places) -> set[frozenset[str]]:
    """Which photos are together, by name."""
    found: dict[str, set[str]] = {}
    for (_, path), place in places.items():
        found.setdefault(place.group, set()).add(path)
    return {frozenset(each) for each in found.values()}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_one_photo_in_two_sources_is_one_group_of_one_split(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    scenes(a, range(8))
    (b / "x").mkdir(parents=True)
    (b / "x" / "same.jpg").write_bytes((a / "3.jpg").read_bytes())
    save(scene(4).resize((360, 270)), b / "recoded.png")
    places, leakage = run((a, one_each(a)), (b, one_each(b)))
    assert places[0, "3.jpg"].group == places[1, "x/same.jpg"].group
    assert places[0, "3.jpg"].split == places[1, "x/same.jpg"].split
    assert places[0, "4.jpg"].group == places[1, "recoded.png"].group
    assert places[0, "4.jpg"].split == places[1, "recoded.png"].split
    assert (leakage.files, leakage.contents, leakage.groups, leakage.largest_group) == (10, 9, 8, 2)
    assert (leakage.crossing.contents, leakage.crossing.groups) == (0, 0)
    assert leakage.joined == {"copy": 1, "ambiguous": 0, "unverified": 0}
    assert all(
        place.image_sha256 == digest((a, b)[owner] / path)
        for (owner, path), place in places.items()
    )


def test_equal_pixels_in_other_files_are_one_group(tmp_path: Path) -> None:
    photo = scene(1)
    for name in ("a.png", "b.bmp", "c.tiff"):
        save(photo, tmp_path / name)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter to the right
    photo.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "d.png", exif=exif)
    scenes(tmp_path, [2])
    places, _ = run((tmp_path, one_each(tmp_path)))
    assert groups(places) == {
        frozenset(("a.png", "b.bmp", "c.tiff", "d.png")), frozenset(("2.jpg",)),
    }  # fmt: skip


def test_ambiguous_pairs_are_joined_and_collisions_are_not(tmp_path: Path) -> None:
    photo = scene(2)
    rng = np.random.default_rng(0)
    grain = rng.normal(0, 34, (180, 240, 1))
    noisy = (np.asarray(photo) * 1.0 + grain).clip(0, 255).astype(np.uint8)
    small = [
        np.asarray(each.convert("L").resize((96, 96), Image.Resampling.BILINEAR), float).ravel()
        for each in (photo, Image.fromarray(noisy), collision(photo, 2))
    ]
    assert 0.90 < np.corrcoef(small[0], small[1])[0, 1] < 0.97
    assert np.corrcoef(small[0], small[2])[0, 1] < 0.90
    save(photo, tmp_path / "photo.png")
    save(Image.fromarray(noisy), tmp_path / "noisy.png")
    save(collision(photo, 2), tmp_path / "other.png")
    places, leakage = run((tmp_path, one_each(tmp_path)))
    assert groups(places) == {frozenset(("photo.png", "noisy.png")), frozenset(("other.png",))}
    assert leakage.joined == {"copy": 0, "ambiguous": 1, "unverified": 0}


def test_blank_photos_cannot_be_told_apart_and_stay_together(tmp_path: Path) -> None:
    for shade in (0, 120, 255):
        blank(tmp_path / f"{shade}.png", shade)
    places, leakage = run((tmp_path, one_each(tmp_path)))
    assert len(groups(places)) == 1
    assert leakage.joined["unverified"] == 3
    assert leakage.unverified == 0  # of photos that cannot be read


def test_the_radius_is_kept(tmp_path: Path) -> None:
    near = at_distance(scene(2), scene(52), 4)
    assert near is not None
    save(scene(2), tmp_path / "a.png")
    save(near, tmp_path / "b.png")
    found = [len(groups(run((tmp_path, one_each(tmp_path)), radius=r)[0])) for r in (0, 3, 4, 6)]
    assert found == [2, 2, 1, 1]


def test_flipped_copies_where_they_are_asked_for(tmp_path: Path) -> None:
    save(scene(2), tmp_path / "a.png")
    save(scene(2).transpose(Image.Transpose.FLIP_LEFT_RIGHT), tmp_path / "b.png")
    found = [len(groups(run((tmp_path, one_each(tmp_path)), flips=f)[0])) for f in (False, True)]
    assert found == [2, 1]


def test_beyond_so_many_pairs_photos_are_joined_by_hash(tmp_path: Path) -> None:
    photo = scene(2)
    save(photo, tmp_path / "photo.png")
    for number in (2, 3, 4):
        save(collision(photo, number), tmp_path / f"{number}.png")
    scenes(tmp_path, [9])
    every, whole = run((tmp_path, one_each(tmp_path)))
    few, cut = run((tmp_path, one_each(tmp_path)), most_pairs=1)
    assert (whole.complete, len(groups(every))) == (True, 5)
    assert not cut.complete
    assert frozenset(("9.jpg",)) in groups(few)
    assert len(groups(few)) < 5
    assert "joined by hash alone" in line(cut)


def test_photos_of_a_sample_and_of_a_group_of_its_source_stay_together(tmp_path: Path) -> None:
    scenes(tmp_path, range(7))
    samples = [
        sample("many", "0.jpg", "1.jpg"),
        sample("more", "1.jpg", "2.jpg"),
        sample("plant", "3.jpg", group="plant 7"),
        sample("again", "4.jpg", group="plant 7"),
        sample("alone", "5.jpg"),
        sample("words only"),
    ]
    places, leakage = run((tmp_path, samples))
    assert groups(places) == {
        frozenset(("0.jpg", "1.jpg", "2.jpg")), frozenset(("3.jpg", "4.jpg")),
        frozenset(("5.jpg",)),
    }  # fmt: skip
    assert (leakage.samples, leakage.photos, leakage.files) == (6, 7, 6)


def test_one_name_of_a_group_in_two_sources_is_two_groups(tmp_path: Path) -> None:
    scenes(tmp_path / "a", [1])
    scenes(tmp_path / "b", [2])
    each = [(tmp_path / name, one_each(tmp_path / name, group="1")) for name in "ab"]
    assert len(groups(run(*each)[0])) == 2


def test_what_cannot_be_read_is_a_group_of_its_own_and_never_in_train(tmp_path: Path) -> None:
    scenes(tmp_path, [1, 2])
    (tmp_path / "text.jpg").write_text("no photo")
    (tmp_path / "again.jpg").write_text("no photo")
    samples = [
        sample("a", "1.jpg", "text.jpg", split="train"),
        sample("b", "again.jpg", split="train"),
        sample("c", "gone.jpg", "2.jpg", split="train"),
    ]
    places, leakage = run((tmp_path, samples))
    assert {path: (place.split, place.group[:10]) for (_, path), place in places.items()} == {
        "1.jpg": ("train", digest(tmp_path / "1.jpg")[:10]),
        "2.jpg": ("train", digest(tmp_path / "2.jpg")[:10]),
        "text.jpg": ("test", "unverified"),
        "again.jpg": ("test", "unverified"),
        "gone.jpg": ("test", "unverified"),
    }
    assert places[0, "text.jpg"].group == places[0, "again.jpg"].group
    assert places[0, "text.jpg"].group != places[0, "gone.jpg"].group
    assert places[0, "text.jpg"].image_sha256 == digest(tmp_path / "text.jpg")
    assert places[0, "gone.jpg"].image_sha256 == ""
    assert leakage.unverified == 3
    assert "3 unverified" in line(leakage)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (("train", "test"), "test"), (("test", "train"), "test"), (("val", "train"), "val"),
        (("val", "test"), "test"), (("train", "train"), "train"), (("train", ""), "train"),
        (("", "val"), "val"),
    ],
)  # fmt: skip
def test_a_leak_of_the_release_takes_its_most_guarded_split(
    said: tuple[str, str], expected: str, tmp_path: Path
) -> None:
    save(scene(1), tmp_path / "a.jpg")
    save(scene(1), tmp_path / "b.jpg", quality=70)
    save(scene(2), tmp_path / "c.jpg")
    natives = [{"split": each} if each else {} for each in (*said, "train")]
    samples = [
        sample(name, f"{name}.jpg", **native) for name, native in zip("abc", natives, strict=True)
    ]
    places, leakage = run((tmp_path, samples))
    assert [place.split for place in places.values()] == [expected, expected, "train"]
    crossing = len(set(said) - {""}) - 1
    assert (leakage.release.groups, leakage.release.contents) == (crossing, 0)
    assert ("crossed their release" in line(leakage)) == bool(crossing)


def test_a_group_bears_the_least_hash_of_its_photos(tmp_path: Path) -> None:
    paths = [save(scene(1), tmp_path / f"{q}.jpg", quality=q) for q in (60, 70, 80, 90)]
    places, _ = run((tmp_path, one_each(tmp_path)))
    assert {place.group for place in places.values()} == {min(map(digest, paths))[:32]}


def test_another_source_moves_no_group_that_it_has_nothing_of(tmp_path: Path) -> None:
    scenes(tmp_path / "a", range(20))
    scenes(tmp_path / "b", range(30, 34))
    save(scene(5), tmp_path / "b" / "copy.png")
    before, _ = run((tmp_path / "a", one_each(tmp_path / "a")))
    both, _ = run(
        (tmp_path / "b", one_each(tmp_path / "b")), (tmp_path / "a", one_each(tmp_path / "a"))
    )
    after = {path: place for (owner, path), place in both.items() if owner == 1}
    moved = {path for (_, path), place in before.items() if after[path] != place}
    assert moved <= {"5.jpg"}
    assert after["5.jpg"].group == both[0, "copy.png"].group


def test_the_order_of_samples_is_of_no_account(tmp_path: Path) -> None:
    scenes(tmp_path, range(12))
    save(scene(3), tmp_path / "copy.png")
    samples = one_each(tmp_path)
    one, report = run((tmp_path, samples))
    other, again = run((tmp_path, samples[::-1]))
    assert dict(sorted(one.items())) == dict(sorted(other.items()))
    assert report == again


def test_shares_are_of_groups(tmp_path: Path) -> None:
    for seed in range(60):
        save(scene(seed, (48, 36)), tmp_path / f"{seed}.png")
    samples = one_each(tmp_path)

    def counts(**settings: Any) -> list[int]:
        return [part.groups for part in run((tmp_path, samples), **settings)[1].splits.values()]

    train, val, test = counts()
    assert train + val + test == 60
    assert 40 <= train <= 56
    assert counts(shares={"train": 1.0}) == [60, 0, 0]
    assert counts(shares={"train": 0.5, "test": 0.5})[1] == 0
    assert counts(seed=1) != [train, val, test]


def test_what_a_split_by_sample_would_leak(tmp_path: Path) -> None:
    """Against plain loops: ids in order, shuffled, cut at 80 and 90 % (agroground.md, 5)."""
    scenes(tmp_path, range(10))
    save(scene(0), tmp_path / "copy.png")
    samples = [sample(f"{n:02}", f"{n % 10}.jpg") for n in range(30)]
    samples.append(sample("copy", "copy.png"))
    _, leakage = run((tmp_path, samples), seed=5)
    ids = sorted(each.id for each in samples)
    order = draws.rng(5, "split by sample", ids[0]).permutation(31).tolist()
    where = {ids[at]: 0 if rank < 24 else 1 if rank < 27 else 2 for rank, at in enumerate(order)}
    seen: dict[str, set[int]] = {}
    for each in samples:
        seen.setdefault(each.images[0], set()).add(where[each.id])
    assert leakage.by_sample.contents == sum(len(parts) > 1 for parts in seen.values()) > 0
    assert leakage.by_sample.slots == sum(map(len, seen.values()))
    seen["0.jpg"] |= seen.pop("copy.png")
    assert leakage.by_sample.groups == sum(len(parts) > 1 for parts in seen.values())
    assert (leakage.crossing.slots, leakage.crossing.contents) == (11, 0)
    assert f"by sample id: {leakage.by_sample.contents} contents" in line(leakage)


@pytest.mark.parametrize(
    "settings",
    [
        {"radius": -1}, {"radius": 17}, {"shares": {"train": 0.8}}, {"shares": {}},
        {"shares": {"train": 0.5, "dev": 0.5}}, {"shares": {"train": 1.5, "test": -0.5}},
        {"shares": {"train": float("nan"), "test": 0.5}},
    ],
)  # fmt: skip
def test_settings_that_cannot_be(settings: dict[str, Any]) -> None:
    with pytest.raises(Usage, match="expected"):
        Settings(**settings)


@pytest.mark.parametrize(
    ("image", "native", "fault"),
    [
        ("../a.jpg", {}, "expected a path inside"),
        ("/etc/passwd", {}, "expected a path inside"),
        ("1.jpg", {"split": "validation"}, "expected a split of its release among"),
    ],
)
def test_samples_that_are_refused(
    image: str, native: dict[str, str], fault: str, tmp_path: Path
) -> None:
    scenes(tmp_path, [1])
    with pytest.raises(Refused, match=fault):
        run((tmp_path, [sample("a", image, **native)]))


def test_no_photo_at_all(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="expected samples with photos"):
        run((tmp_path, [sample("a")]))


Made = tuple[Path, list[Sample], dict[str, Place]]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Photos 1 to 4, a copy of 1, one unreadable; 2 is a test photo of its release."""
    scenes(tmp_path, [1, 2, 3, 4])
    save(scene(1), tmp_path / "copy.png")
    (tmp_path / "text.jpg").write_text("no photo")
    native = {"2.jpg": {"split": "test"}}
    samples = [sample(each.id, *each.images, **native.get(each.images[0], {}))
               for each in one_each(tmp_path)]  # fmt: skip
    places, _ = run((tmp_path, samples))
    return tmp_path, samples, {path: place for (_, path), place in places.items()}


def test_a_split_that_holds(made: Made) -> None:
    root, samples, places = made
    checked = check([Origin(samples=samples, root=root)], [places], Settings(), SILENT)
    assert not checked.leaks
    assert (checked.files, checked.crossing.slots, checked.examples) == (6, 6, ())
    refuse(checked)


@pytest.mark.parametrize(
    ("trouble", "count", "said"),
    [
        ("crossing", {"groups": 1}, "1.jpg in train, copy.png in val"),
        ("unplaced", {"unplaced": 1}, "3.jpg without a line"),
        ("unknown", {"unknown": 1}, "1 lines without a photo (gone.jpg has a line and no photo)"),
        ("changed", {"changed": 1}, "3.jpg gone or with other bytes"),
        ("unverified", {"unverified": 1}, "text.jpg unreadable and in train"),
        ("less_guarded", {"less_guarded": 1}, "2.jpg less guarded than in its release"),
        ("one name", {}, ""),
    ],
)
def test_a_split_that_does_not_hold(
    trouble: str, count: dict[str, int], said: str, made: Made
) -> None:
    root, samples, places = made

    def put(path: str, split: str) -> None:
        old = places[path]
        places[path] = Place(
            id=old.id, image_sha256=old.image_sha256, group=old.group, split=split,  # type: ignore[arg-type]
        )  # fmt: skip

    if trouble == "crossing":
        put("1.jpg", "train")
        put("copy.png", "val")
    elif trouble == "unplaced":
        del places["3.jpg"]
    elif trouble == "unknown":
        places["gone.jpg"] = places["3.jpg"]
    elif trouble == "changed":
        save(scene(3), root / "3.jpg", quality=50)
    elif trouble == "unverified":
        put("text.jpg", "train")
    elif trouble == "less_guarded":
        put("2.jpg", "val")
    checked = check([Origin(samples=samples, root=root)], [places], Settings(), SILENT)
    told = {
        name: getattr(checked, name)
        for name in ("unplaced", "unknown", "changed", "unverified", "less_guarded")
    } | {"groups": checked.crossing.groups}
    assert {name: n for name, n in told.items() if n} == count
    if not count:
        refuse(checked)
        return
    with pytest.raises(Refused, match="as they were split") as refused:
        refuse(checked)
    assert said in str(refused.value)
