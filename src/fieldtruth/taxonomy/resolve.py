"""From a name as somebody wrote it to the label that it means, and why.

A name is looked up as it stands, then with what class names put around it taken away, then
without its crop. What a lookup tries, the first that answers: our own table, the labels, the
synonyms, the organisms, and a spelling with other blanks. A word that leads to two
labels leads to none of them: it stays what it is, and the labels are named as a collision. With a
crop only labels of that crop are meant, so a collision may end, and a label that is another with
the crop put to it ("bacterial spot of tomato") is that other.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from fieldtruth.taxonomy.data import Label, book, label, letters, one_species, plainly, species
from fieldtruth.taxonomy.spelling import crop_named, normalise, one_crop_name, spelled, spellings
from fieldtruth.taxonomy.synonyms import OF_CROP, SYNONYMS, TAILS

_LEADS = ("a ", "an ", "the ", "leaf ", "leaves ")
_ASIDE = re.compile(r"[(\uff08]([^()\uff08\uff09]*)[)\uff09]?")
_LONGEST = 500  # letters; what is longer is nobody's name, and is not kept
_SPECIFIC = ("virus", "viroid", "phytoplasma")  # such a name means one thing without its host


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a name means: the label id, the ways it was come by in order, and what is known.

    `label` is None for a name that the data do not have. `collision` names the labels of a word
    that leads to several; `crop` is the crop that was given, or that the name holds.
    """

    name: str
    id: str
    how: tuple[str, ...]
    crop: str | None = None
    label: Label | None = None
    collision: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    ids: tuple[str, ...]
    how: str


def resolve(name: str, crop: str | None = None) -> Resolution:
    """The label that a name means, on this crop where one is given. Never raises.

    >>> found = resolve("Powder Mildew")
    >>> found.id, found.how
    ('powdery mildew', ('case', 'synonym of ours'))
    >>> resolve("Phytophthora infestans", "potato").id
    'late blight'
    """
    found = _with_asides(name, crop_id(crop) if crop else None)
    return replace(found, name=name, how=(*_written(name, normalise(name)), *found.how))


def label_id(name: str, crop: str | None = None) -> str:
    """The one id of a label, whatever way it is written; of this crop's label where one is given.

    >>> label_id("Powder Mildew")
    'powdery mildew'
    >>> label_id("bacterial spot of tomato", "tomato")
    'bacterial spot'
    """
    return _id(name, crop) if len(name) <= _LONGEST else normalise.__wrapped__(name)


@lru_cache(maxsize=65536)
def _id(name: str, crop: str | None) -> str:
    return _with_asides(name, crop_id(crop) if crop else None).id


@lru_cache(maxsize=4096)
def crop_id(name: str) -> str:
    """The one id of a crop: corn and maize are one.

    >>> crop_id("Corn"), crop_id("bell peppers")
    ('maize', 'pepper')
    """
    return crop_named(name, book().crops)


def _with_asides(name: str, crop: str | None) -> Resolution:
    """The whole name; where nobody knows it, it without its brackets, then what they hold.

    >>> label_id("Esca (Black Measles)"), label_id("Haunglongbing_(Citrus_greening)")
    ('esca', 'citrus greening')
    """
    once = _crop_once(name)
    whole = _resolve(normalise(once), crop)
    if once != name:
        whole = replace(whole, how=("one name of its crop", *whole.how))
    if whole.label is not None or whole.collision or _ASIDE.search(once) is None:
        return whole
    parts = [(_ASIDE.sub(" ", name), "without its brackets")]
    parts += [(aside, "what is in brackets") for aside in _ASIDE.findall(name)]
    for part, way in parts:
        found = _resolve(normalise(part), crop)
        if found.label is not None:
            return replace(found, how=(way, *found.how))
    return whole


