"""What kind of advice a statement gives, and what kind of thing it tells of a plant's look.

Two experts word one remedy in different words: "prune out the dead wood" and "cut off affected
limbs". So a wrong answer may give no advice of a kind that the truth gives, and tell of no colour,
mark or change that the truth tells of. The lists are short on purpose: a kind too many costs a
wrong answer, of which there are enough; a kind too few costs a question with two right ones.
"""

from collections.abc import Mapping
from functools import lru_cache

from fieldtruth.records import Knowledge
from fieldtruth.taxonomy import wordlists
from fieldtruth.taxonomy.giveaways import fold
from fieldtruth.taxonomy.spelling import normalise

# Words, folded, of each kind of advice.
_REMEDIES: Mapping[str, str] = {
    "nothing": "alone harmless ignore ignored monitor patience tolerate unnecessary wait worry",
    "cut": "clip cut prune remove removal thin trim",
    "pull": "dig hoe pull uproot weed weeding",
    "water": "drain drainage drip dry irrigate irrigation moist moisture overwater soak water",
    "feed": "compost feed fertilize fertilizer manure nitrogen nutrient potassium",
    "spray": "chemical fungicide herbicide insecticide kaolin neem oil pesticide soap spray treat "
    "treatment apply application glyphosate bt pyrethrin copper",
    "discard": "bag burn clean compost debris destroy discard dispose fallen garbage rake",
    "guard": "barrier cover exclude fence net screen trap wrap handpick pick hand",
    "mulch": "mulch bark chip",
    "soil": "acid alkaline aerate amend compact lime ph sulfur test till",
    "move": "move plant repot replant sow transplant relocate",
    "light": "light shade sun sunlight sunny",
    "air": "airflow air circulation spacing space humidity ventilate",
    "choose": "cultivar resistant variety rotate rotation replace",
    "disinfect": "disinfect sanitize sterilize bleach alcohol",
    "mow": "mow mowing overseed reseed sod",
}
_DO_NOTHING = (
    "no treatment", "no action", "no control", "no management", "no cure", "not necessary",
    "not required", "not require", "not need", "no need", "nothing to", "not recommended",
    "leave it", "leave them", "not harm", "no harm", "be left",
)  # fmt: skip
# What a look is told by, beside the lexicon's colours and marks.
_LOOKS = (
    "blister canker chew crack crisp curl cup dead decay die dieback distort drop droop frass gall "
    "gummy hairy hole leafless mold mosaic mottle mound notch ooze pale peel pit rot round sap "
    "scorch serrate lobe oval needle skeletonize speckle stem sticky stipple stunt sunken swell "
    "swollen thorn tooth toothed trunk tunnel twist vein wart web webbing wilt wither wrinkle"
)
_MARKS = frozenset(
    fold(word) for word in (*wordlists.HUES, *wordlists.MARKS, *_LOOKS.split())
)  # fmt: skip
_OF_WORD: Mapping[str, str] = {
    fold(word): kind for kind, words in _REMEDIES.items() for word in words.split()
}


def same_sort(knowledge: Knowledge, a: str, b: str) -> bool:
    """Whether two statements of one kind of knowledge may both hold, though their words differ."""
    sorts = remedies if knowledge == "management instructions" else looks
    return not sorts(a).isdisjoint(sorts(b))


@lru_cache(maxsize=65536)
def remedies(statement: str) -> frozenset[str]:
    """The kinds of advice in a statement.

    >>> sorted(remedies("Prune dead limbs, water weekly.")), sorted(remedies("Leave it."))
    (['cut', 'water'], ['nothing'])
    """
    plain = normalise(statement)
    found = {_OF_WORD[word] for word in map(fold, plain.split()) if word in _OF_WORD}
    if any(f" {phrase} " in f" {plain} " for phrase in _DO_NOTHING):
        found.add("nothing")
    return frozenset(found)


@lru_cache(maxsize=65536)
def looks(statement: str) -> frozenset[str]:
    """The colours, marks and changes in a statement.

    >>> sorted(looks("Brown spots with yellow halos"))
    ['brown', 'halo', 'spot', 'yellow']
    """
    return frozenset(map(fold, normalise(statement).split())) & _MARKS
