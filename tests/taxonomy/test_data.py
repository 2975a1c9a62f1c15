"""What is shipped: how much, from where, under which licence, and that anyone can make it again."""

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from fieldtruth.taxonomy import label, names
from fieldtruth.taxonomy.build import LEFT_OUT, build
from fieldtruth.taxonomy.collisions import collisions
from fieldtruth.taxonomy.data import FILE, book

REAL = Path(__file__).parents[3] / "shared/data/taxonomy"
KNOWN = [what for name in names() if (what := label(name))]
real = pytest.mark.skipif(
    not REAL.is_dir(), reason="the real photos are not at hand, nor the names"
)


def test_there_are_as_many_as_promised() -> None:
    kinds = Counter(what.kind for what in KNOWN)
    assert sum(kinds.values()) == len(names()) >= 5_500
    assert kinds == {"weed": 2897, "disease": 2134, "pest": 922, "stress": 9}
    assert sum(len(what.hosts) for what in KNOWN) >= 3_500
    assert sum(bool(causes) for what in KNOWN for causes in what.hosts.values()) >= 2_500
    assert sum(len(what.synonyms) for what in KNOWN) >= 1_500


def test_every_label_says_where_it_is_from_and_nothing_is_from_where_it_may_not() -> None:
    assert all(what.sources for what in KNOWN)
    used = {source for what in KNOWN for source in what.sources}
    assert used == set(book().licences)
    assert not used & LEFT_OUT
    text = FILE.read_text()
    assert "BY-SA" not in text
    assert all(licence for licence in book().licences.values())
    owed = FILE.with_name("ATTRIBUTION.md").read_text()
    assert [source for source in used if f"`{source}`" not in owed] == []


def test_a_label_is_what_its_line_says() -> None:
    blight = label("late blight")
    assert blight is not None
    assert (blight.kind, blight.base) == ("disease", "late blight")
    assert blight.hosts == {"potato": ("Phytophthora infestans",), "tomato": ()}
    assert label("no such label") is None
    assert {what.id for what in KNOWN} == set(names())


def test_a_disease_has_an_organism_for_each_host_and_a_pest_is_one_everywhere() -> None:
    rust = label("rust")
    assert rust is not None
    assert rust.on("coffee") == ("Hemileia vastatrix",)
    assert rust.on("onion") == ("Puccinia allii",)
    assert len(rust.on("fig")) > 10  # none of its hosts: any of them
    bollworm = label("old world bollworm") or label("african cotton bollworm")
    assert bollworm is not None
    assert bollworm.on("maize") == bollworm.organisms


@pytest.mark.data
@real
def test_the_file_is_what_the_builder_makes() -> None:
    made = build(REAL)
    assert made.encode() + b"\n" == FILE.read_bytes()
    assert build(REAL) == made


@pytest.mark.data
@real
def test_no_symptom_text_and_no_row_of_a_closed_licence_is_carried() -> None:
    shipped = FILE.read_text()
    with (REAL / "taxonomy_raw.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    texts = {row["symptoms"] for row in rows if len(row["symptoms"]) > 20}
    assert len(texts) > 100
    assert [text for text in texts if text in shipped] == []
    closed = {row["label"] for row in rows if set(row["source"].split("|")) <= LEFT_OUT}
    closed -= {row["label"] for row in rows if not set(row["source"].split("|")) <= LEFT_OUT}
    assert len(closed) > 150
    assert closed.isdisjoint(line.split("\t")[0] for line in shipped.splitlines())


def test_the_data_are_read_on_first_use_and_once() -> None:
    """The published lookup opens its file for every sample and scans 6,038 labels."""
    code = (
        "import fieldtruth.taxonomy as t; from fieldtruth.taxonomy.data import book\n"
        "assert book.cache_info().currsize == 0\n"
        "[t.label_id(f'name {n}') for n in range(100)]\n"
        "assert book.cache_info().misses == 1"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_collisions_name_every_meaning_and_what_tells_them_apart() -> None:
    found = collisions()
    by_name = {(each.why, each.name): each for each in found}
    smut = by_name["synonym_of_several", "stinking smut"]
    assert [one.label for one in smut.meanings] == ["bunt", "dwarf bunt"]
    target = by_name["synonym_is_a_label", "southern blight"]
    assert target.meanings[0].label == "southern blight"
    assert len(target.meanings) > 1
    assert all(len(each.meanings) > 1 for each in found if each.why != "several_organisms")
    assert all(len(each.meanings[0].organisms) > 1 for each in found if each.host)
    assert found == sorted(found, key=lambda each: (each.why, each.name, each.host or ""))
    assert Counter(each.why for each in found)["synonym_of_several"] >= 40