def _crop_once(name: str) -> str:
    """A name that begins with its crop under two names, the second in brackets, with the first.

    >>> label_id("Corn_(maize)___Common_rust_"), label_id("Corn (maize) common rust", "corn")
    ('maize common rust', 'common rust')
    """
    aside = _ASIDE.search(name)
    crop = crop_id(normalise(name[: aside.start()])) if aside else ""
    if aside is None or crop not in book().crops or crop_id(normalise(aside[1])) != crop:
        return name
    return f"{name[: aside.start()]} {name[aside.end() :]}"


def _written(name: str, plain: str) -> tuple[str, ...]:
    if name == plain:
        return ()
    return ("case",) if name.casefold() == plain else ("punctuation or blanks",)


@lru_cache(maxsize=65536)
def _resolve(plain: str, crop: str | None) -> Resolution:
    text = spelled(plain)
    how = () if text == plain else ("spelling",)
    collision: tuple[str, ...] = ()
    for form, ways in _forms(text, crop):
        found = _lookup(form, crop)
        if found is None:
            continue
        if len(found.ids) == 1:
            return _narrowed(Resolution(plain, found.ids[0], (*how, *ways, found.how)), crop)
        collision = collision or found.ids
        if form == text:
            break  # the name itself is ambiguous; less of it is no better
    if not collision:
        for form, ways in _forms(text, crop):
            weak = _guess(form, crop)
            if weak is not None:
                return _narrowed(Resolution(plain, weak.ids[0], (*how, *ways, weak.how)), crop)
        held = None if crop else _held(text)
        if held is not None:
            return held
    other = one_crop_name(text)
    if other != text and text not in book().synonyms:
        return replace(_resolve(other, crop), name=plain, how=(*how, "crop's other name"))
    return Resolution(plain, text, (*how, "as written"), crop, label(text), collision)


def _narrowed(found: Resolution, crop: str | None) -> Resolution:
    """The label without the crop, where that is a label of the crop with the same organism."""
    what = label(found.id)
    while crop and what is not None and what.base != what.id:
        base = label(what.base)
        if base is None or crop not in base.hosts or not _alike(what.on(crop), base.on(crop)):
            break
        if base.id not in (rest for rest, _ in _without(what.id, crop)):
            break  # "pinyon blister rust": more than the crop is gone from the base
        found = replace(found, id=base.id, how=(*found.how, f"on {crop}"))
        what = base
    return replace(found, crop=crop, label=what)


