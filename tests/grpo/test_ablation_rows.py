"""Rows of an ablation that come after others: rewards, and the control of as many more steps."""

import shutil
from pathlib import Path

import msgspec
import pytest
from tests.builders import four
from tests.stages import tuned

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.models.transformers.loading import ADAPTER_CONFIG
from fieldtruth.run import ablation
from fieldtruth.run.ablation import doing, kept
from fieldtruth.run.ablation.doing import _Found, shown
from fieldtruth.run.progress import SILENT
from fieldtruth.stages.grpo import Grpo

RECIPE = """
name = "after"
base = "base"
work = "work"
out = "kept"
[benchmarks.hand]
path = "bench"
protocols = ["known_target"]
[sft]
rank = 0
batch = 2
accumulate = 1
steps = 2
device = "cpu"
[grpo]
prompts = 2
replies = 2
batch = 4
steps = 2
save_every = 2
budget = 4
rank = 2
device = "cpu"
mix = { dense = 0.0, healthy = 0.3 }
[ask]
max_new_tokens = 4
[rows.taught]
train = ["train/training"]
[rows.more]
after = "taught"
train = ["train/training"]
versus = ["taught"]
sft = { steps = 3 }
[rows.paid]
after = "taught"
train = ["train/training"]
versus = ["taught", "more"]
grpo = { reward = "published" }
[rows.paid-last]
after = "paid"
which = "last"
versus = ["paid"]
"""


