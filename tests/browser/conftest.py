"""The browser that the tests of a file share; without one on this machine they are skipped."""

from collections.abc import Iterator

import pytest
from tests.browser.chromium import Browser, browsing, found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that runs until the last test of the file is done."""
    program = found()
    if program is None:
        pytest.skip("no chromium on this machine")
    with browsing(program) as made:
        yield made
