"""Whatever is done to a frozen benchmark, `verify` names the file."""

import json
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from fieldtruth import store
from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Item, Split
from fieldtruth.store import fetch as fetch_script

PHOTO = b"not really a photo, but bytes"
PLACE = "images/a.jpg"
APART = "images/b.jpg"


def item(name: str = "leaf-1", image: str = PLACE, photo: bytes = PHOTO) -> Item:
    return Item(
        id=name, image=image, image_sha256=sha256(photo).hexdigest(), width=10, height=10,
        source="hand", licence="CC0", crop=None, kind="disease", label="rust", level="lesion",
        boxes=((1.0, 1.0, 2.0, 2.0),), query="rust", absent_query=None, candidates=None, group="g",
    )  # fmt: skip


def frozen(folder: Path, split: Split = "test", items: tuple[Item, ...] | None = None) -> Path:
    """A benchmark of two items, one photo held and one kept by reference."""
    (folder / "images").mkdir(parents=True)
    (folder / PLACE).write_bytes(PHOTO)
    items = items or (item(), item("leaf-2", APART, b"elsewhere"))
    store.write(folder / "items.jsonl", items)
    files = {name: store.sha256(folder / name) for name in ("items.jsonl", PLACE)}
    elsewhere = store.Reference(sha256=sha256(b"elsewhere").hexdigest(), original="raw/b.jpg")
    seal(
        folder,
        store.Manifest(
            name="leaves", version="1", split=split, items=2, questions=0, images=2, counts={},
            files=files, references={APART: elsewhere}, config={}, inputs={}, code="0",
        ),
    )  # fmt: skip
    return folder


def seal(folder: Path, manifest: store.Manifest) -> None:
    (folder / "manifest.json").write_bytes(manifest.sealed().rendered())


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_as_frozen(tmp_path: Path) -> None:
    folder = frozen(tmp_path / "bench")
    assert store.verify(folder) == []
    bench = store.open_bench(folder)
    assert [each.id for each in bench.items] == ["leaf-1", "leaf-2"]
    assert bench.photo(bench.items[0].image).read_bytes() == PHOTO
    assert bench.not_fetched() == [APART]
    (folder / APART).write_bytes(b"elsewhere")
    assert store.verify(folder) == []
    assert bench.not_fetched() == []


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def link(path: Path, real: Path) -> None:
    path.rename(real)
    path.symlink_to(real)


def add_link(path: Path) -> None:
    path.symlink_to(path.parent)


def everything(folder: Path) -> None:
    flip(folder / "items.jsonl")
    (folder / PLACE).unlink()
    (folder / "x").touch()


TAMPERING: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "a byte of the items": (lambda d: flip(d / "items.jsonl"), ["items.jsonl differs"]),
    "a label": (
        lambda d: edit(d / "items.jsonl", '"label":"rust"', '"label":"mite"'),
        ["items.jsonl differs"],
    ),
    "a photo replaced": (lambda d: (d / PLACE).write_bytes(b"other"), [f"{PLACE} differs"]),
    "a photo deleted": (lambda d: (d / PLACE).unlink(), [f"{PLACE} missing"]),
    "a photo renamed": (
        lambda d: (d / PLACE).rename(d / "images/z.jpg"),
        [f"{PLACE} missing", "images/z.jpg extra"],
    ),
    "another photo fetched": (lambda d: (d / APART).write_bytes(b"x"), [f"{APART} differs"]),
    "a file added": (lambda d: (d / "images/.DS_Store").touch(), ["images/.DS_Store extra"]),
    "a link for a photo": (
        lambda d: link(d / PLACE, d / "images/real.jpg"),
        [f"{PLACE} differs", "images/real.jpg extra"],
    ),
    "a link added": (lambda d: add_link(d / "l"), ["l extra"]),
    "a linked folder": (
        lambda d: link(d / "images", d.parent / "elsewhere"),
        ["images extra", f"{PLACE} missing"],
    ),
    "the items deleted": (lambda d: (d / "items.jsonl").unlink(), ["items.jsonl missing"]),
    "the manifest deleted": (
        lambda d: (d / "manifest.json").unlink(),
        ["manifest.json missing"],
    ),
    "the manifest's version": (
        lambda d: edit(d / "manifest.json", '"version": "1"', '"version": "2"'),
        ["manifest.json differs"],
    ),
    "the manifest's white space": (
        lambda d: edit(d / "manifest.json", '"name": ', '"name":  '),
        ["manifest.json differs"],
    ),
    "the manifest's split": (
        lambda d: edit(d / "manifest.json", '"test"', '"train"'),
        ["manifest.json differs"],
    ),
    "the manifest broken": (
        lambda d: edit(d / "manifest.json", "{", ""),
        ["manifest.json differs"],
    ),
    "the manifest pointing out": (
        lambda d: edit(d / "manifest.json", PLACE, "../images/a.jpg"),
        ["manifest.json differs"],
    ),
    "the manifest a link": (
        lambda d: link(d / "manifest.json", d.parent / "m.json"),
        ["manifest.json differs"],
    ),
    "all at once": (
        everything,
        [f"{PLACE} missing", "items.jsonl differs", "x extra"],
    ),
}


