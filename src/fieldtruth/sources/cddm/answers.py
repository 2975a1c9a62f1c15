"""What an answer names in the light of its photo's folder."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from fieldtruth.records import Kind
from fieldtruth.sources.cddm.classes import Folder, Name, other_letters, plain_text, read_folder
from fieldtruth.taxonomy import lexicon, normalise, resolve, wordlists

_DIAGNOSIS = re.compile(
    r"\b(?:what (?:is|are) (?:this|these|it|wrong)|(?:what|which) (?:\w+ )?(?:disease|pest|"
    r"problem)|wrong with|identif\w+|diagnos\w+|recogni[sz]e|name the|tell)\b",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"\b(?:fungicides?|pesticides?|insecticides?|spray\w*|cure[sd]?|remed\w+|treat\w*|prevent\w*|"
    r"avoid\w*|manag\w+)\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not(?! only)|no(?! doubt)|never|neither|nor|without(?! (?:a |any )?doubt)|cannot|"
    r"free (?:of|from)|rather than|instead of|unlike|unlikely|rule[sd]? out|anything but|far from|"
    r"doubtful)\b|n't\b"
)
_HINTS = (
    "no", "n't", "ne", "without", "free ", "rather", "instead", "unlike", "rule", "anything but",
    "far from", "doubtful",
)  # fmt: skip
# What follows a name where the answer says that it is not there.
_NOT_AFTER = re.compile(
    r"\s*(?:disease\s+)?(?:(?:(?:is|are|was|were|has been|have been|can be|could be|seems|appears|"
    r"looks|does|do|did|can|could|would|may|will|should)\s+)(?:(?:clearly|certainly|definitely|most|"
    r"very|highly|also|therefore|thus|probably|likely|to be)\s+)*(?:not(?! (?:only|just|merely|the "
    r"only|alone|rare|uncommon|unlikely))|never|absent|excluded|ruled out|unlikely|nowhere|missing|"
    r"free)\b|(?:is|are|was|were|does|do|did|ca|could|would|has|have)n't\b|cannot\b)"
)
_AFTER_HINTS = ("not", "n't", "never", "absent", "exclud", "ruled", "unlikely", "where", "missing",
                "free")  # fmt: skip
_WELL_HINTS = ("health", "normal", "no ", "not ", " free")
_WORD = re.compile(r"[^\W_]+")
_ASCII = "".join(letter if letter.isalnum() else " " for letter in map(chr, range(128)))
_TO_DO = wordlists.ACTIONS | wordlists.ORDERS
# Where a clause begins: looked for apart, since a search for either is several times as slow.
_STOP = re.compile(r"[.,;:!?]\s")
_TURN = re.compile(r"(?<!anything )\b(?:but|however|instead it)\b")
_TURN_HINTS = ("but", "however", "instead it")
_NEXT = re.compile(r"\s*(?:(?:,?\s*(?:and/or|and|or)|/|,)\s*)(?:a |an |the )?(?P<name>[^.,;:!?/]+)")
_BEFORE = re.compile(
    r"(?:^|[.,;:!?/]\s*|\b(?:with|by|as|from|of|has|have|had|is|are|shows?|both|and)\s+)"
    r"(?:a |an |the )?(?P<name>(?:(?!\b(?:and|or|with|by|from|has|have)\b)[^.,;:!?/])+?)"
    r"\s*(?:,?\s*(?:and/or|and|or)|/|,)$"
)
# What stands right before a name where the answer says that it is there.
_JOINED = (" and", " or", ",", "/", " /")
_LEADS = (
    " the", " a", " an", " with", " by", " from", " of", " has", " have", " had", " is", " as",
    " to", " shows", " show", " showing", " exhibits", " exhibiting", " likely", " probably",
    " called", " named", " in", ":",
)  # fmt: skip
_TO_END = (
    r"(?P<name>[^.,;:!?()\n]+?)"
    r"(?=\s+(?:that|which|who|but|or|and|on|in|at|taken|photographed|causing)\b|[.,;:!?()\n]|$)"
)
_ASSERTED = re.compile(
    r"\b(?P<lead>(?:afflicted|affected|infected|infested|attacked|damaged|diseased|caused|"
    r"diagnosed)\s+(?:with|by|as|from)|suffer\w*\s+from|(?:symptoms|signs)\s+of|identified\s+as|"
    r"has|have)\s+" + _TO_END,
    re.IGNORECASE,
)
# Parts of which an answer has one where `_ASSERTED` finds a lead-in: one that ends in -ed, or not.
_STEMS_ED = (
    "ffected", "fflicted", "nfected", "nfested", "ttacked", "amaged", "iseased", "aused",
    "iagnosed", "dentified",
)  # fmt: skip
_STEMS = ("has ", "have ", "ymptoms of", "igns of", "uffer")
_IS = re.compile(
    r"\W*(?:(?:yes|no)\b\W*)?(?:the\s+)?(?P<lead>(?:it|this|that|disease|problem|pest|diagnosis)\s+"
    r"is(?:\s+called)?)\s+" + _TO_END,
    re.IGNORECASE,
)
_FIRM = (" with", " by", " as", " from", " of")  # ends of lead-ins that only names follow
SHORT = 60  # letters; a longer answer is no bare name, number or "unknown"
_STATES = re.compile(
    r"(?:(?:yes|no)\b\W*)?(?:(?:the|this|that)\s+)?(?:this|that|it|these|they|image|picture|photo|"
    r"leaf|plant|crop|leaves)\b[^.]{0,30}?\b(?:is|are|isn't|shows?|depicts?|comes?|belongs?|"
    r"appears?|looks?|has)\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(r"\W*(?:yes|no|true|false|correct|incorrect)\b", re.IGNORECASE)
_ILL = ("diseased", "unhealthy", "disease", "infected", "sick", "abnormal")
_EMPTY = frozenset(("", "unknown", "unclear", "none", "na", "n a", "general", "not sure"))
_ARTICLE = re.compile(r"(?:a|an|the|some|severe|mild|possible)\s+", re.IGNORECASE)


class Well(NamedTuple):
    """A healthy plant."""

    crop: str | None


@lru_cache(maxsize=65536)
def asks(question: str) -> str | None:
    """What a question is after: `management`, `cause`, `plant_id`, or none of them.

    One that asks for the name as well ("what is this, and how do I treat it?") is after the name.
    """
    asked = "action" if _MEANS.search(question) else lexicon.asked_for(question)
    if asked in ("action", "cause"):
        return None if _DIAGNOSIS.search(question) else {"action": "management"}.get(asked, asked)
    return "plant_id" if asked == "plant" else None


Said = Name | Well | str


def said(folder: str, question: str, answer: str) -> Said:
    """What an answer names in the light of its photo's folder, or why it is no target.

    `folder` may be a path.
    """
    others = other_letters(answer)
    if others and 2 * others > sum(map(str.isalpha, answer)):
        return "other_language"
    asked = asks(question)
    if asked in ("management", "cause"):
        return asked
    about, plain = read_folder(folder), plain_text(answer)
    told = _mention(about, plain) if about.name is not None else None
    if told is not None and told[2]:
        return _named(about, answer, plain, told)
    if about.healthy and "healthy" in plain:
        well = _mention_of("healthy", plain)
        advice = _STATES.match(answer) is None and _tells_what_to_do(answer, plain)
        if well is not None and well[2] and not advice:  # "to keep healthy, water it" tells nothing
            return Well(about.crop)
    other = _other(about, answer, plain)
    if other is not None:
        return other
    if told is not None:  # it is named and said not to be there
        return "contradicts_folder"
    nothing = _nothing_named(about, asked, answer, plain)
    return "other_language" if others and nothing == "names_nothing" else nothing


_Mention = tuple[int, int, bool]  # where it begins and ends, and whether it is affirmed


def _mention(about: Folder, plain: str) -> _Mention | None:
    """Where an answer says the folder's name in one of its forms, affirmed if it ever is."""
    denied = None
    for form in about.forms:
        found = _mention_of(form, plain)
        if found is not None and found[2]:
            return found
        denied = denied or found
    return denied


