"""Wrong answers that are names: of the same kind, on the same host, and certainly not true.

Taken, in this order, until there is a choice: labels of the taxonomy that are known on the host
(of plants: that are named alike); names that experts gave in other dialogues of the category, on
that host and then on any; names that are known on many hosts. None is another name of a truth, of
a part of it, or of another wrong answer (`taxonomy.conflicts`), and none is named anywhere in the
dialogue: what somebody there took into account may be right as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from numpy.random import Generator

from fieldtruth import taxonomy
from fieldtruth.draws import rng
from fieldtruth.records import Category, Knowledge
from fieldtruth.stages.questions.drafts import Draft, is_vague
from fieldtruth.taxonomy.data import book
from fieldtruth.taxonomy.giveaways import fold, given_away, names_it
from fieldtruth.taxonomy.lexicon import words_in
from fieldtruth.taxonomy.spelling import normalise
from fieldtruth.taxonomy.wordlists import MORE_CROPS

Sort = str  # what kind of thing a name names: disease, pest, stress, plant
MOST_NAMES = 200  # of one tier
CHOICE = 3  # as many names as are needed, times this, are enough to draw from
MANY_HOSTS = 5  # a disease known on so many is common
COLLECTIVE = frozenset(["cereals", "crucifers", "cucurbits", "pome fruits", "stone fruits"])

# Troubles without a pest or pathogen that growers see; no two of them are one.
ISSUES = (
    "blossom end rot", "drought stress", "edema", "frost damage", "girdling roots",
    "graft incompatibility", "herbicide injury", "iron deficiency", "lightning damage",
    "magnesium deficiency", "mechanical injury", "nitrogen deficiency", "overwatering",
    "poor pollination", "potassium deficiency", "salt injury", "soil compaction", "sunscald",
    "transplant shock", "winter burn",
)  # fmt: skip
# Pests that growers meet on many plants, from the taxonomy's own names.
COMMON_PESTS = (
    "aphid", "armyworm", "bagworm", "cutworm", "earwig", "eastern tent caterpillar",
    "fall webworm", "flea beetle", "fungus gnat", "japanese beetle", "lace bug", "leafhopper",
    "leaf miner", "mealybug", "root knot nematode", "sawfly", "scale insect", "slug",
    "spider mite", "spittlebug", "squash bug", "stink bug", "thrips", "whitefly", "wireworm",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """A name that an expert gave somewhere."""

    name: str
    category: Category
    crop: str | None
    sort: Sort | None
    group: str


class Names:
    """All names that facts give, by question type, to draw from."""

    def __init__(self, drafts: Iterable[Draft]) -> None:
        self._told: dict[Knowledge, list[Told]] = {}
        for draft in sorted(drafts, key=lambda each: each.id):
            if draft.naming and draft.truths and not draft.why_not:
                name = draft.truths[0]
                told = Told(name, draft.category, draft.crop, sort_of(draft, name), draft.group)
                self._told.setdefault(draft.knowledge, []).append(told)

    def wrong(self, draft: Draft, said: str, needed: int, seed: int) -> list[str]:
        """Names that may stand beside the truth, ascending. `said`: question and background.

        Fewer than are needed where there are no more. None has a word of the question in it
        unless the truth has it too.
        """
        truths = [*draft.truths, *draft.talk.named]
        found: list[str] = []
        for at, tier in enumerate(self._tiers(draft)):
            draw = rng(seed, f"questions names {at}", draft.id)
            names = _some(list(dict.fromkeys(tier)), draw)
            some = [name for name in names if fits(name, draft, said)]
            found = taxonomy.rivals(truths, [*found, *some], draft.crop)
            if len(found) >= CHOICE * needed:
                break
        return found

    def _tiers(self, draft: Draft) -> Iterator[Sequence[str]]:
        sort = sort_of(draft, draft.truths[0])
        told = [
            each
            for each in self._told.get(draft.knowledge, ())
            if each.group != draft.group and each.sort == sort
        ]
        if sort in ("disease", "pest") and draft.crop:
            yield _on(sort, taxonomy.crop_id(draft.crop))
        if sort == "plant":
            yield _named_alike(draft.truths[0])
        if draft.knowledge != "species":
            yield [each.name for each in told if draft.crop and each.crop == draft.crop]
        yield [each.name for each in told if each.category == draft.category]
        yield [each.name for each in told]
        yield _common(sort, weeds=draft.category == "weed")


def _some(names: Sequence[str], draw: Generator) -> Sequence[str]:
    """So many names of a tier as can be held against each other in no time."""
    if len(names) <= MOST_NAMES:
        return names
    return [names[at] for at in draw.permutation(len(names))[:MOST_NAMES]]


def sort_of(draft: Draft, name: str) -> Sort | None:
    """What kind of thing a name names; None where nobody can tell."""
    label = taxonomy.label(taxonomy.label_id(name, draft.crop))
    if draft.knowledge == "insect/pest":
        return "pest"
    if draft.knowledge == "disease/issue identification":
        if label is not None:
            return label.kind
        return "stress" if name in ISSUES or _without_cause(draft, name) else "disease"
    if taxonomy.crop_id(name) in _plants() or (label is not None and label.kind == "weed"):
        return "plant"
    if label is not None:
        return label.kind
    if "pest" in words_in(name):
        return "pest"
    if draft.category != "generic identification" and draft.category != "pest":
        return "plant"
    told = map(fold, normalise(draft.talk.words).split())
    return None if _PLANTISH.isdisjoint(told) else "plant"


# Folded words that a talk about a plant has.
_PLANTISH = frozenset(
    [
        "bloom", "branch", "bud", "bush", "flower", "foliag", "leaf", "petal", "plant", "root",
        "seed", "shrub", "stem", "tree", "twig", "vine", "weed",
    ]
)  # fmt: skip


def _without_cause(draft: Draft, name: str) -> bool:
    """Whether an issue is one that no living thing causes."""
    of = draft.category in ("environmental stress", "nutrient deficiency")
    return of or "stress" in words_in(name)


def fits(name: str, draft: Draft, said: str) -> bool:
    """Whether a name may be wrong here: it says something, nobody in the dialogue names it, and
    it has no word of the question that the truth has not."""
    if is_vague(name) or names_it(name, draft.talk.words):
        return False
    return set(given_away(name, said)) <= set(given_away(draft.truths[0], said))


@cache
def _on(sort: Sort, crop: str) -> tuple[str, ...]:
    """The labels of a kind that are known on a host."""
    labels = map(taxonomy.label, taxonomy.names())
    return tuple(each.id for each in labels if each and each.kind == sort and crop in each.hosts)


@cache
def _plants() -> frozenset[str]:
    """The plants that the taxonomy names: hosts, and crops that have none of its labels."""
    return (book().crops | set(MORE_CROPS)) - COLLECTIVE


@cache
def _named_alike(name: str) -> tuple[str, ...]:
    """Plants whose names end as this one's: other spurges beside a spurge."""
    *before, last = name.split()
    if not before:
        return ()
    there = (
        each.id for each in map(taxonomy.label, taxonomy.names()) if each and each.kind == "weed"
    )
    return tuple(each for each in there if each.split()[-1] == last and each != last)


@cache
def _common(sort: Sort | None, *, weeds: bool) -> tuple[str, ...]:
    """Names of a kind that are met on many hosts, or that several vocabularies know."""
    if sort == "stress":
        return ISSUES
    if sort == "pest":
        return COMMON_PESTS
    labels = [each for each in map(taxonomy.label, taxonomy.names()) if each is not None]
    if sort == "plant" and weeds:
        return tuple(each.id for each in labels if each.kind == "weed" and len(each.sources) > 2)
    if sort == "plant":
        return tuple(sorted(_plants()))
    return tuple(each.id for each in labels if each.kind == sort and len(each.hosts) >= MANY_HOSTS)
