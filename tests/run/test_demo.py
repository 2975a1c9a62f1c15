"""The demo: from nothing, or from somebody's photos, to a page."""

from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.builders import class_folders, leaf

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.run import recipe, results
from fieldtruth.run.demo import demo, with_tiny

MODELS = ["colour", "one-leaf-box", "dying-server"]
SEES = all(find_spec(name) for name in ("torch", "transformers"))


def told(out: Path, photos: Path | None = None, leaves: int | None = None) -> list[str]:
    """The lines for the terminal; the page is there and its path is what the demo returns."""
    lines: list[str] = []
    page = demo(out, photos, lines.append, leaves=leaves, quiet=True)
    assert page == out / "report.html"
    assert "<html" in page.read_text(encoding="utf-8")[:200]
    return "\n".join(lines).splitlines()


def naive(lines: list[str]) -> dict[tuple[str, str], tuple[int, int, int]]:
    """(model, protocol) -> n naively, n here, failed calls: the last table."""
    start = lines.index(
        "The same replies, scored naively: a failed call is taken for an empty answer."
    )
    rows = (line.split() for line in lines[start + 2 : lines.index("", start)])
    return {
        (row[0], row[1]): (
            *(int(cell[2:]) for cell in row if cell.startswith("n=")), int(row[-1])
        )  # type: ignore[misc]
        for row in rows
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_on_drawn_leaves(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    lines = told(out, leaves=16)
    if not SEES:
        assert lines.pop(0).startswith("tiny, the model of photos and words")
    bench = store.open_bench(out / "bench" / "benchmark")
    fitted = store.open_training(out / "bench" / "training")
    assert lines[:2] == [
        f"{len(bench.items)} photos frozen in {out / 'bench/benchmark'}",
        f"colour fitted on {len(fitted.items)} photos",
    ]
    assert lines[3] == "known_target: values with 95 % intervals and n"
    assert lines[-1] == "The report, with the photos:"
    assert lines[-2].startswith("These leaves are drawn by this program")
    healthy = sum(not item.positive for item in bench.items)
    table = naive(lines)
    asked = [model for model, protocol in table if protocol == "known_target"]
    assert asked == MODELS + ["tiny"] * SEES
    assert ("here it is on foreign ground" in lines[-2]) is SEES
    assert table["colour", "known_target"] == (healthy, healthy, 0)
    alive = -(-len(bench.items) // 2)
    answered = sum(not item.positive for item in bench.items[:alive])
    dead = len(bench.items) - alive
    assert table["dying-server", "known_target"] == (healthy, answered, dead)
    scores = results.load(out / "results")
    assert scores["models"]["dying-server"]["known_target"]["metrics"]["f1"]["value"] == 1
    assert (fitted.manifest.name, bench.manifest.name) == ("drawn-train", "drawn-test")


def test_the_model_that_comes_with_it_is_left_out_with_a_reason() -> None:
    with as_file(files("fieldtruth.run") / "demo.toml") as path:
        plain = recipe.read(path).recipe
    assert with_tiny(plain, [])[0].models["tiny"].backend == "tiny"
    assert with_tiny(plain, [])[1] == ""
    left, why = with_tiny(plain, ["torch"])
    assert left == plain
    assert why.endswith("is not asked: it needs torch (pip install 'fieldtruth[transformers]')")


@pytest.mark.slow
def test_on_photos_in_class_folders(tmp_path: Path) -> None:
    photos = class_folders(tmp_path / "photos", each=6, healthy=8)
    lines = told(tmp_path / "demo", photos)
    assert lines[-2].startswith("Your photos came with class folders and without boxes.")
    bench = store.open_bench(tmp_path / "demo" / "bench" / "benchmark")
    assert bench.manifest.name == "folder-test"
    assert {item.source for item in bench.items} == {"folder"}
    assert not bench.not_fetched()
    asked = [(name, way) for way in ("known_target", "candidates") for name in MODELS]
    assert sorted(naive(lines)) == sorted(asked)


@pytest.mark.slow
def test_on_photos_without_classes(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    for number in range(16):
        leaf(photos / f"{number}.png", shade=3 * number)
    lines = told(tmp_path / "demo", photos)
    assert lines[-2].startswith("Your photos came without classes, so symptoms were drawn")
    bench = store.open_bench(tmp_path / "demo" / "bench" / "benchmark")
    assert bench.manifest.name == "drawn-test"
    assert {item.licence for item in bench.items} == {"not stated"}


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(Usage, match="expected an empty folder or one of an earlier demo"):
        told(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_photos_that_cannot_serve(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="expected a folder of leaf photos, got none there"):
        told(tmp_path / "demo", tmp_path / "none")
    leaf(tmp_path / "few" / "a.png")
    with pytest.raises(Usage, match="expected at least 12 photos, got 1 readable ones"):
        told(tmp_path / "demo", tmp_path / "few")  # an earlier demo's folder is made anew
