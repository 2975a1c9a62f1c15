"""Books that do not balance stop the run."""

from collections.abc import Sequence
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.faults import Unbalanced
from fieldtruth.records import Drop, Sample, Target
from fieldtruth.run.ledger import Books, Ledger

REASONS = ("no_name", "no_photo")


def sample(name: str) -> Sample:
    return Sample(id=name, source="s", images=("a.jpg",), licence="CC0")


def target(parent: str, label: str = "rust") -> Target:
    return Target(id=f"{parent}#{label}", sample=parent, kind="disease", label=label)


def drop(parent: str, reason: str = "no_name") -> Drop:
    return Drop(id=f"{parent}#dropped", sample=parent, stage="label", reason=reason)


def books(inputs: Sequence[str], outputs: Sequence[Target | Drop]) -> Books:
    ledger = Ledger("label", REASONS)
    assert [record.id for record in ledger.incoming(map(sample, inputs))] == list(inputs)
    assert list(ledger.outgoing(outputs)) == list(outputs)
    return ledger.close()


def test_fan_out_and_drops_are_counted() -> None:
    made = books(
        ["a", "b", "c"], [target("b"), target("a"), drop("c", "no_photo"), target("a", "blight")]
    )
    assert made == Books(
        stage="label", incoming=3, kept=2, outputs=3, dropped={"no_name": 0, "no_photo": 1}
    )


def test_nothing_in_and_nothing_out_balances() -> None:
    assert books([], []).incoming == 0


@pytest.mark.parametrize(
    ("inputs", "outputs", "told"),
    [
        (["a", "b"], [target("a")], "1 of 2 input records are neither .* first 'b'"),
        (["a"], [], "1 of 1 input records are neither"),
        (["a"], [target("a"), drop("a")], "'a' was dropped after an output"),
        (["a"], [drop("a"), target("a")], "'a' was dropped and has an output"),
        (["a"], [drop("a"), drop("a")], "'a' was dropped twice"),
        (["a"], [target("a"), target("b")], "a parent nobody read, 'b'"),
        (["a"], [target("a"), drop("b")], "a parent nobody read, 'b'"),
        (["a", "a"], [target("a")], "two input records have the id 'a'"),
        (["a"], [drop("a", "lazy")], "'lazy', which is none of its reasons"),
    ],
)
def test_anything_else_is_a_bug_of_the_stage(
    inputs: Sequence[str], outputs: Sequence[Target | Drop], told: str
) -> None:
    with pytest.raises(Unbalanced, match=f"label: .*{told}"):
        books(inputs, outputs)


def test_an_output_before_its_input_is_invented() -> None:
    ledger = Ledger("label", REASONS)
    with pytest.raises(Unbalanced, match="nobody read"):
        list(ledger.outgoing([target("a")]))


def test_the_parent_may_be_named_otherwise() -> None:
    ledger = Ledger("annotate", REASONS)
    list(ledger.incoming([target("a")]))
    list(ledger.outgoing([target("a")], attrgetter("id")))
    assert ledger.close().kept == 1


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["keep", "drop"])), max_size=12))
def test_balanced_exactly_when_every_input_has_one_fate(fates: list[tuple[int, str]]) -> None:
    inputs = [str(number) for number in range(3)]
    outputs = [target(str(n)) if fate == "keep" else drop(str(n)) for n, fate in fates]
    kept = [str(n) for n, fate in fates if fate == "keep"]
    lost = [str(n) for n, fate in fates if fate == "drop"]
    right = (
        set(kept) | set(lost) == set(inputs)
        and not set(kept) & set(lost)
        and len(set(lost)) == len(lost)
    )
    if right:
        assert books(inputs, outputs).outputs == len(kept)
    else:
        with pytest.raises(Unbalanced):
            books(inputs, outputs)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ([], "'a' is neither in the output nor dropped"),
        ([target("a")], "'b' is neither in the output nor dropped"),
        ([target("a"), target("a")], "'b' is neither in the output nor dropped"),
        ([target("a"), target("b"), target("c")], "an output has a parent nobody read, 'c'"),
        ([target("a"), drop("a"), drop("b")], "'a' was dropped and has an output as well"),
        ([drop("a"), target("b"), target("a")], "'a' was dropped and has an output as well"),
        ([drop("a"), drop("a"), drop("b")], "'a' was dropped twice"),
        ([drop("a", "lazy"), drop("b")], "'lazy', which is none of its reasons"),
    ],
)
def test_what_is_settled_at_once_is_held_to_the_same(made: list[Target | Drop], told: str) -> None:
    ledger = Ledger("label", REASONS)
    with pytest.raises(Unbalanced, match=f"label: .*{told}"):
        ledger.settle([sample("a"), sample("b")], made)


def test_a_settlement_counts_as_the_long_way_does() -> None:
    ledger = Ledger("label", REASONS)
    ledger.settle([sample("a"), sample("b")], [target("a"), target("a", "blight"), drop("b")])
    ledger.settle([sample("c")], [target("c")])
    assert ledger.close() == Books(
        stage="label", incoming=3, kept=2, outputs=3, dropped={"no_name": 1, "no_photo": 0}
    )
