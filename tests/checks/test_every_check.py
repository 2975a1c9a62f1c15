"""Each check by hand-made sight: no photo is opened here."""

import numpy as np
import pytest

from fieldtruth import checks, duplicates, rooms
from fieldtruth.checks import (
    contamination,
    coverage,
    healthy_and_diseased,
    label_conflicts,
    near_duplicates,
    quality,
)  # fmt: skip
from fieldtruth.checks.contract import Bad, Pair, Photo, Seen, SetReport
from fieldtruth.duplicates import Verdict
from fieldtruth.hashing import Look
from fieldtruth.records import Finding


def look(**changes: object) -> Look:
    fields: dict[str, object] = {
        "hashes": np.array([0x5555_5555_5555_5555] * 8, np.uint64), "exact": True, "width": 400,
        "height": 300, "sha256": "0", "spread": 40.0, "bright": 200.0, "sharp": 9.0,
    }  # fmt: skip
    return Look(**(fields | changes))  # type: ignore[arg-type]


def photo(path: str, owner: str = "A", **changes: object) -> Photo:
    fields: dict[str, object] = {"set": owner, "path": path, "look": look(sha256=path)}
    return Photo(**(fields | changes))  # type: ignore[arg-type]


def named(path: str, label: str | None, owner: str = "A") -> Photo:
    return photo(path, owner, labelled=True, label=label)


def pair(a: Photo, b: Photo, verdict: Verdict = "copy") -> Pair:
    return Pair(
        a=a.path, b=b.path, set_a=a.set, set_b=b.set, distance=2, correlation=0.99,
        verdict=verdict, sha256_a=a.path, sha256_b=b.path,
    )  # fmt: skip


def seen(
    *photos: Photo,
    groups: tuple[tuple[int, ...], ...] = (),
    pairs: dict[tuple[int, int], Verdict] | None = None,
    complete: bool = True,
    unreadable: tuple[Bad, ...] = (),
) -> Seen:
    report = SetReport(images=9, readable=9, unreadable=unreadable, degenerate=(), coverage=1.0)
    near = pairs or {}
    return Seen(
        sets={"A": report},
        photos=photos,
        pairs=[pair(photos[a], photos[b], verdict) for (a, b), verdict in near.items()],
        ends=list(near),
        groups=groups,
        complete=complete,
    )


def test_the_room() -> None:
    assert rooms.names(checks) == [
        "contamination", "coverage", "healthy_and_diseased", "label_conflicts", "near_duplicates",
        "quality",
    ]  # fmt: skip
    for name in rooms.names(checks):
        assert list(rooms.open_room(checks, name).check(seen(photo("a")))) == []


@pytest.mark.parametrize(
    ("correlation", "expected"),
    [
        (1.0, "copy"), (0.9701, "copy"), (0.97, "ambiguous"), (0.9001, "ambiguous"),
        (0.90, "collision"), (0.0, "collision"), (-1.0, "collision"), (None, "unverified"),
        (float("nan"), "unverified"),
    ],
)  # fmt: skip
def test_verdicts(correlation: float | None, expected: str) -> None:
    """AgroGround, appendix: NaN falls in none of the three."""
    assert duplicates.verdict(correlation) == expected


def test_correlations_are_pearsons() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 256, (2, 5, 96, 96), dtype=np.uint8)
    b[1] = 255 - a[1]
    b[2] = a[2] // 2 + 30
    expected = [float(np.corrcoef(x.ravel(), y.ravel())[0, 1]) for x, y in zip(a, b, strict=True)]
    got = duplicates.correlations(a, b)
    assert got == pytest.approx(expected, abs=1e-12)
    assert -1 <= got[1] == pytest.approx(-1)


def test_correlations_of_what_is_constant_are_unknown() -> None:
    rng = np.random.default_rng(0)
    textured = rng.integers(0, 256, (96, 96), dtype=np.uint8)
    nearly = np.full((96, 96), 100, np.uint8)
    nearly[::2] = 101  # what a JPEG makes of one grey
    ones = np.stack([nearly, nearly, textured, textured])
    others = np.stack([nearly, textured, nearly, textured])
    assert np.isnan(duplicates.correlations(ones, others)).tolist() == [
        True, True, True, False,
    ]  # fmt: skip


