"""What saved replies earn: `fieldtruth reward` (design, section 8).

The same functions that pay replies while a model is trained, on replies that lie in a file.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path

from fieldtruth import rewards, rooms, store
from fieldtruth.rewards.contract import Paid, Reward, Rollout, pay

_AT_ONCE = 1000  # replies; their boxes are compared in one pass
_LETTERS = 1 << 23  # or fewer replies, where they are this long together

Track = Callable[[Iterable[Rollout]], Iterable[Rollout]]


def open_reward(kind: str) -> Reward:
    """The reward of that name; `Usage` names those there are."""
    reward: Reward = rooms.open_room(rewards, kind).REWARD
    return reward


def paid_file(path: Path, kind: str, track: Track = iter) -> list[Paid]:
    """What each reply of a file of `Rollout` lines earns, in file order.

    The lines are read and paid some at a time; `track` passes them on and counts them. Raises
    `Usage` for an unknown kind or a file that is not there, `BadRecord` naming file and line
    where a line is not what it should be, or lacks what this kind needs.
    """
    reward, paid = open_reward(kind), list[Paid]()
    with closing(_blocks(track(store.read(path, Rollout)))) as blocks:  # and the file with them
        for block in blocks:
            paid += pay(reward, block, f"{path}:", first=len(paid) + 1)
    return paid


def _blocks(rows: Iterable[Rollout]) -> Generator[list[Rollout], None, None]:
    block, letters = list[Rollout](), 0
    try:
        for row in rows:
            block.append(row)
            letters += len(row.text)
            if len(block) == _AT_ONCE or letters > _LETTERS:
                yield block
                block, letters = [], 0
    finally:
        del rows  # so that the traceback of a bad line keeps no file open
    yield block


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
