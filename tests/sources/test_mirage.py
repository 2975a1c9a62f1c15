"""MIRAGE: all 16 single-turn rows at hand labelled by hand before the reader was written."""

from pathlib import Path

import pytest
from tests.sources.asked_releases import as_lines, as_list, mirage_row
from tests.sources.by_hand import verdict, verdicts

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Drop, Sample, Target
from fieldtruth.run import workspace
from fieldtruth.sources import mirage

REAL = Path(__file__).parents[3] / "shared/data/mirage"
real = pytest.mark.skipif(not REAL.is_dir(), reason="the real rows are not at hand")
SOURCE = mirage.open_source({"photos": "optional"})


def read(root: Path, *rows: dict[str, object]) -> list[Target | Drop]:
    as_list(root / "mmst_standard.json", rows)
    samples = [row for row in SOURCE.samples(root) if isinstance(row, Sample)]
    found = [each for sample in samples for each in SOURCE.label(sample)]
    return [each for each in found if isinstance(each, Target | Drop)]


@pytest.mark.data
@real
def test_all_single_turn_rows_are_what_a_person_says_they_are() -> None:
    hand = verdicts("mirage")
    rows = {row.id: row for row in mirage.SOURCE.samples(REAL) if isinstance(row, Sample)}
    single = {name for name in rows if "mmst" in name}
    assert single == set(hand)
    assert len(hand) == 16
    got = {name: [verdict(each) for each in SOURCE.label(rows[name])] for name in hand}
    assert {name: said for name, said in got.items() if said != [hand[name]]} == {}


@pytest.mark.data
@real
def test_the_funnel_of_the_real_rows(tmp_path: Path) -> None:
    workspace.ingest("mirage", REAL, tmp_path / "work", options={"photos": "optional"})
    books = workspace.label(tmp_path / "work")
    assert books.counts == {"rows": 516, "samples": 266, "targets": 2, "healthy": 0}
    assert books.kinds == {"disease": 2}
    assert books.drops == {
        "ingest: listed_twice": 250, "label: action": 13, "label: dialogue": 250,
        "label: plant_id": 1,
    }  # fmt: skip


@pytest.mark.data
@real
def test_the_real_photos_are_found_by_their_names() -> None:
    rows = [row for row in mirage.SOURCE.samples(REAL) if isinstance(row, Sample)]
    assert len(rows) == 16  # the dialogues' photos are not at hand
    places = [place for row in rows for place in row.images]
    assert len(places) == 40
    assert all("#" in place and (REAL / place).is_file() for place in places)


@pytest.mark.parametrize(
    ("entity", "category", "ask", "said"),
    [
        (
            "Colorado Potato Beetle",
            "Insect and Pest Identification",
            "A beetle on my eggplant, instead of steam",
            ("pest", "colorado beetle", "eggplant"),
        ),
        (
            "leaf miner",
            "Plant Disease Identification",
            "Orange spots, what are they? The price is high",
            ("pest", "leaf miner", None),
        ),
        (
            "drought stress",
            "Plant Disease Identification",
            "Brown tips on corn",
            ("stress", "drought stress", "maize"),
        ),
        (
            "Powdery Mildew",
            "plant disease identification ",
            "White dust on squash",
            ("disease", "powdery mildew", "squash"),
        ),
    ],
)
def test_the_entity_and_the_crop_of_the_question(
    tmp_path: Path, entity: str, category: str, ask: str, said: tuple[str, str, str | None]
) -> None:
    [record] = read(tmp_path, mirage_row("#1", category, entity, ask))
    assert isinstance(record, Target)
    assert (record.kind, record.label, record.crop) == said


@pytest.mark.parametrize("entity", [None, "", "None", "N/A", "unknown", "healthy"])
def test_an_entity_that_names_nothing_is_a_drop(tmp_path: Path, entity: str | None) -> None:
    [record] = read(tmp_path, mirage_row("#1", "Plant Disease Identification", entity, "What?"))
    assert isinstance(record, Drop)
    assert record.reason == "names_nothing"


def test_an_unknown_field_names_the_row(tmp_path: Path) -> None:
    row = mirage_row("#1", None, None, "What?") | {"score": 3}
    as_list(tmp_path / "mmst_standard.json", [row])
    with pytest.raises(BadRecord, match=r"mmst_standard\.json: row 1: .*score"):
        list(SOURCE.samples(tmp_path))
    as_lines(tmp_path / "mmst_standard.json", [row])
    with pytest.raises(BadRecord, match=r"mmst_standard\.json:1: .*score"):
        list(SOURCE.samples(tmp_path))


def test_a_line_that_is_no_json_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "mmst_standard.json"
    as_lines(path, [mirage_row("#1", None, None, "a"), mirage_row("#2", None, None, "b")])
    with path.open("a", encoding="utf-8") as file:
        file.write('\n{"id": "#3", "ques')
    found = list(SOURCE.samples(tmp_path))
    assert [row.reason if isinstance(row, Drop) else row.id for row in found] == [
        "mirage:mmst_standard:1", "mirage:mmst_standard:2", "bad_row",
    ]  # fmt: skip


def test_no_release(tmp_path: Path) -> None:
    as_list(tmp_path / "other.json", [])
    with pytest.raises(Usage, match=r"expected files such as mmst_standard\.json"):
        list(SOURCE.samples(tmp_path))
