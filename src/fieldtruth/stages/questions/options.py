"""Which wrong answers are taken, and where the right one stands.

The truth's place by length is drawn as its letter is, so that neither tells it: of a choice of
names so many are taken that are shorter, and the rest is longer, as far as there are any. A choice
of fewer options is the beginning of one of more, so that all ask the same (AgMMU, appendix C).
"""

from collections.abc import Sequence

from fieldtruth.draws import rng
from fieldtruth.records import LETTERS


def pick(truth: str, pool: Sequence[str], needed: int, drawn: tuple[int, str]) -> list[str]:
    """So many of a pool in the order of the draw. `drawn`: the seed, and the draft's id.

    >>> len(pick("rust", ["scab", "leaf mold", "smut", "early blight"], 3, (0, "a")))
    3
    """
    seed, name = drawn
    draw = rng(seed, "questions wrong", name)
    mixed = [pool[at] for at in draw.permutation(len(pool))]
    shorter = [each for each in mixed if len(each) < len(truth)]
    longer = [each for each in mixed if len(each) >= len(truth)]
    want = int(draw.integers(0, needed, endpoint=True))
    few = min(len(shorter), max(want, needed - len(longer)))
    taken = [*shorter[:few], *longer[: needed - few]]
    return [taken[at] for at in draw.permutation(len(taken))]


def laid_out(
    truth: str, wrong: Sequence[str], count: int, drawn: tuple[int, str]
) -> tuple[tuple[str, ...], str]:
    """The options of a choice of `count` in letter order, and the letter of the truth."""
    seed, name = drawn
    draw = rng(seed, f"questions options {count}", name)
    place = int(draw.integers(0, count))
    taken = list(wrong[: count - 1])
    options = [*taken[:place], truth, *taken[place:]]
    return tuple(options), LETTERS[place]