def _alike(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether two lists of organisms may be of one species; unknown may be any."""
    if not first or not second:
        return True
    return any(kin(a, b) for a in first for b in second)


def kin(a: str, b: str) -> bool:
    """Whether two organisms are one species, or one is only given as the genus of the other.

    >>> kin("Fusarium oxysporum f. sp. melonis", "Fusarium"), kin("Pythium", "Phytophthora")
    (True, False)
    """
    first, second = species(a), species(b)
    short = min(len(first), len(second))
    return short > 0 and first[:short] == second[:short]


def _forms(text: str, crop: str | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name, then less and less of it, each with what was taken away."""
    yield text, ()
    seen = {text}
    forms = [(text, ())] if not crop else [(text, ()), *_without(text, crop)]
    for form, ways in forms:
        for less, way in _trimmed(form):
            if less not in seen:
                seen.add(less)
                yield less, (*ways, *way)


def _without(text: str, crop: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    way = (f"crop {crop}",)
    for word in spellings(crop):
        if text.startswith(f"{word} "):
            yield text.removeprefix(f"{word} "), way
        elif text.endswith((f" of {word}", f" on {word}")):
            yield text[: -len(word) - 4], way
        elif text.endswith(f" {word}"):
            yield text.removesuffix(f" {word}"), way


def _trimmed(form: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield form, ()
    tail = next((tail for tail in TAILS if form.endswith(f" {tail}")), None)
    lead = next((lead for lead in _LEADS if form.startswith(lead)), None)
    if tail:
        yield spelled(form.removesuffix(f" {tail}")), (f"without {tail!r}",)
    if lead:
        yield form.removeprefix(lead), (f"without {lead.strip()!r}",)
    if tail and lead:
        both = spelled(form.removesuffix(f" {tail}").removeprefix(lead))
        yield both, (f"without {lead.strip()!r}", f"without {tail!r}")


def _lookup(form: str, crop: str | None) -> _Found | None:
    if crop and (crop, form) in OF_CROP:
        return _Found((OF_CROP[crop, form],), f"synonym of ours on {crop}")
    if form in SYNONYMS:
        return _Found((SYNONYMS[form],), "synonym of ours")
    data = book()
    if form in data.lines:
        return _Found((form,), "label")
    if form in data.synonyms:
        return _Found(_of(crop, data.synonyms[form]), "synonym")
    caused = _caused(form, crop)
    if caused:
        return _Found(caused, "organism")
    loose = data.loose.get(letters(form))
    return _Found(_of(crop, loose), "blanks") if loose else None


def _caused(form: str, crop: str | None) -> tuple[str, ...]:
    """The labels of an organism: on the crop; else those that no other organism is known for.

    So the fungus of one rust never stands for the rusts of all crops. A genus names too much.
    """
    if " " not in form:
        return ()
    found = [what for name in book().organisms.get(form, ()) if (what := label(name))]
    own = [what for what in found if crop and crop in what.hosts]
    here = [what for what in own if any(plainly(o) == form for o in what.on(crop))]
    alone = (what for what in own or found if what.is_one_thing() or one_species(what.organisms))
    return tuple(what.id for what in here or alone)


def _of(crop: str | None, ids: tuple[str, ...]) -> tuple[str, ...]:
    """Those of a crop, if there are any and one was given."""
    if crop is None or len(ids) == 1:
        return ids
    own = tuple(name for name in ids if (what := label(name)) and crop in what.hosts)
    return own or ids


def _guess(form: str, crop: str | None) -> _Found | None:
    """The one label that this is the name of on the crop: without its host, or its first word."""
    data = book()
    if crop:
        for word in spellings(crop):
            for whole in (f"{word} {form}", f"{form} of {word}"):
                if whole in data.lines:
                    return _Found((whole,), f"label of {crop}")
    ids = data.bases.get(form, ())
    if crop:
        ids = tuple(name for name in ids if (what := label(name)) and crop in what.hosts)
    elif not form.endswith(_SPECIFIC):
        ids = ()
    if len(ids) == 1:
        return _Found(ids, "label without its host")
    if crop and (form in _genera() or len(_starting(form)) == 1):
        own = [name for name in _starting(form) if (what := label(name)) and crop in what.hosts]
        if len(own) == 1:
            return _Found((own[0],), f"first word of one label of {crop}")
    return None


@cache
def _genera() -> frozenset[str]:
    """First words of organisms that are no crop, as a virus' name may begin with one."""
    return frozenset(organism.split()[0] for organism in book().organisms) - book().crops


@lru_cache(maxsize=4096)
def _starting(word: str) -> tuple[str, ...]:
    """The labels that begin with this one word."""
    if " " in word or not word:
        return ()
    return tuple(name for name in book().lines if name.startswith(f"{word} "))


def _held(text: str) -> Resolution | None:
    """A name that holds a crop: the label without it, if that means one thing on all its hosts."""
    for crop in crops_in(text):
        for rest, ways in _without(text, crop):
            found = _lookup(rest, crop)
            if found is None or len(found.ids) != 1:
                continue
            what = label(found.ids[0])
            if what and crop in what.hosts and what.is_one_thing():
                return Resolution(text, what.id, (*ways, found.how), crop, what)
    return None


def crops_in(name: str) -> tuple[str, ...]:
    """The crops of the data that a name begins or ends with.

    >>> crops_in("Tomato___Late_blight"), crops_in("powdery mildew of bell pepper")
    (('tomato',), ('pepper',))
    """
    text = normalise(name)
    words = one_crop_name(text).split()
    ends = {" ".join(words[:n]) for n in (1, 2)} | {" ".join(words[-n:]) for n in (1, 2)}
    return tuple(sorted(crop for crop in map(crop_id, ends) if crop in book().crops))
