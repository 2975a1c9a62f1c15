"""LeafNet's captions and LeafBench's questions: a table of what each becomes."""

from pathlib import Path

import pytest
from tests.sources.asked_more import plain, write_parquet
from tests.sources.asked_releases import as_lines
from tests.sources.releases import photo

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Drop, Healthy, Sample, Target
from fieldtruth.run import workspace
from fieldtruth.sources import leafbench, leafnet


def caption(text: str) -> Target | Healthy | Drop:
    sample = Sample(id="leafnet:a", source="leafnet", images=("a.jpg",), answer=text, licence="x")
    (record,) = leafnet.SOURCE.label(sample)
    return record


@pytest.mark.parametrize(
    ("text", "crop", "kind", "label", "symptoms"),
    [
        ("a image of Cassava leaves diseased by Green Mite with symptoms of pale specks",
         "cassava", "pest", "green mite", "pale specks"),
        ("a image of Apple leaves, diseased by Cedar-Apple Rust, with symptoms of spots, halos.",
         "apple", "disease", "cedar apple rust", "spots, halos"),
        ("a image of Corn (maize) leaves, diseased by Blight No. 2, with symptoms of a\nb",
         "maize", "disease", "blight no 2", "a b"),
        ("a image of Pepper, bell leaves, diseased by Bacterial Spot", "pepper", "disease",
         "bacterial spot", ""),
        ("an image of Apple leaves, diseased by Scab, with symptoms of spots on healthy tissue",
         "apple", "disease", "scab", "spots on healthy tissue"),
    ],
)  # fmt: skip
def test_captions(text: str, crop: str, kind: str, label: str, symptoms: str) -> None:
    record = caption(text)
    assert isinstance(record, Target)
    assert (record.crop, record.kind, record.symptoms, record.organ) == (
        crop, kind, symptoms, "leaf",
    )  # fmt: skip
    assert record.label == label


@pytest.mark.parametrize(
    ("text", "crop"),
    [
        ("a image of healthy Grape leaves", "grape"),
        ("a image of Grape healthy leaves", "grape"),
        ("a image of Apple leaves, diseased by Healthy Leaves, with symptoms of green", "apple"),
    ],
)
def test_healthy_captions(text: str, crop: str) -> None:
    record = caption(text)
    assert isinstance(record, Healthy)
    assert record.crop == crop


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a leaf",
        "a image of unhealthy Grape leaves",
        "a image of Apple leaves, diseased by , with symptoms of x",
    ],
)
def test_captions_that_name_nothing(text: str) -> None:
    record = caption(text)
    assert isinstance(record, Drop)
    assert record.reason == "names_nothing"