@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_is_found_and_named(tmp_path: Path, what: str) -> None:
    folder = frozen(tmp_path / "bench")
    tamper, told = TAMPERING[what]
    tamper(folder)
    assert [f"{each.path} {each.what}" for each in store.verify(folder)] == told
    with pytest.raises(Refused, match="take a fresh copy"):
        store.open_bench(folder)


def test_bytes_all_over_the_manifest_count(tmp_path: Path) -> None:
    path = frozen(tmp_path / "bench") / "manifest.json"
    whole = path.read_bytes()
    for place in [*range(0, len(whole), 5), len(whole) - 1]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert "manifest.json" in {each.path for each in store.verify(path.parent)}


def test_a_manifest_made_over_items_of_other_photos_is_found(tmp_path: Path) -> None:
    folder = frozen(tmp_path / "bench", items=(item(), item("leaf-2", APART, b"another")))
    assert [each.path for each in store.verify(folder)] == ["items.jsonl"]


def test_a_manifest_made_over_broken_items_is_found(tmp_path: Path) -> None:
    folder = frozen(tmp_path / "bench")
    (folder / "items.jsonl").write_text("{}\n")
    manifest, _ = store.read_manifest(folder)
    sums = manifest.files | {"items.jsonl": store.sha256(folder / "items.jsonl")}
    seal(folder, msgspec.structs.replace(manifest, files=sums))
    assert [each.path for each in store.verify(folder)] == ["items.jsonl"]
    with pytest.raises(Refused, match=r"items\.jsonl differs"):
        store.open_bench(folder)


def test_a_benchmark_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = frozen(tmp_path / "bench") / "manifest.json"
    newer = json.loads(path.read_text()) | {"schema": 999, "colour": "red"}
    path.write_text(json.dumps(newer))
    with pytest.raises(Refused, match="expected a schema of at most 1, got 999"):
        store.verify(path.parent)


def test_no_folder_is_a_matter_of_usage(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="expected the folder of a frozen benchmark"):
        store.verify(tmp_path / "absent")


def test_a_trainer_cannot_open_the_test_split(tmp_path: Path) -> None:
    train = store.open_training(frozen(tmp_path / "train", "train"))
    assert isinstance(train, store.TrainingSet)
    test = frozen(tmp_path / "test", "test")
    with pytest.raises(Refused, match="got the split test"):
        store.open_training(test)
    bench = store.open_bench(test)
    with pytest.raises(Refused):
        store.TrainingSet(bench.folder, bench.manifest, bench.items, bench.questions)


def fetch(folder: Path, originals: Path) -> subprocess.CompletedProcess[str]:
    script = folder / "fetch.py"
    script.write_bytes(Path(fetch_script.__file__).read_bytes())
    said = subprocess.run(
        [sys.executable, "-I", "-S", script, originals], capture_output=True, text=True, check=False
    )
    script.unlink()
    return said


@pytest.mark.parametrize("place", ["raw/b.jpg", "moved/elsewhere/c.jpg"])
def test_fetch_brings_the_photo_wherever_it_lies(tmp_path: Path, place: str) -> None:
    folder = frozen(tmp_path / "bench")
    (tmp_path / "originals" / place).parent.mkdir(parents=True)
    (tmp_path / "originals" / place).write_bytes(b"elsewhere")
    assert fetch(folder, tmp_path / "originals").returncode == 0
    assert (folder / APART).read_bytes() == b"elsewhere"
    assert store.verify(folder) == []


def test_fetch_takes_no_photo_of_another_hash(tmp_path: Path) -> None:
    folder = frozen(tmp_path / "bench")
    (tmp_path / "originals" / "raw").mkdir(parents=True)
    (tmp_path / "originals" / "raw" / "b.jpg").write_bytes(b"edited")
    said = fetch(folder, tmp_path / "originals")
    assert (said.returncode, said.stderr.split(":")[0]) == (1, APART)
    assert store.open_bench(folder).not_fetched() == [APART]
    assert fetch(folder, tmp_path / "absent").returncode == 2
