"""LoRA put into its base: the same logits, the same words, the processor kept."""

import json
import resource
import shutil
from pathlib import Path

import pytest
from tests.models import tiny
from tests.stages import tuned
from tests.stages.tuned import examples, settings, trained

from fieldtruth.faults import CannotWrite, Fault, Usage
from fieldtruth.models import transformers
from fieldtruth.models.contract import Request
from fieldtruth.models.transformers.card import read_card
from fieldtruth.pretrained import weights_of
from fieldtruth.stages.merge import line, merge

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    tuned.base(folder)
    examples(folder / "train")
    trained(settings(folder, rate=0.05, steps=10, save_every=10))
    return folder


def test_logits_are_those_of_base_and_adapter(home: Path, tmp_path: Path) -> None:
    """By the library's own classes, on other words than the merge looks at."""
    from peft import PeftModel
    from transformers import AutoModelForImageTextToText

    out = tmp_path / "merged"
    made = merge(str(home / "out" / "last"), out)
    base = AutoModelForImageTextToText.from_pretrained(home / "base").eval()
    ids = torch.arange(7, 90)[None]
    with torch.inference_mode():
        bare = base(input_ids=ids).logits
    with pytest.warns(FutureWarning):
        both = PeftModel.from_pretrained(base, home / "out" / "last").eval()
    one = AutoModelForImageTextToText.from_pretrained(out).eval()
    with torch.inference_mode():
        expected, got = both(input_ids=ids).logits, one(input_ids=ids).logits
    assert torch.allclose(expected, got, rtol=0, atol=1e-5 * float(expected.abs().max()))
    assert float((expected - bare).abs().max()) > 0.1  # the adapter does something
    assert made.difference < 1e-5 * made.of
    assert made.weights == weights_of(str(out))
    assert "logits differ by at most" in line(made, out)


def test_words_and_processor_are_kept(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "merged"
    merge(str(home / "out" / "last"), out)
    for name in (
        "processor_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "chat_template.jinja",
    ):
        assert (out / name).read_bytes() == (home / "base" / name).read_bytes()
    requests = [
        Request(id=path.stem, prompt="Where?", images=(path,))
        for path in sorted((home / "train" / "release").glob("train*.png"))
    ]
    adapted = transformers.OPEN(
        {"path": str(home / "base"), "adapter": str(home / "out" / "last"), "max_new_tokens": "16"}
    )
    whole = transformers.OPEN({"path": str(out), "max_new_tokens": "16"})
    assert list(adapted.reply(requests)) == list(whole.reply(requests))
    card = read_card(out)
    assert card is not None
    assert (card.method, card.max_pixels, card.space) == ("merged", 50_176, "norm1000")


def test_half_precision_is_written_where_it_is_asked_for(home: Path, tmp_path: Path) -> None:
    made = merge(str(home / "out" / "last"), tmp_path / "half", dtype="bfloat16")
    assert json.loads((tmp_path / "half" / "config.json").read_text())["dtype"] == "bfloat16"
    assert 1e-5 < made.difference / made.of < 0.1
    assert made.exact / made.of < 1e-5  # what differs is the rounding alone


def test_a_merge_that_says_something_else_is_not_written(home: Path, tmp_path: Path) -> None:
    """Weights that float32 holds and float16 does not: whole there, beyond its range here."""
    from safetensors.torch import load_file, save_file

    adapter = Path(shutil.copytree(home / "out" / "last", tmp_path / "adapter"))
    file = adapter / "adapter_model.safetensors"
    weights = load_file(file)
    save_file({name: each * 1e4 for name, each in weights.items()}, file, {"format": "pt"})
    with pytest.raises(Fault, match=r"say what base and adapter say.*nothing was written"):
        merge(str(adapter), tmp_path / "half", dtype="float16")
    assert not (tmp_path / "half").exists()
    assert merge(str(adapter), tmp_path / "whole").dtype == "float32"


def test_what_cannot_be_merged_leaves_nothing(home: Path, tmp_path: Path) -> None:
    adapter = str(home / "out" / "last")
    other = tiny.qwen3_vl(tmp_path / "other", seed=5)
    with pytest.raises(Usage, match="another base"):
        merge(adapter, tmp_path / "a", base=str(other))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    with pytest.raises(Usage, match="new or empty folder"):
        merge(adapter, tmp_path / "full")
    assert (tmp_path / "full" / "thesis.txt").is_file()
    shutil.copytree(adapter, tmp_path / "damaged")
    (tmp_path / "damaged" / "adapter_model.safetensors").write_bytes(b"\x08" + b"\0" * 20)
    with pytest.raises(Usage):
        merge(str(tmp_path / "damaged"), tmp_path / "b")
    assert {path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")} == {
        "other",
        "full",
        "damaged",
    }


def test_a_full_disk_is_one_clear_error_and_leaves_nothing(home: Path, tmp_path: Path) -> None:
    adapter = str(home / "out" / "last")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (100, 20_000, 200_000):  # of the settings, of the weights, of nearly all of them
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
            with pytest.raises(CannotWrite, match="expected room to write, got none") as caught:
                merge(adapter, tmp_path / "merged")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert str(caught.value).count("\n") == 0
        assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
    merge(adapter, tmp_path / "merged")
