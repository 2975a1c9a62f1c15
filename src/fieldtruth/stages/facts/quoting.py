"""Where quoted words stand in a text, though blanks, quotation marks and dashes were changed.

A model that quotes makes one blank of three, straight quotes of curly ones and drops the bold
marks. That much is forgiven and nothing else: a letter that differs is another word. What comes
back is a span of the text as it is, so the exact words can be kept.
"""

import unicodedata
from functools import lru_cache

_LIKE = {
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'", "`": "'",
    "\u00b4": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u00ab": '"',
    "\u00bb": '"', "\u2033": '"', "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-",
    "\u2014": "-", "\u2015": "-", "\u2212": "-", "\u2026": "...",
}  # fmt: skip
_NOTHING = frozenset("*_#\u00ad\u200b\u200c\u200d\u2060\ufeff")


@lru_cache(maxsize=256)
def normalised(text: str) -> tuple[str, list[int]]:
    """The text in one way of writing, and for each of its letters the place it came from.

    Case stays: it is the letters' own. Compatibility forms (NFKC) are one with what they stand
    for. Blanks of any kind and number are one blank.
    """
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        if letter in _NOTHING:
            continue
        if letter.isspace() or not letter.isprintable():
            if letters and letters[-1] != " ":
                letters.append(" ")
                places.append(place)
            continue
        made = _LIKE.get(letter) or unicodedata.normalize("NFKC", letter)
        for each in made:
            letters.append(each)
            places.append(place)
    return "".join(letters), places


def span(words: str, text: str) -> tuple[int, int] | None:
    """Where the words stand first in the text, (start, end), or None where they do not.

    They begin and end where words do: "rust" is not in "crust". A trailing full stop, and quotation
    marks around the whole, are not asked for. Case at the very beginning may differ.

    >>> span('the  "rust"', "It is the \u201crust\u201d."), span("rust", "crusty")
    ((6, 16), None)
    """
    plain, places = normalised(text)
    for want in _asked(normalised(words)[0].strip()):
        at = plain.find(want)
        while at >= 0:
            end = at + len(want)
            if not (_inside(plain, at) or _inside(plain, end)):
                return places[at], places[end - 1] + 1
            at = plain.find(want, at + 1)
    return None


def _asked(words: str) -> list[str]:
    """What is looked for, in turn; nothing where there is not one letter."""
    forms = [words, words.strip("\"' ."), words.strip("\"' .,;:!")]
    for form in tuple(forms):
        forms += [form[:1].swapcase() + form[1:]]
    return [form for form in dict.fromkeys(forms) if any(map(str.isalnum, form))]


def _inside(text: str, at: int) -> bool:
    """Whether a place is within a word."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
