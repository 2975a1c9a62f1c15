"""The reply cache: what was kept comes back, and nothing else does."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.faults import Usage
from fieldtruth.store import Cache, Key

KEY = Key(
    model="m@run1", version="openai-1", prompt="Wo ist der Rost? \u00e4\n", images=("a" * 64,),
    parameters={"level": "lesion", "names": '["rust"]'},
)  # fmt: skip


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_what_was_kept_comes_back_to_whoever_asks_the_same(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "new" / "cache")
    assert cache.get(KEY) is None
    assert cache.put(KEY, "[]\n\u00e4", "length")
    kept = Cache(tmp_path / "new" / "cache").get(KEY)
    assert kept is not None
    assert (kept.text, kept.finish, kept.key) == ("[]\n\u00e4", "length", KEY)
    (entry,) = entries(tmp_path)
    assert entry.name == f"{KEY.digest}.json"
    assert entry.parent.name == KEY.digest[:2]


@pytest.mark.parametrize(
    "change",
    [
        {"model": "m@run2"}, {"version": "openai-2"}, {"prompt": "Wo ist der Rost?"},
        {"images": ()}, {"images": ("b" * 64,)}, {"images": ("a" * 64, "a" * 64)},
        {"parameters": {}}, {"parameters": {"level": "object", "names": '["rust"]'}},
    ],
)  # fmt: skip
def test_whatever_differs_is_another_key(tmp_path: Path, change: dict[str, Any]) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, "[]", "stop")
    fields = {name: getattr(KEY, name) for name in KEY.__struct_fields__}
    assert cache.get(Key(**fields | change)) is None
    swapped = dict(reversed(list(KEY.parameters.items())))
    assert cache.get(Key(**fields | {"parameters": swapped})) is not None  # order is no difference


@pytest.mark.parametrize(
    ("text", "finish"), [("", "stop"), (" \n\t", "stop"), ("", "length"), ("half", "error")]
)
def test_errors_and_blank_words_are_not_kept(tmp_path: Path, text: str, finish: str) -> None:
    cache = Cache(tmp_path)
    assert not cache.put(KEY, text, finish)
    assert entries(tmp_path) == []


def test_an_entry_that_is_torn_or_changed_is_a_miss_and_is_mended(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, "[1, 2]", "stop")
    (entry,) = entries(tmp_path)
    whole = entry.read_bytes()
    broken = [whole[:end] for end in range(len(whole) - 1)]  # all but the line end
    broken += [b"\0" * len(whole), whole.replace(b"[1, 2]", b"[1, 3]"), b"[" * 100_000]
    broken += [whole.replace(b'"stop"', b'"length"'), whole.replace(b"lesion", b"object")]
    for raw in broken:
        entry.write_bytes(raw)
        assert cache.get(KEY) is None, raw[:80]
    assert cache.put(KEY, "[1, 2]", "stop")
    assert entry.read_bytes() == whole


@given(st.text(max_size=20).filter(str.strip))
def test_words_come_back_letter_by_letter(tmp_path_factory: Any, text: str) -> None:
    cache = Cache(tmp_path_factory.getbasetemp() / "letters")
    cache.put(KEY, text, "stop")
    kept = cache.get(KEY)
    assert kept is not None
    assert kept.text == text


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Usage, match="expected a folder for the reply cache"):
        Cache(tmp_path / "file")
    cache = Cache(tmp_path / "cache")
    (tmp_path / "cache" / KEY.digest[:2]).write_text("")  # no folder can be made here
    with pytest.raises(Usage, match="mend that, or name another folder"):
        cache.put(KEY, "[]", "stop")
    with pytest.raises(Usage, match="mend that, or name another folder"):
        cache.get(KEY)


WRITER = """
import sys
from pathlib import Path
from fieldtruth.store import Cache, Key
cache, who = Cache(Path(sys.argv[1])), sys.argv[2]
for number in range(400):
    key = Key(model="m", version="1", prompt=str(number % 20))
    kept = cache.get(key)
    if kept is not None:
        assert len(set(kept.text)) == 1 and len(kept.text) == 5000, kept.text[:20]
    cache.put(key, who * 5000, "stop")
"""


@pytest.mark.slow
def test_several_processes_may_write_and_one_may_be_killed(tmp_path: Path) -> None:
    def writer(who: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), who])

    doomed = writer("x")
    others = [writer(who) for who in "abc"]
    while not entries(tmp_path):
        assert doomed.poll() is None
    doomed.kill()
    assert [each.wait(60) for each in others] == [0, 0, 0]
    doomed.wait(60)
    assert len(list(tmp_path.rglob("*.json"))) == 20
    for number in range(20):
        assert Cache(tmp_path).get(Key(model="m", version="1", prompt=str(number))) is not None
