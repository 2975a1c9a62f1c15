"""The page of a question benchmark in a browser: quiet, all text is text, and it fits a phone."""

from pathlib import Path

import pytest
from tests.browser.chromium import Browser, opened
from tests.builders import frozen, plain, question

from fieldtruth import store
from fieldtruth.records import Prediction
from fieldtruth.run import answers, results
from fieldtruth.stages.score_questions import Settings

HOSTILE = "<img src=x onerror=alert(1)>"
WORSE = f"{HOSTILE}\"'</title></style></pre><script>alert(2)</script>{{{{7*7}}}}"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("report")
    plain(root / "photos" / "c.png", 9)
    rows = [
        question(
            f"{HOSTILE}{n}", images=["a.png", "c.png"], question=WORSE, qtype=HOSTILE if n else "b",
            options=[WORSE, "scab"], crop=HOSTILE, source=HOSTILE, group=f"g{n}",
        )
        for n in range(5)
    ]  # fmt: skip
    bench = frozen(root / "bench", rows)
    paths = []
    for number, model in enumerate((HOSTILE, "a" * 120, "plain")):
        path = root / f"{number}.jsonl"
        store.write(
            path,
            (
                Prediction(item=row["id"], protocol="choice", model=model, text=f"B\n{WORSE}")
                for row in rows
            ),
        )
        paths.append(path)
    wanted = answers.Request(settings=Settings(resamples=20))
    results.score_answers(bench, paths, wanted, root / "results")
    return results.report(root / "results", note=WORSE)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_is_quiet_fits_and_everything_is_text(
    browser: Browser, page: Path, width: int, scheme: str
) -> None:
    tab = opened(browser, page, width, scheme)
    assert tab.run("document.body.innerText").count(HOSTILE) > 20
    sizes = tab.run(
        "[...document.querySelectorAll('svg use')].map(each => each.getBoundingClientRect())"
        ".map(box => [box.width, box.height])"
    )
    assert len(sizes) > 3
    assert all(across > 40 and down > 20 for across, down in sizes)


def test_cells_of_few_questions_are_lighter_than_others(browser: Browser, page: Path) -> None:
    tab = browser.tab()
    tab.open(page.as_uri())
    few = tab.run("getComputedStyle(document.querySelector('tr.few td b')).color")
    assert few != tab.run("getComputedStyle(document.body).color")