def _mention_of(form: str, plain: str) -> _Mention | None:
    """Where a text says some words as whole words, affirmed if they ever are."""
    denied: _Mention | None = None
    at = plain.find(form)
    while at >= 0:
        end = at + len(form)
        before, after = plain[at - 1 : at], plain[end : end + 1]
        if not before.isalnum() and not after.isalnum():
            if not _denied(plain[:at]) and not _denied_after(plain[end:]):
                return at, end, True
            denied = denied or (at, end, False)
        at = plain.find(form, end)
    return denied


def any_in(parts: tuple[str, ...], text: str) -> bool:
    """Whether a text has one of these parts; a third of the time of `any`."""
    for part in parts:  # noqa: SIM110
        if part in text:
            return True
    return False


def _denied(before: str) -> bool:
    """Whether what comes before a name in its clause denies it.

    >>> _denied("no, it is not affected by "), _denied("it is not late blight but ")
    (True, False)
    """
    if not any_in(_HINTS, before):  # most texts deny nothing, and this is ten times as fast
        return False
    begin = 0
    for stop in _STOP.finditer(before):
        begin = stop.end()
    if any_in(_TURN_HINTS, before):
        begin = max([begin, *(turn.end() for turn in _TURN.finditer(before))])
    return _NOT.search(before, begin) is not None


