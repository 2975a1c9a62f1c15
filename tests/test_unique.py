"""Ids that are all different, in eight bytes each, and exactly."""

from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.unique import Unique


@given(st.lists(st.sampled_from("abcdefgh")))
def test_it_names_the_first_that_came_before(names: list[str]) -> None:
    ids = Unique()
    ids.add(names[:3])
    ids.add(names[3:])
    expected = next((name for at, name in enumerate(names) if name in names[:at]), None)
    assert ids.twice(lambda: names) == expected
    assert len(ids) == len(names)


def test_the_ids_are_gone_through_again_only_where_two_may_be_one() -> None:
    ids = Unique()
    ids.add([str(number) for number in range(1000)])

    def never() -> list[str]:
        raise AssertionError("all hashes differ")

    assert ids.twice(never) is None


def test_two_ids_of_one_hash_are_two() -> None:
    class Same(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return 1

    names = [Same("a"), Same("b")]
    ids = Unique()
    ids.add(names)
    assert ids.twice(lambda: names) is None
    ids.add([Same("b")])
    assert ids.twice(lambda: [*names, Same("b")]) == "b"
