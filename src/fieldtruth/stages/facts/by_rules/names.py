"""What an expert's words name: a disease, an animal, a plant, a stress; or nothing definite.

A name counts where the taxonomy knows it, where a Latin name stands behind it in brackets, or
where its last word is one that such names end in and another stands before it. "A fungus", "an
insect" and "some disease" name nothing.
"""

import re
from dataclasses import dataclass

from fieldtruth.records import Knowledge
from fieldtruth.stages.facts.by_rules.plants import VAGUE, plants_in
from fieldtruth.taxonomy import resolve
from fieldtruth.taxonomy.lexicon import words_in

ISSUE: Knowledge = "disease/issue identification"
PEST: Knowledge = "insect/pest"
SPECIES: Knowledge = "species"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ISSUE_ENDS = _words(
    "anthracnose blight blights blotch burn canker cankers chlorosis curl damage deficiency "
    "deficiencies disease dieback drought edema fasciation flux frost gall galls girdling injury "
    "mildew mold mould mosaic necrosis oedema rot rots rust rusts scab scald scorch shock smut "
    "spot spots stress sunburn sunscald toxicity virus wetwood wilt yellows decline overwatering "
    "underwatering rosette cast fungus mushroom mushrooms bacteria"
)
_PEST_ENDS = _words(
    "adelgid adelgids ant ants aphid aphids beetle beetles bee bees borer borers bug bugs "
    "caterpillar caterpillars chafer chafers cicada cicadas cricket crickets earwig earwigs fly "
    "flies gnat gnats grasshopper grasshoppers grub grubs hopper hoppers hornet hornets hornworm "
    "hornworms katydid katydids lacewing lacewings larva larvae leafhopper leafhoppers leafminer "
    "leafminers maggot maggots mealybug mealybugs midge midges millipede millipedes mite mites "
    "moth moths nematode nematodes psyllid psyllids roach roaches sawfly sawflies scale scales "
    "slug slugs snail snails spider spiders spittlebug spittlebugs springtail springtails termite "
    "termites thrips tick ticks vole voles wasp wasps webworm webworms weevil weevils whitefly "
    "whiteflies worm worms bagworm bagworms armyworm armyworms cutworm cutworms borers "
    "sapsucker sapsuckers woodpecker woodpeckers rabbits deer squirrels"
)
_PLANT_ENDS = _words(
    "bindweed chickweed clover creeper dock fern foxtail goldenrod grass honeysuckle ivy knotweed "
    "lettuce lily mallow mint mustard nettle nightshade nutsedge orchid parsley plantain primrose "
    "ragwort rush sedge sorrel spurge strawberry thistle vetch violet weed willow wort lamium"
)
_HARMED_BY = _words(
    "chemical cold deer dicamba drainage drought feeding fertilizer frost freeze glyphosate "
    "hail heat "
    "herbicide insect lightning mechanical mite mower mowing nutrient physical rabbit salt slug "
    "spray "
    "squirrel storm sun thrips transplant trimmer vole water wind winter woodpecker moisture mosaic"
)
# Alone they say nothing; with another word they may.
_BARE = _words(
    "damage disease injury stress shock decline dieback virus fungus mushroom mushrooms bacteria "
    "bug bugs spot spots rot rots curl burn cast mold mould fly flies worm worms larva larvae "
    "hopper hoppers grub grubs caterpillar caterpillars beetle beetles mite mites gall galls "
    "scale scales moth moths wilt blight grass weed weeds fern lily rust rosette decline blotch "
    "canker cankers deer rabbits insect insects pest pests spider spiders tick ticks cricket "
    "hornet bee"
) - {"rust", "mites", "scale", "deer", "rabbits", "grubs", "galls", "canker"}
_EMPTY = _words(
    "a an the some any this that these those your my our its their his her one another other "
    "several many few various certain common commonly very quite actually really just only simply "
    "indeed definitely certainly clearly mostly mainly basically typical typically classic "
    "possible particular specific small large tiny big little young old new beneficial harmful "
    "harmless serious severe minor mild major general normal fungal bacterial viral fungi fairly "
    "type kind sort species form case example result sign signs symptom symptoms plant tree native "
    "invasive annoying annual perennial actual different similar same kind "
    "female male adult immature baby nice good bad so called what likely pest "
    "due to stage stages extensive heavy"
)
_ARTICLES = _words("a an the some any this that these those your my our its their one")
# Where a name ends.
_STOP = _words(
    "is are was were be been being that which who whose and or but on in at by with from for to as "
    "if when where while because due since so than then it its it's they you your we i this these "
    "there here not also based have has had can will would should do does after before during "
    "caused called known under near inside within over into about rather such like including "
    "growing feeding causing leading infesting attacking eating infecting usually often typically "
    "especially particularly though although too again now right here's resulting both between"
)
_WORD = re.compile(r"[A-Za-z][\w'\u2019-]*")
_LATIN = re.compile(
    r"\s*,?\s*\(\s*((?:[A-Z][a-z]{2,}|[A-Z]\.)(?:\s+(?:x\s+|\u00d7\s*)?(?:[a-z][a-z-]{2,}|"
    r"spp?\.?))?"
    r"(?:\s+(?:var|subsp|f)\.?\s+\w+)?)[^()]{0,30}\)"
)
_LOOKS_LATIN = re.compile(r"[A-Z][a-z]{3,} [a-z]{4,}(?:us|a|um|is|i|ii|ae|ensis|es|ides|ata|or)\b")
LONGEST = 6  # words of a name


