"""The draw is a promise: whoever changes it changes every benchmark that was ever composed."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth import draws


@pytest.mark.parametrize(
    ("seed", "stage", "record", "key", "first", "order"),
    [
        (0, "compose", "leaf-1", 11777310454809599545, 0.4234824930080253, [0, 2, 1, 3]),
        (7, "split", "g", 9823900998359841125, 0.7664683563734883, [1, 2, 3, 0]),
        (0, "", "", 14148044150132688121, 0.3633240233818369, [0, 3, 2, 1]),
        (-1, "compose wording", "drawn:00012", 10066388566854672913, 0.8345563646018538,
         [1, 2, 3, 0]),
        (7, "compose order", "caf\u00e9", 8687462841957330380, 0.7930518975905492, [3, 2, 0, 1]),
    ],
)  # fmt: skip
def test_the_draws_are_these_and_no_others(
    seed: int, stage: str, record: str, key: int, first: float, order: list[int]
) -> None:
    assert draws.key(seed, stage, record) == key
    assert draws.rng(seed, stage, record).random() == first
    assert draws.rng(seed, stage, record).permutation(4).tolist() == order


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5)
NAMED = st.tuples(st.integers(-(2**63), 2**63), WORDS, WORDS)


@given(NAMED, NAMED)
def test_two_names_have_two_keys_of_64_bits(
    a: tuple[int, str, str], b: tuple[int, str, str]
) -> None:
    assert (draws.key(*a) == draws.key(*b)) == (a == b)
    assert 0 <= draws.key(*a) < 2**64


def test_parts_do_not_run_into_each_other() -> None:
    names = [(1, "1", "1"), (1, "11", ""), (11, "1", ""), (1, "", "11"), (11, "", "1")]
    assert len({draws.key(*name) for name in names}) == 5


@given(st.permutations(range(6)))
def test_the_order_of_asking_tells_nothing(order: list[int]) -> None:
    alone = {n: draws.rng(3, "s", str(n)).random() for n in range(6)}
    mixed = {n: draws.rng(3, "s", str(n)).random() for n in order}
    assert mixed == alone


def test_draws_of_many_records_are_spread_evenly() -> None:
    spots = Counter(int(draws.rng(0, "s", f"r{n}").random() * 10) for n in range(2000))
    chi_square = sum((spots[n] - 200) ** 2 / 200 for n in range(10))
    assert chi_square < 27.9  # 9 degrees of freedom, p = 0.001
