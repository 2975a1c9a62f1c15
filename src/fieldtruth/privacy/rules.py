"""Personal data that shows itself by its form: no model, no list of names, the core install.

Each rule is a pattern and the placeholder that stands for what it finds. Links are looked at first
and whole, so that the digits in the address of a fact sheet are no telephone number. `name` here is
only what is addressed, titled or signed as a person; names in running text are for `names`.
"""

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from fieldtruth.privacy import plants

Kind = Literal[
    "mail", "phone", "address", "place", "mail head", "coordinates", "link", "handle", "number",
    "name",
]  # fmt: skip


class Found(NamedTuple):
    """Where personal data stands in a text, and of what kind. Never what it says."""

    start: int
    end: int
    kind: Kind


PLACEHOLDER = re.compile(r"<?<[a-z][a-z ]{2,30}>>?")  # ours, and those a release brought along

_LINK = re.compile(r"(?:https?://|www\.)[^\s<>\"']+", re.I)
# Links that lead to a person's own things, or carry who follows them.
_PRIVATE = re.compile(
    r"//(?:[^/]*\.)?(?:photos\.app\.goo\.gl|photos\.google\.com|drive\.google\.com"
    r"|docs\.google\.com|dropbox\.com|icloud\.com|1drv\.ms|onedrive\.live\.com|facebook\.com|instagram\.com|flickr\.com"
    r"|imgur\.com|linkedin\.com|twitter\.com|x\.com|nextdoor\.com|goo\.gl/maps"
    r"|maps\.app\.goo\.gl)/"
    r"|[?&;](?:u?id|user\w*|uid|token|key|e-?mail|sig\w*|auth\w*|usp|session\w*|fbclid|gclid|mc_eid"
    r"|contact\w*|member\w*)="
    r"|/(?:users?|profiles?|members?|people)/\w"
    r"|[/=](?-i:(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z]))\w{20,}"
    r"|[\w.+-]{1,64}(?:@|%40)[\w-]{1,64}\.\w",
    re.I,
)
_MAIL = re.compile(
    r"[\w.+'-]{1,64}(?:@| ?[\[(] ?at ?[\])] ?)[\w-]{1,63}"
    r"(?:(?:\.| ?[\[(] ?dot ?[\])] ?)[\w-]{2,63})+"
    r"|\b[\w.+-]{2,64} at [\w-]{2,63} dot (?:com|org|net|edu|gov)\b",
    re.I,
)
_PHONE = re.compile(
    r"(?<![\w.#/-])(?:\+?1[-. ]{0,2})?(?:\(\d{3}\) ?|\d{3}[-. /])\d{3}[-. ]\d{4}(?![\w-])"
    r"|(?<![\w.])\+\d{1,3}(?:[ .()-]{0,2}\d{2,5}){2,5}(?!\w)"
    r"|(?<![\w.])(?:0|91[- ]?)?[6-9]\d{4}[ -]?\d{5}(?!\w)"
    r"|(?<![\w./-])0\d{2,4}-\d{6,8}(?!\w)"
    r"|(?i:\b(?:call|text|phone|tel|telephone|mobile|cell|fax|number|reach me|whatsapp)\b)"
    r"[^\d\n]{0,25}(?<![\d.])\d{3}[-. ]?\d{4}(?![\w-])"
    r"|(?i:\bnumber\b[^\d\n]{0,20}\bending (?:in|with) )\d{3,4}\b"
)
_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Drive|Dr|Lane|Ln|Court|Ct|Circle|Cir|Boulevard|Blvd|Way|Place"
    r"|Pl|Terrace|Ter|Trail|Trl|Parkway|Pkwy|Highway|Hwy|Route|Rte|Pike|Loop|Nagar|Marg)"
)
_STATE = r"[A-Z]{2}"
_ADDRESS = re.compile(
    rf"\b\d{{1,6}}[A-Z]? (?:[NSEW]{{1,2}}\.? |North |South |East |West )?"
    rf"(?:[A-Z][\w'’.-]*|\d+(?:st|nd|rd|th))(?: [A-Z][\w'’.-]*){{0,3}} {_STREET}\b\.?"
    rf"(?:,? (?:Apt|Unit|Suite|#) ?\w+)?(?:,? (?:[A-Z][\w'’.-]+ ?){{1,3}},? {_STATE}(?: \d{{5}})?)?"
    r"|\b(?i:P\.? ?O\.? Box) \d+"
    rf"|\b(?:[A-Z][\w'’.-]+ ){{0,3}}[A-Z][\w'’.-]+,? {_STATE},? \d{{5}}(?:-\d{{4}})?\b"
    rf"|\b{_STATE} \d{{5}}(?:-\d{{4}})?\b"
    r"|\b(?i:zip ?(?:code)?|pin ?code|postal code)(?: is)?:? ?\d{5,6}(?:-\d{4})?\b"
)
_COUNTY = re.compile(
    r"\b(?:[A-Z][\w'’.-]*,? (?:and |& )?){1,3}(?:County|Counties|Parish|Tehsil|Taluka)\b"
)
_BEFORE = re.compile(
    r"(?:(?:In|The|At|From|For|Near|Of|And|Our|My|This|Your|We|I|Is|Are|Also|Hi|Hello|Dear|Local|State"
    r"|Your|Every|Each|Any|To|Located|By|Please|Contact|Call|Western|Eastern|Northern|Southern"
    r"|Central),? )+"
)
_HEAD = re.compile(
    r"\b(?:From|To|Cc|Bcc|Reply-To|Sender|Delivered-To|Return-Path): ?[^\n:]{0,80}?"
    r"(?:@|<<?(?:mail|personal data hidden)>>?|\[mailto)[^\n]{0,80}"
    r"|\bMessage-ID: ?\S+"
    r"|\bOn [^\n]{6,120}?\bwrote:"
    r"|\b(?:Sent|Date): (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, [^\n]{6,60}?(?=To:|Subject:|\n|$)",
)
_COORDINATES = re.compile(
    r"[-+]?\b\d{1,2}\.\d{3,}° ?[NS]?,? *[-+]?\d{1,3}\.\d{3,}°? ?[EW]?"
    r"|[-+]?\b\d{1,3}\.\d{3,} ?[NSEW]?, *[-+]?\d{1,3}\.\d{3,} ?[NSEW]?"
    r"|\b\d{1,3}° ?\d{1,2}['′’](?: ?\d{1,2}(?:\.\d+)?[\"″”]?)? ?[NSEW]\b"
    r"|\b(?i:lat(?:itude)?|lon(?:g(?:itude)?)?)[ :=.]{1,3}[-+]?\d{1,3}\.\d{2,}"
)
_HANDLE = re.compile(
    r"(?<![\w.@])@[A-Za-z]\w{2,30}\b"
    r"|\b(?i:skype|whatsapp|telegram|instagram|twitter)(?: id)?: ?[\w.@-]{3,}"
)
_NUMBER = re.compile(
    r"\(?#\d{6,8}\)?|\b\d{3}-\d{2}-\d{4}\b|\b(?i:aadhaar|kisan id|account|licen[cs]e|case|ticket) "
    r"(?:no\.?|number|#):? ?[\w-]*\d[\w-]{3,}"
)

