"""Which of AgMMU's eight categories a dialogue belongs to (section 3.2, step 1; appendix B.1).

What the expert names decides first. Else the words count, the expert's twice. A question about
growing in which nothing is wrong is growing advice, and one that says too little is other.
"""

import re
from collections.abc import Collection, Sequence

from fieldtruth.records import Category, Dialogue, Knowledge
from fieldtruth.stages.facts.by_rules.names import ISSUE, PEST, SPECIES, Named


def _cue(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)


_DEFICIENCY = _cue(
    r"(?:boron|calcium|copper|iron|magnesium|manganese|micronutrient|nitrogen|phosphorus|potassium|"
    r"sulfur|zinc|potash)[- ]deficien(?:t|cy|cies)|chlorosis|chlorotic|nutrient[- ]starved|lack of "
    r"(?:nitrogen|iron|magnesium|potassium|nutrients)|low (?:nitrogen|potassium|iron|magnesium|"
    r"phosphorus)|blossom[- ]end rot"
)
_DISEASE = _cue(
    r"anthracnose|bacterial|black ?spots?|blight|blotch|botrytis|canker(?:s|ed)?|diseases?|"
    r"diseased|"
    r"dollar spot|downy|fungal|fung(?:us|i)|fungicides?|fusarium|galls?|leaf spots?|mildew|mold|"
    r"mould|mosaic|mushrooms?|needle ?cast|oozing|pathogens?|phytophthora|powdery|pythium|"
    r"root rot|rot|rots|rotting|rust|scab|slime flux|smut|spores?|verticillium|viral|virus|wilt|"
    r"witch(?:es|'s)? broom|yellows"
)
_PEST = _cue(
    r"adelgids?|ants?|aphids?|armyworms?|bagworms?|bed ?bugs?|beetles?|bees?|borers?|bugs?|"
    r"caterpillars?|chewed|chewing|cockroach(?:es)?|critters?|cutworms?|deer|earwigs?|"
    r"eaten|eating|flies|fly|frass|gnats?|grasshoppers?|grubs?|hornets?|horticultural oil|"
    r"infest(?:ed|ation|ing)|insects?|insecticid\w+|japanese beetles?|lace ?bugs?|larvae?|"
    r"leaf ?hoppers?|leaf ?miners?|maggots?|mealybugs?|mites?|moths?|moles?|nematodes?|nymphs?|"
    r"pests?|rabbits?|sap ?suckers?|sawfl\w+|scale insects?|scale|slugs?|snails?|spiders?|"
    r"squirrels?|"
    r"termites?|thrips?|ticks?|voles?|wasps?|webworms?|weevils?|white ?fl(?:y|ies)|worms?|webbing"
)
_STRESS = _cue(
    r"compact(?:ed|ion)|drought|dry soil|environmental(?: stress| factors)?|freeze|frost|girdling|"
    r"hail|heat(?: stress| wave)?|insufficient water(?:ing)?|lack of water|not enough water|"
    r"very dry|"
    r"too dry|too wet|too much (?:water|sun)|herbicide (?:damage|drift|injury)|leaf scorch|"
    r"over-?water(?:ed|ing)|"
    r"physical damage|poor drainage|root[- ]bound|salt|scorch|snow|storm|stress(?:ed|ors?|ful)?|"
    r"sun ?burn(?:ed|t)?|sun ?scald|transplant shock|under-?water(?:ed|ing)|waterlogg\w+|"
    r"wind(?:burn)?|winter (?:burn|damage|injury|kill)|juglone|mower damage"
)
_WEED = _cue(
    r"bindweed|crabgrass|eradicate|herbicides?|glyphosate|invasive|nutsedge|spurge|taking over|"
    r"thistles?|weeds?|weeding|weedy|knotweed|noxious|roundup"
)
_IDENTIFY = _cue(
    r"identif\w+|what(?:'s|\u2019s| is| are| was)? (?:this|these|it|they|that|"
    r"those)(?! (?:happening|"
    r"going|doing|causing|wrong))|what (?:kind|type|sort|species|variety) (?:of|is|are)|"
    r"what (?:bug|insect|plant|tree|weed|flower|bush|shrub|spider|vine|caterpillar|moth|hawk|"
    r"bird)s?"
    r"(?: is| are)?|(?:the )?name of|i\.?d\.?(?: this| these| it| the| my| of)|is (?:this|it) an?|"
    r"are (?:these|they)|what (?:it|they|this|that|these) (?:is|are|might be|could be)"
)
_WRONG = _cue(
    r"ail(?:ing)?|brown(?:ing)?|chewed|curl(?:ed|ing|s)?|damaged?|dead|declin\w+|destroy\w+|die|"
    r"died|"
    r"dies|die ?back|died back|discolou?r\w*|disease[ds]?|distorted|droop(?:s|ed|ing|y)?|"
    r"drop(?:s|ped|"
    r"ping)?|dying|eat(?:en|ing)|fungus|going on|happening|harm\w*|holes|infect\w+|infest\w+|"
    r"kill(?:s|"
    r"ed|ing)|languish\w*|oozing|problems?|rot(?:s|ted|ting)?|save|shrivel\w*|sick|spots?|spotted|"
    r"stress\w*|struggl\w+|stunted|suffer\w*|treat|treated|treatment|unhealthy|wilt(?:s|ed|ing)?|"
    r"wither\w*|wrong|yellow(?:ed|ing)?|losing|trouble|not (?:bloom\w*|grow\w*|fruit\w*|leaf\w*|"
    r"produc\w*|do(?:ing)? well|thriv\w*)|poorly|bare"
)
_CONTROL = _cue(
    r"get(?:ting)? rid of|control(?:ling)?|eliminate|eradicat\w+|exterminat\w+|kill|manag(?:e|ing)|"
    r"remov(?:e|al|ing)|rid|stop (?:them|it)|prevent|spray|repel|deter"
)
_GROWING = _cue(
    r"amend(?:ment|ments)?|bulbs?|compost|cuttings?|divide|erosion|fertiliz\w+|garden bed|"
    r"germinat\w+|ground ?covers?|grow|growing|harden|harvest\w*|landscap\w+|lawn|mulch\w*|"
    r"native plants?|overseed\w*|overwinter\w*|plant|planted|planting|pollinat\w+|pot|potted|"
    r"propagat\w+|prun(?:e|ing)|raised beds?|replac\w+|repot\w*|root flare|seed(?:s|ed|ing|"
    r"lings?)?|"
    r"sod|soil|sow(?:ing)?|transplant\w*|trim(?:ming)?|water(?:ing|ed)?|winter"
)
# What is only looked for, or is not there, is no trouble of this plant.
_NOT_THERE = re.compile(
    r"\b(?:no|not|any|without|signs? of|check(?:ing)? for|monitor(?:ing)? for|watch(?:ing)? for|"
    r"look(?:ing)? for|rule out|ruled out|other potential|free of|haven['\u2019]t|don['\u2019]t|"
    r"can (?:also )?(?:promote|cause|lead to|exacerbate)|prevent|unless|"
    r"rather than)\b[^.,;!?()]{0,60}",
    re.IGNORECASE,
)
_COUNTED: tuple[tuple[Category, re.Pattern[str]], ...] = (
    ("pest", _PEST),
    ("disease", _DISEASE),
    ("environmental stress", _STRESS),
    ("nutrient deficiency", _DEFICIENCY),
    ("weed", _WEED),
)
_STRESSES = _cue(
    r"burn|damage|drought|edema|frost|girdling|injury|oedema|over-?watering|scald|scorch|shock|"
    r"stress|"
    r"sunburn|sunscald|toxicity|under-?watering|drift|decline"
)


