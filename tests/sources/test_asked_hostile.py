"""Question-answer rows with anything in any field: a record comes out of each, or a `Fault`."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sources.asked_releases import (
    LEAF_OPTIONS,
    VQA_MAPPING,
    agmmu_row,
    agromind_row,
    as_lines,
    as_list,
    mirage_row,
)

from fieldtruth import rooms, sources
from fieldtruth.faults import Fault
from fieldtruth.records import Sample

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "agmmu": ("eval.json", agmmu_row(1, "insect/pest", "aphids")),
    "agromind": (
        "x/PDD_2_2_1.json",
        agromind_row(1, "./a.jpg", "A", options=LEAF_OPTIONS),
    ),
    "mirage": ("mmst_standard.json", mirage_row("#1", "Plant Disease Identification", "scab", "?")),
    "vqa": (
        "data/a.jsonl",
        {
            "question_id": 1, "image": "a.jpg", "question": "?", "options": ["a", "b"],
            "answer": "A", "type": "leaf disease", "meta": {"crop": "rice"}, "split": "train",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ROWS))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_value_of_a_field_loses_a_row_or_crashes(
    name: str, data: st.DataObject, tmp_path: Path
) -> None:
    place, row = ROWS[name]
    field = data.draw(st.sampled_from(sorted(row)))
    rows = [row | {field: data.draw(ANYTHING)}, row]
    (as_lines if place.endswith("l") else as_list)(tmp_path / place, rows)
    (tmp_path / "mapping.toml").write_text(VQA_MAPPING, encoding="utf-8")
    source = rooms.open_room(sources, name).open_source({"photos": "optional"})
    try:
        found = list(source.samples(tmp_path))
    except Fault:
        return
    assert len({each.id for each in found}) == len(found) == 2
    for each in found:
        if isinstance(each, Sample):
            records = list(source.label(each))
            assert records
            assert all(record.sample == each.id for record in records)