# ----------------------------------------------------------------------------------------- names

_LETTER = r"[^\W\d_]"
_NAME = (
    rf"(?<!\w){_LETTER}(?:\.|[\w'’-]{{0,30}}{_LETTER})"
    rf"(?: {_LETTER}(?:\.|[\w'’-]{{0,30}}{_LETTER})){{0,3}}"
)
_GREETING = (
    r"(?:hi|hiya|hello|hey|dear|greetings|good (?:morning|afternoon|evening|day)|namaste|thanks"
    r"|thank you|thx|many thanks|cheers|regards|sincerely|best|welcome)"
)
_GREETED = re.compile(
    rf"\b(?i:{_GREETING})(?:,? (?i:again|there|so much|very much))?[,-]? ({_NAME})"
    r"(?=\s*(?:[,!:.;?–-]|$|\n))"
)
_TITLED = re.compile(
    rf"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Shri|Smt|Pastor|Rev)\.? ({_NAME})"
)
_CALLED = re.compile(
    rf"\b(?i:my name is|my name's|name is|named after|this is|signed,?) ({_NAME})"
    r"(?=\s*(?:[,!.;]|$|\n| and | from | with ))"
)
_SIGNED = re.compile(rf"(?:(?<=[.!?)])\s+|\n)(?:[-–—]{{1,2}} ?)?({_NAME})[\s.]*\Z")
_POSTED = re.compile(
    rf"({_NAME}), (?:[A-Z][\w.]+ ){{0,3}}"
    r"(?:Master Gardener|Extension (?:Agent|Educator|Specialist))"
)
_NONE = re.compile(r"['’](?:ll|m|ve|re|d|t)$|^[A-Z]{2,}$")  # "I'll", "UMD"
# Words with a capital that follow a greeting or stand alone at the end and are nobody.
_NOBODY = """
    all everyone everybody folks friend friends sir madam sirs team there again expert experts
    gardener gardeners master extension service for to the you your so and it i we this that these
    please thank thanks help hi hello dear good morning afternoon evening day regards best wishes
    luck photo photos picture pictures attached yes no ok okay any advice what why how is are new
    more see below above update mr mrs ms dr happy sorry great much very in advance ask question
    plant plants tree trees garden home lawn horticulture plantix usa us uk india kisan bhai
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december spring summer fall autumn winter christmas
    university college state county department office clinic lab earth note none unknown
"""


