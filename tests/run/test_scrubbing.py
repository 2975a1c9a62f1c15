"""A folder of talks is scrubbed in place, the manifest says who looked, and the gate asks."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.privacy.faces_drawn import face
from tests.sources.talks import RELEASES

from fieldtruth import store
from fieldtruth.faults import Refused, Usage
from fieldtruth.privacy import names, still_personal
from fieldtruth.records import Dialogue
from fieldtruth.run import scrubbing, workspace


def made(folder: Path) -> Path:
    """Talks of Ask Extension with a name, a telephone number and a mail in them."""
    release = RELEASES["ask_extension"](folder / "release")
    path = release.root / "a.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text())
    rows[0]["question"] = "Hi Zoe, call 410-555-0134 or mail zoe.poe@example.org"
    path.write_text(json.dumps(rows))
    workspace.ingest("ask_extension", release.root, folder / "set")
    return folder / "set"


def read(out: Path) -> list[Dialogue]:
    return list(store.read(out / "dialogues.jsonl", Dialogue))


def test_rules_alone_hide_and_say_that_names_were_not_looked_for(tmp_path: Path) -> None:
    out = made(tmp_path)
    before = read(out)
    assert any(map(still_personal, before))
    books = scrubbing.scrub(out, "rules")
    after = read(out)
    assert [each.id for each in after] == [each.id for each in before]
    assert not any(map(still_personal, after))
    assert after[0].turns[0].text == "Hi <<name>>, call <<phone>> or mail <<mail>>"
    assert books.personal is not None
    assert books.personal.detectors == ("rules",)
    assert not books.personal.names
    assert books.personal.hidden == {"mail": 1, "name": 1, "phone": 1}
    assert books.personal.faces is None
    assert "were not looked for" in scrubbing.line(books, out)
    assert json.loads((out / "manifest.json").read_text())["personal"]["names"] is False


def test_the_gate_wants_rules_and_names_or_a_reason(tmp_path: Path) -> None:
    out = made(tmp_path)
    with pytest.raises(Refused, match="fieldtruth scrub"):
        scrubbing.gate(out, "they are public")
    scrubbing.scrub(out, "rules")
    for because in (None, "", "  "):
        with pytest.raises(Refused, match=r"fieldtruth\[privacy\]"):
            scrubbing.gate(out, because)
    assert scrubbing.gate(out, "they are public").hidden["phone"] == 1


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    out = made(tmp_path)
    first = scrubbing.scrub(out, "rules")
    raw = (out / "dialogues.jsonl").read_bytes()
    assert scrubbing.scrub(out, "rules") == first
    assert (out / "dialogues.jsonl").read_bytes() == raw


def test_what_was_made_of_other_words_goes(tmp_path: Path) -> None:
    out = made(tmp_path)
    ingested = (out / "drops.jsonl").read_bytes()
    (out / "facts.jsonl").write_text("{}\n")
    drop = b'{"id":"a:facts","sample":"a","stage":"facts","reason":"other"}\n'
    (out / "drops.jsonl").write_bytes(ingested + drop)
    scrubbing.scrub(out, "rules")
    assert not (out / "facts.jsonl").exists()
    assert (out / "drops.jsonl").read_bytes() == ingested


def test_dialogues_that_were_not_counted_are_refused_and_stay_as_they_are(tmp_path: Path) -> None:
    out = made(tmp_path)
    path = out / "dialogues.jsonl"
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    raw = path.read_bytes()
    with pytest.raises(Refused, match="expected 5 dialogues"):
        scrubbing.scrub(out, "rules")
    assert path.read_bytes() == raw


def test_only_dialogues_are_scrubbed_and_only_by_whom_there_is(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="a source of talks"):
        scrubbing.scrub(tmp_path)
    with pytest.raises(Usage, match="expected auto, presidio or rules, got 'magic'"):
        scrubbing.scrub(made(tmp_path), "magic")


@pytest.mark.skipif(find_spec("cv2") is None, reason="photos are looked at with the extra faces")
def test_a_photo_with_a_face_is_flagged_and_stays(tmp_path: Path) -> None:
    out = made(tmp_path)
    face().save(tmp_path / "release" / "photos" / "11-1.jpg")
    books = scrubbing.scrub(out, "rules", look=True)
    assert books.personal is not None
    assert books.personal.faces == {"photos": 1, "flagged": 1}
    talk = next(each for each in read(out) if each.faces)
    assert talk.faces == ("photos/11-1.jpg",)
    assert talk.faces[0] in talk.images
    assert "1 of 1 photos may show a face" in scrubbing.line(books, out)
    assert scrubbing.scrub(out, "rules").personal == books.personal  # who looked before, looked


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not names.installed(), reason="names need the extra privacy")
def test_with_presidio_the_gate_opens_without_a_reason(tmp_path: Path) -> None:
    out = made(tmp_path)
    scrubbing.scrub(out, "rules")
    books = scrubbing.scrub(out, "auto")
    assert books.personal is not None
    assert books.personal.names
    assert books.personal.detectors == ("rules", names.DETECTOR)
    assert scrubbing.gate(out) == books.personal
    assert scrubbing.scrub(out, "rules").personal == books.personal
