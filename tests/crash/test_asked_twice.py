"""Whatever kills it and however often: a model is asked twice only what was in flight."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.builders import HIT, frozen, row
from tests.crash.harness import KILLED, Case, Warm, restore, somewhere, tree, warm
from tests.crash.roads import Road, together
from tests.models.faulty import Answer, Ask, says, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ITEMS, KILLS = 12, 40


@pytest.fixture(scope="module")
def process() -> Iterator[Warm]:
    with warm() as made:
        yield made


def prepare(folder: Path) -> None:
    """Items that are each asked in words of their own."""
    names = [f"blight {number}" for number in range(ITEMS)]
    others = ["leaf mold", "leaf rust", "canker"]
    frozen(
        folder / "in" / "bench",
        [row(f"p{n:02}", label=name, candidates=[name, *others]) for n, name in enumerate(names)],
    )


def reply(ask: Ask) -> Answer:
    return Answer(says(f"{HIT} to {ask.prompt}").body, after=0.004)


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("cached", [False, True])
def test_only_calls_in_flight_are_made_again(workers: int, cached: object, process: Warm) -> None:
    rng = random.Random(f"asked {workers} {cached}")
    with serving(reply) as server, somewhere() as folder:
        words = (
            "predict in/bench --model openai --protocol candidates --out replies.jsonl "
            f"--concurrency {workers} --model-args model=m,backoff=0.01,base_url={server.url}"
        )
        words += " --cache cache" if cached else ""
        road = Road(words, prepare, (together("replies.jsonl", "replies.manifest.json"),))
        prepare(folder)
        end = process.run(words, folder)
        assert (end.code, len(server.asks)) == (0, ITEMS)
        made = Case(road, folder, {}, tree(folder), end)
        killed = 0
        while killed < KILLS:
            restore(folder, {})
            server.asks.clear()
            kills = 0
            for _ in range(rng.choice((1, 2, 4))):
                kills += process.run(words, folder, **made.plan(rng)).code in KILLED
                made.look()
            assert process.run(words, folder).code == 0
            assert tree(folder) == made.after
            times = Counter(ask.prompt for ask in server.asks)
            assert len(times) == ITEMS
            assert times.total() - ITEMS <= kills * workers, times
            killed += kills
            if cached:  # what was answered once is never asked again, for whatever output
                server.asks.clear()
                assert process.run(words.replace("replies", "more"), folder).code == 0
                assert server.asks == []