def category_of(dialogue: Dialogue, names: Sequence[Named]) -> Category:
    """The category, by what the expert firmly names and by the words of both."""
    asked = " ".join([dialogue.title, *_said(dialogue, "grower")])
    said = " ".join(_said(dialogue, "expert"))
    kinds = {name.kind for name in names}
    identify, wrong = bool(_IDENTIFY.search(asked)), bool(_WRONG.search(asked))
    control = bool(_CONTROL.search(asked))
    if kinds:
        return _of_names(names, kinds, said, asked, told=wrong or control)
    scores = _scores(*(_NOT_THERE.sub(" ", text) for text in (said, asked)))
    if wrong and not any(scores.values()):
        scores = _scores(said, asked)
    best = max((each for each, _ in _COUNTED), key=lambda each: scores[each])
    weedy = bool(_WEED.search(asked)) and (control or identify)
    if weedy and not wrong:
        return "weed"
    if identify and not (wrong or control):
        return "generic identification"
    if not (wrong or control or identify):
        return "growing advice" if _GROWING.search(asked) else "other"
    if scores[best]:
        return best
    if identify:
        return "generic identification"
    return "growing advice" if _GROWING.search(asked) else "other"


def _of_names(
    names: Sequence[Named], kinds: Collection[Knowledge], said: str, asked: str, *, told: bool
) -> Category:
    """By what is named: the trouble before the animal, and that before the plant."""
    if ISSUE in kinds:
        name = next(each.name for each in names if each.kind == ISSUE)
        if _DEFICIENCY.search(name):
            return "nutrient deficiency"
        return "environmental stress" if _STRESSES.search(name) else "disease"
    if PEST in kinds:
        return "pest" if told or _CONTROL.search(said) else "generic identification"
    if SPECIES in kinds and (_WEED.search(asked) or _WEED.search(said)):
        return "weed"
    return "generic identification"


def _said(dialogue: Dialogue, speaker: str) -> list[str]:
    return [turn.text for turn in dialogue.turns if turn.speaker == speaker]


def _scores(said: str, asked: str) -> dict[Category, int]:
    """How much the words of expert and grower speak for each category of trouble."""
    scores = {each: 2 * _count(cue, said) + _count(cue, asked) for each, cue in _COUNTED}
    scores["nutrient deficiency"] *= 4  # few words say it, and those say nothing else
    return scores


def _count(cue: re.Pattern[str], text: str) -> int:
    """Different words of a list in a text: one said ten times is no stronger."""
    return len({found[0].casefold() for found in cue.finditer(text)})