def laid(folder: Path, text: str = RECIPE) -> Path:
    path = folder / "recipe.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('after = "paid"', 'after = "pay"', "paid-last.after: expected a row that is trained"),
        ('after = "paid"', 'after = "paid-last"', "paid-last.after: expected a row"),
        ('after = "paid"\n', "", "paid-last.which: expected `after` beside it"),
        ('after = "paid"', 'after = "paid"\nbase = "b"', "paid-last.after: .* no base beside it"),
        ('"published"', '"published", rate = "high"', r"rows.paid.grpo: .*rate"),
        ('"published"', '"published", raet = 1.0', r"rows.paid.grpo: .*raet"),
        ('"published"', '"published", seed = 3', "rows.paid.grpo.seed: expected it of the rows"),
        ("[grpo]", "[grpo]\nout = 'o'", "grpo.out: expected it of the rows"),
        ('which = "last"', "grpo = {}", "paid-last.train: expected examples, for it says how"),
        ('which = "last"', "sft = { rank = 2 }", "paid-last.train: expected examples"),
        (
            '[rows.taught]\ntrain = ["train/training"]',
            '[rows.taught]\ntrain = ["train/training"]\nseeds = [1, 2]',
            r"rows.more.seeds: expected seeds of taught, \(1, 2\)",
        ),
        (
            'grpo = { reward = "published" }',
            "grpo = {}\nsft = { rate = 1.0 }",
            "rows.paid.sft: expected it of a row without a table grpo",
        ),
    ],
)
def test_a_slip_in_a_row_that_comes_after_another_is_named(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert RECIPE.count(old) == 1
    with pytest.raises(Usage, match=told):
        ablation.read(laid(tmp_path, RECIPE.replace(old, new)))


def test_a_row_is_told_what_stands_over_what_all_share(tmp_path: Path) -> None:
    opened = ablation.read(laid(tmp_path))
    paid = opened.ablation.rows["paid"]
    told = opened.learning(paid, 0, Path("out"), "weights")
    assert isinstance(told, Grpo)
    assert (told.reward, told.prompts, told.base, told.mix.healthy) == (
        "published", 2, "weights", 0.3,
    )  # fmt: skip
    parent = opened.parent(paid, 5)
    assert parent is not None
    assert (parent[0], parent[2]) == ("taught", 0)


def test_rewards_of_this_project_are_held_against_as_many_more_steps() -> None:
    """The control that the paper lacks takes as many steps of the optimizer as the rewards do."""
    opened = ablation.read(Path(__file__).parents[2] / "recipes" / "tiny-vlm.toml")
    rows = opened.ablation.rows
    more = opened.tuning(rows["sft-more"], 0, Path())
    paid = {name: row for name, row in rows.items() if row.grpo is not None}
    assert {"rl-published", "rl-grounded", "rl-recognition", "rl-uniform"} <= set(paid)
    for row in paid.values():
        told = opened.learning(row, 0, Path())
        assert (told.steps, row.after) == (more.steps, rows["sft-more"].after)


def test_weights_that_another_process_merges_are_waited_for(tmp_path: Path) -> None:
    """Both would write them, and the later one would find them there."""
    tuned.base(tmp_path)
    tuned.examples(tmp_path / "train", 16)
    four(tmp_path / "bench")
    text = RECIPE.replace('[rows.more]\nafter = "taught"', '[rows.more]\nafter = "paid"')
    opened = ablation.read(laid(tmp_path, text))
    found, paid = _Found(opened), opened.ablation.rows["paid"]
    weights = found.place("paid-weights", 0, found.lineage(paid, 0))
    taught = found.place("taught-weights", 0, found.lineage(opened.ablation.rows["taught"], 0))
    for path in (taught / "train.json", weights / "train.json", weights / "best" / ADAPTER_CONFIG):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    one = ("more", opened.ablation.rows["more"], 0)
    with store.lock(weights):
        assert doing._one(found, one, SILENT, lambda _: None, left=False) == "busy"
    assert not (weights / "best-merged").exists()


@pytest.mark.parametrize(
    ("steps", "seen"),
    [(1, 6), (2, 10), (3, 16), (4, 20), (7, 36)],
)
def test_the_last_step_of_a_pass_has_the_examples_that_are_left(steps: int, seen: int) -> None:
    """Ten examples, two batches of three a step: six of them, then four."""
    assert shown(10, steps, 3, 2) == seen


def seconds_of_another(opened: ablation.Opened, first: kept.Scores) -> None:
    """Seconds of a training that another process ended are not known to the one that scores."""
    before = first.learnt
    assert before is not None
    assert before.cpu_seconds is not None
    folder = kept.place(opened.out, "more", 0)
    shutil.rmtree(folder)
    assert [each.did for each in ablation.do(opened)] == ["kept", "done", "kept", "kept"]
    again = kept.scores(folder)
    assert again is not None
    assert again.learnt == msgspec.structs.replace(before, cpu_seconds=None)


def told(opened: ablation.Opened, out: Path) -> None:
    """The table and the page say how each row was made."""
    ablation.summarise(opened)
    assert "| more |  | 1 | 16 | 3 | - |" in (out / "table.md").read_text()
    page = (out / "report.html").read_text()
    assert page.count("then, on its best weights; examples ") == 3  # of more, paid, paid-last
    assert page.count("then, on its last weights") == 1
    assert "mix.dense 0.0; mix.dense_boxes 5" in page
    assert "reward published" in page


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_rows_begin_with_the_weights_of_others(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    tuned.base(tmp_path)
    tuned.examples(tmp_path / "train", 16)
    four(tmp_path / "bench")
    opened, notes = ablation.read(laid(tmp_path)), list[str]()
    done = ablation.do(opened, tell=notes.append)
    assert [(each.row, each.did) for each in done] == [
        ("taught", "done"), ("more", "done"), ("paid", "done"), ("paid-last", "done"),
    ]  # fmt: skip
    made = {name: kept.scores(tmp_path / f"kept/{name}-seed0") for name in opened.ablation.rows}
    learnt = {name: each.learnt for name, each in made.items() if each is not None}
    more, paid = learnt["more"], learnt["paid"]
    assert more is not None
    assert paid is not None
    assert learnt["paid-last"] is None
    assert (more.steps, more.seen, more.reward_first) == (3, 6, None)
    assert (paid.steps, paid.seen, paid.replies) == (2, 4, 8)
    assert paid.reward_first is not None
    assert len({each.key for each in made.values() if each is not None}) == 4
    # What is kept is not trained again; weights that are not at hand are.
    assert {each.did for each in ablation.do(opened)} == {"kept"}
    found = _Found(opened)
    taught = opened.ablation.rows["taught"]
    weights = found.place("taught-weights", 0, found.lineage(taught, 0))
    before = (weights / "best" / "model.safetensors").read_bytes()
    shutil.rmtree(tmp_path / "work")
    shutil.rmtree(tmp_path / "kept" / "more-seed0")
    notes.clear()
    done = ablation.do(opened, tell=notes.append)
    assert [each.did for each in done] == ["kept", "done", "kept", "kept"]
    assert any("taught, seed 0: its weights are not at hand" in each for each in notes)
    assert (weights / "best" / "model.safetensors").read_bytes() == before
    again, first = kept.scores(tmp_path / "kept/more-seed0"), made["more"]
    assert again is not None
    assert first is not None
    assert (again.key, again.benchmarks) == (first.key, first.benchmarks)
    seconds_of_another(opened, first)
    told(opened, tmp_path / "kept")
