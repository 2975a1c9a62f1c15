"""The report as a reader has it: in a browser, on a phone, in the dark, and on paper."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.browser.chromium import Browser, Tab
from tests.builders import NAMES, frozen, healthy_row, replies, row

from fieldtruth.run import results
from fieldtruth.stages.score import Options

HOSTILE = "<img src=x onerror=alert(1)>"
WORSE = f"{HOSTILE}\"'</title></style></pre><script>alert(2)</script>{{{{7*7}}}}"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a benchmark in which every text that can be hostile is."""
    root = tmp_path_factory.mktemp("report")
    names = (HOSTILE, *NAMES[1:])
    hostile = {"crop": HOSTILE, "source": HOSTILE, "licence": "CC0", "candidates": names}
    rows = [row(f"{HOSTILE}{n}", label=HOSTILE, **hostile) for n in range(6)]
    rows += [healthy_row(f"h{n}", query=HOSTILE, **hostile) for n in range(4)]
    bench = frozen(root / "bench", rows)
    ids = [each["id"] for each in rows]
    hit = json.dumps([{"bbox_2d": [10, 8, 20, 16], "label": HOSTILE}])
    said = {
        HOSTILE: dict.fromkeys(ids, hit),
        "a" * 120: dict.fromkeys(ids, f"{WORSE} I cannot tell. {'word ' * 300}"),
        "plain": {
            name: "[]" if number % 2 else f"{WORSE} {hit}" for number, name in enumerate(ids)
        },
    }
    paths = [
        replies(root / f"{number}.jsonl", model, words)
        for number, (model, words) in enumerate(said.items())
    ]
    results.score(bench, paths, Options(), root / "results")
    return results.report(root / "results", note=WORSE)


@pytest.fixture
def tab(browser: Browser, page: Path) -> Tab:
    made = browser.tab()
    made.size(1280)
    made.open(page.as_uri())
    return made


def unfold(tab: Tab) -> None:
    count = tab.run(
        "(folds => (folds.forEach(each => each.open = true), folds.length))"
        "(document.querySelectorAll('details'))"
    )
    assert count > 3


def test_it_is_quiet_and_asks_for_nothing(tab: Tab, page: Path) -> None:
    unfold(tab)
    tab.run("new Promise(done => requestAnimationFrame(() => done(true)))")
    assert tab.troubles() == []
    assert tab.requests() == [page.as_uri()]


def test_a_label_that_is_markup_is_text(tab: Tab) -> None:
    unfold(tab)
    text = tab.run("document.body.innerText")
    assert text.count(HOSTILE) > 20
    assert "49" not in re.findall(r"\{\{.*?\}\}|\b49\b", text)
    assert tab.run("document.querySelectorAll('img, script, iframe, object, embed').length") == 0
    hooks = "[...document.querySelectorAll('*')].filter(each => [...each.attributes].some"
    assert tab.run(f"{hooks}(one => one.name.startsWith('on'))).length") == 0
    assert tab.named("Page.javascriptDialogOpening") == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read(tab: Tab, tmp_path: Path, width: int, scheme: str) -> None:
    tab.scheme(scheme)
    tab.size(width)
    unfold(tab)
    assert tab.run("innerWidth") == width
    assert tab.run("document.documentElement.scrollWidth") <= width
    shot = np.asarray(Image.open(tab.shot(tmp_path / f"{width}-{scheme}.png")).convert("L"))
    assert shot.shape[1] == width
    assert shot.shape[0] > 844
    ground = float(np.median(shot))
    assert ground > 200 if scheme == "light" else ground < 60
    assert np.mean(np.abs(shot - ground) > 100) > 0.005  # letters stand out from it


def test_on_a_phone_it_is_as_wide_as_the_phone(tab: Tab) -> None:
    tab.size(390, phone=True)
    unfold(tab)
    assert tab.run("visualViewport.width") == 390
    assert tab.run("document.documentElement.scrollWidth") == 390


def test_photos_are_drawn(tab: Tab, tmp_path: Path) -> None:
    unfold(tab)
    sizes = tab.run(
        "[...document.querySelectorAll('svg use')].map(each => each.getBoundingClientRect())"
        ".map(box => [box.width, box.height])"
    )
    assert len(sizes) > 3
    assert all(width > 40 and height > 20 for width, height in sizes)


def test_it_prints(tab: Tab) -> None:
    pdf = tab.pdf()
    assert pdf.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) > 0


@pytest.mark.parametrize(
    ("body", "asks", "talks"),
    [
        (HOSTILE, True, True),
        ("<script>throw new Error('no')</script>", False, False),
        ("<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">"
         "<script>1</script>", False, False),
    ],
)  # fmt: skip
def test_a_page_that_is_not_quiet_is_seen(
    browser: Browser, tmp_path: Path, body: str, asks: object, talks: object
) -> None:
    path = tmp_path / "bad.html"
    path.write_text(f"<!doctype html><title>bad</title>{body}")
    tab = browser.tab()
    tab.open(path.as_uri())
    assert tab.troubles() != []
    assert (len(tab.requests()) > 1) is asks
    assert (tab.named("Page.javascriptDialogOpening") != []) is talks
