"""Sentences in which an expert says what to do: "Remove ...", "You can apply ...", "is treated by".

What only watches, looks, waits or asks is no measure. Steps come as numbered lists with a bold
word before each; that word is no part of the statement.
"""

import re
from dataclasses import dataclass

from fieldtruth.stages.facts.sentences import Sentence

_HEADING = re.compile(r"^(?:\*\*[^*\n]{2,60}\*\*\s*:?\s*|[A-Z][\w/&,' -]{2,40}:\s+)+")
_COMMA = r"[^,;:]{2,90},\s*"
_LEAD = re.compile(
    r"^(?:"
    r"(?:please|also|additionally|first(?:ly)?|second(?:ly)?|third|next|then|finally|lastly|"
    r"afterwards?|in the meantime|for now|meanwhile|instead|otherwise|and|so|but|just|simply|"
    r"always|"
    r"generally|regularly|carefully|gently|immediately|again|further(?:more)?|moreover|overall|"
    r"in addition|in general|in the future|going forward|as always|ideally|when possible|"
    r"if possible|yes|no|unfortunately|fortunately|therefore|thus|as such|now|currently|personally|"
    r"at this point|at this time|to be safe|of course|usually|typically|manually|thoroughly|"
    r"until then|however)\s*,?\s+|"
    rf"(?:to|for|if|when|whenever|once|since|during|after|before|in|by|as|with|while|given|"
    rf"because|until|at|on)\s{_COMMA}"
    r")",
    re.IGNORECASE,
)
_URGED = re.compile(
    r"^(?:"
    r"you (?:can|should|must|will need to|need to|will want to|have to|are going to have to|'ll "
    r"want to|'ll need to|would need to)\s+(?:also\s+|then\s+|simply\s+|certainly\s+|always\s+|"
    r"either\s+|try to\s+|still\s+|just\s+|safely\s+|easily\s+)*|"
    r"(?:i|we)(?:['\u2019]d| would| do| strongly| highly| generally| typically| always| also)*"
    r"\s+(?:recommend|suggest|advise|urge)(?: that you| you| you to| to)?\s+(?:either\s+)?|"
    r"my (?:recommendation|advice|suggestion) (?:is|would be) (?:to|that you)\s+|"
    r"(?:it(?:['\u2019]s| is)|the) (?:also |generally |usually |always |very |most |typically )*"
    r"(?:best|better|important|crucial|essential|recommended|advisable|advised|necessary|"
    r"a good idea|good practice|a good practice|helpful|critical|vital)(?: time| way| thing|"
    r" option)?"
    r"(?: to [\w ]{2,40} is)?(?: to| that you|:)\s+|"
    r"(?:be sure|make sure|remember|try|continue|aim|plan|focus on|start by|begin by|be careful|"
    r"take care)(?: to| that you| that| on)?\s+(?:always\s+)?|"
    r"(?:you )?(?:may|might) want to\s+|"
    r"consider\s+|let's\s+|do\s+"
    r")+",
    re.IGNORECASE,
)


def _words(text: str) -> list[str]:
    return text.split()


# Verbs that change something about the plant, the animal or the place.
_VERBS = _words(
    "add adjust aerate allow amend apply avoid bag bait bury burn change clean clear clip collect "
    "compost cover crush cultivate cut deadhead destroy dig discard dispose disinfect dislodge "
    "divide drain drown edge eliminate encourage ensure eradicate expose fertilize fertilise fill "
    "flood flush foster give grow handpick hand-pick hang harvest hoe hose improve incorporate "
    "increase install inter-plant introduce irrigate keep kill knock lay leave let level lighten "
    "lime limit lower maintain minimize mist mix move mow mulch overseed paint peel pick pinch "
    "place plant plow pour prevent promote protect provide prune pull put raise rake reapply "
    "reduce remove repair repeat replace replant repot reseed rinse rogue rotate sanitize scrape "
    "seal seed shade shake smother soak solarize sow space spot-treat spray spread sprinkle "
    "squash stake sterilize stop store strip submerge supplement supply support swap switch tamp "
    "thin till tie train transplant trap treat trim tuck uncover use vacuum wait wash water weed "
    "wipe withhold work wrap implement reestablish re-establish choose practice hand-dig "
    "top-dress refrain release exclude cage fence isolate quarantine"
)
_ING = {
    "dig": "digging", "cut": "cutting", "clip": "clipping", "drain": "draining", "put": "putting",
    "rub": "rubbing", "trim": "trimming", "thin": "thinning", "wrap": "wrapping", "let": "letting",
    "trap": "trapping", "bag": "bagging", "stop": "stopping", "strip": "stripping", "tie": "tying",
    "transplant": "transplanting", "swap": "swapping", "repot": "repotting", "tamp": "tamping",
    "top-dress": "top-dressing", "hand-dig": "hand-digging",
}  # fmt: skip


def _ing(verb: str) -> str:
    return _ING.get(verb) or f"{verb.removesuffix('e') if verb[-2:] != 'ee' else verb}ing"


