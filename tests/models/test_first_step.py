"""What a step did to a model: which weights learn, wait, rest, or should not have moved."""

from typing import Any

import pytest

from fieldtruth.models.transformers.first_step import FirstStep, Range, look

torch = pytest.importorskip("torch")


def model(**gradients: float | None) -> Any:
    """A module of single weights; a name that ends in `_` is frozen."""
    made = torch.nn.Module()
    for name, gradient in gradients.items():
        weight = torch.nn.Parameter(torch.ones(2), requires_grad=not name.endswith("_"))
        weight.grad = None if gradient is None else torch.tensor([0.0, gradient])
        made.register_parameter(name, weight)
    return made


def test_every_weight_is_one_of_five() -> None:
    found = look(
        model(
            x_lora_A=0.0, x_lora_B=1.0, y_lora_A=2.0, y_lora_B=0.0, plain=None, base_=None,
            visual=3.0, other_=4.0, still_=0.0,
        )
    )  # fmt: skip
    assert (found.learning, found.waiting) == (3, 1)
    assert found.resting == ("y_lora_B", "plain")
    assert found.leaked == ("other_",)
    assert (found.weights, found.eyes) == (12, 2)


def test_a_gradient_that_is_no_number_is_one() -> None:
    assert look(model(plain=float("nan"))).learning == 1


def test_tokens_are_counted_without_padding() -> None:
    step = FirstStep()
    assert (len(step), step.tokens, step.image_tokens, step.taught) == (0, None, None, None)
    ids = torch.tensor([[5, 5, 7, 8], [5, 9, 0, 0]])
    there = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
    labels = torch.tensor([[-100, -100, 7, 8], [-100, 9, -100, -100]])
    step.batch({"input_ids": ids, "attention_mask": there, "labels": labels})
    counted = model(plain=1.0)
    counted.config = type("Config", (), {"image_token_id": 5})()
    step.gradients(counted)
    assert len(step) == 2
    assert step.tokens == Range(least=2, mean=3.0, most=4)
    assert step.image_tokens == Range(least=1, mean=1.5, most=2)
    assert step.taught == Range(least=1, mean=1.5, most=2)


def test_prompts_and_replies_apart_count_together() -> None:
    step = FirstStep()
    step.batch(
        {
            "prompt_ids": torch.tensor([[0, 5, 7]]), "prompt_mask": torch.tensor([[0, 1, 1]]),
            "completion_ids": torch.tensor([[8, 9, 0]]),
            "completion_mask": torch.tensor([[1, 1, 0]]),
        }
    )  # fmt: skip
    assert step.tokens == Range(least=4, mean=4.0, most=4)
    assert step.taught == Range(least=2, mean=2.0, most=2)
