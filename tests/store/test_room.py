"""What the system says of a full disk becomes one fault; everything else stays what it was."""

import errno
import os
from pathlib import Path

import pytest

from fieldtruth import store
from fieldtruth.faults import CannotWrite


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the quota is used up"),
        (errno.EFBIG, "files may not be that long here"),
    ],
)
def test_a_full_disk_is_named_by_the_inner_block(number: int, says: str) -> None:
    with pytest.raises(CannotWrite) as told, store.room("outer"), store.room("inner"):
        raise OSError(number, os.strerror(number))
    assert str(told.value).startswith(f"inner: expected room to write, got none: {says}")
    assert told.value.exit_code == 1


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EACCES, errno.EIO, None])
def test_another_error_is_left_alone(number: int | None) -> None:
    error = OSError() if number is None else OSError(number, "why")
    with pytest.raises(OSError) as told, store.room("here"):  # noqa: PT011 - the very same
        raise error
    assert told.value is error


def test_a_place_where_nothing_can_be() -> None:
    says = r"^/proc/x: .* a file or folder can be made"
    with pytest.raises(CannotWrite, match=says), store.lock(Path("/proc/x")):
        pass
    with pytest.raises(CannotWrite, match=says), store.replacing(Path("/proc/x")):
        pass


def test_a_new_folder_goes_where_its_work_failed_and_left_nothing(tmp_path: Path) -> None:
    def fails(name: str, *files: str) -> None:
        with store.new_or_there(tmp_path / name):
            for file in files:
                (tmp_path / name / file).touch()
            raise ValueError("why")

    (tmp_path / "there").mkdir()
    for name, files in (("new", ()), ("filled", ("a",)), ("there", ())):
        with pytest.raises(ValueError, match="why"):
            fails(name, *files)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["filled", "there"]


def test_a_disk_that_is_really_full() -> None:
    with (
        pytest.raises(CannotWrite, match=r"^there: .* the disk is full"),
        store.room("there"),
        open("/dev/full", "wb", buffering=0) as full,  # noqa: PTH123
    ):
        full.write(b"x")