def test_copies_are_told_by_group_and_the_rest_by_pair() -> None:
    photos = [photo("a"), photo("b"), photo("c", "B"), photo("d", "B")]
    pairs: dict[tuple[int, int], Verdict] = {
        (0, 1): "copy", (0, 3): "ambiguous", (2, 3): "unverified", (1, 3): "collision",
    }  # fmt: skip
    found = list(near_duplicates.check(seen(*photos, groups=((0, 1),), pairs=pairs)))
    assert [(each.about, each.severity) for each in found] == [
        (("A:a", "A:b"), "warning"), (("A:a", "B:d"), "failure"), (("B:c", "B:d"), "warning"),
    ]  # fmt: skip
    across = list(near_duplicates.check(seen(*photos, groups=((0, 2),))))
    assert [each.severity for each in across] == ["failure"]


def test_a_list_that_was_cut_is_a_failure() -> None:
    (found,) = near_duplicates.check(seen(photo("a"), complete=False))
    assert found.severity == "failure"
    assert "--max-pairs" in found.evidence


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["rust", "late blight"], ["late blight", "rust"]),
        (["rust", "Rust"], []),
        (["rust", "leaf rust"], []),
        (["rust", None], []),
        (["rust", "leaf rust", "scab"], ["leaf rust", "rust", "scab"]),
    ],
)
def test_label_conflicts(labels: list[str | None], said: list[str]) -> None:
    photos = [named(str(n), label) for n, label in enumerate(labels)]
    found = list(label_conflicts.check(seen(*photos, groups=(tuple(range(len(photos))),))))
    assert [each.evidence for each in found] == (
        ["one photo is called " + " and ".join(said)] if said else []
    )


@pytest.mark.parametrize(
    ("photos", "count"),
    [
        ([named("a", "rust"), named("b", None)], 1),
        ([named("a", None), named("b", None)], 0),
        ([named("a", "rust"), photo("b")], 0),
        ([named("a", "rust"), named("b", "scab")], 0),
    ],
)
def test_healthy_and_diseased(photos: list[Photo], count: int) -> None:
    found = list(healthy_and_diseased.check(seen(*photos, groups=((0, 1),))))
    assert len(found) == count
    assert list(healthy_and_diseased.check(seen(*photos))) == []


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({}, []),
        ({"bright": 63.9}, ["dark"]),
        ({"sharp": 1.4}, ["blurred"]),
        ({"width": 111}, ["tiny"]),
        ({"height": 111, "sharp": 0.2, "bright": 10.0}, ["blurred", "dark", "tiny"]),
        ({"spread": 0.9, "sharp": 0.0}, ["flat"]),
        ({"width": 112, "height": 112, "bright": 64.0, "sharp": 1.5}, []),
    ],
)
def test_quality(changes: dict[str, float], faults: list[str]) -> None:
    seen_once = photo("a", look=look(**changes)), photo("again", look=look(**changes))
    found = list(quality.check(seen(*seen_once, photo("gone", look=None))))
    assert [each.evidence.partition(":")[0] for each in found] == faults
    assert {each.severity for each in found} <= {"note"}
    assert {each.about for each in found} <= {("A:a",)}


def test_coverage() -> None:
    (found,) = coverage.check(seen(photo("a"), unreadable=(Bad(path="x", reason="empty"),)))
    assert (found.about, found.severity, found.evidence) == (("A:x",), "failure", "empty")


def leaks(found: list[Finding]) -> list[tuple[str, str]]:
    return [(each.severity, each.evidence) for each in found]


def test_contamination_by_source_and_split() -> None:
    photos = [
        photo("a", source="s", split="test"), photo("b", source="s", split="test"),
        photo("c", source="t", split="test"), photo("d", source="s", split="train"),
        photo("e", "B", source="s"),
    ]  # fmt: skip
    pairs: dict[tuple[int, int], Verdict] = {
        (0, 3): "copy", (1, 2): "copy", (1, 4): "unverified", (2, 4): "collision",
    }  # fmt: skip
    assert leaks(list(contamination.check(seen(*photos, pairs=pairs)))) == [
        ("warning", "1 of 2 photos (50.0%) of A, source s, test are, or may be, in "
                    "A, source s, train"),
        ("failure", "1 of 2 photos (50.0%) of A, source s, test are, or may be, in B, source s"),
        ("warning", "1 of 1 photos (100.0%) of A, source s, train are, or may be, in "
                    "A, source s, test"),
        ("failure", "1 of 1 photos (100.0%) of B, source s are, or may be, in A, source s, test"),
    ]  # fmt: skip


def test_contamination_of_a_list_that_was_cut_is_a_least() -> None:
    photos = [photo("a", source="s", split="test"), photo("b", source="s", split="train")]
    found = list(contamination.check(seen(*photos, pairs={(0, 1): "copy"}, complete=False)))
    assert len(found) == 2
    assert all(each.evidence.startswith("at least 1 of 1 photos") for each in found)
