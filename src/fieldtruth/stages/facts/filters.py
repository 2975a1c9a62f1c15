"""What keeps a statement from being a fact: doubt, and being sent elsewhere (AgMMU, section 3.2).

AgMMU leaves out what its experts are not certain of ("may", "not sure", "unclear") and advice
that sends the grower to somebody else ("lab", "arborist"). Here each word stands in a group with
the reason it is there; all are whole words, in any case. Phrases that hold such a word and mean
the contrary ("no doubt", "no need for an arborist", "in May") are taken out first.
"""

import re
from collections.abc import Mapping

# ------------------------------------------------------------------------- certain after all

# Hold a doubting word and doubt nothing.
_CERTAIN = (
    r"no doubt", r"without (?:a |any )?doubt", r"beyond (?:a |any )?(?:reasonable )?doubt",
    r"undoubtedly", r"doubtless", r"not (?:at all )?(?:unsure|uncertain|unclear|unlikely)",
    r"(?:if|as|where|when|whenever|wherever) (?:at all )?possible",
    r"as (?:soon|much|many|early|far|close|little|quickly|often) as possible",
    r"(?:more|most|less|least|less and less|"
    r"more and more) likely to",  # compares, as "spreads more"
    r"(?:it |that |this )?(?:can|could) not be (?:clearer|plainer)", r"potted",
    r"seemingly every\w*", r"not (?:just )?suspect", r"no question",
    r"(?:reduc|lower|increas|decreas|minimi[sz]|limit|rais)\w*(?: the| its| their)? "
    r"(?:likelihood|possibility|probability|chances?)", r"as likely(?: as not)? to",
)  # fmt: skip
# The month, which has a capital and follows a preposition, a part of it, or stands by a number.
_MONTH = re.compile(
    r"\b(?:in|by|of|until|till|through|to|and|or|from|since|during|mid|late|early|before|after|"
    r"around|between|april|march|june)[ -]+May\b|\bMay(?=[ -]+(?:\d|and June|or June|to June|"
    r"through|until))|\b\d{1,2} May\b|(?:April|March)[/-]May\b|\bMay[/-]June\b",
)

# ------------------------------------------------------------------------------------ doubt

DOUBT: Mapping[str, tuple[str, ...]] = {
    # It may be so, or not: AgMMU's annotators look for "may" first of all.
    "possible": ("may", "might", "could", "possible", "possibly", "possibility",
                 "possibilities", "can also be", "can look like"),
    # How probable the expert holds it: less than certain, however high.
    "probable": ("maybe", "perhaps", "probably", "probable", "likely", "likelihood", "presumably",
                 "potentially", "conceivably", "apparently", "unlikely", "chances are"),
    # The expert's opinion, told as one.
    "opinion": (r"(?:i|we|i'd|i would|we would)(?:'d|'m| am| do| also| still| really| can only| "
                r"would| just)* (?:think|believe|suspect|guess|assume|imagine|presume|suppose|"
                r"wonder(?:ing)?|feel|say|lean(?:ing)?|suspecting|guessing|assuming)",
                "my (?:best |first )?guess", "my (?:hunch|suspicion|thought|impression|theory)",
                "in my opinion", "suspected", "suspicion", "suspicious"),
    # How it strikes one, on words or photos alone. "Looks like" and "appears to be" are how
    # experts name what they see: see `soft`.
    "semblance": ("seem", "seems", "seemed", "seemingly", "sounds? like", "sounds? as",
                  "as if", "as though", "gives? the impression", "resembles?", "similar to",
                  "suggestive of", "hints? at", r"points? (?:to|toward|towards)",
                  "reminds? me"),
    # Said outright: the expert does not know.
    "not known": ("not (?:entirely |completely |quite |really |very |absolutely |100% |too |so )?"
                  "(?:sure|certain|clear|positive|confident|convinced)", "unsure", "uncertain",
                  "unclear", "unknown", "unidentified", "undetermined", "unconfirmed", "doubt",
                  "doubtful", r"(?:do not|don't|don\u2019t|does not|doesn't) (?:really |quite )?"
                  "(?:know|recognize|recognise)", "no idea", "no clue",
                  r"(?:hard|difficult|challenging|tough|impossible|tricky) (?:for \w+ )?to "
                  r"(?:\w+ )?(?:tell|say|know|determine|identify|diagnose|see|pinpoint|distinguish|"
                  "narrow)", r"(?:can't|can\u2019t|cannot|can not|couldn't|unable to|not able to|"
                  "aren't able to|isn't enough to) (?:\\w+ )?(?:tell|say|determine|identify|"
                  "diagnose|"
                  "see|be sure|be certain|confirm|rule)", "puzzl(?:ed|ing)", "perplexing",
                  "mystery", "mysterious", "stumped", "guesswork", "inconclusive",
                  "needs? to be confirmed", "to be certain", "to be sure", "for sure"),
}  # fmt: skip
# More than one answer is open, or none is named: no identification, though advice may say so.
OPEN: Mapping[str, tuple[str, ...]] = {
    "open": ("one or the other", "(?:several|many|various|numerous|a few|different|other|two|"
             "multiple|a number of|a variety of|any number of) (?:different |possible |potential |"
             "other )?(?:causes|reasons|possibilities|explanations|factors|things|issues|problems)",
             "or something (?:else|similar|like)", "some (?:kind|sort|type|form) of",
             "a combination of", "a type of", "either"),
}  # fmt: skip