def find(text: str) -> list[Found]:
    """Every piece of personal data that has a form, in the order of the text, none overlapping.

    >>> [found.kind for found in find("Hi Ann, call 410-555-0134 or write to ann@example.org")]
    ['name', 'phone', 'mail']
    """
    found = [Found(*match.span(), "mail head") for match in _HEAD.finditer(text)]
    taken = [match.span() for match in PLACEHOLDER.finditer(text)]
    taken += [(each.start, each.end) for each in found]
    for kind, finder in _FINDERS:
        for start, end in finder(text):
            if all(end <= first or last <= start for first, last in taken):
                taken.append((start, end))
                if kind is not None:
                    found.append(Found(start, end, kind))
    return sorted(found)


def _links(text: str) -> Iterator[tuple[int, int]]:
    for match in _LINK.finditer(text):
        if _PRIVATE.search(match[0]):
            yield match.span()


def _plain_links(text: str) -> Iterator[tuple[int, int]]:
    """Links to public pages stay as they are, and nothing in them is looked at."""
    for match in _LINK.finditer(text):
        if not _PRIVATE.search(match[0]):
            yield match.span()


def _by(pattern: re.Pattern[str]) -> Callable[[str], Iterator[tuple[int, int]]]:
    return lambda text: (match.span() for match in pattern.finditer(text))


def _counties(text: str) -> Iterator[tuple[int, int]]:
    for match in _COUNTY.finditer(text):
        skipped = _BEFORE.match(match[0])
        start = match.start() + (skipped.end() if skipped else 0)
        if " " in text[start : match.end()].strip():
            yield start, match.end()


def _names(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_TITLED, _GREETED, _CALLED, _SIGNED, _POSTED):
        for match in pattern.finditer(text):
            end = _person(match[1], greeted=pattern in (_TITLED, _GREETED))
            if end == len(match[1]) or (end and pattern is _TITLED):
                yield match.start(1), match.start(1) + end


def _person(run: str, *, greeted: bool) -> int:
    """How many letters at the start of a run of words are somebody's name: its capital words.

    A plant's name is nobody's, unless it is one word and greeted ("Hi Rose,").

    >>> _person("Ann Poe", greeted=False), _person("Rose", greeted=True)
    (7, 4)
    >>> _person("Rose", greeted=False), _person("I'll answer", greeted=False)
    (0, 0)
    """
    words = []
    for match in re.finditer(r"\S+", run):
        bare = match[0].strip(".,'’")
        if not bare[:1].isupper() or _NONE.search(bare) or bare.casefold() in _NOBODY.split():
            break
        words.append(match)
    if not words:
        return 0
    name = run[: words[-1].end()]
    if plants.covers(name) and not (greeted and len(words) == 1):
        return 0
    return len(name)


_FINDERS: tuple[tuple[Kind | None, Callable[[str], Iterator[tuple[int, int]]]], ...] = (
    ("link", _links), (None, _plain_links), ("mail", _by(_MAIL)),
    ("coordinates", _by(_COORDINATES)), ("phone", _by(_PHONE)), ("number", _by(_NUMBER)),
    ("handle", _by(_HANDLE)), ("address", _by(_ADDRESS)), ("place", _counties), ("name", _names),
)  # fmt: skip
