"""The funnel that a person reads after `label`: rows, what they became, and why others did not."""

from dataclasses import dataclass, field
from pathlib import Path

from tests.builders import class_folders

from fieldtruth.run import funnel, workspace


@dataclass
class Books:
    counts: dict[str, int] = field(default_factory=dict)
    drops: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)


def test_the_table_to_the_letter() -> None:
    books = Books(
        counts={"rows": 200, "samples": 180, "targets": 90, "healthy": 30},
        drops={"ingest: no_photo": 20, "label: count": 59, "label: action": 1},
        kinds={"pest": 10, "disease": 80},
    )
    assert funnel.table(books).splitlines() == [
        "  rows                200  100.0%",
        "  samples             180   90.0%",
        "  targets              90",
        "    disease            80",
        "    pest               10",
        "  healthy              30",
        "  dropped              80",
        "    label: count       59   29.5%",
        "    ingest: no_photo   20   10.0%",
        "    label: action       1    0.5%",
    ]


def test_an_empty_release_has_no_shares() -> None:
    assert funnel.table(Books(counts={"rows": 0, "samples": 0})).splitlines() == [
        "  rows     0", "  samples  0", "  dropped  0",
    ]  # fmt: skip


def test_kinds_are_counted_with_the_targets_and_forgotten_with_them(tmp_path: Path) -> None:
    photos, out = class_folders(tmp_path / "photos"), tmp_path / "work"
    assert workspace.ingest("folder", photos, out).kinds == {}
    assert workspace.label(out).kinds == {"disease": 12}
    assert workspace.annotate(out, "leaf_box").kinds == {"disease": 12}
    assert workspace.ingest("folder", photos, out).kinds == {}
