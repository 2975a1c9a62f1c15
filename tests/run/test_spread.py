"""Several processes write what one writes, byte for byte."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.builders import four, leaf, table
from tests.models import tiny

from fieldtruth.faults import Unreadable, Usage
from fieldtruth.hashing import phash
from fieldtruth.models.contract import Request
from fieldtruth.run import asking, spread
from fieldtruth.run.progress import SILENT
from fieldtruth.stages.audit import Settings, audit

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """One for all tests of this file, left alone by Ray's clean-up of the last actor."""
    spread.load_ray()
    yield
    ray.shutdown()


def photo(folder: Path, number: int) -> Path:
    path = folder / f"{number % 3}.png"
    return path if path.exists() else leaf(path, [(60, 40, 80, 60)][: number % 3], number % 3)


def requests(folder: Path, count: int) -> list[Request]:
    return [
        Request(id=str(n), prompt="?", images=(photo(folder, n),), names=("rust", f"blight {n}"))
        for n in range(count)
    ]


def test_workers_say_what_one_process_says_in_order(tmp_path: Path) -> None:
    asked = requests(tmp_path, 150)  # five batches for two workers
    alone = spread.open_model("leaf_box", {})
    spread_out = spread.open_model("leaf_box", {}, "ray", 2)
    assert (spread_out.space, spread_out.version) == (alone.space, alone.version)
    assert list(spread_out.reply(asked)) == list(alone.reply(asked))


def test_a_detector_in_workers_says_what_it_says_here(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    weights = tiny.grounding_dino(tmp_path / "dino")
    asked, options = requests(tmp_path, 40), {"path": str(weights), "box": "0.5"}
    there = list(spread.open_model("grounding_dino", options, "ray", 2).reply(asked))
    assert there == list(spread.open_model("grounding_dino", options).reply(asked))


def test_predictions_of_workers_are_the_same_bytes(tmp_path: Path) -> None:
    bench = four(tmp_path / "bench")
    files = []
    for engine in ("local", "ray"):
        job = asking.Job(
            benchmark=bench, model="leaf_box", protocol="known_target",
            engine=spread.engine_of(engine), workers=2 if engine == "ray" else None,
        )  # fmt: skip
        files.append(tmp_path / f"{engine}.jsonl")
        assert asking.predict(job, files[-1]).failed == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_fails_here_fails_there_in_the_same_words(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="leaf_box has no option 'colour'"):
        spread.open_model("leaf_box", {"colour": "red"}, "ray", 2)
    with pytest.raises(Usage, match="expected it with --engine ray"):
        spread.open_model("leaf_box", {}, "local", 2)
    with pytest.raises(Usage, match="max-cost"):
        spread.open_model("openai", {"max_cost": "1"}, "ray", 2)
    with pytest.raises(Usage, match="local or ray"):
        spread.engine_of("dask")
    script = table(tmp_path / "t.jsonl", {"0": "[]"})
    model = spread.open_model("scripted", {"table": str(script), "space": "pixel"}, "ray", 1)
    said, lost = model.reply(requests(tmp_path, 2))
    assert said.text == "[]"
    assert lost.error == "no scripted reply for 1"


def test_a_worker_that_dies_is_an_error_and_no_empty_answer(tmp_path: Path) -> None:
    model = spread.open_model("leaf_box", {}, "ray", 1)
    assert isinstance(model, spread.Spread)
    ray.kill(model._actors[0])  # for good: it is not started again
    replies = list(model.reply(requests(tmp_path, 3)))
    assert [reply.finish for reply in replies] == ["error"] * 3
    assert all(reply.error and reply.error.startswith("worker lost") for reply in replies)


def test_mapped_keeps_the_order_and_raises_what_the_function_raises(tmp_path: Path) -> None:
    paths = [photo(tmp_path, number) for number in range(200)]
    with spread.mapped("ray", 2) as there, spread.mapped("local", None) as here:
        assert list(there(phash, paths)) == list(here(phash, paths))
        with pytest.raises(Unreadable, match=r"nope\.png"):
            list(there(phash, [tmp_path / "nope.png"]))


def test_an_audit_over_workers_reports_what_it_reports_here(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(8):
        leaf(folder / f"{number}.png", [(60, 40, 80 + number % 4, 60)], number % 2)
    (folder / "broken.png").write_bytes(b"nothing")
    reports = []
    for engine, workers in (("local", None), ("ray", 2)):
        with spread.over_files(spread.engine_of(engine), workers) as over:
            reports.append(audit([str(folder)], Settings(), SILENT, over))
    assert reports[0] == reports[1]
    assert reports[0].pairs
    assert reports[0].sets[str(folder)].unreadable
