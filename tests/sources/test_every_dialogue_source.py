"""What holds for every source of talks because it is one: a new file is tested by being there."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tests.sources.talks import RELEASES

from fieldtruth import rooms, sources
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Dialogue, Drop
from fieldtruth.run import workspace
from fieldtruth.sources.contract import DialogueSource

OPENED = {name: rooms.open_room(sources, name).SOURCE for name in rooms.names(sources)}
NAMES = [name for name, opened in OPENED.items() if isinstance(opened, DialogueSource)]


def source(name: str) -> DialogueSource:
    opened: DialogueSource = OPENED[name]
    return opened


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    it = source(name)
    assert rooms.open_room(sources, name).__doc__
    assert it.licence
    assert it.paper
    assert len(set(it.reasons)) == len(it.reasons) > 0
    assert name in RELEASES, "give it a tiny release in tests/sources/talks.py"


@pytest.mark.parametrize("name", NAMES)
def test_every_row_is_a_dialogue_or_a_drop_for_one_of_its_reasons(
    name: str, tmp_path: Path
) -> None:
    it, release = source(name), RELEASES[name](tmp_path / "release")
    made = list(it.dialogues(release.root))
    fates = Counter(each.reason if isinstance(each, Drop) else "dialogue" for each in made)
    assert fates == Counter(release.fates)
    assert len(made) == release.rows
    assert len({each.id for each in made}) == len(made)
    assert set(fates) - {"dialogue"} == set(it.reasons), "a row for every reason"


@pytest.mark.parametrize("name", NAMES)
def test_its_dialogues_are_clean_coarse_and_stay_inside(name: str, tmp_path: Path) -> None:
    it, release = source(name), RELEASES[name](tmp_path / "release")
    kept = [each for each in it.dialogues(release.root) if isinstance(each, Dialogue)]
    there = 0
    for each in kept:
        assert each.id.startswith(f"{name}:")
        assert (each.source, each.licence) == (name, it.licence)
        assert {turn.speaker for turn in each.turns} >= {"expert"}
        assert all(turn.text == turn.text.strip() != "" for turn in each.turns)
        assert set(each.missing) <= set(each.images)
        for image in each.images:
            assert not Path(image).is_absolute()
            assert ".." not in Path(image).parts
            assert (image in each.missing) != (release.root / image).is_file()
        there += len(each.images) - len(each.missing)
        whole = msgspec.json.encode(each).decode()
        assert not [word for word in release.secret if word in whole]
    assert there == release.there
    assert sum(len(each.missing) for each in kept) == release.missing


@pytest.mark.parametrize("name", NAMES)
def test_a_second_reading_is_the_same(name: str, tmp_path: Path) -> None:
    it, release = source(name), RELEASES[name](tmp_path / "release")
    assert list(it.dialogues(release.root)) == list(it.dialogues(release.root))


@pytest.mark.parametrize("name", NAMES)
def test_it_takes_the_arguments_it_says_and_no_others(name: str) -> None:
    opened = rooms.open_room(sources, name).open_source
    with pytest.raises(Usage, match=r"--source-args: .*rule_of_thumb"):
        opened({"rule_of_thumb": "1"})
    assert opened({}).reasons == source(name).reasons
    assert opened({"licence": "CC0"}).licence == "CC0"


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_without_its_files_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(Usage, match="got none"):
        list(source(name).dialogues(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_another_release_is_refused(name: str, tmp_path: Path) -> None:
    release = RELEASES[name](tmp_path / "release")
    for path in release.root.rglob("*.json"):
        raw = path.read_text().replace('"question"', '"querry"').replace('"BlockName"', '"querry"')
        path.write_text(raw.replace('"images"', '"querry"'))
    with pytest.raises(BadRecord, match="querry"):
        list(source(name).dialogues(release.root))


@pytest.mark.parametrize("name", NAMES)
def test_ingest_keeps_its_books_and_label_says_where_to_go(name: str, tmp_path: Path) -> None:
    release = RELEASES[name](tmp_path / "release")
    out = tmp_path / "set"
    books = workspace.ingest(name, release.root, out)
    kept = release.fates["dialogue"]
    assert books.counts == {"rows": release.rows, "dialogues": kept}
    assert sum(books.drops.values()) == release.rows - kept
    assert {path.name for path in out.glob("*.json*")} == {
        "dialogues.jsonl", "drops.jsonl", "manifest.json",
    }  # fmt: skip
    with pytest.raises(Usage, match="fieldtruth facts"):
        workspace.label(out)


def test_samples_over_dialogues_and_dialogues_over_samples(tmp_path: Path) -> None:
    release = RELEASES["kcc"](tmp_path / "release")
    out = tmp_path / "set"
    photos = tmp_path / "photos" / "tomato healthy"
    RELEASES["ask_extension"](tmp_path / "other")
    photos.mkdir(parents=True)
    (tmp_path / "other" / "photos" / "11-1.jpg").rename(photos / "a.jpg")
    workspace.ingest("folder", tmp_path / "photos", out)
    workspace.ingest("kcc", release.root, out)
    assert not (out / "samples.jsonl").exists()
    workspace.ingest("folder", tmp_path / "photos", out)
    assert not (out / "dialogues.jsonl").exists()
    assert workspace.label(out).source == "folder"
