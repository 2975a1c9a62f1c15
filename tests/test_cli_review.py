"""`adjudicate` and the group `review`, from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.builders import class_folders, four
from tests.labelstudio import people
from tests.test_cli import asked, out_of

from fieldtruth import store
from fieldtruth.records import Place
from fieldtruth.run import splitting, workspace
from fieldtruth.stages.review.sampling import Sampled
from fieldtruth.stages.review.verdicts import Verdict
from fieldtruth.stages.split import Settings

KEPT = Path(__file__).parent / "formats" / "label_studio"


def answers(path: Path, said: dict[str, str | None]) -> Path:
    rows = [{"id": name, "answer": answer} for name, answer in said.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_adjudicate_prints_the_contract(tmp_path: Path) -> None:
    a = answers(tmp_path / "a", {"1": "A", "2": "B", "3": "C", "4": None})
    b = answers(tmp_path / "b", {"4": "A", "3": "D", "2": "C", "1": "A"})
    key = answers(tmp_path / "key", {"1": "A", "2": "B", "3": "A", "4": "A"})
    out = tmp_path / "gold"
    made = out_of(0, "adjudicate", a, b, "--generated", key, "--out", out)
    assert [made[name] for name in ("candidates", "flagged", "valid", "agreed")] == [4, 1, 3, 1]
    assert made["agreement"] == pytest.approx(1 / 3)
    assert made["gold"] == [{"id": "1", "answer": "A"}, {"id": "2", "answer": "B"}]
    assert {each["id"]: each["reason"] for each in made["dropped"]} == {
        "3": "three_way", "4": "flagged",
    }  # fmt: skip
    assert set(made["kappa"]) >= {"value", "low", "high", "n"}
    assert made["kappa"]["n"] == 3
    lines = (out / "gold.jsonl").read_text().splitlines()
    assert [json.loads(each) for each in lines] == made["gold"]
    told = asked(0, "adjudicate", a, b, "--generated", key).stdout
    assert told.startswith("4 candidates, 1 flagged, 3 valid; 1 agreed (33.3%), kappa ")


def test_an_expert_who_is_not_done_is_refused(tmp_path: Path) -> None:
    a = answers(tmp_path / "a", {"1": "A", "2": "B"})
    b = answers(tmp_path / "b", {"1": "A"})
    result = asked(4, "adjudicate", a, b, "--generated", a)
    assert "expected a line for every id" in result.output


def test_out_and_back(tmp_path: Path) -> None:
    rows = people.items(tmp_path)
    words = ("--images", tmp_path / "photos", "--out", tmp_path / "sent", "--seed", people.SEED)
    sent = out_of(0, "review", "export", rows, *words, "--overlap", 2)
    assert (sent["items"], sent["tasks"], sent["blind"]) == (10, 10, 0)
    back = tmp_path / "back"
    made = out_of(
        0, "review", "import", KEPT / "full.json", "--sent", tmp_path / "sent", "--out", back
    )
    assert made["sent"] == made["items"] + sum(made["drops"].values()) == 10
    assert made["anchoring"]["overall"]["kept"] == 4
    names = {path.name for path in back.iterdir()}
    assert names == {"items.jsonl", "drops.jsonl", "log.jsonl", "anchoring.json", "review.json"}
    found = out_of(0, "review", "agreement", back)
    assert (found["photos"], found["shared"]) == (7, 2)
    # Two boxes and one of the same: 1 matched of a mean of 1.5.
    assert found["boxes"]["f1"]["value"] == pytest.approx(2 / 3)
    told = asked(0, "review", "agreement", back).stdout
    assert told.startswith("2 of 7 photos were seen by two or more of 2 people")
    freeze = ("--images", tmp_path / "photos", "--name", "people", "--version", "1")
    asked(0, "freeze", back / "items.jsonl", *freeze, "--out", tmp_path / "bench")


def test_a_frozen_benchmark_can_be_looked_at(tmp_path: Path) -> None:
    bench = four(tmp_path / "bench")
    told = asked(0, "review", "export", bench, "--out", tmp_path / "out", "--blind", 1).stdout
    assert told.startswith(
        "4 tasks with 2 photos (2 blind, their boxes held back; 2 that have no boxes to show)"
    )
    assert out_of(0, "verify", bench) == []


def test_tasks_that_nobody_annotated_are_no_review(tmp_path: Path) -> None:
    """Our own tasks.json, given back, or an export made before anyone began."""
    bench = four(tmp_path / "bench")
    asked(0, "review", "export", bench, "--out", tmp_path / "sent")
    words = ("--sent", tmp_path / "sent", "--out", tmp_path / "back")
    told = asked(1, "review", "import", tmp_path / "sent" / "tasks.json", *words).output
    assert "expected people's annotations, got tasks and none of them annotated" in told
    assert not (tmp_path / "back").exists()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "set"
    workspace.ingest("folder", class_folders(tmp_path / "photos"), folder)
    workspace.label(folder)
    workspace.annotate(folder, "leaf_box")
    splitting.split([folder], Settings(shares={"train": 1.0}))
    return folder


def test_an_audit(source: Path, tmp_path: Path) -> None:
    """Only photos of the split are drawn, though half of them are in another."""
    places = list(store.read(source / "splits.jsonl", Place))
    told = [
        {"id": each.id, "image_sha256": each.image_sha256, "group": each.group,
         "split": "test" if at % 2 else "train"}
        for at, each in enumerate(places)
    ]  # fmt: skip
    (source / "splits.jsonl").write_text("".join(json.dumps(each) + "\n" for each in told))
    out = tmp_path / "audit"
    made = out_of(0, "review", "sample", source, "--out", out)
    rows = list(store.read(out / "sample.jsonl", Sampled))
    assert made["tasks"] == len(rows) > 0
    train = {each["id"] for each in told if each["split"] == "train"}
    assert {each.image for each in rows} <= train
    assert made["photos"] == sum("healthy" not in name for name in train)
    said = [Verdict(id=each.id, verdict="correct", who="me") for each in rows]
    store.write(tmp_path / "said.jsonl", said)
    found = out_of(0, "review", "verdicts", tmp_path / "said.jsonl", "--sent", out)
    assert found["rates"]["correct"]["value"] == 1.0
    assert (found["judged"], found["not_judged"]) == (len(rows), 0)


@pytest.mark.parametrize(
    ("gone", "says"), [("splits.jsonl", "run `split` first"), ("annotations.jsonl", "`annotate`")]
)
def test_an_audit_without_a_split_is_none(
    gone: str, says: str, source: Path, tmp_path: Path
) -> None:
    (source / gone).unlink()
    assert says in asked(2, "review", "sample", source, "--out", tmp_path / "out").output


@pytest.mark.parametrize(
    "words",
    [
        ("export", "{}/items.jsonl", "--out", "{}/o"),
        ("export", "{}/none.jsonl", "--images", "{}", "--out", "{}/o"),
        ("export", "{}/items.jsonl", "--images", "{}", "--out", "{}/o", "--blind", "2"),
        ("import", "{}/none.json", "--sent", "{}", "--out", "{}/o"),
        ("agreement", "{}"),
        ("sample", "{}", "--out", "{}/o"),
        ("sample", "{}", "--out", "{}/o", "--split", "all"),
        ("verdicts", "{}/v.jsonl", "--sent", "{}"),
    ],
)
def test_what_cannot_be_is_told(words: tuple[str, ...], tmp_path: Path) -> None:
    people.items(tmp_path)
    told: Any = asked(2, "review", *(word.format(tmp_path) for word in words))
    assert "expected" in told.output
    assert not (tmp_path / "o").exists()
