"""Asking under a control: the same job goes on as the same job, and nothing of it stays behind."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.builders import NAMES, frozen, healthy_row, leaf, plain, row, table
from tests.run.stopping import Stopped, Stopping

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.images import open_upright
from fieldtruth.records import Prediction
from fieldtruth.run import results
from fieldtruth.run.asking import Asked, Job, predict
from fieldtruth.stages.score import Options

SPOT = [[60.0, 50.0, 80.0, 60.0]]
IDS = ("h0", "p0", "p1", "p2")


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """Three positives, one without an absent name and one without a list, and a healthy photo."""
    for n in range(4):
        photo = open_upright(leaf(tmp_path / "photos" / f"leaf{n}.png", SPOT[:n]))
        photo.crop((5 * n, 0, 160 + 5 * n, 120)).save(tmp_path / "photos" / f"leaf{n}.png")
    rows = [
        row("p0", image="leaf1.png", boxes=SPOT, absent_query=NAMES[2]),
        row("p1", image="leaf2.png", boxes=SPOT, absent_query=NAMES[3], candidates=None),
        row("p2", image="leaf3.png", boxes=SPOT),
        healthy_row("h0", image="leaf0.png", absent_query=NAMES[1]),
    ]
    return frozen(tmp_path / "bench", rows)


def job(bench: Path, protocol: str, **changes: Any) -> Job:
    """`leaf_box` looks at the photo, so that its words tell which one it saw."""
    fields: dict[str, Any] = {"benchmark": bench, "model": "leaf_box", "protocol": protocol}
    return Job(**(fields | changes))


def said(path: Path) -> dict[str, str]:
    return {each.item: each.text for each in store.read(path, Prediction)}


@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize("protocol", ["known_target+shuffle", "open_set+blank"])
def test_an_interrupted_run_goes_on_as_the_same_run(bench: Path, protocol: str, after: int) -> None:
    out, whole = bench.parent / "out" / "r.jsonl", bench.parent / "out" / "whole.jsonl"
    with pytest.raises(Stopped):
        predict(job(bench, protocol), out, Stopping(after))
    assert sorted(path.name for path in out.parent.iterdir()) == ["r.jsonl.journal"]
    done = predict(job(bench, protocol), out)
    assert done == Asked(items=4, asked=4 - after, kept=after, failed=0, unsuited=0)
    predict(job(bench, protocol), whole)
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in out.parent.iterdir()) == [
        "r.jsonl", "r.manifest.json", "whole.jsonl", "whole.manifest.json",
    ]  # fmt: skip
    assert {each.protocol for each in store.read(out, Prediction)} == {protocol}


def test_the_model_sees_the_changed_photo(bench: Path) -> None:
    words = {}
    for protocol in ("known_target", "known_target+shuffle", "known_target+blank"):
        out = bench.parent / f"{protocol}.jsonl"
        predict(job(bench, protocol), out)
        words[protocol] = said(out)
    plain, shuffled, blank = words.values()
    assert all(plain[name] != shuffled[name] for name in IDS)
    assert (
        len(set(blank.values())) == 2
    )  # the photo has nothing to tell; the name asked for differs
    assert len(set(plain.values())) == 4


def test_a_shared_cache_keeps_the_photos_apart(bench: Path) -> None:
    cache = bench.parent / "cache"
    asked = {}
    for protocol in ("known_target", "known_target+blank", "known_target+shuffle"):
        done = predict(job(bench, protocol, cache=cache), bench.parent / f"{protocol}.jsonl")
        asked[protocol] = (done.asked, done.cached)
    assert set(asked.values()) == {(4, 0)}
    again = predict(job(bench, "known_target+shuffle", cache=cache), bench.parent / "again.jsonl")
    assert (again.asked, again.cached) == (0, 4)


def test_items_without_an_absent_name_and_healthy_ones_are_left_out_and_counted(
    bench: Path,
) -> None:
    out = bench.parent / "r.jsonl"
    done = predict(job(bench, "known_target+wrong_target"), out)
    assert (done.items, done.asked, done.unsuited) == (2, 2, 2)
    assert {name: json.loads(text)[0]["label"] for name, text in said(out).items()} == {
        "p0": NAMES[2], "p1": NAMES[3],
    }  # fmt: skip
    scores = results.score(bench, [out], Options(resamples=10))
    entry = scores["models"]["leaf_box"]["known_target+wrong_target"]
    found = entry["metrics"]["wrong_target_abstention"]
    assert (found["value"], found["n"], entry["unasked"]) == (0.0, 2, 2)
    assert {name for name, got in entry["metrics"].items() if got["n"]} == {
        "wrong_target_abstention"
    }


def test_another_seed_is_another_job(bench: Path) -> None:
    out = bench.parent / "r.jsonl"
    predict(job(bench, "known_target+shuffle"), out)
    with pytest.raises(Usage, match=r"holds replies of another job \(seed differ\)"):
        predict(job(bench, "known_target+shuffle", seed=1), out)
    other = bench.parent / "other.jsonl"
    predict(job(bench, "known_target+shuffle", seed=1), other)
    assert said(out) != said(other)


def test_a_photo_that_cannot_be_changed_is_a_failed_call(tmp_path: Path) -> None:
    leaf(tmp_path / "photos" / "leaf.png")
    plain(tmp_path / "photos" / "theirs.png")
    theirs = row("p1", image="theirs.png", licence="all rights reserved")  # kept by reference
    rows = [row("p0", image="leaf.png"), theirs]
    out = tmp_path / "r.jsonl"
    done = predict(job(frozen(tmp_path / "bench", rows), "known_target+blank"), out)
    assert (done.items, done.asked, done.failed) == (2, 2, 1)
    good, bad = store.read(out, Prediction)
    assert (good.failed, bad.failed, bad.finish, bad.text) == (False, True, "error", "")
    assert "no such file" in (bad.error or "")


def test_without_a_control_the_seed_says_nothing(bench: Path) -> None:
    out = bench.parent / "r.jsonl"
    predict(job(bench, "known_target"), out)
    assert predict(job(bench, "known_target", seed=1), out).kept == 4
    assert "seed" not in json.loads(out.with_name("r.manifest.json").read_text())


@pytest.mark.parametrize(
    ("protocol", "told"),
    [
        ("candidates+grey", r"controls has no 'grey'; it has: blank, rotate1, .*wrong_target"),
        ("candidates+", r"controls has no ''"),
        ("known_target+rotate1", r"expected items for known_target\+rotate1, got none it can ask"),
    ],
)
def test_a_control_that_cannot_be_asked_says_so(bench: Path, protocol: str, told: str) -> None:
    with pytest.raises(Usage, match=told):
        predict(job(bench, protocol), bench.parent / "r.jsonl")
    assert not (bench.parent / "r.jsonl").exists()


def test_a_folder_that_happens_to_be_there_stays(bench: Path) -> None:
    kept = bench.parent / "r.jsonl.photos" / "mine.png"
    leaf(kept)
    predict(job(bench, "known_target+shuffle"), bench.parent / "r.jsonl")
    assert kept.exists()


def test_all_orders_of_a_list_are_asked_and_set_side_by_side(bench: Path) -> None:
    files = []
    for order in ("candidates", "candidates+rotate1", "candidates+rotate2", "candidates+rotate3"):
        files.append(bench.parent / f"{order}.jsonl")
        done = predict(job(bench, order), files[-1])
        assert (done.items, done.unsuited) == (3, 1)
    scores = results.score(bench, files, Options(resamples=10))
    found = scores["position"]["leaf_box"]["candidates"]
    # It always says the first name, and p0 and p2 have a list.
    assert found["answers"] == {"n": 8, "counts": [8, 0, 0, 0], "shares": [1.0, 0.0, 0.0, 0.0]}
    assert [each["value"] for each in found["accuracy"]] == [1.0, 0.0, 0.0, 0.0]
    assert "position" not in results.score(bench, files[:1], Options(resamples=10))
    out = bench.parent / "results"
    results.score(bench, files, Options(resamples=10), out)
    page = results.report(out).read_text()
    assert "Does the order of the names matter?" in page


def test_saved_replies_are_read_as_those_of_their_protocol(bench: Path) -> None:
    words = dict.fromkeys(IDS, "[]")
    at = table(bench.parent / "table.jsonl", words)
    for protocol in ("open_set", "open_set+shuffle", "candidates+rotate2"):
        out = bench.parent / f"{protocol}.jsonl"
        done = predict(job(bench, protocol, model="scripted", options={"table": str(at)}), out)
        rows = results.read(out, bench)
        assert [each["outcome"] for each in rows] == ["empty"] * done.items
        assert {each["protocol"] for each in rows} == {protocol}
