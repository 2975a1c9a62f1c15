"""Signs that a reward is earned by something else than the task."""

from typing import Any

import pytest

from fieldtruth.stages.grpo.settings import Watch
from fieldtruth.stages.grpo.watch import SIGNS, alarms


def history(sign: str, *values: float) -> list[dict[str, float]]:
    return [{"step": float(n), sign: value} for n, value in enumerate(values, start=1)]


def told(some: Any) -> list[tuple[int, str]]:
    return [(each.step, each.sign) for each in some]


def test_every_sign_has_a_bound() -> None:
    assert set(SIGNS) | {"fall", "window", "on_alarm"} == set(Watch.__struct_fields__)


@pytest.mark.parametrize("sign", SIGNS)
def test_a_mean_over_its_bound_rings_once_until_it_came_back(sign: str) -> None:
    most = getattr(Watch(), sign)
    rows = history(sign, 0, 0, 2 * most, 3 * most, 3 * most, 0, 0, 3 * most, 3 * most)
    found = alarms(rows, {}, Watch(window=2))
    assert told(found) == [(4, sign), (8, sign)]
    assert found[0].value == pytest.approx(2.5 * most)
    assert str(found[0]).startswith(f"step 4: {sign} {2.5 * most:.3g} > {most:g} (")


def test_one_bad_round_in_a_window_does_not_ring() -> None:
    assert alarms(history("empty", 0, 0, 1, 0, 0, 0), {}, Watch(window=5)) == []
    assert alarms(history("empty", 1, 1, 1), {}, Watch(window=5)) == []  # no whole window yet


def test_rounds_that_cannot_show_a_sign_are_passed_over() -> None:
    rows = history("first_option", 1.0, 1.0, 1.0)
    gaps = [rows[0], {"step": 1.5, "empty": 0.0}, rows[1], {"step": 2.5}, rows[2]]
    assert told(alarms(gaps, {}, Watch(window=3))) == [(3, "first_option")]


def test_over_optimization_is_a_fall_from_the_best_validation() -> None:
    """AgroGround, appendix J: 0.845, 0.879 at step 30, 0.867 at 170, 0.859 at 292."""
    judged = {0: 0.845, 30: 0.879, 170: 0.867, 292: 0.859}
    assert told(alarms(history("kl", 0.0), judged, Watch(fall=0.015))) == [(292, "fall")]
    assert alarms(history("kl", 0.0), judged, Watch(fall=0.021)) == []
    assert alarms(history("kl", 0.0), {0: 0.9, 10: None}, Watch()) == []
