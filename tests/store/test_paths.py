"""A path from outside stays inside, however it is written."""

import hashlib
from pathlib import Path

import pytest

from fieldtruth import store
from fieldtruth.faults import Refused

SAFE = [
    "a.jpg",
    "sub/a.jpg",
    "./a.jpg",
    "a b/\u00e4 1.jpg",
    "..a/b..jpg",
    "absent/x.jpg",
    "~/a",
    "ab:c",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "set"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a.jpg").write_bytes(b"in")
    (tmp_path / "out.jpg").write_bytes(b"out")
    (root / "in").symlink_to(root / "sub" / "a.jpg")
    (root / "in_folder").symlink_to(root / "sub")
    (root / "out").symlink_to(tmp_path / "out.jpg")
    (root / "up").symlink_to("..")
    (root / "chain").symlink_to("up")
    (root / "loop").symlink_to("loop")
    return root


@pytest.mark.parametrize("relative", SAFE)
def test_safe_paths_are_taken_as_written(root: Path, relative: str) -> None:
    assert store.inside(root, relative) == root / relative


@pytest.mark.parametrize("relative", ["in", "in_folder/a.jpg"])
def test_a_link_within_the_folder_is_followed(root: Path, relative: str) -> None:
    assert store.inside(root, relative).read_bytes() == b"in"


@pytest.mark.parametrize(
    "relative",
    [
        "", "..", "../out.jpg", "sub/../../out.jpg", "sub/..", "/etc/passwd", "//host/share",
        "C:\\a.jpg", "C:a.jpg", "c:/a.jpg", "sub\\a.jpg", "..\\out.jpg", "a\0.jpg", "a\n.jpg",
        "out", "up/out.jpg", "chain/out.jpg", "up/set/sub/a.jpg", "x" * 256, "x/" * 600 + "x",
    ],
)  # fmt: skip
def test_what_leads_out_is_refused_naming_the_record(root: Path, relative: str) -> None:
    with pytest.raises(Refused, match=r"^items\.jsonl:3: expected a path inside .*; copy the"):
        store.inside(root, relative, "items.jsonl:3")


def test_a_root_that_is_itself_a_link_is_no_way_out(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert store.inside(tmp_path / "link", "sub/a.jpg").read_bytes() == b"in"
    assert store.inside(tmp_path / "link", "in").read_bytes() == b"in"
    with pytest.raises(Refused):
        store.inside(tmp_path / "link", "out")


def test_sha256_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"leaf" * 500_000)
    assert store.sha256(path) == hashlib.sha256(b"leaf" * 500_000).hexdigest()