def test_parquet_with_its_photos_inside_is_unpacked(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    data = (tmp_path / "a.jpg").read_bytes()
    text = "a image of Apple leaves, diseased by Scab, with symptoms of spots"
    rows = [
        {"image": {"bytes": data, "path": "../../up.jpg"}, "text": text},
        {"image": {"bytes": None, "path": "a.jpg"}, "text": text},
    ]
    write_parquet(tmp_path / "raw/data/train-0.parquet", rows)
    books = workspace.ingest("leafnet", tmp_path / "raw", tmp_path / "out")
    assert (books.root, books.counts, books.drops) == (
        "release", {"rows": 2, "samples": 1}, {"ingest: no_photo": 1},
    )  # fmt: skip
    (sample,) = plain(tmp_path / "out/samples.jsonl")
    assert sample["images"] == ["images/data-train-0-1.jpg"]
    assert (tmp_path / "out/release" / sample["images"][0]).read_bytes() == data
    assert workspace.label(tmp_path / "out").counts["targets"] == 1
    again = workspace.ingest("leafnet", tmp_path / "raw", tmp_path / "out")
    assert again == books


def test_a_broken_or_other_parquet_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(BadRecord, match=r"a\.parquet: expected a parquet file"):
        workspace.ingest("leafnet", tmp_path, tmp_path.parent / f"{tmp_path.name}-out")
    write_parquet(tmp_path / "a.parquet", [{"photo": b"x"}])
    with pytest.raises(BadRecord, match=r"expected the column 'image', got photo"):
        workspace.ingest("leafnet", tmp_path, tmp_path.parent / f"{tmp_path.name}-out")
    assert not (tmp_path.parent / f"{tmp_path.name}-out/release").exists()


def test_tables_of_captions(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="expected parquet files or metadata"):
        list(leafnet.SOURCE.samples(tmp_path))
    (tmp_path / "metadata.csv").write_text("file_name,text\na.jpg,a leaf\n")
    photo(tmp_path / "a.jpg")
    (sample,) = leafnet.SOURCE.samples(tmp_path)
    assert (sample.id, type(sample)) == ("leafnet:a.jpg", Sample)
    as_lines(tmp_path / "metadata.jsonl", [{"file_name": "a.jpg", "colour": "red"}])
    with pytest.raises(BadRecord, match=r"metadata\.jsonl:1: .*unknown field `colour`"):
        list(leafnet.SOURCE.samples(tmp_path))


def question(kind: str, answer: str, asked: str = "What?", crop: str = "") -> object:
    sample = Sample(
        id="leafbench:a", source="leafbench", images=("a.jpg",), question=asked, answer=answer,
        native={"type": kind, "crop": crop}, licence="x",
    )  # fmt: skip
    (record,) = leafbench.SOURCE.label(sample)
    return record


@pytest.mark.parametrize(
    ("kind", "answer", "crop", "label"),
    [
        ("DC", "Black Pepper Footrot", "black pepper", "foot rot"),
        ("DC", "Bell Pepper Bacterial Spot", "pepper", "bacterial spot"),
        ("DC", "Apple Scab", "apple", "scab"),
        ("DI", "Late Blight", None, "late blight"),
        ("DC", "Anthracnose", None, "anthracnose"),
        ("SI", "pale rings", None, "pale rings"),
    ],
)
def test_right_options(kind: str, answer: str, crop: str | None, label: str) -> None:
    record = question(kind, answer)
    assert isinstance(record, Target)
    assert (record.crop, record.label) == (crop, label)
    assert record.kind == ("symptom" if kind == "SI" else "disease")


@pytest.mark.parametrize(
    ("kind", "answer", "reason"),
    [
        ("DC", "Apple", "plant_id"),  # and no healthy leaf
        ("DC", "Gibberish", "names_nothing"),
        ("CSI", "Tomato", "plant_id"),
        ("SI", "pale rings, small spots", "several_things"),
        ("SI", "rings that are pale and grow over time", "sentence"),
        ("HDC", "Unhealthy", "names_nothing"),
        ("PC", "Fungus", "cause"),
        ("SNC", "Venturia inaequalis", "unsupported_subset"),
        ("", "Apple Scab", "unsupported_subset"),
    ],
)
def test_options_that_are_no_target(kind: str, answer: str, reason: str) -> None:
    record = question(kind, answer)
    assert isinstance(record, Drop)
    assert record.reason == reason


@pytest.mark.parametrize(
    ("kind", "answer", "asked", "crop"),
    [("DC", "Apple healthy", "?", ""), ("DC", "Healthy", "?", "apple"),
     ("HDC", "Healthy", "Is the apple leaf healthy?", "")],
)  # fmt: skip
def test_healthy_options(kind: str, answer: str, asked: str, crop: str) -> None:
    record = question(kind, answer, asked, crop)
    assert isinstance(record, Healthy)
    assert record.crop == "apple"


@pytest.mark.parametrize(
    ("head", "place", "kind", "crop"),
    [
        ("question_type", "images/1.jpg", "SI", ""),
        ("", "images/dc_2335.jpg", "DC", ""),
        ("", "val/Apple___Black_rot/1.jpg", "", "apple"),
        ("", "images/1.jpg", "", ""),
    ],
)
def test_where_type_and_crop_stand(
    tmp_path: Path, head: str, place: str, kind: str, crop: str
) -> None:
    photo(tmp_path / place)
    comma, told = ("," if head else ""), (" si " if head else "")
    (tmp_path / "leafbench.csv").write_text(
        f"image_path,question,A,B,C,D,answer{comma}{head}\n{place},What?,a,b,,,B{comma}{told}\n"
    )
    (sample,) = leafbench.SOURCE.samples(tmp_path)
    assert isinstance(sample, Sample)
    assert (sample.native, sample.answer, sample.options) == (
        {"type": kind, "crop": crop}, "b", ("a", "b"),
    )  # fmt: skip


@pytest.mark.parametrize("head", ["image_path,question", "image_path,question,A,B,C,D,answer,hue"])
def test_tables_with_other_columns(tmp_path: Path, head: str) -> None:
    (tmp_path / "a.csv").write_text(f"{head}\n")
    with pytest.raises(BadRecord, match=r"a\.csv:1: expected the columns image_path"):
        list(leafbench.SOURCE.samples(tmp_path))
