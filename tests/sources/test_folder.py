"""A folder of photos: what its class names say, and what becomes of everything else in it."""

from pathlib import Path

import numpy as np
import pytest
from tests.builders import class_folders
from tests.sources.releases import save

from fieldtruth.faults import Usage
from fieldtruth.records import Drop, Healthy, Sample, Target
from fieldtruth.sources.folder import SOURCE, open_source, read_class

REAL = Path(__file__).parents[3] / "shared/data/plantvillage"
PIXELS = np.full((6, 8, 3), 90, np.uint8)


@pytest.mark.parametrize(
    ("name", "crop", "label"),
    [
        ("Tomato___Late_blight", "tomato", "late blight"),
        ("Pepper__bell___Bacterial_spot", "pepper", "bacterial spot"),
        ("Tomato_Septoria_leaf_spot", "tomato", "septoria leaf spot"),
        ("Tomato__Tomato_mosaic_virus", "tomato", "tomato mosaic virus"),
        ("Tomato__Tomato_YellowLeaf__Curl_Virus", "tomato", "tomato yellow leaf curl virus"),
        ("Corn_(maize)___Common_rust_", "maize", "common rust"),
        ("Grape___Esca_(Black_Measles)", "grape", "esca"),
        ("Apple___Cedar_apple_rust", "apple", "cedar apple rust"),
        ("Tomato_Spider_mites_Two_spotted_spider_mite", "tomato", "two spotted spider mite"),
        ("Tomato___Spider_mites Two-spotted_spider_mite", "tomato", "two spotted spider mite"),
        ("Cherry_(including_sour)___Powdery_mildew", "cherry", "powdery mildew"),
        ("Pepper,_bell___Bacterial_spot", "pepper", "bacterial spot"),
        ("Bell_pepper leaf spot", "pepper", "leaf spot"),
        ("Tomato Early blight leaf", "tomato", "early blight"),
        ("Apple Scab Leaf", "apple", "scab"),
        ("Tomato_Leaf_Mold", "tomato", "leaf mold"),
        ("rice leaf blast", "rice", "leaf blast"),
        ("rust", None, "rust"),
        ("POWDER-MILDEW", None, "powdery mildew"),
    ],
)
def test_crop_and_label_are_read_off_a_class_name(name: str, crop: str | None, label: str) -> None:
    said = read_class(name)
    assert (said.crop, said.label, said.healthy) == (crop, label, False)


@pytest.mark.parametrize(
    ("name", "crop"),
    [
        ("healthy", None),
        ("Healthy leaves", None),
        ("Tomato_healthy", "tomato"),
        ("Pepper__bell___healthy", "pepper"),
        ("Corn_(maize)___healthy", "maize"),
        ("HEALTHY-APPLE-LEAF", None),
    ],
)
def test_healthy_as_a_word_of_its_own(name: str, crop: str | None) -> None:
    said = read_class(name)
    assert (said.crop, said.label, said.healthy) == (crop, None, True)


@pytest.mark.parametrize(
    "name",
    [
        "unhealthy",
        "Tomato_unhealthy",
        "not healthy",
        "rust_and_healthy",
        "diseased",
        "Background_without_leaves",
        "Soyabean leaf",
        "Tomato",
        "__",
    ],
)
def test_names_that_tell_nothing(name: str) -> None:
    said = read_class(name)
    assert (said.label, said.healthy) == (None, False)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("rust", "disease"),
        ("Tomato_Spider_mites", "pest"),
        ("coffee leaf miner", "pest"),
        ("nitrogen deficiency", "stress"),
        ("anthracnose", "disease"),  # holds an ant, and is none
    ],
)
def test_the_kind_is_read_off_whole_words(tmp_path: Path, name: str, kind: str) -> None:
    save(tmp_path / name / "a.jpg", PIXELS)
    (sample,) = SOURCE.samples(tmp_path)
    assert isinstance(sample, Sample)
    (target,) = SOURCE.label(sample)
    assert isinstance(target, Target)
    assert target.kind == kind


