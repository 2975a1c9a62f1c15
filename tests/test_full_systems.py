"""What the full systems need, on paper: sizes as transformers has them, sums by hand."""

from dataclasses import replace
from typing import Any

import pytest
from bench import full_systems
from bench.budget import (
    A100,
    LARGE,
    LLAVA,
    MACHINES,
    RTX,
    SMALL,
    Job,
    Model,
    active,
    cache,
    fitting,
    held,
    hours,
    learning,
    needed,
    shown,
    split,
    trained,
)  # fmt: skip


def test_the_page_holds_the_tables() -> None:
    page = full_systems.PAGE.read_text(encoding="utf-8")
    assert full_systems.filled(page) == page


def test_a_table_that_was_changed_by_hand_is_seen() -> None:
    page = full_systems.PAGE.read_text(encoding="utf-8")
    assert full_systems.filled(page.replace("22,562", "22,563")) == page


# --- sizes -------------------------------------------------------------------------------------


def built(model: Model) -> Any:
    """The model of these sizes, of transformers' own class, without memory."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    eyes = model.eyes
    words: dict[str, Any] = {
        "hidden_size": model.hidden, "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads, "num_key_value_heads": model.kv_heads,
        "head_dim": model.head, "intermediate_size": model.ffn, "vocab_size": model.vocab,
    }  # fmt: skip
    sight: dict[str, Any] = {"hidden_size": eyes.hidden, "intermediate_size": eyes.ffn}
    with torch.device("meta"):
        if not eyes.taps:
            sight |= {"num_hidden_layers": eyes.layers, "image_size": 336, "patch_size": eyes.patch}
            config = transformers.LlavaConfig(
                vision_config=transformers.CLIPVisionConfig(num_attention_heads=16, **sight),
                text_config=transformers.LlamaConfig(**words),
            )
            return transformers.LlavaForConditionalGeneration(config)
        sight |= {
            "depth": eyes.layers, "num_heads": 16, "out_hidden_size": model.hidden,
            "num_position_embeddings": eyes.positions, "deepstack_visual_indexes": [1, 2, 3],
        }  # fmt: skip
        config = transformers.Qwen3VLConfig(
            text_config={**words, "tie_word_embeddings": model.tied}, vision_config=sight,
            tie_word_embeddings=model.tied,
        )  # fmt: skip
        return transformers.Qwen3VLForConditionalGeneration(config)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "weights", "within"),
    [(SMALL, 2_127_532_032, 0), (LARGE, 8_767_123_696, 0), (LLAVA, 7_063_427_072, 0.003)],
    ids=lambda each: getattr(each, "name", ""),
)
def test_weights_are_those_of_the_real_classes(model: Model, weights: int, within: float) -> None:
    made = built(model)
    assert sum(each.numel() for each in made.parameters()) == weights
    assert abs(model.whole - weights) <= within * weights
    if model.eyes.taps:
        assert model.sight == sum(each.numel() for each in made.model.visual.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("model", [SMALL, LARGE, LLAVA], ids=lambda each: each.name)
def test_lora_is_as_large_as_pefts_on_the_layers_that_recipes_name(model: Model) -> None:
    peft = pytest.importorskip("peft")
    from fieldtruth import pretrained
    from fieldtruth.tuning.learning import LANGUAGE

    with pretrained.hushed():
        made = peft.get_peft_model(built(model), peft.LoraConfig(r=64, target_modules=LANGUAGE))
    learnt = sum(each.numel() for each in made.parameters() if each.requires_grad)
    assert model.lora(64) == learnt


def test_a_photo_at_the_papers_cap_is_49_tokens() -> None:
    assert SMALL.photo(50_176) == 49  # 7 x 7 of 32 x 32 pixels
    assert LLAVA.photo(336 * 336) == 576  # 24 x 24 of 14 x 14


# --- sums, with the numbers written out --------------------------------------------------------


def test_memory_of_the_8b_by_hand() -> None:
    lora = 36 * 64 * ((4096 + 4096) * 2 + (4096 + 1024) * 2 + (4096 + 12_288) * 3)
    assert lora == 174_587_904
    assert held(LARGE, 64) == 2 * 8_767_123_696 + 16 * lora
    plain = 2 * (5 * 4096 + 3 * 4096 + 2 * 1024 + 4 * 12_288) + 8 * 4096
    layer = plain + 11 * (5 * 4096 + 4096 + 12_288)
    assert active(LARGE, 100, recompute=True) == 100 * (2 * 4096 * 36 + layer)
    seen = 2 * 400 * (6 * 1152 + 2 * 4304)
    assert active(LARGE, 100, recompute=False) == 100 * 36 * layer + seen
    scores = 2 * 4096 * 32_768
    assert needed(LARGE, 64, 100, recompute=True) == pytest.approx(
        held(LARGE, 64) + 1.15 * (active(LARGE, 100, recompute=True) + scores) + 1.5e9
    )
    assert LARGE.kept == 2 * 36 * 8 * 128 * 2


JOB = Job("some", SMALL, 64, 1_000, 2, 32, 49, 251, 1_300)


def test_operations_and_hours_by_hand() -> None:
    body = 28 * (2048 * 2048 * 2 + 2048 * 1024 * 2 + 3 * 2048 * 6144) + 151_936 * 2048
    assert SMALL.body == body
    work = (6 * 300 * body + 2 * 49 * 4 * 406_957_056) * 2_000
    assert trained(JOB) == pytest.approx(work)
    assert hours(JOB, MACHINES[0]) == pytest.approx(work / (0.25 * 165e12) / 3600)
    assert hours(JOB, MACHINES[2]) == pytest.approx(work / (0.25 * 312e12 * 8 * 0.9) / 3600)
    assert JOB.steps == 64  # 31.25 a pass, whose last is of 8 examples


def test_a_batch_is_cut_so_that_it_fits_and_stays_as_large() -> None:
    for machine in MACHINES:
        size, often = split(JOB, machine)
        assert size * often * machine.count == 32
        assert needed(SMALL, 64, size * 1_300, recompute=True) <= machine.gpu.memory
    assert fitting(JOB, 5e9) == 0
    assert split(Job("large", LARGE, 64, 9, 1, 32, 49, 9, 9_000), MACHINES[0]) == (0, 0)


def test_rollouts_share_their_prompt_in_the_cache() -> None:
    small, large = full_systems.rounds()
    assert (small.rollouts, small.steps, small.photo) == (1024, 292, 244)
    assert cache(small) == 114_688 * (244 + 155 + 8 * 512)
    assert cache(large) == 147_456 * (244 + 155 + 8 * 512)
    assert RTX.memory < A100.memory


def test_the_photos_of_a_round_count_while_its_replies_are_scored() -> None:
    small, _ = full_systems.rounds()
    assert shown(small) == 1024 * 244 * 4 * 1536 * 4
    tokens = 16 * (244 + 155 + 512)
    passing = 1024 * 244 * 4 * 1536 * 4 + 8 * 6144 * tokens + 2 * 4096 * 32_768
    assert learning(small) == pytest.approx(held(SMALL, 64) + 1.15 * passing + 1.5e9)
    larger = replace(small, batch=64)
    assert learning(larger) == needed(SMALL, 64, 4 * tokens, recompute=True)