_BEFORE = r"^(?:not\s+|never\s+|don['\u2019]t\s+|then\s+)?(?:[a-z]+ly\s+)?"
_DOES = re.compile(
    rf"{_BEFORE}(?:{'|'.join(_VERBS)})\s+(?=\w|[\"'(\u2018\u201c])",
    re.IGNORECASE,
)
_DOING = re.compile(
    rf"{_BEFORE}(?:{'|'.join(map(_ing, _VERBS))})\s+(?=\w|[\"'(\u2018\u201c])", re.IGNORECASE
)
# A sentence that begins "Pruning ..." is advice where it says what that is good for.
_GOOD = re.compile(
    r"\b(?:(?:can|will)(?: also| further)? (?:help|reduce|prevent|improve|control|limit|slow|"
    r"support|encourage)|helps|reduces|prevents|improves|(?:is|are) (?:also |always |generally |"
    r"usually |a |the |an )*(?:good|great|best|recommended|important|essential|effective|helpful|"
    r"key|crucial|necessary))\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:can|should|must|needs? to) (?:also |only |then |easily |usually |generally |best )*be "
    r"(?:applied|avoided|bagged|burned|controlled|cut|destroyed|discarded|disposed|divided|dug|"
    r"fertilized|handled|irrigated|kept|killed|managed|moved|mowed|picked|planted|pruned|pulled|"
    r"removed|replaced|rinsed|sprayed|thinned|treated|trimmed|used|washed|watered|dislodged|"
    r"hand-?(?:picked|dug|pulled)|physically removed|solarized|raked)\b|"
    r"\b(?:is|are) (?:best |usually |primarily |generally |mostly )*"
    r"(?:managed|controlled|treated|prevented) (?:by|with|through)\b|"
    r"\bshould be (?:very )?effective\b|\b(?:is|are) (?:also |very |most |"
    r"an? )*effective (?:against|for controlling|in controlling|"
    r"treatments?|for)\b|\bwill (?:control|kill|reduce|help (?:control|reduce|prevent)) the\b|"
    r"\b(?:is|are) (?:not |generally not |usually not )?(?:recommended|advised|warranted|needed)\b",
    re.IGNORECASE,
)
# Watching, looking and waiting are no measures; nor is what is said about the talk itself.
_IDLE = re.compile(
    r"^(?:keep (?:an eye|in mind|me|us|monitoring|checking|watching|up the)|"
    r"use (?:the (?:link|following|search|button)|this link|your (?:best )?judg)|"
    r"give (?:me|us|it a (?:try|shot|call))|let (?:me|us|them fend|it be)\b|"
    r"leave (?:it|them) alone$|allow (?:me|us)\b|wait (?:and see|to hear)|work with|"
    r"provide (?:more|me|us|a (?:photo|picture|description)|additional|clear)|"
    r"place (?:a|your) (?:coin|ruler|thumb)|ensure (?:the|that the|you have|your) (?:images?|"
    r"photos?|"
    r"pictures?)|put (?:a|your) (?:coin|ruler)|start (?:a )?new question|use a (?:coin|ruler))",
    re.IGNORECASE,
)
_SAYS_LITTLE = 6  # words: "Ensure a balanced approach." says nothing without what stands around it
_OF_HERSELF = re.compile(
    r"\b(?:i|we)(?:['\u2019](?:ve|ll|m|re))? (?:have|just|leave|use|put|"
    r"tie|do|"
                         r"prefer|like|usually|tried|did)\b", re.IGNORECASE)  # fmt: skip


# "Move it", "Handpick them": of what, the sentence does not say.
_OF_WHAT = re.compile(
    r"^(?:not |never |don['\u2019]t )?(?:[a-z]+ly )?[a-z-]+(?: (?:off|out|up|down|away|back))?"
    r" (?:it|them|this|these|those)(?: (?!\w+(?:s|es|ing)\b)|$|[.,;])",
    re.IGNORECASE,
)
_NONE_THERE = re.compile(
    r"\bthere (?:is|are) (?:currently |really |usually )?no\b|"
    r"\bthis (?:condition|disease|insect|issue|pest|problem|weed)\b|^cover with\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Measure:
    """What to do, from `start` to `end` of its sentence's text."""

    start: int
    end: int


def measure_in(sentence: Sentence) -> Measure | None:
    """The measure that a sentence tells, without the heading before it; None for none.

    >>> found = measure_in(Sentence("**Pruning**: Remove all infested branches in winter.", 0))
    >>> found.start
    13
    """
    text = sentence.text
    if sentence.asks or _OF_HERSELF.search(text) or _NONE_THERE.search(text):
        return None
    heading = _HEADING.match(text)
    start = heading.end() if heading else 0
    body = text[start:]
    if len(body.split()) < _SAYS_LITTLE:
        return None
    core = _core(body)
    if _IDLE.match(core):
        return None
    said = alone(body)
    if _OF_WHAT.match(core) and _led(said) == said:
        return None
    urged = core != _led(body)
    does = _DOES.match(core) or (_DOING.match(core) and (urged or _GOOD.search(core)))
    if does or _TOLD.search(body):
        return Measure(start, len(text))
    return None


# Words that tie a sentence to the one before it.
_TIED = re.compile(
    r"^(?:(?:additionally|also|instead|however|first(?:ly)?|second(?:ly)?|third|next|then|finally|"
    r"lastly|in addition|afterwards?|in the meantime|for now|meanwhile|otherwise|and|so|but|"
    r"further(?:more)?|moreover|overall|therefore|thus|as such|again|unfortunately|fortunately|"
    r"as for [\w ]{2,30}|(?:to (?:manage|address|treat|control|prevent|do|fix|combat|help with|"
    r"support) (?:this|these|it|them|that)(?: issues?| problems?)?))\s*,\s+)+",
    re.IGNORECASE,
)


def alone(body: str) -> str:
    """A measure without the words that tie it to what was said before.

    >>> alone("Additionally, to manage this, remove the leaves.")
    'remove the leaves.'
    """
    return _TIED.sub("", body, count=1)


def _led(body: str) -> str:
    """The sentence without what leads up to it."""
    for _ in range(8):
        less = _LEAD.sub("", body, count=1)
        if less == body:
            break
        body = less
    return body


def _core(body: str) -> str:
    """The sentence from its first verb of advice on: what leads up to that is taken off."""
    for _ in range(8):
        less = _URGED.sub("", _LEAD.sub("", body, count=1), count=1)
        if less == body:
            break
        body = less
    return body
