"""The page of an ablation in a browser: quiet, as wide as its window, and what is not told grey."""

from pathlib import Path

import pytest
from tests.browser.chromium import Browser, opened
from tests.run.test_ablation_report import HOSTILE, laid

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return laid(tmp_path_factory.mktemp("ablation")).out / "report.html"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_is_quiet_fits_and_everything_is_text(
    browser: Browser, page: Path, width: int, scheme: str
) -> None:
    tab = opened(browser, page, width, scheme)
    assert tab.run("document.body.innerText").count(HOSTILE) == 2


def test_the_tables_at_a_glance_need_no_scrolling_on_a_desk(browser: Browser, page: Path) -> None:
    tab = browser.tab()
    tab.size(1280)
    tab.open(page.as_uri())
    over = "[...document.querySelectorAll('table.loose')].map(each => each.offsetWidth - "
    widths = tab.run(f"{over}each.parentElement.clientWidth)")
    assert len(widths) == 3
    assert all(width <= 0 for width in widths)


def test_what_cannot_be_told_is_lighter_than_what_can(browser: Browser, page: Path) -> None:
    tab = browser.tab()
    tab.open(page.as_uri())
    colour = (
        "getComputedStyle(document.querySelectorAll('table.loose')[2].querySelector('{}')).color"
    )
    assert tab.run(colour.format("td.zero")) != tab.run(colour.format("td b"))