@pytest.mark.parametrize(
    ("place", "name", "split"),
    [
        ("flat.jpg", "", None),
        ("rust/a.jpg", "rust", None),
        ("train/rust/a.jpg", "rust", "train"),
        ("Validation/rust/a.jpg", "rust", "val"),
        ("field 3/test/rust/a.jpg", "rust", "test"),
        ("train/a.jpg", "", "train"),
    ],
)
def test_class_and_split_are_folders(
    tmp_path: Path, place: str, name: str, split: str | None
) -> None:
    save(tmp_path / place, PIXELS)
    (sample,) = SOURCE.samples(tmp_path)
    assert isinstance(sample, Sample)
    assert (sample.native["class"], sample.native.get("split")) == (name, split)
    assert sample.id == f"folder:{place}"


def test_links_out_of_the_folder_are_dropped(tmp_path: Path) -> None:
    save(tmp_path / "outside/secret.jpg", PIXELS)
    root = tmp_path / "photos"
    (root / "rust").mkdir(parents=True)
    (root / "rust/a.jpg").symlink_to(tmp_path / "outside/secret.jpg")
    (root / "rust/gone.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (root / "mildew").symlink_to(tmp_path / "outside")
    drops = list(SOURCE.samples(root))
    assert [(drop.id, isinstance(drop, Drop) and drop.reason) for drop in drops] == [
        ("folder:mildew:ingest", "unsafe_path"),
        ("folder:rust/a.jpg:ingest", "unsafe_path"),
        ("folder:rust/gone.jpg:ingest", "unsafe_path"),
    ]


def test_a_name_of_control_characters_is_dropped_and_can_be_written_down(tmp_path: Path) -> None:
    save(tmp_path / "rust/a\nb.jpg", PIXELS)
    (drop,) = SOURCE.samples(tmp_path)
    assert isinstance(drop, Drop)
    assert drop.reason == "unsafe_path"


def test_an_unreadable_photo_says_why(tmp_path: Path) -> None:
    save(tmp_path / "rust/a.jpg", PIXELS)
    (tmp_path / "rust/a.jpg").write_bytes(b"\xff\xd8\xff")
    (drop,) = SOURCE.samples(tmp_path)
    assert isinstance(drop, Drop)
    assert drop.reason == "unreadable"
    assert "rust/a.jpg: expected a photo" in drop.detail


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="expected a folder of photos"):
        list(SOURCE.samples(tmp_path / "nowhere"))


@pytest.mark.data
@pytest.mark.skipif(not REAL.is_dir(), reason="the real photos are not at hand")
def test_the_real_folders() -> None:
    samples = [row for row in SOURCE.samples(REAL) if isinstance(row, Sample)]
    records = [record for sample in samples for record in SOURCE.label(sample)]
    assert len(samples) == len(records) == 150
    assert sum(isinstance(record, Healthy) for record in records) == 30
    targets = [record for record in records if isinstance(record, Target)]
    assert sorted({(target.crop, target.label, target.kind) for target in targets}) == [
        ("pepper", "bacterial spot", "disease"),
        ("potato", "early blight", "disease"),
        ("potato", "late blight", "disease"),
        ("tomato", "bacterial spot", "disease"),
        ("tomato", "early blight", "disease"),
        ("tomato", "late blight", "disease"),
        ("tomato", "leaf mold", "disease"),
        ("tomato", "septoria leaf spot", "disease"),
        ("tomato", "target spot", "disease"),
        ("tomato", "tomato mosaic virus", "disease"),
        ("tomato", "tomato yellow leaf curl virus", "disease"),
        ("tomato", "two spotted spider mite", "pest"),
    ]
    healthy = [record.crop for record in records if isinstance(record, Healthy)]
    assert {crop: healthy.count(crop) for crop in healthy} == {
        "pepper": 10, "potato": 10, "tomato": 10,
    }  # fmt: skip


def test_a_licence_is_told_and_nothing_else(tmp_path: Path) -> None:
    class_folders(tmp_path)
    told = open_source({"licence": "CC0"})
    licences = {each.licence for each in told.samples(tmp_path) if isinstance(each, Sample)}
    assert licences == {"CC0"}
    assert told.licence == "CC0"
    with pytest.raises(Usage, match="colour"):
        open_source({"colour": "red"})
