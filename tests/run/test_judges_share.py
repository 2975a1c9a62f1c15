"""How many answers a judge may fail on: a share that is reached exactly is allowed."""

import pytest

from fieldtruth.faults import TooManyFailed
from fieldtruth.run import answers, erring


def scored(failed: int, n: int, bar: float) -> None:
    entry = {"all": {"n": n}, "unjudged": failed}
    answers.check({"settings": {"allow_missing": bar}, "models": {"m": {"open": entry}}})


def sorted_errors(failed: int, n: int, bar: float) -> None:
    kinds = {"unsorted": {"count": failed}}
    erring.check({"model": "m", "sorted_by": ["judge"], "errors": n, "kinds": kinds}, bar)


@pytest.mark.parametrize("check", [scored, sorted_errors])
def test_a_share_that_is_reached_is_allowed_and_one_more_is_not(check: object) -> None:
    assert callable(check)
    for failed, n, bar in ((29, 100, 0.29), (57, 100, 0.57), (0, 0, 0.0), (3, 3, 1.0), (0, 5, 0.0)):
        check(failed, n, bar)  # 0.29 * 100 is a little less than 29
    for failed, n, bar in ((30, 100, 0.29), (1, 5, 0.0), (2, 3, 0.6)):
        with pytest.raises(TooManyFailed, match=f"the judge failed on {failed} of {n}"):
            check(failed, n, bar)
