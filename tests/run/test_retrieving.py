"""Facts before a question: which, in what words, filed under which name, and what is refused."""

import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.builders import plain, question

from fieldtruth import retrieval, store
from fieldtruth.faults import Refused, Usage
from fieldtruth.models.contract import Request, Words
from fieldtruth.records import Fact, Prediction, Space
from fieldtruth.run import asking, knowing, retrieving
from fieldtruth.run.asks import How, asks
from fieldtruth.stages.freeze import Settings as Freezing
from fieldtruth.stages.freeze import freeze
from fieldtruth.stages.knowledge import Settings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec(retrieval.PACKAGE) is None, reason="the extra `retrieve` is not installed"
    ),
]
STATED = (
    "Squash bugs suck the sap of the leaves",
    "Dark rings on lower leaves are early blight",
    "Powdery mildew is a white coating",
    "Iron chlorosis turns young leaves yellow between green veins",
)


class Listener:
    """A model that keeps what it was asked."""

    space: Space = "pixel"
    version = "1"

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        for each in requests:
            self.asked.append(each)
            yield Words(text="A")


def benchmark(folder: Path, **changes: Any) -> Path:
    plain(folder.parent / "photos/a.png", 1)
    rows = [
        question("q1", question="What makes the dark rings on this tomato?"),
        question("q2", question="What is the white powder on the cucumber?", **changes),
    ]
    lines = folder.with_name("rows.jsonl")
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    freeze(lines, folder.parent / "photos", folder, Freezing(name="q", version="1", split="test"))
    return folder


def base(folder: Path, bench: Path | None) -> Path:
    some = [
        Fact(
            id=f"d:{n}", dialogue=f"d:{n}", category="disease", statement=said, turn=1, words=said,
            knowledge="symptom/visual description", species="tomato", group=f"g{n}", source="d",
            licence="CC0", extractor="hand",
        )
        for n, said in enumerate(STATED)
    ]  # fmt: skip
    store.write(folder.with_name("facts.jsonl"), some)
    job = knowing.Job(facts=folder.with_name("facts.jsonl"), benchmarks=(bench,) if bench else ())
    knowing.build(job, Settings(), folder)
    return folder


def test_the_nearest_facts_stand_before_the_question(tmp_path: Path) -> None:
    bench = benchmark(tmp_path / "bench")
    lookup = retrieving.Lookup(knowledge=base(tmp_path / "kb", bench), k=2)
    opened, model = store.open_bench(bench), Listener()
    about = asks(opened, "choice", model, 0, How())
    ask = retrieving.with_facts(about, opened, lookup)
    with about.ready(about.ids, tmp_path / "out.jsonl") as ready:
        bare = ready.requests
    with ask.ready(ask.ids, tmp_path / "out.jsonl") as ready:
        first, second = ready.requests
    assert first.prompt.endswith(f"\n\n{bare[0].prompt}")
    assert first.prompt.splitlines()[1] == f"- tomato: {STATED[1]}"
    assert second.prompt.splitlines()[1] == f"- tomato: {STATED[2]}"
    assert first.prompt.count("\n- tomato: ") == 2
    shown = list(store.read(tmp_path / "out.retrieved.jsonl", retrieving.Found))
    assert [(each.item, each.facts[0]) for each in shown] == [("q1", "d:1"), ("q2", "d:2")]
    assert all(
        a >= b for each in shown for a, b in zip(each.cosines, each.cosines[1:], strict=False)
    )
    kept = list((tmp_path / "kb").glob("vectors-*.npy"))
    assert len(kept) == 1
    before = kept[0].read_bytes()
    again = retrieving.with_facts(about, opened, lookup)
    assert (again.seal, kept[0].read_bytes()) == (ask.seal, before)
    kept[0].write_bytes(before[:40])  # as after a crash of the disk: made anew
    retrieving.with_facts(about, opened, lookup)
    assert kept[0].read_bytes() == before


def test_it_is_an_arm_of_its_own(tmp_path: Path) -> None:
    bench = benchmark(tmp_path / "bench")
    table = tmp_path / "table.jsonl"
    table.write_text('{"id": "q1", "text": "A"}\n{"id": "q2", "text": "B"}\n')
    job = asking.Job(
        benchmark=bench, model="scripted", options={"table": str(table)}, protocol="choice",
        lookup=asking.lookup(1, base(tmp_path / "kb", bench), None),
    )  # fmt: skip
    asking.predict(job, tmp_path / "out.jsonl")
    names = {reply.model for reply in store.read(tmp_path / "out.jsonl", Prediction)}
    assert names == {"scripted@retrieve1"}
    named = msgspec.structs.replace(job, name="m@retrieve1")  # as the replies are to be filed
    asking.predict(named, tmp_path / "named.jsonl")
    names = {reply.model for reply in store.read(tmp_path / "named.jsonl", Prediction)}
    assert names == {"m@retrieve1"}
    assert "retrieved" in json.loads((tmp_path / "out.manifest.json").read_text())


def test_a_base_that_may_hold_the_answers_is_refused(tmp_path: Path) -> None:
    bench = benchmark(tmp_path / "bench")
    opened = store.open_bench(bench)
    about = asks(opened, "choice", Listener(), 0, How())
    unaware = retrieving.Lookup(knowledge=base(tmp_path / "kb", None), k=1)
    with pytest.raises(Refused, match=r"make it again with --not"):
        retrieving.with_facts(about, opened, unaware)
    fit = base(tmp_path / "fit", bench)
    with (fit / "facts.jsonl").open("a") as file:
        file.write(
            (fit / "facts.jsonl").read_text().splitlines()[0].replace('"d:0"', '"d:9"') + "\n"
        )
    with pytest.raises(Refused, match="as it was made"):
        retrieving.with_facts(about, opened, retrieving.Lookup(knowledge=fit, k=1))


def test_what_cannot_be_looked_up(tmp_path: Path) -> None:
    bench = benchmark(tmp_path / "bench")
    opened = store.open_bench(bench)
    about = asks(opened, "choice", Listener(), 0, How())
    with pytest.raises(Usage, match="expected a knowledge base"):
        retrieving.with_facts(about, opened, retrieving.Lookup(knowledge=tmp_path, k=1))
    with pytest.raises(Usage, match="only one of the two"):
        asking.lookup(3, None, None)
    assert asking.lookup(None, None, None) is None
