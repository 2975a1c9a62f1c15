"""Training that cannot go on, as it is called: one line each, nothing lost, and the next command
goes on."""

import json
import shutil
from pathlib import Path

import pytest
from tests.builders import four
from tests.models import tiny
from tests.run.test_tuning import home, place, ran
from tests.stages.tuned import examples

__all__ = ["home", "place"]  # fixtures

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
torch = pytest.importorskip("torch")


def asked(place: Path, args: str, *words: str) -> tuple[int, str, str]:
    bench = place / "bench" if (place / "bench").exists() else four(place / "bench")
    return ran(
        "predict", bench, "--model", "transformers", "--protocol", "candidates", "--quiet",
        "--model-args", f"max_new_tokens=4,{args}", "--out", place / "said.jsonl", *words,
    )  # fmt: skip


def one_line(ended: tuple[int, str, str], code: int, *told: str) -> None:
    """The exit code, nothing on stdout, one line on stderr that says so much."""
    got, out, err = ended
    assert (got, out) == (code, ""), err
    assert err.count("\n") == 1, err
    for part in told:
        assert part in err


def test_an_adapter_for_another_base_is_told_and_the_right_one_goes_on(place: Path) -> None:
    """Of other shapes, and of the same shapes with other weights in them."""
    assert ran("train", "sft", place / "recipe.toml", "--quiet")[0] == 0
    adapter = place / "out" / "best"
    wider = tiny.qwen3_vl(place / "wider", hidden=96)
    alike = tiny.qwen3_vl(place / "alike", seed=1)
    for base in (wider, alike):
        for ended in (
            asked(place, f"path={base},adapter={adapter}"),
            ran("train", "merge", adapter, "--base", base, "--out", place / "merged"),
        ):
            one_line(ended, 2, f"expected an adapter for {base}, got one for another base",
                     "give path= the base that it was trained on")  # fmt: skip
    assert not (place / "said.jsonl").exists()
    assert not (place / "merged").exists()
    assert asked(place, f"path={place / 'base'},adapter={adapter}")[0] == 0
    assert ran("train", "merge", adapter, "--out", place / "merged")[0] == 0


def test_an_adapter_without_a_card_is_told_where_its_shapes_are_others(place: Path) -> None:
    """As PEFT itself leaves it: of the same shapes nobody can tell."""
    assert ran("train", "sft", place / "recipe.toml", "--quiet")[0] == 0
    adapter = shutil.copytree(place / "out" / "best", place / "bare")
    (adapter / "fieldtruth.json").unlink()
    wider = tiny.qwen3_vl(place / "wider", hidden=96)
    deeper = tiny.qwen3_vl(place / "deeper", layers=1)  # some weights have no place in it
    for base in (wider, deeper):
        ended = asked(place, f"path={base},adapter={adapter}")
        one_line(ended, 2, "got one for another base")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_told_and_the_cpu_goes_on(place: Path) -> None:
    recipe = place / "recipe.toml"
    ended = ran("train", "sft", recipe, "--quiet", "--set", "sft.device=cuda")
    one_line(ended, 2, "device: expected one that this machine has", "cuda")
    assert not (place / "out").exists()
    ended = asked(place, f"path={place / 'base'},device=cuda")
    one_line(ended, 2, "device: expected one that this machine has", "cuda")
    assert ran("train", "sft", recipe, "--quiet")[0] == 0


def test_a_hub_name_that_nobody_can_reach_is_told(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "https://hub.invalid")
    for proxy in ("https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    recipe = place / "recipe.toml"
    ended = ran("train", "sft", recipe, "--quiet", "--set", "sft.base=nobody/nothing")
    one_line(ended, 2, "nobody/nothing", "no network")
    one_line(asked(place, "path=nobody/nothing"), 2, "nobody/nothing", "no network")
    assert ran("train", "sft", recipe, "--quiet")[0] == 0


def test_a_file_that_fails_the_check_is_told_and_once_mended_trains(place: Path) -> None:
    rows = place / "train" / "training" / "examples.jsonl"
    good = rows.read_bytes()
    first, *rest = good.splitlines(keepends=True)
    wrong = json.loads(first) | {"answer": "I see nothing"}
    rows.write_bytes(json.dumps(wrong).encode() + b"\n" + b"".join(rest))
    recipe = place / "recipe.toml"
    code, out, err = ran("train", "sft", recipe, "--quiet")
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert not (place / "out").exists()
    rows.write_bytes(good)
    assert ran("train", "sft", recipe, "--quiet")[0] == 0


def test_another_training_file_does_not_go_on_from_this_one(place: Path) -> None:
    assert ran("train", "sft", place / "recipe.toml", "--quiet")[0] == 0
    before = (place / "out" / "train.json").read_bytes()
    shutil.rmtree(place / "train")
    examples(place / "train", 12)
    one_line(ran("train", "sft", place / "recipe.toml", "--quiet"), 2, "holds another run")
    assert (place / "out" / "train.json").read_bytes() == before
