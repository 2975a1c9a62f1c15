"""What saved replies earn: `fieldtruth reward` (design, section 8).

The same functions that pay replies while a model is trained, on replies that lie in a file.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fieldtruth import rewards, rooms, store
from fieldtruth.rewards.contract import Paid, Reward, Rollout, pay

_AT_ONCE = 1000  # replies; their boxes are compared in one pass


def open_reward(kind: str) -> Reward:
    """The reward of that name; `Usage` names those there are."""
    reward: Reward = rooms.open_room(rewards, kind).REWARD
    return reward


def paid_file(path: Path, kind: str) -> list[Paid]:
    """What each reply of a file of `Rollout` lines earns, in file order.

    Raises `Usage` for an unknown kind or a file that is not there, `BadRecord` naming file and line
    where a line is not what it should be, or lacks what this kind needs.
    """
    return list(_paid(path, open_reward(kind)))


def _paid(path: Path, reward: Reward) -> Iterator[Paid]:
    rows = list(store.read(path, Rollout))  # whole, so that a bad one leaves no file open
    for start in range(0, len(rows), _AT_ONCE):
        yield from pay(reward, rows[start : start + _AT_ONCE], f"{path}:", first=start + 1)


def line(paid: Sequence[Paid]) -> str:
    """Mean reward over the replies that came, what each term paid of it, and the outcomes."""
    came = [each for each in paid if each.outcome != "error"]
    told = [f"{name} {count}" for name, count in Counter(e.outcome for e in paid).items()]
    if not came:
        return f"{len(paid)} replies, none of them with words: {', '.join(told) or 'nothing'}"
    names = dict.fromkeys(name for each in came for name in each.terms)
    means = [
        f"{name} {sum(each.terms.get(name, 0.0) for each in came) / len(came):.3f}"
        for name in names
    ]
    mean = sum(each.reward for each in came) / len(came)
    return f"reward {mean:.3f} over {len(came)} replies ({', '.join((*means, *told))})"
