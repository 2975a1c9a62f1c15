"""The one server that all tests here share; without one, nothing here is collected."""

import os
from collections.abc import Iterator

import pytest
from tests.labelstudio.server import PROGRAM, Server, running

collect_ignore_glob = [] if PROGRAM in os.environ else ["test_*.py"]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that runs until the last test is done."""
    with running(tmp_path_factory.mktemp("server")) as started:
        yield started
