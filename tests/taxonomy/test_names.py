"""Names as data sets and growers write them, each resolved by hand before any code could.

`names_in_the_data.tsv` holds names that occur in the releases at hand, `names_in_public_sets.tsv`
classes of public sets; `source` says which. `reader` is who reads a row: `class` the reader of
class folders, `name` the taxonomy alone, on the crop where the release tells it.
"""

import csv
from pathlib import Path

import pytest

from fieldtruth.sources.folder import read_class
from fieldtruth.taxonomy import crop_id, label_id

HERE = Path(__file__).parent
REAL = Path(__file__).parents[3] / "shared/data"
FILES = ("names_in_the_data.tsv", "names_in_public_sets.tsv")


def rows(file: str) -> list[dict[str, str]]:
    with (HERE / file).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened, delimiter="\t"))


def read(row: dict[str, str]) -> str | None:
    if row["reader"] == "class":
        said = read_class(row["name"])
        assert said.crop == crop_id(row["crop"])
        return said.label
    return label_id(row["name"], row["crop"] or None)


@pytest.mark.parametrize("file", FILES)
def test_every_name_is_what_a_person_says_it_is(file: str) -> None:
    wrong = {row["name"]: (read(row), row["id"]) for row in rows(file) if read(row) != row["id"]}
    assert wrong == {}


@pytest.mark.parametrize("file", FILES)
def test_what_a_person_says_stays_what_it_is(file: str) -> None:
    moved = [row["id"] for row in rows(file) if label_id(row["id"]) != row["id"]]
    assert moved == []


def test_there_are_as_many_as_promised() -> None:
    assert len({row["name"] for row in rows(FILES[0])}) >= 200
    assert len({(row["name"], row["crop"]) for row in rows(FILES[1])}) >= 60
    assert all(row["source"] for file in FILES for row in rows(file))


@pytest.mark.data
@pytest.mark.skipif(not REAL.is_dir(), reason="the real photos are not at hand, nor their names")
def test_the_names_do_occur_in_the_releases() -> None:
    mirage = " ".join(file.read_text().lower() for file in REAL.glob("mirage/*.json"))
    mind = " ".join(
        [*(file.read_text() for file in REAL.glob("agromind/*/PDD*.json")),
         *(file.read_text() for file in REAL.glob("agromind/*/OC_2_1_3.json")),
         *(file.read_text() for file in REAL.glob("agromind/*/VPR_4_1_3.json"))]
    )  # fmt: skip
    head = (REAL / "coffee/dataset.csv").read_text().splitlines()[0]
    folders = {each.name for each in (REAL / "plantvillage").iterdir()}
    where = {"plantvillage": folders, "coffee": head, "agromind": mind, "mirage": mirage}
    strange = [
        row["name"]
        for row in rows(FILES[0])
        if (row["name"].lower() if row["source"].startswith("mirage") else row["name"])
        not in where[row["source"].split()[0]]
    ]
    assert strange == []