@dataclass(frozen=True, slots=True)
class Named:
    """A name as it is written, from `start` to `end` of the text, and what it is the name of."""

    name: str
    latin: str | None
    kind: Knowledge
    start: int
    end: int

    @property
    def told(self) -> str:
        """The name with its Latin one, as a statement."""
        return f"{self.name} ({self.latin})" if self.latin else self.name


def named(text: str, at: int) -> Named | None:
    """The name that begins at a place of a sentence, its articles passed over; None for none."""
    words = _run(text, at)
    skipped = False
    while words and (words[0][0].casefold() in _ARTICLES or not _known(text, words)):
        word = words[0][0].casefold()
        if word not in _EMPTY and not (word == "of" and skipped):  # one of the X, a case of X
            break
        words, skipped = words[1:], True
    if not words:
        return None
    latin = _LATIN.match(text, words[-1][2])
    for length in range(len(words), 0, -1):
        some = words[:length]
        if any(word == "of" for word, _, _ in some) and not _known(text, some):
            continue  # "a photo of a beetle" is no beetle; "tree of heaven" is one name
        behind = latin[1] if latin and length == len(words) else None
        name = text[some[0][1] : some[-1][2]]
        kind = _kind(name, behind)
        if kind is not None:
            end = latin.end() if latin and behind else some[-1][2]
            return Named(name, behind, kind, some[0][1], end)
    return None


def _run(text: str, at: int) -> list[tuple[str, int, int]]:
    """The words from a place on to the end of the phrase: (word, start, end)."""
    words: list[tuple[str, int, int]] = []
    while len(words) < LONGEST + 4:
        while at < len(text) and text[at] in " \"'\u201c\u2018*":
            at += 1
        found = _WORD.match(text, at)
        if found is None or found[0].casefold() in _STOP:
            break
        words.append((found[0], found.start(), found.end()))
        at = found.end()
        if at < len(text) and text[at] not in ' "\u201d*':
            break
    return words


def _known(text: str, words: list[tuple[str, int, int]]) -> bool:
    """Whether a name of two words or more begins here: "common rust", "tree of heaven"."""
    names = [
        text[words[0][1] : words[length - 1][2]] for length in range(2, min(len(words), 5) + 1)
    ]
    return any(resolve(name).label is not None or _is_plant(name) for name in names)


def _is_plant(name: str) -> bool:
    return any(found.casefold() == name.casefold() for found in plants_in(name))


def _kind(name: str, latin: str | None) -> Knowledge | None:
    """What the name is the name of, or None where it is not definite."""
    words = name.casefold().replace("\u2019", "'").split()
    last = words[-1]
    if len(words) > LONGEST or (len(words) == 1 and (last in _BARE or last in VAGUE)):
        return None
    label = resolve(name).label
    if last in _ISSUE_ENDS:
        return ISSUE if _definite(name, words, known=label is not None) else None
    if last in _PEST_ENDS or "pest" in words_in(last):
        return PEST
    if label is not None and label.kind != "weed":
        return PEST if label.kind == "pest" else ISSUE
    if _is_plant(name):
        return SPECIES
    if last in VAGUE:
        return None
    if label is not None or last in _PLANT_ENDS or last.endswith(("weed", "wort", "grass")):
        return SPECIES
    if any(name.endswith(f" {found}") for found in plants_in(name)):
        return SPECIES
    if (latin and " " in latin) or _LOOKS_LATIN.fullmatch(name):
        return SPECIES
    return None


def _definite(name: str, words: list[str], *, known: bool) -> bool:
    """Whether a name of a trouble says which: "a harmless disease" does not, "Dutch elm disease"
    does."""
    if known or len(words) == 1:
        return True
    if words[-1] in ("disease", "damage", "stress", "injury", "virus", "fungus"):
        before = name.split()[:-1]
        return any(word[0].isupper() for word in before[-2:]) or words[-2] in _HARMED_BY
    return not _EMPTY.issuperset(words[:-1])
