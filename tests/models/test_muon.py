"""Muon and AdamW as one optimizer: each weight by its own, saved and gone on with exactly."""

import io
from typing import Any

import pytest

from fieldtruth.models.transformers import muon

torch = pytest.importorskip("torch")


def net() -> Any:
    torch.manual_seed(0)
    linear, table = torch.nn.Linear(6, 4), torch.nn.Embedding(5, 6)
    return torch.nn.ModuleDict({"embed_tokens": table, "up": linear})


def step(model: Any, optimizer: Any, number: int) -> None:
    ids = torch.tensor([number % 5, 1])
    model["up"](model["embed_tokens"](ids)).square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def weights(model: Any) -> list[Any]:
    return [each.detach().clone() for each in model.parameters()]


def test_matrices_learn_by_muon_and_the_rest_by_adamw() -> None:
    ours, theirs = net(), net()
    together = muon.optimizer(ours, 1e-2, 0.1)
    apart = [
        torch.optim.AdamW(
            [theirs["embed_tokens"].weight, theirs["up"].bias], lr=1e-2, weight_decay=0.1,
            betas=(0.9, 0.98),
        ),
        torch.optim.Muon(
            [theirs["up"].weight], lr=2e-2, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"
        ),
    ]  # fmt: skip
    before = weights(ours)
    for number in range(4):
        step(ours, together, number)
        ids = torch.tensor([number % 5, 1])
        theirs["up"](theirs["embed_tokens"](ids)).square().sum().backward()
        for each in apart:
            each.step()
            each.zero_grad()
    for old, new, other in zip(before, weights(ours), weights(theirs), strict=True):
        assert not torch.equal(old, new)
        assert torch.allclose(new, other, rtol=1e-5, atol=1e-7)


def test_what_does_not_learn_stays_and_others_learn_too() -> None:
    model, other = net(), torch.nn.Parameter(torch.ones(3))
    model["up"].weight.requires_grad_(False)
    optimizer = muon.optimizer(model, 1e-2, 0.0, [other])
    assert len(optimizer.param_groups) == 1  # no matrix: AdamW alone
    kept = model["up"].weight.clone()
    other.grad = torch.ones(3)
    step(model, optimizer, 0)
    assert torch.equal(kept, model["up"].weight)
    assert other.detach().tolist() == pytest.approx([0.99] * 3, abs=1e-4)


def test_a_schedule_rules_both_and_a_saved_one_goes_on_alike() -> None:
    def begun() -> tuple[Any, Any, Any]:
        model = net()
        optimizer = muon.optimizer(model, 1e-2, 0.0)
        return (
            model,
            optimizer,
            torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 / (n + 1)),
        )

    model, optimizer, schedule = begun()
    saved = io.BytesIO()
    for number in range(6):
        if number == 3:
            torch.save((model.state_dict(), optimizer.state_dict(), schedule.state_dict()), saved)
        step(model, optimizer, number)
        schedule.step()
    assert [each["lr"] for each in optimizer.param_groups] == pytest.approx([1e-2 / 7, 2e-2 / 7])
    saved.seek(0)
    again, other, later = begun()
    for each, state in zip((again, other, later), torch.load(saved), strict=True):
        each.load_state_dict(state)
    for number in range(3, 6):
        step(again, other, number)
        later.step()
    assert all(torch.equal(a, b) for a, b in zip(weights(model), weights(again), strict=True))