def _denied_after(after: str) -> bool:
    """Whether what comes after a name denies it.

    >>> _denied_after(" was not found"), _denied_after(" is not the only trouble")
    (True, False)
    """
    return any_in(_AFTER_HINTS, after) and _NOT_AFTER.match(after) is not None


def _named(about: Folder, answer: str, plain: str, told: _Mention) -> Name | str:
    assert about.name is not None
    start, end, _ = told
    if plain.startswith(_JOINED, end) and _second(about, plain[end:]):
        return "several_things"
    before = plain[:start].rstrip()
    if before.endswith(_JOINED) and _first(about, before):
        return "several_things"
    if before and not before.endswith(_LEADS):
        longer = before.rpartition(" ")[2] + plain[start - 1 : end]
        known = resolve(longer, about.crop).label
        if known is not None and known.id != about.name.label and not _is_crop(before):
            return "contradicts_folder"  # late blight, where the folder says blight
        if _tells_what_to_do(answer, plain):
            return "management"
    return about.name


def _is_crop(before: str) -> bool:
    """Whether the last word is a crop's name: "apple scab" is the scab of its folder.

    >>> _is_crop("this is apple"), _is_crop("this is late")
    (True, False)
    """
    return lexicon.crop_in(before.rpartition(" ")[2]) is not None


def _second(about: Folder, after: str) -> bool:
    """Whether another disease follows that is named beside the first."""
    found = _NEXT.match(after)
    if found is None or about.name is None:
        return False
    thing = _thing(found["name"], about.crop)
    return thing is not None and thing.kind is not None and thing.id != about.name.label


def _first(about: Folder, before: str) -> bool:
    """Whether another disease or pest stands before, that is named beside this one."""
    found = _BEFORE.search(before)
    if found is None or about.name is None or _denied(before[: found.start("name")]):
        return False
    thing = _thing(found["name"], about.crop)
    return thing is not None and thing.kind in ("disease", "pest") and thing.id != about.name.label


def _other(about: Folder, answer: str, plain: str) -> Name | str | None:
    """A name in the answer that is written otherwise than the folder's, or is another thing's."""
    found = []
    if any_in(_STEMS, plain) or ("ed" in plain and any_in(_STEMS_ED, plain)):
        found += [(hit["lead"], hit["name"], hit.start()) for hit in _ASSERTED.finditer(answer)]
    if hit := _IS.match(answer):
        found.append((hit["lead"], hit["name"], 0))
    if len(answer) < SHORT and not found:
        found.append(("", answer.strip().rstrip("."), 0))
    against = None
    for lead, name, at in found:
        thing = _thing(name, about.crop)
        if thing is None or _denied(answer[:at].casefold()):
            continue
        if about.name is not None and thing.id == about.name.label:
            return about.name
        if about.name is None and not about.healthy:
            if thing.kind is not None:  # the folder cannot be read: the answer gives the spelling
                return Name(thing.kind, thing.id, about.crop or lexicon.crop_in(answer))
        elif thing.kind is not None or (lead.casefold().endswith(_FIRM) and thing.large):
            against = "contradicts_folder"
    return against


@dataclass(frozen=True, slots=True)
class _Thing:
    """A name in an answer: its id, its kind where the taxonomy knows it, a first capital."""

    id: str
    kind: Kind | None
    large: bool


@lru_cache(maxsize=65536)
def _thing(name: str, crop: str | None) -> _Thing | None:
    name = _ARTICLE.sub("", name.strip(), count=1)
    if not normalise(name):
        return None
    found = resolve(name, crop)
    return _Thing(found.id, found.label.kind if found.label else None, name[:1].isupper())


def _nothing_named(about: Folder, asked: str | None, answer: str, plain: str) -> Well | str:
    """Why an answer that names no disease names none, the most telling reason first."""
    states = _STATES.match(answer) is not None
    to_do = not states and _tells_what_to_do(answer, plain)
    advice = to_do and about.healthy
    if not advice and any_in(_WELL_HINTS, plain) and "healthy" in lexicon.words_in(answer):
        return Well(about.crop) if about.healthy else "contradicts_folder"
    if to_do:
        return "management"
    if states or asked == "plant_id":
        ill = any_in(_ILL, plain)
        if not ill and (about.says_crop(plain) or lexicon.crop_in(answer)):
            return "plant_id"
    if _YES_NO.match(answer):
        return "yes_no"
    if len(answer) < SHORT and lexicon.measurement(answer):
        return "measurement"
    if len(answer) < SHORT and normalise(answer) in _EMPTY:
        return "vacuous"
    return "names_nothing"


def _tells_what_to_do(answer: str, plain: str) -> bool:
    # The lexicon takes fifty times as long.
    words = plain.translate(_ASCII).split() if plain.isascii() else _WORD.findall(plain)
    if _TO_DO.isdisjoint(words):
        return False
    return "action" in lexicon.words_in(answer)
