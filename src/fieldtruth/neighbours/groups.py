"""What hangs together by near hashes, without a list of the pairs."""

import numpy as np

from fieldtruth.neighbours.pairs import all_within, gathered
from fieldtruth.neighbours.tables import (
    AT_ONCE,
    CROWD,
    Hashes,
    Places,
    Runs,
    cut_up,
    pays,
    plan_within,
)  # fmt: skip

_PARTY = 128  # a crowd, where groups are wanted and not pairs: there it is no burden
_DENSE = 1.1  # hashes before over those left: below it, the middle of a crowd reached few


def components(values: Hashes, radius: int) -> Places:
    """Which hashes hang together by steps of at most `radius`: the least place of each's group.

    `values` are distinct. Needs no list of pairs: time and memory stay bounded where nearly all
    are neighbours.
    """
    groups = Groups(np.arange(len(values)))
    join(values, groups, radius)
    return groups.labels


class Groups:
    """Places that hang together carry one label: the least of their places."""

    def __init__(self, labels: Places) -> None:
        self.labels = labels

    def unite(self, a: Places, b: Places) -> None:
        """Put the groups of `a` and of `b`, which run parallel, together."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        ends = np.stack([self.labels[a], self.labels[b]])
        ends = ends[:, ends[0] != ends[1]]
        if not ends.size:
            return
        nodes, at = np.unique(ends, return_inverse=True)
        one, other = at.reshape(ends.shape)
        graph = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(len(nodes),) * 2)
        count, part = connected_components(graph, directed=False)
        least = np.full(count, len(self.labels))
        np.minimum.at(least, part, nodes)
        moved = np.arange(len(self.labels))
        moved[nodes] = least[part]
        self.labels = moved[self.labels]


def join(values: Hashes, groups: Groups, radius: int) -> None:
    """Unite what is near, given what is united already."""
    plan = plan_within(values, radius)
    if not plan.tables:
        _spread(values, groups, radius)
        return
    cut = cut_up(plan, values)
    for table in cut.tables():
        runs = Runs.of(table, _PARTY, groups.labels)
        for block in gathered(runs.pairs(cut.sets[0], radius)):
            groups.unite(block.a, block.b)
        for members in runs.crowds:
            _join_crowd(values, members, groups, radius)


def _join_crowd(values: Hashes, members: Places, groups: Groups, radius: int) -> None:
    known = np.unique(groups.labels[members], return_index=True, return_inverse=True)
    if len(known[0]) == 1:
        return
    own = Groups(known[1][known[2]])
    mine = values[members]
    if len(members) > CROWD and pays(mine, radius):
        join(mine, own, radius)
    else:
        _spread(mine, own, radius)
    groups.unite(members, members[own.labels])


def _spread(values: Hashes, groups: Groups, radius: int) -> None:
    """Start in the middle, reach what is near, then what is near to that; who is reached is out.

    Where nearly all are neighbours, few are ever compared; a group known before is reached whole.
    Where the middle reaches few, there is no such crowd, and each is compared with each.
    """
    left, before = np.arange(len(values)), 0
    while len(left):
        if 0 < before < _DENSE * len(left):
            for block in all_within(values[left], radius):
                groups.unite(left[block.a], left[block.b])
            return
        before = len(left)
        seed = groups.labels == groups.labels[left[_middle(values[left])]]
        front, left = np.flatnonzero(seed), left[~seed[left]]
        while len(front) and len(left):
            rows = max(1, AT_ONCE // len(left))
            some, front = front[:rows], front[rows:]
            near = np.bitwise_count(values[some, None] ^ values[None, left]) <= radius
            hit = near.any(axis=0)
            if hit.any():
                reached = np.isin(groups.labels, groups.labels[left[hit]])
                groups.unite(some[near[:, hit].argmax(axis=0)], left[hit])
                front = np.concatenate([front, np.flatnonzero(reached)])
                left = left[~reached[left]]


def _middle(values: Hashes) -> int:
    """The place of the hash nearest to what most of them say, bit by bit."""
    octets = values.astype(">u8").view(np.uint8).reshape(-1, 8)
    most = np.packbits(np.unpackbits(octets, axis=1).mean(axis=0) > 0.5).view(">u8")
    return int(np.bitwise_count(values ^ most.astype(np.uint64)).argmin())
