"""AgroMind: 100 rows of the real release labelled by hand before the reader was written."""

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.sources.asked_releases import agromind_row, as_list
from tests.sources.by_hand import verdict, verdicts
from tests.sources.releases import photo

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Drop, Healthy, Sample, Target
from fieldtruth.run import workspace
from fieldtruth.sources import agromind

REAL = Path(__file__).parents[3] / "shared/data/agromind"
real = pytest.mark.skipif(not REAL.is_dir(), reason="the real rows are not at hand")
SOURCE = agromind.open_source({"photos": "optional"})


def labelled(root: Path, task: str, *rows: dict[str, object]) -> list[Target | Healthy | Drop]:
    as_list(root / f"Object Understanding/{task}.json", rows)
    samples = [row for row in SOURCE.samples(root) if isinstance(row, Sample)]
    return [record for sample in samples for record in SOURCE.label(sample)]


@pytest.mark.data
@real
def test_a_hundred_rows_are_what_a_person_says_they_are() -> None:
    hand = verdicts("agromind")
    assert len(hand) == 100
    samples = {row.id: row for row in SOURCE.samples(REAL) if isinstance(row, Sample)}
    read = {name: [verdict(each) for each in SOURCE.label(samples[name])] for name in hand}
    assert {name: got for name, got in read.items() if got != [hand[name]]} == {}


@pytest.mark.data
@real
def test_the_funnel_of_the_real_rows(tmp_path: Path) -> None:
    workspace.ingest("agromind", REAL, tmp_path / "work", options={"photos": "optional"})
    books = workspace.label(tmp_path / "work")
    assert books.counts == {"rows": 6320, "samples": 6320, "targets": 550, "healthy": 180}
    assert books.kinds == {"disease": 421, "pest": 129}
    assert books.drops == {
        "label: action": 120, "label: aerial": 360, "label: coordinates": 240,
        "label: count": 1200, "label: grade": 550, "label: measurement": 960,
        "label: picks_image": 600, "label: place": 480, "label: plant_id": 240,
        "label: scene": 240, "label: yes_no": 600,
    }  # fmt: skip


@pytest.mark.data
@real
def test_the_real_rows_balance_with_half_their_photos(tmp_path: Path) -> None:
    """Every second photo that the rows name is there; no row is lost either way."""
    root = tmp_path / "release"
    files = sorted(REAL.rglob("PDD_2_2_1.json")) + sorted(REAL.rglob("AR_4_2_2.json"))
    for path in files:
        as_list(root / path.parent.name / path.name, json.loads(path.read_text("utf-8")))
    samples = [row for row in SOURCE.samples(root) if isinstance(row, Sample)]
    places = sorted({place for sample in samples for place in sample.images})
    kept = set(places[::2])
    for place in kept:
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_bytes(b"")  # looked for and not opened before they are needed
    books = workspace.ingest("agromind", root, tmp_path / "work")
    whole = [sample for sample in samples if kept.issuperset(sample.images)]
    assert books.counts == {"rows": len(samples), "samples": len(whole)}
    assert books.drops == {"ingest: no_photo": len(samples) - len(whole)}
    after = workspace.label(tmp_path / "work")
    assert after.counts["targets"] + after.counts["healthy"] + sum(after.drops.values()) == 520


@pytest.mark.data
@real
def test_each_class_of_the_leaves_is_in_the_table() -> None:
    """So that no name of the release is left to what a guess makes of it."""
    rows = json.loads(next(REAL.rglob("PDD_2_2_1.json")).read_text("utf-8"))
    named = {row["options"][row["answer"]] for row in rows} - {"Yes"}
    short = {name.lower().removeprefix("no, it has ").replace("-", " ") for name in named}
    assert short == set(agromind.CLASSES)


