"""AgroCoT's three numbers and AgroBench's seven subsets: a table of what each becomes."""

from pathlib import Path

import pytest
from tests.sources.asked_more import AGROBENCH_ROWS, LEAF, agrobench_row, plain, write_parquet
from tests.sources.asked_releases import as_lines, as_list
from tests.sources.releases import photo

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Drop, Healthy, Sample, Target
from fieldtruth.run import workspace
from fieldtruth.sources import agrobench, agrocot

CONDITION = "What is the condition of the leaf?"


def cot(numbers: tuple[int, int, int], question: str, answer: str) -> Target | Healthy | Drop:
    kind, dimension, sub = map(str, numbers)
    sample = Sample(
        id="agrocot:a", source="agrocot", images=("a.jpg",), question=question, answer=answer,
        native={"type": kind, "dimension": dimension, "sub": sub}, licence="x",
    )  # fmt: skip
    (record,) = agrocot.SOURCE.label(sample)
    return record


@pytest.mark.parametrize(
    ("numbers", "question", "answer", "kind", "label"),
    [
        ((1, 4, 3), LEAF, "No, it has YLCV Virus", "disease", "tomato yellow leaf curl virus"),
        ((1, 4, 3), LEAF, "No, it has Leaf Mold", "disease", "leaf mold"),
        ((1, 4, 3), LEAF, "No, it has Scarab Fungus", "disease", "scab"),
        ((1, 4, 2), "Which pest is it?", "Cutworm", "pest", "cutworm"),
        ((1, 4, 2), "Which pest is it?", "Bagworms", "pest", "bagworm"),
        ((1, 3, 1), "What animal is it?", "Aphids", "pest", "aphid"),
        ((1, 3, 3), CONDITION, "brown leaf tips", "symptom", "brown leaf tips"),
        ((1, 3, 3), CONDITION, "drought stress", "stress", "drought stress"),
    ],
)
def test_cot_targets(
    numbers: tuple[int, int, int], question: str, answer: str, kind: str, label: str
) -> None:
    record = cot(numbers, question, answer)
    assert isinstance(record, Target)
    assert (record.kind, record.label) == (kind, label)


@pytest.mark.parametrize(
    ("numbers", "question", "answer", "reason"),
    [
        ((2, 3, 3), "How many?", "12", "count"),
        ((3, 3, 3), "Is it?", "Yes", "yes_no"),
        ((8, 3, 3), "Where?", "[[12, 40], [3, 4]]", "coordinates"),
        ((4, 3, 3), "How large?", "3.5 ha", "measurement"),
        ((7, 3, 3), "Which photo?", "the left one", "unsupported_subset"),
        ((1, 1, 1), "What?", "Rust", "unsupported_subset"),
        ((1, 3, 1), "What is this?", "Tomato", "plant_id"),
        ((1, 3, 3), CONDITION, "unclear", "vacuous"),
        ((1, 3, 3), CONDITION, "It is because of the drought that came in July.", "cause"),
        ((1, 3, 3), CONDITION, "The leaf was discovered near the road in the valley.", "sentence"),
        ((1, 3, 3), "What colour?", "brown tips", "names_nothing"),
        ((1, 4, 2), "What does it do?", "Handpick the eggs", "action"),
        ((1, 5, 2), "What now?", "Prune the canes", "action"),
        ((1, 2, 3), "What now?", "Remove the weeds by hand", "action"),
    ],
)
def test_cot_drops(numbers: tuple[int, int, int], question: str, answer: str, reason: str) -> None:
    record = cot(numbers, question, answer)
    assert isinstance(record, Drop)
    assert record.reason == reason


def test_cot_health() -> None:
    assert isinstance(cot((1, 4, 3), LEAF, "Yes"), Healthy)
    assert isinstance(cot((1, 3, 3), CONDITION, "The apple leaf is healthy"), Healthy)
    assert not isinstance(cot((1, 3, 3), CONDITION, "unhealthy"), Healthy)
    assert not isinstance(cot((1, 3, 3), CONDITION, "abnormal"), Healthy)


