"""Replies that pay more than they are worth: sought under both rewards, found under one."""

import pytest
from tests.rewards.hacks import report
from tests.rewards.replies import Corners, one, rollout, words

from fieldtruth.rewards import grounded, published


@pytest.mark.slow
def test_nothing_is_found_under_ours() -> None:
    tried, found = report("grounded", grounded.REWARD, 1)
    assert tried > 12_000
    assert len(found) == 14
    assert {kind: hacks[0] for kind, hacks in found.items() if hacks} == {}


@pytest.mark.slow
def test_the_same_search_finds_the_published_loopholes() -> None:
    """What it finds is printed; `pytest -s` shows it."""
    _, found = report("published", published.REWARD, 1)
    assert found["few"], "the right boxes under a wrong name"
    assert found["leaf"], "the right boxes under a wrong name"
    for kind in ("wrong target", "wrong target, to choose"):
        best = found[kind][0]
        assert best.earned > 2 * best.honest, "boxes where what is asked for is not there"


def test_a_false_box_more_never_pays() -> None:
    """One of ten is found: that the count comes closer by a second, false box is worth nothing."""
    true = [(x, 0, x + 60, 60) for x in range(0, 1000, 100)]
    for choose in (False, True):
        earned = [
            one(grounded.REWARD, rollout(words(*said), true=true, choose=choose)).reward
            for said in ([true[0]], [true[0], (0, 500, 60, 560)], [true[0], (0, 500, 32, 532)])
        ]
        assert max(earned[1:]) < earned[0]


def test_the_specks_the_paper_pays_for() -> None:
    """One with the right name is paid 0.50 there, five times an empty reply; as much here."""
    speck: Corners = (1, 1, 21, 21)
    true = [(100, 100, 300, 300)]
    spoken, empty = (rollout(text, true=true, choose=True) for text in (words(speck), "[]"))
    assert one(published.REWARD, spoken).reward == pytest.approx(0.50)
    assert one(published.REWARD, empty).reward == pytest.approx(0.10)
    assert one(grounded.REWARD, spoken).reward <= one(grounded.REWARD, empty).reward
