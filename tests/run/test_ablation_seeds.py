"""Several seeds of a row: means, sample deviations and paired differences, beside numpy's own."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.builders import HIT, frozen, healthy_row, plain, row, table
from tests.run.test_ablation import did
from tests.run.test_ablation import laid as laid_four

from fieldtruth.faults import BadRecord
from fieldtruth.run import ablation
from fieldtruth.run.ablation import kept
from fieldtruth.run.ablation import table as tables
from fieldtruth.run.ablation.markdown import markdown
from fieldtruth.run.ablation.seeds import Change, Difference, changes
from fieldtruth.run.ablation.settings import Opened

ROW = """
[rows.{name}]
model = "scripted"
ask = {{ space = "pixel" }}
files = {{ table = "{name}.jsonl" }}
seeds = {seeds}
versus = {versus}
"""
HEAD = """
name = "small"
work = "work"
out = "kept"
[benchmarks.hand]
path = "bench"
protocols = ["candidates"]
"""
ILL = [f"p{number:02}" for number in range(30)]
WELL = [f"h{number:02}" for number in range(10)]
SEEDS = (0, 1, 2)
Right = dict[str, float]  # photo -> whether it was answered rightly


def answers(name: str, seed: int) -> dict[str, str]:
    """By a list: `one` names all, `a` some and with seed 1 none, `b` more of them."""
    share = {"one": 1.0, "a": 0.0 if seed == 1 else 0.4, "b": 0.8}[name]
    drawn = np.random.default_rng([seed, ord(name[0])]).random(len(ILL) + len(WELL))
    said = {each: HIT if hit < share else "[]" for each, hit in zip(ILL, drawn, strict=False)}
    return said | dict.fromkeys(WELL, "[]")


def recipe(folder: Path, seeds: Mapping[str, tuple[int, ...]]) -> Path:
    versus: dict[str, list[str]] = {"one": [], "a": ["one"], "b": ["a", "one"]}
    rows = [
        ROW.format(name=name, seeds=list(some), versus=versus[name]) for name, some in seeds.items()
    ]
    path = folder / f"{'-'.join(map(str, seeds['b']))}.toml"
    path.write_text(HEAD + "".join(rows))
    return path


def laid(folder: Path) -> Opened:
    """Three rows, two of them with three seeds; every photo is a group of its own."""
    for shade, name in enumerate((*ILL, *WELL)):
        plain(folder / "photos" / f"{name}.png", shade)
    ill = [row(name, image=f"{name}.png") for name in ILL]
    frozen(folder / "bench", ill + [healthy_row(name, image=f"{name}.png") for name in WELL])
    for seed in SEEDS:
        for name in ("one", "a", "b"):
            table(folder / f"{name}.jsonl", answers(name, 0 if name == "one" else seed))
        done = ablation.do(ablation.read(recipe(folder, {"one": (0,), "a": (seed,), "b": (seed,)})))
        assert [each.did for each in done] == ["kept" if seed else "done", "done", "done"]
    return ablation.read(recipe(folder, {"one": (0,), "a": SEEDS, "b": SEEDS}))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    return laid(tmp_path_factory.mktemp("seeds"))


@pytest.fixture
def partial(whole: Opened, tmp_path: Path) -> Opened:
    """The same, with a run less: `a` was not done with seed 2."""
    shutil.copytree(whole.folder, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy/kept/a-seed2")
    return ablation.read(tmp_path / "copy/0-1-2.toml")


def recognised(name: str, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    said = answers(name, 0 if name == "one" else seed)
    return np.array([float(said[each] == HIT) for each in ILL])


def changed(made: tables.Table, row: str, versus: str, metric: str = "recognition") -> Change:
    planned = {name: len(some) for name, some in made.planned.items()}
    found = list(changes(made.differences, planned))
    assert [each for each in found if planned[each.row] > 1] == list(made.changes)
    return next(e for e in found if (e.row, e.versus, e.metric) == (row, versus, metric))


def texts(opened: Opened) -> tuple[str, str]:
    ablation.summarise(opened)
    return (opened.out / "table.md").read_text(), (opened.out / "report.html").read_text()


def test_values_and_differences_over_seeds_are_those_of_numpy(whole: Opened) -> None:
    made = ablation.summarise(whole)
    cells = made.values["hand"]["candidates"]["recognition"]
    for name in ("a", "b"):
        alone = [recognised(name, seed).mean() for seed in SEEDS]
        assert cells[name].mean == pytest.approx(np.mean(alone))
        assert cells[name].deviation == pytest.approx(np.std(alone, ddof=1))
        assert (cells[name].seeds, cells[name].planned, cells[name].low) == (3, 3, None)
    for versus, beside in (("a", SEEDS), ("one", (0, 0, 0))):
        found = changed(made, "b", versus)
        alone = [(recognised("b", s) - recognised(versus, s)).mean() for s in SEEDS]
        assert found.over.mean == pytest.approx(np.mean(alone))
        assert found.over.deviation == pytest.approx(np.std(alone, ddof=1))
        assert (found.seeds, found.beside, found.over.count) == (SEEDS, beside, "3 seeds")
        assert found.beside_one is (versus == "one")
        single = [d for d in made.differences if (d.row, d.versus) == ("b", versus)]
        single = [d for d in single if d.metric == "recognition"]
        assert [(d.seed, d.versus_seed) for d in single] == list(zip(SEEDS, beside, strict=True))
        assert [d.value for d in single] == pytest.approx(alone)
    assert made.left == []


def test_every_seed_and_their_mean_stand_in_the_table_and_on_the_page(whole: Opened) -> None:
    table, page = texts(whole)
    alone = [(recognised("b", s) - recognised("a", s)).mean() for s in SEEDS]
    mean = f"{np.mean(alone):+.3f} ± {np.std(alone, ddof=1):.3f}"
    assert f"| b | a | 2 | {alone[2]:+.3f} [" in table
    assert f"| b | a | mean of 3 seeds | **{mean}**" in table
    assert "| b | one | 2 (beside 0) | " in table
    assert "| b | one | mean of 3 seeds, beside one run | " in table
    assert f"<small>seed 2: {alone[2]:+.3f} [" in page
    assert "b − a</bdi></th>" in page
    assert "b − one</bdi><small><bdi>every seed beside the one run of one</bdi></small>" in page
    assert "Not done yet" not in table + page


def test_a_row_of_one_seed_says_which_of_several_it_stands_beside(
    whole: Opened, tmp_path: Path
) -> None:
    """So that nobody takes its difference for one from the other row's mean."""
    shutil.copytree(whole.folder, tmp_path / "copy")
    text = (tmp_path / "copy/0-1-2.toml").read_text()
    at = text.index("[rows.b]")
    path = tmp_path / "copy/one-b.toml"
    path.write_text(text[:at] + text[at:].replace("seeds = [0, 1, 2]", "seeds = [1]"))
    opened = ablation.read(path)
    table, page = texts(opened)
    assert "b − a</bdi></th>" not in page
    assert "b − a</bdi><small><bdi>beside seed 1 of a alone</bdi></small>" in page
    assert "| b | a | 1 | " in table
    assert "| b | one | 1 (beside 0) | " in table
    assert "b − one</bdi></th>" in page
    assert changed(ablation.summarise(opened), "b", "a").over.count == ""


