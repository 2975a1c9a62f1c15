"""Sentences in which an expert names what it is: "this is X", "looks like X", "caused by X".

Only what is said of the grower's own plant, animal or trouble counts: the sentence points at it
("this", "your", "you have"). Conditions, denials, lists of examples and what "can" be are no
naming. Doubt is not looked at here: the filters do that for every extractor.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from fieldtruth.stages.facts.by_rules.names import PEST, SPECIES, Named, named
from fieldtruth.stages.facts.sentences import Sentence

_THING = (
    "plants?|weeds?|trees?|shrubs?|bush(?:es)?|vines?|flowers?|grass(?:es)?|insects?|bugs?|"
    "critters?|creatures?|caterpillars?|beetles?|moths?|spiders?|wasps?|bees?|worms?|larvae?|eggs?|"
    "photos?|pictures?|images?|one|ones|problems?|issues?|culprits?|pests?|diseases?|symptoms?|"
    "damage|spots?|growths?|galls?|holes?|substance|stuff|fungus|mushrooms?|mold|bumps?|"
    "leaves|foliage|browning|yellowing|species|cause|lesions?|marks?|webbing|coating|powder"
)
_SUBJECT = (
    rf"(?:<<name>>(?:,|\u00e9e,?)?|this|that|it|these|those|they|what you (?:have|see|"
    rf"are seeing)|(?:the|your|this|these)\s+"
    rf"(?:[\w'-]+\s+){{0,3}}?(?:{_THING})(?:\s+(?:in|on|of)\s+(?:the|your|these|this)\s+[\w'-]+)?)"
)
_BE = r"(?:is|are|was|were|'s|\u2019s|'re|\u2019re)"
_SURE = (
    r"(?:(?:definitely|certainly|clearly|indeed|actually|most|all|also|simply|just|called|known as|"
    r"commonly|caused by|due to|the result of|a result of|from|damage from|signs? of|"
    r"symptoms? of|an? (?:example|case|form|sign|species) of|classic|typical of)\s+)*"
)
_POINTS = re.compile(
    r"<<name>>|^looks? like\b|^(?:i|we)\b|^the (?:photos?|pictures?|images?)\b|\b(?:this|these|"
    r"that|those|it|they|your|yours|you)\b|"
    r"^(?:the|a|an)\s+(?:[\w-]+\s+){0,3}(?:called|known as|yellowing|browning|spots|spotting|holes|"
    r"damage|symptoms|lesions|bumps|growths|wilting|curling)\b",
    re.IGNORECASE,
)
_CUES = (
    # This is X; they are X; the insect in your photo is X. At the beginning of a clause.
    re.compile(
        rf"(?:^|[,;:\u2013\u2014-]\s*|\b(?:and|but|yes|that|so|sure|"
        rf"confirm(?:ed)?)\s+){_SUBJECT}\s*"
        rf"(?:{_BE}|looks?(?: (?:very )?much| a lot| to me| to us)? like|looks? to be|"
        rf"appears? to be|"
        rf"(?:{_BE} |looks? )?consistent with)\s+{_SURE}",
        re.IGNORECASE,
    ),
    re.compile(rf"^(?:yes,? |hi,? |hello,? )*looks? like {_SURE}", re.IGNORECASE),
    # Your rose has X; your photo shows X; I see X.
    re.compile(
        r"^(?:[^,;]{0,40},\s*)?(?:your|this|these|the)\s+(?:[\w'-]+\s+){1,4}?(?:has|have|had|"
        r"shows?|"
        r"depicts?|(?:is|are) showing|(?:is|are) of|(?:has|have) been (?:attacked|damaged|"
        r"eaten) by)\s+|"
        r"^(?:[^,;]{0,40},\s*)?(?:i|we) (?:do |also )?see (?:that you have )?",
        re.IGNORECASE,
    ),
    # Called X, in a sentence that points.
    re.compile(r"\b(?:called|known as|identified as)\s+(?:the\s+)?", re.IGNORECASE),
    # Your lawn is suffering from X; the marks are caused by X; the yellowing suggests X.
    re.compile(
        r"\b(?:suffering from|infected (?:with|by)|infested (?:with|by)|afflicted (?:with|by)|"
        r"affected by|attacked by|(?:is|are|was|were) (?:being )?(?:caused|made|done|produced|"
        r"eaten|"
        r"damaged) by|(?:is|are) due to|(?:is|are) a (?:symptom|sign|result) of|"
        r"exhibiting(?: symptoms of| signs of)?|"
        r"experiencing|shows? (?:signs|symptoms) of|showing (?:signs|symptoms) of|suggests?|"
        r"indicates?|(?:is|are) indicative of|diagnosis of|attributable to|(?:is|are) typical of|"
        r"you (?:do |do indeed |definitely |clearly )?have|(?:that|it) has|"
        r"align closely with(?: those caused by)?|consistent with)\s+",
        re.IGNORECASE,
    ),
)
_NOT_NAMED = re.compile(
    r"\b(?:if|whether|unless|not|no|never|nor|isn['\u2019]t|aren['\u2019]t|can(?! confirm)|"
    r"cannot|neither|"
    r"susceptible|prone|such as|for example|e\.g|like to|compare|compared|confused with|mistaken|"
    r"rather than|instead of|known for|related to|once|until|when|would|should|reported|"
    r"mentioned|described|asked|said|wrote|thought|concern(?:ed)?|worried|ruled out)\b",
    re.IGNORECASE,
)
_ANIMAL = re.compile(
    r"\b(?:insects?|bugs?|critters?|creatures?|caterpillars?|beetles?|moths?|butterfl(?:y|ies)|"
    r"spiders?|wasps?|bees?|larvae?|worms?|eggs)\b",
    re.IGNORECASE,
)
_ALSO = re.compile(r"\balso\s+$", re.IGNORECASE)  # "also known as": another name, the same thing
_OPEN_BEHIND = re.compile(r"\s*(?:,\s*)?(?:or\b|and/or\b|/|\?|vs\b)|\s+such as\b", re.IGNORECASE)


def named_in(sentence: Sentence) -> Iterator[Named]:
    """What a sentence names, each thing once; places are those of the sentence's own text."""
    text = sentence.text
    if sentence.asks:
        return
    points = _POINTS.search(text) is not None
    seen: set[str] = set()
    for cue in _CUES if points else _CUES[:1]:  # the first points by itself
        for found in cue.finditer(text):
            before = text[: found.start()].rpartition(";")[2]
            name = named(text, found.end())
            if name is None or name.name.casefold() in seen:
                continue
            between = text[found.end() : name.start]
            if _ALSO.search(text[: found.start()]) or _NOT_NAMED.search(
                f"{before} {found[0]} {between}"
            ):
                continue
            if _OPEN_BEHIND.match(text, name.end):
                continue
            seen.add(name.name.casefold())
            yield _animal(name) if name.kind == SPECIES and _ANIMAL.search(found[0]) else name


def _animal(name: Named) -> Named:
    """The name as that of an animal: "the caterpillar is a black swallowtail"."""
    return replace(name, kind=PEST)
