"""Archives from outside: whole in their folder, or refused by name with nothing written."""

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fieldtruth import archives
from fieldtruth.faults import Refused, Unreadable, Usage

FILES = {"train/rust/a.jpg": b"photo a", "train/rust/b#1 %20.jpg": b"photo b", "notes.txt": b""}
TARS = {"tar": "w", "tgz": "w:gz", "tbz": "w:bz2", "txz": "w:xz"}


def zipped(path: Path, members: list[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return path


def tarred(path: Path, members: list[tuple[str, bytes]], how: str = "w") -> Path:
    with tarfile.open(path, how) as archive:  # type: ignore[call-overload]
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def special(path: Path, kind: bytes, link: str = "") -> Path:
    """A tar of one good file and one member of that kind."""
    with tarfile.open(path, "w") as archive:
        good = tarfile.TarInfo("good.jpg")
        good.size = 4
        archive.addfile(good, io.BytesIO(b"good"))
        info = tarfile.TarInfo("odd.jpg")
        info.type, info.linkname = kind, link
        archive.addfile(info)
    return path


def zip_link(path: Path) -> Path:
    info = zipfile.ZipInfo("odd.jpg")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zipped(path, [("good.jpg", b"good"), (info, b"/etc/passwd")])


def under_a_password(path: Path) -> Path:
    zipped(path, [("odd.jpg", b"secret")])
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flags of both headers
        data[data.index(mark) + at] |= 1
    path.write_bytes(data)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("kind", ["zip", *TARS])
def test_a_good_archive_is_unpacked_whole(tmp_path: Path, kind: str) -> None:
    if kind == "zip":
        path = zipped(tmp_path / "a.bin", [("train/", b""), *FILES.items()])
    else:
        path = tarred(tmp_path / "a.bin", list(FILES.items()), TARS[kind])
    assert archives.is_archive(path)
    done = archives.unpack(path, tmp_path / "deep/er")
    assert (done.files, done.bytes) == (3, 14)
    assert contents(tmp_path / "deep/er") == FILES
    assert sorted(p.name for p in tmp_path.rglob("*") if p.name.startswith(".")) == []


def test_a_tar_of_the_folder_itself(tmp_path: Path) -> None:
    (tmp_path / "in/rust").mkdir(parents=True)
    (tmp_path / "in/rust/a.jpg").write_bytes(b"a")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(tmp_path / "in", ".")
    archives.unpack(tmp_path / "a.tar", tmp_path / "out")
    assert contents(tmp_path / "out") == {"rust/a.jpg": b"a"}


@pytest.mark.parametrize("kind", ["zip", "tar", "tgz"])
@pytest.mark.parametrize(
    ("names", "word"),
    [
        (["good.jpg", "../odd.jpg"], "step up"),
        (["good.jpg", "a/../../odd.jpg"], "step up"),
        (["good.jpg", "/etc/odd.jpg"], "absolute"),
        (["good.jpg", "C:/odd.jpg"], "absolute"),
        (["good.jpg", "a\\odd.jpg"], "backslash"),
        (["good.jpg", "odd\n.jpg"], "control character"),
        (["good.jpg", "n" * 256], "too long"),
        (["odd.jpg", "odd.jpg"], "two members"),
        (["odd.jpg", "ODD.jpg"], "are one"),
        (["a/x.jpg", "A/y.jpg"], "are one"),
        (["caf\u00e9.jpg", "cafe\u0301.jpg"], "are one"),
        (["odd", "odd/a.jpg"], "two members"),
        (["odd/a.jpg", "odd"], "two members"),
        (["a/b.jpg", "a//b.jpg"], "two members"),
        (["a/b.jpg", "a/./b.jpg"], "two members"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_climbs_out_or_hides_another(
    tmp_path: Path, kind: str, names: list[str], word: str
) -> None:
    members = [(name, b"data") for name in names]
    if kind == "zip":
        path = zipped(tmp_path / "a.bin", [*members])
    else:
        path = tarred(tmp_path / "a.bin", members, TARS[kind])
    refused_untouched(path, word)


@pytest.mark.parametrize(
    ("word", "make"),
    [
        ("a link to '/etc/passwd'", lambda p: special(p, tarfile.SYMTYPE, "/etc/passwd")),
        ("a link to 'good.jpg'", lambda p: special(p, tarfile.SYMTYPE, "good.jpg")),
        ("a link to 'good.jpg'", lambda p: special(p, tarfile.LNKTYPE, "good.jpg")),
        ("a device", lambda p: special(p, tarfile.CHRTYPE)),
        ("a device", lambda p: special(p, tarfile.BLKTYPE)),
        ("a device or a pipe", lambda p: special(p, tarfile.FIFOTYPE)),
        ("a link", zip_link),
        ("password", under_a_password),
    ],
)
def test_a_member_that_is_no_plain_file(
    tmp_path: Path, word: str, make: Callable[[Path], Path]
) -> None:
    refused_untouched(make(tmp_path / "a.bin"), word)


def refused_untouched(path: Path, word: str, limits: archives.Limits | None = None) -> None:
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(Refused, match=word) as caught:
        archives.unpack(path, path.parent / "out", limits)
    assert str(caught.value).startswith(f"{path}: expected")
    assert "nothing was written" in str(caught.value)
    assert sorted(path.parent.rglob("*")) == before


LOW = archives.Limits(bytes=1000, members=5, ratio=10, small=100)


@pytest.mark.parametrize("kind", ["zip", "tgz", "txz"])
@pytest.mark.parametrize(
    ("sizes", "word"),
    [
        ([100], ""),  # small
        ([900], "a bomb"),  # one that packs 90 to 1
        ([99] * 5, ""),
        ([1001], "a bomb"),  # more than all may hold
        ([1] * 6, "beyond the most"),
    ],
)
def test_bombs_by_ratio_size_and_number(
    tmp_path: Path, kind: str, sizes: list[int], word: str
) -> None:
    members = [(f"{i}.jpg", b"\0" * size) for i, size in enumerate(sizes)]
    if kind == "zip":
        path = zipped(tmp_path / "a.bin", [*members])
    else:
        path = tarred(tmp_path / "a.bin", members, TARS[kind])
    if word and not (kind != "zip" and sizes == [900]):  # a small tar packs less than 10 to 1
        refused_untouched(path, word, LOW)
    else:
        archives.unpack(path, tmp_path / "out", LOW)
        assert len(contents(tmp_path / "out")) == len(sizes)


def test_a_real_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    big = zipfile.ZipInfo("zeros.bmp")
    refused_untouched(zipped(tmp_path / "a.zip", [(big, bytes(70 << 20))]), "a bomb: 73,400,320")


def test_a_tar_that_unpacks_for_ever_is_stopped_while_it_is_looked_at(tmp_path: Path) -> None:
    path = tarred(tmp_path / "a.tgz", [("zeros.bmp", bytes(70 << 20))], "w:gz")
    refused_untouched(path, "unpacks to too much|a bomb: 73,400,320")


@pytest.mark.parametrize("kind", ["zip", *TARS])
def test_a_cut_archive_is_unreadable_and_leaves_nothing(tmp_path: Path, kind: str) -> None:
    members = [(name, data * 100) for name, data in FILES.items()]
    if kind == "zip":
        whole = zipped(tmp_path / "whole", [*members]).read_bytes()
    else:
        whole = tarred(tmp_path / "whole", members, TARS[kind]).read_bytes()
    path = tmp_path / "cut"
    ends = [len(whole) * share // 10 for share in range(1, 10)]
    if kind == "tar":  # its members begin at multiples of 512; it is padded to 10,240
        ends = list(range(512, 5 * 512 + 1, 512))
    for end in ends:
        path.write_bytes(whole[:end])
        with pytest.raises(Unreadable):
            archives.unpack(path, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_damage_inside_a_zip_is_found_by_its_checksum(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", [("a.jpg", bytes(range(256)) * 20)])
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(Unreadable, match="broken one"):
        archives.unpack(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("data", [b"", b"a photo", b"\x1f\x8b not gzip", b"PK\x03\x04 no zip"])
def test_what_is_no_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(data)
    assert not archives.is_archive(tmp_path / "a.zip")
    with pytest.raises(Unreadable, match="expected a zip or tar"):
        archives.unpack(tmp_path / "a.zip", tmp_path / "out")


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", [("a.jpg", b"a")])
    (tmp_path / "out").mkdir()
    with pytest.raises(Usage, match="no such folder yet"):
        archives.unpack(path, tmp_path / "out")
    assert not archives.is_archive(tmp_path / "none.zip")
    assert not archives.is_archive(tmp_path)
