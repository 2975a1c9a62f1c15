"""What holds for every source because it is one: a new file is tested by being there."""

from collections import Counter
from pathlib import Path

import pytest
from tests.sources import asked_more, asked_releases, releases

from fieldtruth import images, rooms, sources
from fieldtruth.faults import Usage
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.sources.contract import DialogueSource, Source

NAMES = [
    name
    for name in rooms.names(sources)
    if not isinstance(rooms.open_room(sources, name).SOURCE, DialogueSource)
]
RELEASES = releases.RELEASES | asked_releases.RELEASES | asked_more.RELEASES


def source(name: str) -> Source:
    opened: Source = rooms.open_room(sources, name).SOURCE
    return opened


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    it = source(name)
    assert rooms.open_room(sources, name).__doc__
    assert it.licence
    assert it.paper
    assert len(set(it.reasons)) == len(it.reasons) > 0
    assert it.exhaustive in (True, False)
    assert name in RELEASES, "give it a tiny release in tests/sources/releases.py"


@pytest.mark.parametrize("name", NAMES)
def test_its_books_balance(name: str, tmp_path: Path) -> None:
    it, release = source(name), RELEASES[name](tmp_path / "release")
    fates: Counter[str] = Counter()
    rows = list(it.samples(release.root))
    ids = [row.id for row in rows]
    parents = [row.id if isinstance(row, Sample) else row.sample for row in rows]
    for sample in rows:
        if isinstance(sample, Drop):
            fates[sample.reason] += 1
            continue
        for record in it.label(sample):
            assert record.sample == sample.id
            end = record
            if isinstance(record, Target):
                made = it.annotate(sample, record, release.root)
                end = made if isinstance(made, Drop) else record
                if isinstance(made, Annotation):
                    assert made.target == record.id
                    assert made.image == sample.images[0]
                    size = images.size(release.root / made.image)
                    assert (made.width, made.height) == size
            ids.append(end.id)
            fates[end.reason if isinstance(end, Drop) else type(end).__name__.lower()] += 1
    assert sorted(parents) == sorted(release.rows)
    assert len(set(ids)) == len(ids)
    assert fates == Counter(release.fates)
    assert set(fates) - {"target", "healthy"} <= set(it.reasons)


@pytest.mark.parametrize("name", NAMES)
def test_its_samples_are_named_and_stay_inside(name: str, tmp_path: Path) -> None:
    it, release = source(name), RELEASES[name](tmp_path / "release")
    kept = [row for row in it.samples(release.root) if isinstance(row, Sample)]
    assert kept
    for sample in kept:
        assert sample.id.startswith(f"{name}:")
        assert sample.source == name
        assert sample.licence in release.licences | {it.licence}
        for place in sample.images:
            assert not Path(place).is_absolute()
            assert ".." not in Path(place).parts
            assert (release.root / place).is_file()


@pytest.mark.parametrize("name", NAMES)
def test_its_books_balance_with_half_the_photos_gone(name: str, tmp_path: Path) -> None:
    it, release = source(name), RELEASES[name](tmp_path / "release")
    before = list(it.samples(release.root))
    samples = [row for row in before if isinstance(row, Sample)]
    places = sorted({place for row in samples for place in row.images})
    gone = set(places[::2])
    for place in gone:
        (release.root / place).unlink()
    whole = [row for row in samples if gone.isdisjoint(row.images)]
    rows = list(it.samples(release.root))
    unseen = 0 if release.listed else len(gone)
    assert len({row.id for row in rows}) == len(rows) == len(before) - unseen
    left = {place for row in rows if isinstance(row, Sample) for place in row.images}
    assert left == {place for row in whole for place in row.images}
    reasons = [row.reason for row in rows if isinstance(row, Drop)]
    assert set(reasons) <= set(it.reasons)
    if release.listed:
        assert reasons.count("no_photo") >= len(samples) - len(whole) > 0


@pytest.mark.parametrize("name", NAMES)
def test_it_takes_the_arguments_it_says_and_no_others(name: str) -> None:
    opened = getattr(rooms.open_room(sources, name), "open_source", None)
    if opened is None:
        return
    with pytest.raises(Usage, match=r"--source-args: .*rule_of_thumb"):
        opened({"rule_of_thumb": "1"})
    made: Source = opened({})
    it = source(name)
    assert (made.licence, made.reasons, made.exhaustive) == (it.licence, it.reasons, it.exhaustive)
    assert opened({"licence": "CC0"}).licence == "CC0"


@pytest.mark.parametrize("name", NAMES)
def test_a_second_reading_is_the_same(name: str, tmp_path: Path) -> None:
    it, release = source(name), RELEASES[name](tmp_path / "release")
    first, second = list(it.samples(release.root)), list(it.samples(release.root))
    assert first == second
    labels: list[list[Target | Healthy | Drop]] = [
        [record for row in rows if isinstance(row, Sample) for record in it.label(row)]
        for rows in (first, second)
    ]
    assert labels[0] == labels[1]
