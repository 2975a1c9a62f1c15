"""AgMMU: nested rows, the letter before the text, and what each type of question makes of both."""

from pathlib import Path
from typing import Any

import pytest
from tests.sources.asked_releases import agmmu_row, as_list
from tests.sources.releases import photo

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Drop, Sample, Target
from fieldtruth.sources import agmmu

DISEASE, PEST = "disease/issue identification", "insect/pest"
SYMPTOM = "symptom/visual description"


def read(root: Path, *rows: dict[str, Any]) -> list[Target | Drop]:
    source = agmmu.open_source({"photos": "optional"})
    as_list(root / "eval.json", rows)
    samples = [row for row in source.samples(root) if isinstance(row, Sample)]
    found = [each for sample in samples for each in source.label(sample)]
    return [each for each in found if isinstance(each, Target | Drop)]


@pytest.mark.parametrize(
    ("qtype", "answer", "plant", "said"),
    [
        (DISEASE, "black spot", "rose", ("disease", "black spot", "rose")),
        (DISEASE, "Drought stress", "none", ("stress", "drought stress", None)),
        (PEST, "bagworms", "arborvitae", ("pest", "bagworm", "arborvitae")),
        (PEST, "cutworms", "none", ("pest", "cutworm", None)),
        ("species", "japanese beetle", "none", ("pest", "japanese beetle", None)),
        ("species", "Red Maple", "maple", "plant_id"),
        ("management instructions", "remove it", "none", "action"),
        (SYMPTOM, "brown leaf tips", "fig", ("symptom", "brown leaf tips", "fig")),
        (SYMPTOM, "brown tips, curling leaves", "fig", "sentence"),
        (SYMPTOM, "the tips of the leaves are brown", "fig", "sentence"),
        (DISEASE, "none", "none", "names_nothing"),
        (DISEASE, "", "none", "names_nothing"),
        ("", "rust", "none", "unknown_qtype"),
    ],
)
def test_what_a_row_names(
    tmp_path: Path, qtype: str, answer: str, plant: str, said: object
) -> None:
    [record] = read(tmp_path, agmmu_row(1, qtype, answer, plant))
    if isinstance(record, Target):
        assert (record.kind, record.label, record.crop) == said
    else:
        assert record.reason == said


def test_the_letter_and_the_answer_must_agree(tmp_path: Path) -> None:
    row = agmmu_row(1, DISEASE, "black spot")
    row["agmmu_question"]["answer"] = "Black-Spot "
    assert isinstance(read(tmp_path, row)[0], Target)
    row["agmmu_question"]["letter"] = "Z."
    [record] = read(tmp_path, row)
    assert isinstance(record, Drop)
    assert record.reason == "bad_answer"


def test_two_questions_of_one_talk_are_two_samples(tmp_path: Path) -> None:
    first, second = agmmu_row(7, DISEASE, "rust"), agmmu_row(7, PEST, "aphids")
    assert [each.sample for each in read(tmp_path, first, second, first)] == [
        "agmmu:7", "agmmu:7#eval:2",
    ]  # fmt: skip


def test_all_photos_of_a_talk_are_kept_in_their_order(tmp_path: Path) -> None:
    as_list(tmp_path / "eval.json", [agmmu_row(7, DISEASE, "rust"), agmmu_row(8, PEST, "aphids")])
    for at in ("7-1", "7-10", "7-2", "8-2", "70-1"):
        photo(tmp_path / f"images/{at}.jpg")
    first, second = agmmu.SOURCE.samples(tmp_path)
    assert isinstance(first, Sample)
    assert first.images == ("images/7-1.jpg", "images/7-2.jpg", "images/7-10.jpg")
    assert isinstance(second, Drop)
    assert second.reason == "no_photo"


def test_an_unknown_field_within_a_row_names_it(tmp_path: Path) -> None:
    row = agmmu_row(7, DISEASE, "rust")
    row["agmmu_question"]["hint"] = "?"
    with pytest.raises(BadRecord, match=r"eval\.json: row 1: .*hint"):
        read(tmp_path, row)


def test_no_release(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="expected the released JSON list"):
        list(agmmu.SOURCE.samples(tmp_path))
