"""The page of an ablation: every row, benchmark and control, over seeds and in pairs."""

import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.builders import HIT, NAMES, frozen, healthy_row, plain, row, table
from tests.run.test_ablation import files
from tests.stages.test_report import Page

from fieldtruth.run import ablation
from fieldtruth.run.ablation import kept, view
from fieldtruth.run.ablation import table as tables
from fieldtruth.run.ablation.settings import Opened

HOSTILE = "<img src=x onerror=alert(1)>{{7*7}}"
ORDERS = '"candidates", "candidates+rotate1", "candidates+rotate2", "candidates+rotate3"'
RECIPE = f"""
name = "small"
work = "work"
out = "kept"
note = "{HOSTILE}"
[benchmarks.hand]
path = "bench"
protocols = ["known_target", {ORDERS}, "candidates+blank", "known_target+wrong_target"]
[benchmarks.other]
path = "other"
protocols = ["known_target"]
[rows.right]
model = "scripted"
ask = {{ space = "pixel" }}
files = {{ table = "right.jsonl" }}
[rows.half]
model = "scripted"
ask = {{ space = "pixel" }}
files = {{ table = "half.jsonl" }}
versus = ["right"]
seeds = [0, 4]
note = "{HOSTILE}"
[rows.later]
model = "scripted"
files = {{ table = "later.jsonl" }}
"""
POSITIVE = [f"p{number}" for number in range(24)]
HEALTHY = [f"h{number}" for number in range(4)]
RIGHT = dict.fromkeys(POSITIVE, HIT) | dict.fromkeys(HEALTHY, "[]")


def laid(folder: Path) -> Opened:
    """`right` is always right; `half` misses half with one seed and all with the other.

    Every photo is a group of its own.
    """
    for shade, name in enumerate((*POSITIVE, *HEALTHY), start=100):
        plain(folder / "photos" / f"{name}.png", shade)
    rows = [row(name, image=f"{name}.png", absent_query=NAMES[2]) for name in POSITIVE]
    rows += [healthy_row(name, image=f"{name}.png") for name in HEALTHY]
    for name in ("bench", "other"):
        frozen(folder / name, rows)
    table(folder / "right.jsonl", RIGHT)
    for seed, missed in ((0, POSITIVE[::2]), (4, POSITIVE)):
        table(folder / "half.jsonl", RIGHT | dict.fromkeys(missed, "[]"))
        path = folder / f"{seed}.toml"
        one = RECIPE.replace("seeds = [0, 4]", f"seeds = [{seed}]")
        path.write_text(one[: one.index("[rows.later]")])
        ablation.do(ablation.read(path))
    path = folder / "recipe.toml"
    path.write_text(RECIPE)
    opened = ablation.read(path)
    ablation.summarise(opened)
    return opened


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    return laid(tmp_path_factory.mktemp("ablation"))


@pytest.fixture(scope="module")
def page(opened: Opened) -> Page:
    return Page(opened.out / "report.html")


def cells(page: Page, heading: str) -> list[list[str]]:
    """The rows of the first table after a heading; a cell's parts are separated by blanks."""
    after = page.html[page.html.index(heading) :]
    body = after[: after.index("</table>")]
    text = [
        [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in re.split(r"</t[hd]>", line)]
        for line in body.split("<tr>")[1:]
    ]
    return [[cell for cell in line if cell] for line in text]


def test_it_is_whole_harmless_and_the_same_each_time(opened: Opened, page: Page) -> None:
    assert HOSTILE in page.text
    assert {tag for tag, _ in page.tags} & {"script", "img", "iframe", "link", "object"} == set()
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    policy = next(attrs for tag, attrs in page.tags if "http-equiv" in attrs)
    assert policy["content"].startswith("default-src 'none'")
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = {attrs["href"] for tag, attrs in page.tags if tag == "a"}
    assert links <= {f"#{each}" for each in ids}
    before = files(opened.out)
    ablation.summarise(opened)
    assert files(opened.out) == before


def test_every_benchmark_protocol_and_control_is_on_it(opened: Opened, page: Page) -> None:
    for bench, asked in opened.ablation.benchmarks.items():
        assert re.search(rf"<h2 [^>]*><bdi>{bench}</bdi>", page.html)
        for protocol in asked.protocols:
            assert re.search(rf"<(h3|summary) [^>]*><bdi>{re.escape(protocol)}</bdi>", page.html)
    assert "Not done yet: later, seed 0." in page.text


