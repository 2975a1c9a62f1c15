"""Copies: papers that are one paper by hash, DOI, title or text.

The text is compared by shingles, runs of eight words, of which each paper keeps the 400 with the
lowest hashes; what two such samples share estimates what the texts share (Broder, 1997).
"""

import re
from collections import defaultdict
from hashlib import blake2b

from fieldtruth.papers.references import title_key

RUN = 8  # words of a shingle
KEPT = 400  # of a paper
ALIKE = 0.5  # of the lower hashes of both that both have: one text in two layouts
_TITLE = 25  # letters that a title has at least, so that "Editorial" is none

_WORD = re.compile(r"[^\W_]+")


def sketch(text: str) -> tuple[int, ...]:
    """The lowest hashes of a text's shingles, ascending. A text of hardly any words has none."""
    words = _WORD.findall(text.casefold())
    if len(words) < 20 * RUN:
        return ()
    runs = {" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}
    hashes = (int.from_bytes(blake2b(run.encode(), digest_size=8).digest()) for run in runs)
    return tuple(sorted(set(hashes))[:KEPT])


def alike(a: tuple[int, ...], b: tuple[int, ...]) -> float:
    """The share of two texts' shingles that both have, estimated from their sketches."""
    if not a or not b:
        return 0.0
    lowest = sorted({*a, *b})[: min(len(a), len(b))]
    both = {*a} & {*b}
    return sum(each in both for each in lowest) / len(lowest)


class Copies:
    """What has been seen; the first of several is the one that is kept."""

    def __init__(self) -> None:
        self._hash: dict[str, str] = {}
        self._doi: dict[str, str] = {}
        self._title: dict[str, tuple[str, str | None]] = {}
        self._text: dict[str, tuple[int, ...]] = {}
        self._where: dict[int, list[str]] = defaultdict(list)

    def same_file(self, sha256: str) -> str | None:
        """The file that has the same bytes."""
        return self._hash.get(sha256)

    def same_paper(
        self, doi: str | None, title: str | None, text: tuple[int, ...]
    ) -> tuple[str, str] | None:
        """The file that is the same paper, and how that is known."""
        if doi and doi in self._doi:
            return self._doi[doi], f"DOI {doi}"
        known = self._title.get(title_key(title or ""))
        if known and not (doi and known[1] and doi != known[1]):
            return known[0], "title"
        for name in sorted({name for each in text for name in self._where.get(each, ())}):
            share = alike(text, self._text[name])
            if share >= ALIKE:
                return name, f"text, {share:.0%} alike"
        return None

    def add(
        self, name: str, sha256: str, doi: str | None, title: str | None, text: tuple[int, ...]
    ) -> None:
        """Remember a paper."""
        self._hash.setdefault(sha256, name)
        if doi:
            self._doi.setdefault(doi, name)
        key = title_key(title or "")
        if len(key) >= _TITLE:
            self._title.setdefault(key, (name, doi))
        self._text[name] = text
        for each in text:
            self._where[each].append(name)
