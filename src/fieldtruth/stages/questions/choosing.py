"""Which drafts are asked: even over the five types, then the categories, then as many labels.

One at a time: the type with the fewest so far, in it the category with the fewest, in that the
label with the fewest of all, and of its drafts the first by a draw that hangs on its own id. What
runs out gives its share to the others (AgMMU, section 3.2: an even distribution over the types of
questions, while the diversity of categories is greatest).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush

from fieldtruth.draws import key
from fieldtruth.records import Category, Knowledge
from fieldtruth.stages.questions.drafts import Draft
from fieldtruth.stages.questions.settings import TYPES, Settings


def choose(drafts: Iterable[Draft], groups: Mapping[str, str], settings: Settings) -> list[Draft]:
    """The drafts to ask, ascending by id. `groups`: conversation -> those it shares photos with."""
    piles = _piles(drafts, settings.seed)
    scarce = {kind: sum(map(len, of.values())) for kind, of in piles.items()}
    chosen: list[Draft] = []
    asked: Counter[str] = Counter()  # by group
    labels: Counter[str] = Counter()
    types: Counter[Knowledge] = Counter()
    categories: Counter[tuple[Knowledge, Category]] = Counter()
    while piles and (settings.want is None or len(chosen) < settings.want):
        kind = min(piles, key=lambda each: (types[each], scarce[each], each))
        within = piles[kind]
        category = min(within, key=lambda each: (categories[kind, each], each))
        draft = within[category].take(labels)
        if not within[category]:
            del within[category]
        if not within:
            del piles[kind]
        if asked[groups[draft.group]] == settings.per_group:
            continue
        chosen.append(draft)
        asked[groups[draft.group]] += 1
        labels[draft.diverse] += 1
        types[kind] += 1
        categories[kind, category] += 1
    return sorted(chosen, key=lambda draft: draft.id)


class _Pile:
    """The drafts of one type and category; the one whose label was asked least is on top."""

    def __init__(self, drafts: Iterable[Draft], seed: int) -> None:
        self._of: dict[str, list[Draft]] = {}
        drawn = {draft.id: key(seed, "questions choose", draft.id) for draft in drafts}
        for draft in sorted(drafts, key=lambda each: (drawn[each.id], each.id), reverse=True):
            self._of.setdefault(draft.diverse, []).append(draft)
        # Counts only grow, so an old one is found out when its label comes to the top.
        self._heap = [(0, key(seed, "questions label", name), name) for name in self._of]
        heapify(self._heap)

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def __bool__(self) -> bool:
        return bool(self._heap)

    def take(self, labels: Mapping[str, int]) -> Draft:
        """The next draft, which is here no more."""
        while True:
            count, tie, name = heappop(self._heap)
            if labels[name] != count:
                heappush(self._heap, (labels[name], tie, name))
                continue
            draft = self._of[name].pop()
            if self._of[name]:
                heappush(self._heap, (count, tie, name))
            return draft


def _piles(drafts: Iterable[Draft], seed: int) -> dict[Knowledge, dict[Category, _Pile]]:
    sorted_out: dict[Knowledge, dict[Category, list[Draft]]] = {}
    for draft in drafts:
        sorted_out.setdefault(draft.knowledge, {}).setdefault(draft.category, []).append(draft)
    return {
        kind: {category: _Pile(some, seed) for category, some in sorted_out[kind].items()}
        for kind in TYPES
        if kind in sorted_out
    }
