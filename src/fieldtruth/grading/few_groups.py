"""Which numbers of a result stand on too few groups for their interval to be trusted.

The bootstrap draws groups. Where one group alone has something to measure, every draw gives the
same: the interval has no width and says nothing. Of two to four it is a handful of values.

A number keeps the contract's keys (design, section 5); how many groups it stands on lies apart
under `few_groups`, a tree of the same keys (of a list: the places, as texts) that holds only the
numbers of fewer than `FEW_GROUPS` groups.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

FEW_GROUPS = 5
KEY = "few_groups"
_IN_CELL = "groups"


def told(groups: int | None) -> dict[str, int]:
    """What stands in a number until `aside`: nothing where there are groups enough.

    >>> told(1), told(4), told(5), told(None)
    ({'groups': 1}, {'groups': 4}, {}, {})
    """
    return {_IN_CELL: groups} if groups is not None and groups < FEW_GROUPS else {}


def aside(scores: dict[str, Any]) -> dict[str, Any]:
    """Take the counts of groups out of the numbers, in place, and lay them under `few_groups`."""
    found = _taken(scores)
    if found:
        scores[KEY] = found
    return scores


def marked(scores: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a result with the counts back in its numbers, to be shown."""
    made = deepcopy(dict(scores))
    _put(made, made.pop(KEY, {}))
    return made


def _entries(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        yield from ((str(name), each) for name, each in node.items())
    elif isinstance(node, list):
        yield from ((str(place), each) for place, each in enumerate(node))


def _is_number(node: Any) -> bool:
    return isinstance(node, dict) and {"low", "high", "n"} <= node.keys()


def _taken(node: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, each in _entries(node):
        groups = each.pop(_IN_CELL, None) if _is_number(each) else _taken(each)
        if groups:
            found[name] = groups
    return found


def _put(node: Any, counts: Mapping[str, Any]) -> None:
    for name, each in _entries(node):
        count = counts.get(name)
        if isinstance(count, Mapping):
            _put(each, count)
        elif count is not None and _is_number(each):
            each[_IN_CELL] = count