# --------------------------------------------------------------------------------- referral

# No need of them: the advice is not to go there.
_NOT_SENT = (
    r"(?:no|not|without|don't|don\u2019t|doesn't|doesn\u2019t|never) (?:really |usually |always |"
    r"yet )?(?:a |an |any |the )?(?:need(?:ed|s)?|have|necessary|worth|require[sd]?|"
    r"recommend(?:ed)?|"
    r"reason)?(?: for| to| of| a| an| any| the| call| hire| consult| contact| send| it| in| use| "
    r"pay)*(?= (?:arborist|lab|laboratory|professional|professionals|expert|test|sample|company|"
    r"specialist)s?\b) \w+",
)

REFERRAL: Mapping[str, tuple[str, ...]] = {
    # The answer will be a laboratory's or a test's (AgMMU: "lab").
    "lab": ("lab", "labs", "laboratory", "laboratories", "diagnostics?", "plant (?:and pest )?"
            "clinic", "clinic", "samples?", "soil tests?", "soil testing", "test (?:kit|kits)",
            "test (?:the|your|for)(?: soil)?", "tested", "get (?:it|them) tested"),
    # The answer, or the work, will be another person's (AgMMU: "arborist").
    "person": ("arborists?", "tree (?:care )?(?:service|services|company|companies|professional|"
               "professionals|expert|experts|surgeon|specialist)", "professionals?",
               "professionally", "experts?", "specialists?", "contractors?",
               "landscapers?", "landscape (?:company|companies|designer|architect|service)",
               "exterminators?", "(?:licensed|certified|commercial|pesticide) applicators?",
               "pest control (?:company|companies|operator|operators|service|services|expert)",
               "lawn (?:care )?(?:service|company|companies)", "pathologists?", "entomologists?",
               "agronomists?", "botanists?", "horticulturists?", "consultants?", "inspectors?",
               "technicians?", "veterinarians?", "vet", "doctors?", "physicians?", "poison control",
               "nursery staff", "garden cent(?:er|re)s?", "local nursery", "nurserymen",
               "the manufacturer", "authorities"),
    # An office, an agency or an institution.
    "office": ("extension", "master gardeners?", "county office", "agency", "agencies",
               "department of \\w+", "dnr", "usda", "epa", "forest service", "university",
               "universities", "city (?:hall|forester)", "forester", "hotline", "helpline"),
    # To ask, call, write or send something to somebody; what is dosed by asking is no advice.
    "call": ("consult", "consulting", "contact", "contacting", "hire", "hiring", "reach out",
             "get in touch", "seek (?:out )?(?:advice|help|guidance|assistance)",
             "call (?:a|an|the|your|us|me|in|them)", "phone (?:a|the|us|"
             "me)", "e-?mail", "write to", "report (?:it|this|them|the|your|any)",
             "submit(?:ting)?", "send(?:ing)? (?:it|them|us|me|a|an|in|the|photos?|pictures?|"
             "some|more)",
             "bring (?:it|them|a|in|some)", "ask (?:your|a|"
             "an|the|them)", "inquire", "enquire", "refer to", "upload", "reply", "let (?:me|"
             "us) know", "post (?:a|more|another|new)", "feel free",
             "second opinion", "evaluated by", "assessed by", "inspected by", "quote"),
    # The answer is in a text elsewhere.
    "text": ("https?", "www", "websites?", "web ?pages?", "links?", "fact ?sheets?", "articles?",
             "publications?", "bulletins?", "brochures?", "booklets?", "guides?", "pdf",
             "resources?", "google", "youtube", "videos?", "click", "scroll", "search (?:for|"
             "online|the)", "see (?:our|here|below|above|attached|page)",
             "check (?:out|this|these|our|the following)", "read (?:more|about|this|the|up)",
             "learn more", "more information", "for details", "look up", "page \\d+"),
}  # fmt: skip