def test_numbers_as_text_route_as_numbers_do(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    row = {"image": "a.jpg", "question": "How many?", "answer": 12}
    numbers = {"type_id": 2, "dimension_id": 3, "sub_dimension_id": 3}
    texts = {name: str(value) for name, value in numbers.items()}
    as_list(tmp_path / "a.json", [row | numbers, row | texts, row | {"metadata": texts}])
    samples = [each for each in agrocot.SOURCE.samples(tmp_path) if isinstance(each, Sample)]
    reasons = [drop.reason for each in samples for drop in agrocot.SOURCE.label(each)
               if isinstance(drop, Drop)]  # fmt: skip
    assert reasons == ["count"] * 3
    as_list(tmp_path / "a.json", [row | numbers | {"metadata": {"hue": 1}}])
    with pytest.raises(BadRecord, match=r"a\.json: row 1: .*unknown field `hue`"):
        list(agrocot.SOURCE.samples(tmp_path))


def test_all_photos_of_a_cot_row_are_kept(tmp_path: Path) -> None:
    for name in ("a.jpg", "b.jpg"):
        photo(tmp_path / name)
    row = {"images": ["./a.jpg", "b.jpg", "a.jpg"], "question": "What?", "answer": "Rust",
           "type_id": 1, "dimension_id": 3, "sub_dimension_id": 3}  # fmt: skip
    as_list(tmp_path / "a.json", [row])
    (sample,) = agrocot.SOURCE.samples(tmp_path)
    assert isinstance(sample, Sample)
    assert sample.images == ("a.jpg", "b.jpg")


def bench(subset: str, answer: str, question: str = "What?", category: str = "") -> object:
    sample = Sample(
        id="agrobench:a", source="agrobench", images=("a.jpg",), question=question, answer=answer,
        native={"subset": subset, "category": category, "crop": "rice"}, licence="x",
    )  # fmt: skip
    (record,) = agrobench.SOURCE.label(sample)
    return record


@pytest.mark.parametrize(
    ("subset", "answer", "category", "kind", "label"),
    [
        ("did", "Powdery scab", "fungal", "disease", "powdery scab"),
        ("did", "Blossom end rot", "nutritional deficiency", "stress", "blossom end rot"),
        ("did", "Grain rot", "", "disease", "grain rot"),
        ("pid", "Popillia japonica (Japanese beetle)", "", "pest", "japanese beetle"),
        ("wid", "Amaranthus retroflexus (redroot pigweed)", "", "weed", "redroot pigweed"),
        ("dmn", "yellow spots", "", "symptom", "yellow spots"),
    ],
)
def test_bench_targets(subset: str, answer: str, category: str, kind: str, label: str) -> None:
    record = bench(subset, answer, category=category)
    assert isinstance(record, Target)
    assert (record.kind, record.label, record.crop) == (kind, label, "rice")


@pytest.mark.parametrize(
    ("subset", "answer", "question", "reason"),
    [
        ("dmn", "Yellow spots, then wilting", "What is seen?", "sentence"),
        ("dmn", "Spray copper", "What is best?", "action"),
        ("dmn", "Copper", "What should be done?", "action"),
        ("dmn", "Poor drainage", "What is the cause?", "cause"),
        ("cmn", "20 mm", "How much?", "measurement"),
        ("cmn", "Prune the vines", "What now?", "action"),
        ("cmn", "In May", "When?", "names_nothing"),
        ("mqa", "A harvester", "What?", "unsupported_subset"),
        ("tm", "Terracing", "What?", "unsupported_subset"),
        ("new", "Rust", "What?", "unsupported_subset"),
        ("did", "None", "What?", "names_nothing"),
    ],
)
def test_bench_drops(subset: str, answer: str, question: str, reason: str) -> None:
    record = bench(subset, answer, question)
    assert isinstance(record, Drop)
    assert record.reason == reason


def test_bench_parquet_with_null_category_and_crop(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    data = (tmp_path / "a.jpg").read_bytes()
    rows = []
    for each in AGROBENCH_ROWS[:3]:
        row = agrobench_row(*each)
        del row["file_name"]
        rows.append({"image": {"bytes": data, "path": "a.jpg"}, **row})
    write_parquet(tmp_path / "raw/train-0.parquet", rows)
    workspace.ingest("agrobench", tmp_path / "raw", tmp_path / "out")
    assert workspace.label(tmp_path / "out").counts["targets"] == 3
    made = plain(tmp_path / "out/targets.jsonl")
    assert [(row["kind"], row["crop"]) for row in made] == [
        ("disease", "potato"), ("stress", "tomato"), ("disease", None),
    ]  # fmt: skip


def test_bench_rows_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="expected parquet files"):
        list(agrobench.SOURCE.samples(tmp_path))
    as_lines(tmp_path / "metadata.jsonl", [{"question": "What?", "boxes": []}])
    with pytest.raises(BadRecord, match=r"metadata\.jsonl:1: .*unknown field `boxes`"):
        list(agrobench.SOURCE.samples(tmp_path))