def test_values_are_means_and_sample_deviations_over_seeds(page: Page) -> None:
    found = cells(page, ">At a glance</h2>")
    head = found[0]
    assert head[:2] == ["Row", "F1 known target"]
    values = {line[0]: line[1] for line in found[2:4]}  # under the benchmark's own line
    # F1 of one seed is 12 hits of 12 boxes and 24 true ones: 24 / 36; of the other 0.
    assert values == {"right": "1.000 [1.000, 1.000]", "half": "0.333 ± 0.471 2 seeds"}


def test_differences_are_told_where_every_seed_tells_them(page: Page) -> None:
    found = cells(page, ">What each row changed</h3>")
    at = found[0].index("F1 known target")
    first = next(line for line in found if line[0].startswith("half − right"))
    assert first[0] == "half − right every seed beside the one run of right"
    assert first[at] == "−0.667 ± 0.471 2 seeds"
    abstention = found[0].index("Abstention known target")
    assert first[abstention].startswith("0.000 ± 0.000")
    body = page.html[page.html.index(">What each row changed</h3>") :]
    assert "<td><b>−0.667</b>" in body
    assert re.search(r'<td class="zero">0\.000<small>± 0\.000', body)


def test_the_order_of_the_names_is_probed_run_by_run(opened: Opened) -> None:
    here = tables.held(opened)
    made = view.context(opened, tables.tabulate(opened, here), here)
    probes = {each.model: each for each in made["blocks"][0].probes}
    assert set(probes) == {"right", "half, seed 0", "half, seed 4"}
    silent = probes["half, seed 4"]  # names nothing: there is nothing to measure
    assert {cell.value for cell in silent.answers} == {None}
    right = probes["right"]
    assert (right.orders, right.items) == (4, 24)
    assert [cell.value for cell in right.answers] == [0.25] * 4  # each name once at each place
    assert [cell.value for cell in right.accuracy] == [1.0] * 4
    assert right.same == (1.0, None, None, 24, None)
    assert made["blocks"][1].probes == ()


def test_what_is_kept_of_a_training_stands_in_the_rows(opened: Opened) -> None:
    here = tables.held(opened)
    done = dict(here.done)
    for seed, loss in ((0, 0.5), (4, 0.75)):
        learnt = kept.Learnt(
            examples=1200,
            steps=30,
            weights=9,
            loss_first=2.0,
            loss_last=loss,
            cpu_seconds=61,
            alarms=("all replies of one length",),
        )
        done["half", seed] = msgspec.structs.replace(done["half", seed], learnt=learnt)
    made = view.context(opened, tables.tabulate(opened, here), replace(here, done=done))
    told = dict(zip(made["learnt"], made["lines"][1].learnt, strict=True))
    assert made["lines"][1].name == "half"
    assert told["Examples"] == "1,200"
    assert told["CPU seconds"] == "61"
    assert told["Loss last"] == "0.500 to 0.750"
    assert set(made["lines"][0].learnt) == {"–"}
    assert made["lines"][1].alarms == ("all replies of one length",)  # once for both seeds
    for run, one in list(done.items()):
        if one.learnt is not None:
            paid = msgspec.structs.replace(one.learnt, reward_first=0.5, reward_last=0.75)
            done[run] = msgspec.structs.replace(one, learnt=paid)
    made = view.context(opened, tables.tabulate(opened, here), replace(here, done=done))
    assert "Loss last" not in made["learnt"]  # it says nothing of what was paid
    assert "Reward last" in made["learnt"]


def test_runs_stand_alone_where_there_are_several_seeds(opened: Opened) -> None:
    here = tables.held(opened)
    made = view.context(opened, tables.tabulate(opened, here), here)
    first = made["blocks"][0].sections[0]
    assert [name for name, _ in first.single] == ["right", "half, seed 0", "half, seed 4"]
    at = first.metrics.index("f1")
    assert [measured[at].value for _, measured in first.single] == [1.0, pytest.approx(2 / 3), 0.0]
    plot = next(each for each in first.pairs if each.metric == "f1")
    assert [mark.name for mark in plot.marks] == ["half, seed 0 − right", "half, seed 4 − right"]
    assert [mark.value for mark in plot.marks] == ["−0.333", "−1.000"]