def test_a_seed_without_a_value_leaves_none_for_all(whole: Opened) -> None:
    """With seed 1 `a` names nothing: the share of first names among none is no number."""
    made = ablation.summarise(whole)
    cells = made.values["hand"]["candidates"]["first_option_share"]
    assert cells["a"].mean is None
    assert (cells["a"].seeds, cells["b"].seeds) == (3, 3)
    assert cells["b"].mean is not None
    missing = changed(made, "b", "a", "first_option_share")
    assert (missing.over.mean, missing.over.deviation, missing.told) == (None, None, False)
    assert missing.seeds == SEEDS


def test_seeds_that_are_not_done_are_told_everywhere(partial: Opened) -> None:
    made = ablation.summarise(partial)
    assert made.rows["a"] == (0, 1)
    assert made.planned["a"] == SEEDS
    assert made.left == ["a, seed 2"]
    cells = made.values["hand"]["candidates"]["recognition"]
    assert (cells["a"].count, cells["b"].count) == ("2 of 3 seeds", "3 seeds")
    beside = changed(made, "b", "a")  # b has three, but one of them nothing beside it
    assert (beside.seeds, beside.over.count) == ((0, 1), "2 of 3 seeds")
    assert changed(made, "b", "one").over.count == "3 seeds"
    table, page = texts(partial)
    assert "Not done yet: a, seed 2." in table
    assert "| a |  | 2 of 3 | - | - | - |" in table
    assert "| a (2 of 3 seeds) | 0." in table
    assert "| b | a | mean of 2 of 3 seeds | " in table
    assert "Not done yet: a, seed 2." in page
    assert page.count("<small>2 of 3 seeds</small>") > 4
    told = ablation.line(made, partial.out)
    assert told.startswith("6 of 7 runs of 3 rows in the table: ")


