"""What a real server exported of two experts' answers (`make test-labelstudio`), to gold."""

from pathlib import Path

import pytest
from tests.labelstudio import experts

from fieldtruth.agreement import Answer
from fieldtruth.stages.adjudicate import adjudicate
from fieldtruth.stages.review import answers
from fieldtruth.store import read

KEPT = Path(__file__).parents[1] / "formats" / "label_studio"


def test_the_kept_export_becomes_gold(tmp_path: Path) -> None:
    folder, out = experts.sent(tmp_path), tmp_path / "out"
    some = experts.questions(tmp_path)
    made = answers.receive(KEPT / "experts.json", folder, some, tmp_path / "photos", out)
    assert (made.tasks, made.answered, made.flagged, made.unknown) == (8, 7, 2, 0)
    assert (made.drops, made.flags) == ({"one_expert": 1}, {"ambiguous": 1, "skipped": 1})
    notes = {each.id: each.note for each in read(out / "A.jsonl", Answer)}
    assert notes["flagged"] == "ambiguous: two of them fit"
    settled = adjudicate(out / "A.jsonl", out / "B.jsonl", out / "key.jsonl")
    assert {each.id: each.answer for each in settled.gold} == experts.GOLD
    assert {each.id: each.reason for each in settled.dropped} == experts.DROPPED


def test_the_lean_export_lacks_what_was_skipped(tmp_path: Path) -> None:
    folder, out = experts.sent(tmp_path), tmp_path / "out"
    some = experts.questions(tmp_path)
    answers.receive(KEPT / "experts_lean.json", folder, some, tmp_path / "photos", out)
    full = experts.SAID.keys() - {"skipped", "alone"}
    assert {each.id for each in read(out / "A.jsonl", Answer)} >= full


@pytest.mark.parametrize("name", ["experts.json", "experts_lean.json"])
def test_no_server_was_told_the_key(name: str) -> None:
    raw = (KEPT / name).read_bytes()
    for trace in (b"generated", b"evidence", b"correct"):
        assert trace not in raw
