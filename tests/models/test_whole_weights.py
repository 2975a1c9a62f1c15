"""Weights that are not whole, or not those that an adapter was made for, and what they are in."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.models import tiny

from fieldtruth.faults import Usage
from fieldtruth.models import grounding_dino, sam2, transformers
from fieldtruth.models.transformers import loading
from fieldtruth.pretrained import hushed, precision_of

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.qwen3_vl(tmp_path_factory.mktemp("weights") / "base")


def without(folder: Path, part: str) -> list[str]:
    """Take two weights out of a folder; returns their names."""
    from safetensors.torch import load_file, save_file

    held = load_file(folder / "model.safetensors")
    gone = sorted(name for name in held if part in name)[:2]
    left = {name: each for name, each in held.items() if name not in gone}
    save_file(left, folder / "model.safetensors", {"format": "pt"})
    return gone


@pytest.mark.parametrize("kind", ["qwen3_vl", "grounding_dino", "sam2"])
def test_weights_that_lack_a_part_are_refused(tmp_path: Path, kind: str) -> None:
    """The library draws what is not there at random, and goes on."""
    folder = getattr(tiny, kind)(tmp_path / "lacking")
    parts = {"qwen3_vl": "layers.1.mlp", "grounding_dino": "decoder.layers.1", "sam2": "conv_s0"}
    gone = without(folder, parts[kind])
    detector: Any = SimpleNamespace(space="pixel", version="0")
    opener: Any = {
        "qwen3_vl": lambda: transformers.OPEN({"path": str(folder)}),
        "grounding_dino": lambda: grounding_dino.OPEN({"path": str(folder)}),
        "sam2": lambda: sam2.Sam2(sam2.Settings(path=str(folder)), detector),
    }[kind]
    with pytest.raises(Usage, match=r"all weights of a .*, got none for 2 of its parts") as caught:
        opener()
    assert gone[0] in str(caught.value)


def test_weights_of_another_shape_than_the_settings_tell_are_named(tmp_path: Path) -> None:
    """Of these the library says to look at a report that nobody sees."""
    from safetensors.torch import load_file, save_file

    folder = tiny.qwen3_vl(tmp_path / "misfit")
    held = load_file(folder / "model.safetensors")
    name = next(each for each in sorted(held) if "layers.1.mlp" in each)
    rows, columns = held[name].shape
    held[name] = torch.zeros(rows + 1, columns)
    save_file(held, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(Usage, match=rf"got 1 of another shape, .* of {rows + 1} x {columns} in"):
        transformers.OPEN({"path": str(folder)})


def test_a_model_that_is_no_detector_is_told_as_such(base: Path) -> None:
    """Its processor may ask for torchvision first, which would be of no use here."""
    with pytest.raises(Usage, match="AutoModelForZeroShotObjectDetection"):
        grounding_dino.OPEN({"path": str(base)})


def adapter(base: Path, out: Path, named: str) -> Path:
    """LoRA weights as another tool leaves them, with the name of a base and no card."""
    from transformers import AutoModelForImageTextToText

    peft = pytest.importorskip("peft")
    with hushed():
        model = AutoModelForImageTextToText.from_pretrained(base)
        where = ".*language_model.*(q|v)_proj"
        peft.get_peft_model(model, peft.LoraConfig(r=4, target_modules=where)).save_pretrained(out)
    path = out / "adapter_config.json"
    told = json.loads(path.read_text()) | {"base_model_name_or_path": named}
    path.write_text(json.dumps(told))
    return out


def attached(base: Path, made: Path) -> Any:
    return loading.attach(loading.load(str(base), "cpu", "float32"), str(base), str(made))


def test_lora_weights_given_as_a_model_are_told(base: Path, tmp_path: Path) -> None:
    """The library would put them on whatever base they name, unchecked."""
    made = adapter(base, tmp_path / "lora", str(base))
    with pytest.raises(Usage, match=r"got LoRA weights; ask them as path=BASE,adapter=.*/lora, or"):
        transformers.OPEN({"path": str(made)})


def test_an_adapter_that_leaves_layers_out_is_for_another_base(base: Path, tmp_path: Path) -> None:
    """All of its weights have a place in a deeper model of the same width."""
    made = adapter(base, tmp_path / "lora", "somebody/else")
    deeper = tiny.qwen3_vl(tmp_path / "deeper", layers=3)
    with pytest.raises(Usage, match=r"got one for another base \(somebody/else\)"):
        attached(deeper, made)
    attached(base, made)
    torn = Path(shutil.copytree(made, tmp_path / "torn"))
    (torn / "adapter_model.safetensors").rename(torn / "model.safetensors")
    without(torn, "layers.1")
    (torn / "model.safetensors").rename(torn / "adapter_model.safetensors")
    with pytest.raises(Usage, match="another base"):
        attached(base, torn)


def test_a_base_that_is_named_and_lies_here_is_looked_at(base: Path, tmp_path: Path) -> None:
    """Of one shape, and other weights: nothing but their hash tells them apart."""
    made = adapter(base, tmp_path / "lora", str(base))
    with pytest.raises(Usage, match="got one for another base"):
        attached(tiny.qwen3_vl(tmp_path / "other", seed=5), made)
    attached(Path(shutil.copytree(base, tmp_path / "copy")), made)


def test_the_precision_is_that_of_the_weights(tmp_path: Path) -> None:
    """Qwen3-VL's settings tell it of their parts, not of the whole."""
    from safetensors.torch import save_file

    (tmp_path / "config.json").write_text('{"text_config": {"dtype": "bfloat16"}}')
    half, full = torch.zeros(8, 4, dtype=torch.bfloat16), torch.zeros(5, dtype=torch.float32)
    save_file({"a": half}, tmp_path / "model-00001-of-00002.safetensors")
    save_file({"b": full}, tmp_path / "model-00002-of-00002.safetensors")
    assert precision_of(str(tmp_path)) == "bfloat16"
    save_file({"b": full.repeat(9)}, tmp_path / "model-00002-of-00002.safetensors")
    assert precision_of(str(tmp_path)) == "float32"
    save_file({"b": full.double().repeat(9)}, tmp_path / "model-00002-of-00002.safetensors")
    with pytest.raises(Usage, match="got F64; say in what to write them"):
        precision_of(str(tmp_path))