OPTIONS = {"A": "No, it has Leaf Mold", "B": "Yes", "C": "No, it has Mosaic Virus", "D": "Healthy"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("A", ("disease", "leaf mold", None)),
        ("C", ("disease", "mosaic virus", None)),
        ("B", "healthy"),
        ("D", "names_nothing"),
        ("Z", "bad_answer"),
        ("", "bad_answer"),
    ],
)
def test_molds_and_viruses_keep_their_names(tmp_path: Path, answer: str, said: object) -> None:
    row = agromind_row(1, "./x/1.jpg", answer, options=OPTIONS)
    [record] = labelled(tmp_path, "PDD_2_2_1", row)
    if isinstance(record, Target):
        assert (record.kind, record.label, record.crop) == said
    else:
        assert (record.reason if isinstance(record, Drop) else "healthy") == said


def test_what_an_option_is_called_tells_its_crop(tmp_path: Path) -> None:
    options = {"A": "No, it has Late Blight Water Mold", "B": "No, it has Late Blight Fungus"}
    rows = [agromind_row(at, f"./x/{at}.jpg", "AB"[at], options=options) for at in (0, 1)]
    crops = [each.crop for each in labelled(tmp_path, "PDD_2_2_1", *rows)
             if isinstance(each, Target)]  # fmt: skip
    assert crops == ["tomato", "potato"]


def test_a_cutworm_is_a_pest_and_no_measure_to_take(tmp_path: Path) -> None:
    row = agromind_row(1, "./x/1.jpg", "A", options={"A": "black cutworm", "B": "bagworm"})
    [record] = labelled(tmp_path, "OC_2_1_3", row)
    assert isinstance(record, Target)
    assert (record.kind, record.label, record.crop) == ("pest", "black cutworm", None)


@pytest.mark.parametrize("task", ["SL_1_1_2", "AR_4_2_1", "GSR_2_3_1"])
@pytest.mark.parametrize("said", ["No anomaly", "Healthy", "weed_cluster"])
def test_nothing_seen_from_above_is_healthy_or_a_target(
    tmp_path: Path, task: str, said: str
) -> None:
    row = agromind_row(1, "./x/1.jpg", ["A"], options={"A": said})
    [record] = labelled(tmp_path, task, row)
    assert isinstance(record, Drop)
    assert record.reason == "aerial"


def test_all_photos_of_a_sample_are_kept(tmp_path: Path) -> None:
    choice = {letter: f"./p/{letter}.jpg" for letter in "ABCD"}
    as_list(tmp_path / "x/AR_4_2_2.json", [agromind_row(1, None, "C", options=choice)])
    two = agromind_row(1, None, 0, image1="./p/a.jpg", image2="./p/b.jpg")
    as_list(tmp_path / "x/SC_3_1_5.json", [two])
    found = [row for row in SOURCE.samples(tmp_path) if isinstance(row, Sample)]
    assert [sample.images for sample in found] == [
        ("p/A.jpg", "p/B.jpg", "p/C.jpg", "p/D.jpg"), ("p/a.jpg", "p/b.jpg"),
    ]  # fmt: skip
    assert found[1].answer == "0"  # a falsy answer is an answer


def test_a_field_of_another_release_ends_the_reading(tmp_path: Path) -> None:
    rows = [agromind_row(1, "./a.jpg", "No"), agromind_row(2, "./b.jpg", "No", difficulty=3)]
    as_list(tmp_path / "x/OC_2_1_4.json", rows)
    with pytest.raises(BadRecord, match=r"OC_2_1_4\.json: row 2: .*difficulty"):
        list(SOURCE.samples(tmp_path))


def test_a_task_that_agromind_has_not_is_refused(tmp_path: Path) -> None:
    as_list(tmp_path / "x/XY_1_1_1.json", [])
    with pytest.raises(BadRecord, match=r"XY_1_1_1\.json: expected one of AgroMind's tasks"):
        list(SOURCE.samples(tmp_path))


def test_no_release(tmp_path: Path) -> None:
    photo(tmp_path / "a.jpg")
    with pytest.raises(Usage, match=r"expected files such as PDD_2_2_1\.json"):
        list(SOURCE.samples(tmp_path))


def test_every_reason_but_one_is_of_a_task() -> None:
    tasks = Counter(agromind.REASON_OF.values())
    assert sum(tasks.values()) + 4 == 48
    assert set(tasks) <= set(SOURCE.reasons)
