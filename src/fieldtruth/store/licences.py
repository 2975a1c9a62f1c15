"""What a licence as people write it is called elsewhere, and whether it lets photos be handed on.

Only a name that is certain is given: `CC BY` without its version, or a sentence, has none.
"""

import re
import unicodedata

_CC = re.compile(r"(?:cc|creative commons)[ -](by(?:-nc)?(?:-nd|-sa)?)[ -]?v?([1-4]\.0|2\.5)")
_NAMES = {
    "0bsd": "0BSD",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "cc0": "CC0-1.0",
    "cc0 1.0": "CC0-1.0",
    "cc0-1.0": "CC0-1.0",
    "gpl-3.0": "GPL-3.0-only",
    "mit": "MIT",
    "mit license": "MIT",
    "odbl": "ODbL-1.0",
    "odbl-1.0": "ODbL-1.0",
    "ogl-uk-3.0": "OGL-UK-3.0",
    "unlicense": "Unlicense",
    "the unlicense": "Unlicense",
}
_HUB = {  # ids that hubs know, where they are not the SPDX id in lower case
    "0BSD": "other",
    "GPL-3.0-only": "gpl-3.0",
    "ODbL-1.0": "odbl",
    "OGL-UK-3.0": "other",
}


# Words in a licence that forbid handing the photos on, or leave it open: such photos stay where
# they are and are named by their hash (design, section 4). Whole words, after `_words`.
NOT_REDISTRIBUTABLE = (
    "all rights reserved",
    "do not redistribute",
    "no licence",
    "no license",
    "no redistribution",
    "non redistributable",
    "not redistributable",
    "not specified",
    "not stated",
    "proprietary",
    "research only",
    "research use only",
    "unknown",
    "unlicensed",
    "unspecified",
)


def may_copy(licence: str) -> bool:
    """Whether a licence lets the photo be handed on; see `NOT_REDISTRIBUTABLE`. None: it does not.

    >>> may_copy("CC BY-NC-ND 4.0"), may_copy("Unknown"), may_copy("(c) me, all rights reserved")
    (True, False, False)
    """
    words = f" {_words(licence)} "
    return bool(words.strip()) and not any(f" {each} " in words for each in NOT_REDISTRIBUTABLE)


def _words(licence: str) -> str:
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", licence).casefold()).strip()


def spdx(licence: str) -> str | None:
    """The SPDX identifier, or None where the text does not name one licence for certain.

    >>> spdx("CC BY-NC-SA 4.0"), spdx("MIT"), spdx("CC BY"), spdx("ask me")
    ('CC-BY-NC-SA-4.0', 'MIT', None, None)
    """
    text = " ".join(licence.lower().split())
    if found := _CC.fullmatch(text):
        return f"CC-{found[1].upper()}-{found[2]}"
    return _NAMES.get(text)


def page(licence: str) -> str:
    """The address of the licence's text where its SPDX name is certain, else the words given."""
    known = spdx(licence)
    return f"https://spdx.org/licenses/{known}.html" if known else licence


def hub(licence: str) -> str:
    """The id that dataset hubs list it under: `cc-by-4.0`, `unknown`, or `other`.

    >>> hub("CC BY 4.0"), hub("Unknown"), hub("Not stated"), hub("ask me")
    ('cc-by-4.0', 'unknown', 'unknown', 'other')
    """
    known = spdx(licence)
    if known:
        return _HUB.get(known, known.lower())
    return "unknown" if licence.strip().lower() in _SILENT else "other"


_SILENT = ("unknown", "not stated", "not specified", "unspecified", "none")