def test_one_seed_of_several_keeps_its_interval_and_says_so(partial: Opened) -> None:
    shutil.rmtree(partial.out / "a-seed1")
    made = ablation.summarise(partial)
    cell = made.values["hand"]["candidates"]["recognition"]["a"]
    assert (cell.count, cell.deviation) == ("1 of 3 seeds", None)
    assert cell.low is not None
    table, page = texts(partial)
    assert "| a (1 of 3 seeds) | 0." in table
    assert "<small>1 of 3 seeds</small>" in page
    assert "<bdi>a, seed 0</bdi>" in page  # a run of several, though it is the only one so far


def test_one_group_has_no_interval_and_tells_no_difference(tmp_path: Path) -> None:
    """Both healthy photos are one: drawn again and again they give -0.5 and nothing else."""
    path = laid_four(tmp_path)
    did(path)
    opened = ablation.read(path)
    made = ablation.summarise(opened)
    found = changed(made, "half", "right", "abstention")
    assert (found.over.mean, found.over.low, found.over.high) == (-0.5, -0.5, -0.5)
    assert (found.over.groups, found.told) == (1, False)
    cell = made.values["hand"]["known_target"]["abstention"]["half"]
    assert (cell.mean, cell.groups) == (0.5, 1)
    table, page = texts(opened)
    assert "-0.500 (one group)" in table
    assert "0.500 (one group)" in table
    assert "[-0.500, -0.500]" not in table
    assert '<td class="zero">−0.500<small>one group</small></td>' in page
    assert "<b>−0.500</b>" not in page
    assert "[0.500, 0.500]" not in page


def test_few_groups_are_told_beside_the_interval(whole: Opened) -> None:
    """And a difference over seeds stands on as few as that of its seed with fewest."""
    one = Difference(
        benchmark="hand", protocol="candidates", metric="f1", row="b", versus="a", seed=0,
        versus_seed=0, value=0.2, low=0.1, high=0.3, n=9, groups=4,
    )  # fmt: skip
    other = msgspec.structs.replace(one, seed=1, versus_seed=1, value=0.4, groups=None)
    over = next(changes([one, other], {"b": 3}))
    assert (over.over.groups, over.told, over.over.count) == (4, True, "2 of 3 seeds")
    for low, told in ((-0.1, False), (0.0, False), (0.05, True)):
        turned = msgspec.structs.replace(other, low=low)
        assert next(changes([one, turned], {"b": 2})).told is told
    below = msgspec.structs.replace(other, value=-0.4, low=-0.5, high=-0.3)
    assert not next(changes([one, below], {"b": 2})).told


