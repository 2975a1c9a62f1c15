"""Which layers of a model LoRA weights stand beside, by the names that kinds of models give."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import msgspec
import pytest

from fieldtruth.faults import Usage
from fieldtruth.stages.sft import Sft
from fieldtruth.tuning import learning

SAYS = (
    "model.language_model.layers.0.self_attn.q_proj",
    "model.language_model.layers.7.mlp.up_proj",
)
SEES = (
    "model.visual.blocks.0.attn.qkv", "model.visual.blocks.0.attn.proj",
    "model.visual.blocks.0.mlp.linear_fc1", "model.visual.merger.linear_fc2",  # Qwen3-VL
    "model.visual.blocks.0.mlp.gate_proj",  # Qwen2.5-VL
    "model.visual.blocks.0.mlp.fc1",  # Qwen2-VL
    "model.vision_tower.vision_model.encoder.layers.0.self_attn.out_proj",  # LLaVA
    "model.vision_tower.vision_model.encoder.layers.0.mlp.fc2",
)  # fmt: skip
NEITHER = ("lm_head", "model.visual.patch_embed.proj", "model.multi_modal_projector.linear_1")


def told(vision: Literal["frozen", "trained"], **others: Any) -> Sft:
    return Sft(base="b", train=("t",), out="o", vision=vision, **others)


@pytest.mark.parametrize("name", [*SAYS, *SEES, *NEITHER])
def test_layers_that_get_weights(name: str) -> None:
    found = {
        vision: re.fullmatch(learning.target_modules(told(vision)), name) is not None
        for vision in ("frozen", "trained")
    }
    assert found == {"frozen": name in SAYS, "trained": name in SAYS + SEES}


def test_targets_that_are_no_regular_expression_are_told() -> None:
    pytest.importorskip("peft")
    with pytest.raises(Usage, match=r"targets: expected a regular expression, got '\.\*\(q_proj'"):
        learning.lora(told("frozen", targets=".*(q_proj"))


def model(*learn: str) -> Any:
    named = [(name, SimpleNamespace(requires_grad=name in learn)) for name in (*SAYS, *SEES)]
    return SimpleNamespace(named_parameters=lambda: named)


def test_eyes_that_would_rest_where_they_are_to_learn_are_told() -> None:
    learning.eyes_learn(told("trained"), model(SAYS[0], SEES[0]))
    learning.eyes_learn(told("frozen"), model(SAYS[0]))
    with pytest.raises(Usage, match="vision: expected layers of the eyes that can learn"):
        learning.eyes_learn(told("trained"), model(SAYS[0]))


def test_muon_with_lora_would_teach_nothing_and_is_told() -> None:
    """It is given the weights that are there; those of LoRA come later."""
    net = pytest.importorskip("torch").nn.Linear(4, 4)
    with pytest.raises(Usage, match=r"optimizer: expected adamw with LoRA \(rank 4\), got muon"):
        learning.optimizer(told("frozen", rank=4, optimizer="muon"), net)
    found = learning.optimizer(told("frozen", rank=0, optimizer="muon"), net)
    held = {id(each) for group in found.param_groups for each in group["params"]}
    assert held == {id(each) for each in net.parameters()}
    assert learning.optimizer(told("frozen", rank=4), net) is None


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_run_whose_targets_leave_out_the_eyes_does_not_begin(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    from tests.stages import tuned

    tuned.base(tmp_path)
    tuned.examples(tmp_path / "train")
    given = tuned.settings(tmp_path, vision="trained", targets=learning.LANGUAGE)
    with pytest.raises(Usage, match="name them in targets"):
        tuned.trained(given)
    assert tuned.trained(msgspec.structs.replace(given, vision="frozen", steps=1)).steps == 1