# Names what is seen and leaves a door open: certain only where the expert asks nothing back.
_SOFT = ("looks?", "looked", "appears?", "appeared", "consistent with", "match(?:es)?", "suggests?",
         "indicates?", "indicative")  # fmt: skip


def _either(phrases: tuple[str, ...]) -> str:
    return "|".join(phrase.replace(" ", r"\s+") for phrase in phrases)


def _groups(lists: Mapping[str, tuple[str, ...]]) -> re.Pattern[str]:
    parts = (f"(?P<{name.replace(' ', '_')}>{_either(words)})" for name, words in lists.items())
    return re.compile(rf"(?<![\w'\u2019])(?:{'|'.join(parts)})(?![\w'\u2019]|-\w)", re.IGNORECASE)


def _whole(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_either(phrases)})(?!\w)", re.IGNORECASE)


_ASSURED, _UNSENT, _SEEMING = _whole(_CERTAIN), _whole(_NOT_SENT), _whole(_SOFT)
_DOUBTING, _SENDING, _OPEN = _groups(DOUBT), _groups(REFERRAL), _groups(OPEN)
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'"})


def _plain(text: str) -> str:
    return text.translate(_APOSTROPHES)


def doubt(text: str) -> str | None:
    """The first word that doubts what is said, with its group, or None: "possible: may".

    >>> doubt("It may be rust"), doubt("No doubt, spray it in May"), doubt("I am not sure")
    ('possible: may', None, 'not known: not sure')
    """
    return _first(_DOUBTING, _ASSURED.sub(" ; ", _MONTH.sub(" ; ", _plain(text))))


def open_ended(text: str) -> str | None:
    """The first word that leaves open which of several things it is, or None."""
    return _first(_OPEN, _plain(text))


def soft(text: str) -> bool:
    """Whether it names by look ("looks like", "appears to be"): an answer, but not a firm one."""
    return _SEEMING.search(_plain(text)) is not None


def referral(text: str) -> str | None:
    """The first word that sends the grower elsewhere, with its group, or None.

    >>> referral("Send it to a lab"), referral("You do not need an arborist; prune it")
    ('call: Send it', None)
    """
    return _first(_SENDING, _UNSENT.sub(" ; ", _plain(text)))


def _first(lists: re.Pattern[str], text: str) -> str | None:
    found = lists.search(text)
    if found is None or found.lastgroup is None:
        return None
    return f"{found.lastgroup.replace('_', ' ')}: {' '.join(found[0].split())}"


# ----------------------------------------------------------------------------- asking back

_BACK = re.compile(
    r"\b(?:(?:could|can|would|will) you|please)(?: please| also| kindly| possibly)* "
    r"(?:provide|describe|share|send|give|specify|confirm|clarify|upload|attach|take|post)\b"
    r"[^.?!]{0,90}?\b(?:photos?|pictures?|images?|pics?|details?|descriptions?|information|"
    r"characteristics?|appearance|symptoms?|features?|close-?ups?|samples?|location|region|size|"
    r"colou?r|shape|spots|type|species|variety|bugs|growth|whether|if)\b|"
    r"\b(?:more|closer?|clear(?:er)?|additional|another|better|further) (?:close-up )?"
    r"(?:photos?|pictures?|images?|pics?)\b",
    re.IGNORECASE,
)


def asks_back(text: str) -> bool:
    """Whether an expert asks for more before deciding.

    >>> asks_back("Could you provide more details?"), asks_back("Prune it now.")
    (True, False)
    """
    return _BACK.search(text) is not None