def test_values_of_other_photos_share_no_column(tmp_path: Path) -> None:
    """Drawn anew under its old name, and so far one row alone was asked about it."""
    path = laid_four(tmp_path)
    did(path)
    before = ablation.summarise(ablation.read(path))
    assert before.elsewhere == ()
    shutil.rmtree(tmp_path / "bench")
    frozen(tmp_path / "bench", [row("p0"), healthy_row("h0"), healthy_row("h1")])
    assert did(path, 1) == [("right", "done"), ("half", "left")]
    opened = ablation.read(path)
    made = ablation.summarise(opened)
    assert [(each.row, each.seed, each.benchmark) for each in made.elsewhere] == [
        ("half", 0, "hand")
    ]
    assert made.elsewhere[0].kept == kept.digest(opened.out, "hand") != made.elsewhere[0].asked
    cells = made.values["hand"]["known_target"]["abstention"]
    assert cells["right"].mean == 1
    assert (cells["half"].mean, cells["half"].seeds) == (None, 0)
    told = "Asked about another version of hand than is kept here, so not in its tables until"
    table, page = texts(opened)
    assert f"**{told} they are asked again: half, seed 0.**" in table
    assert "## hand (3 photos)" in table
    assert f'<p class="note">{told} they are asked again: half, seed 0.</p>' in page
    assert "<dt><bdi>Items of hand that half, seed 0, was asked</bdi></dt>" in page
    did(path)
    assert ablation.summarise(opened).elsewhere == ()


def test_items_that_are_gone_are_an_error_and_no_empty_table(tmp_path: Path) -> None:
    path = laid_four(tmp_path)
    did(path)
    (tmp_path / "kept/benchmarks/hand.jsonl.gz").unlink()
    with pytest.raises(BadRecord, match="expected the items of hand, which right was asked"):
        ablation.summarise(ablation.read(path))


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ({"sft": {"seed": 1, "steps": 7}, "after": {"sft": {"seed": 1}}}, ()),
        ({"sft": {"seed": 1, "steps": 8}, "after": {"sft": {"seed": 1}}}, ("sft.steps",)),
        ({"sft": {"seed": 1, "steps": 7}, "after": {"sft": {"seed": 1, "rate": 1}}},
         ("after.sft.rate",)),
        ({"sft": {"seed": 1}, "after": {"sft": {}}, "benchmarks": {"hand": 1}}, ("sft.steps",)),
    ],
)  # fmt: skip
def test_runs_that_differ_in_more_than_their_seed_are_named(
    told: dict[str, object], names: tuple[str, ...]
) -> None:
    first = {"sft": {"seed": 0, "steps": 7}, "after": {"sft": {"seed": 0}}}
    assert tables._unlike([first, told]) == names
    assert tables._unlike([first]) == ()


def test_the_table_and_the_page_name_them(whole: Opened) -> None:
    """Here every seed has a table of replies of its own."""
    assert ablation.summarise(whole).unlike == {"a": ("files.table",), "b": ("files.table",)}
    table, page = texts(whole)
    told = "The runs of a differ in more than their seed (files.table): what is told over them"
    assert f"**{told} is no spread of seeds.**" in table
    assert f'<p class="note">{told} is no spread of seeds.</p>' in page


def test_the_training_of_all_seeds_is_told_not_of_the_first(whole: Opened) -> None:
    here = tables.held(whole)
    done = dict(here.done)
    for seed, seconds in ((0, 249), (1, 1006), (2, None)):
        learnt = kept.Learnt(
            examples=1200, steps=30, weights=9, loss_first=2.0, loss_last=0.5, cpu_seconds=seconds
        )
        done["a", seed] = msgspec.structs.replace(done["a", seed], learnt=learnt)
    here = replace(here, done=done)
    lines = "\n".join(markdown(whole, tables.tabulate(whole, here), done))
    assert "| a |  | 3 | 1200 | 30 | 249 to 1006 |" in lines
    assert "| b |  | 3 | - | - | - |" in lines
