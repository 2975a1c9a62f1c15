"""One name, two meanings: where the sources of the labels disagree.

A collision merges nothing. The name stays what it is, its labels are never each other's rival in
a list, and a crop may tell which is meant. A person who knows better writes it into `synonyms`.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from fieldtruth.records import Record
from fieldtruth.taxonomy.data import book, label, one_species

Why = Literal["synonym_of_several", "synonym_is_a_label", "differs_in_blanks", "several_organisms"]


class Meaning(Record, frozen=True, kw_only=True):
    """One label that a name may mean, with what tells it from the others."""

    label: str
    kind: str
    hosts: tuple[str, ...]
    organisms: tuple[str, ...]
    sources: tuple[str, ...]


class Collision(Record, frozen=True, kw_only=True):
    """A name and its meanings: a synonym of several labels, a synonym of one that is itself
    another, two labels that differ in blanks alone, or a label with several organisms on one host.
    """

    name: str
    why: Why
    meanings: tuple[Meaning, ...]
    host: str | None = None


def collisions() -> list[Collision]:
    """All of them, by reason and name."""
    return sorted(_all(), key=lambda each: (each.why, each.name, each.host or ""))


def _all() -> Iterator[Collision]:
    data = book()
    for synonym, owners in data.synonyms.items():
        if synonym in data.lines:
            yield _collision(synonym, "synonym_is_a_label", (synonym, *owners))
        elif len(owners) > 1:
            yield _collision(synonym, "synonym_of_several", owners)
    by_letters: dict[str, set[str]] = defaultdict(set)
    for name in data.lines:
        by_letters[name.replace(" ", "")].add(name)
        what = label(name)
        for host, organisms in what.hosts.items() if what else ():
            if len(organisms) > 1 and not one_species(organisms):
                yield _collision(name, "several_organisms", (name,), host)
    for alike in by_letters.values():
        if len(alike) > 1:
            yield _collision(min(alike), "differs_in_blanks", tuple(sorted(alike)))


def _collision(name: str, why: Why, labels: tuple[str, ...], host: str | None = None) -> Collision:
    meanings = tuple(_meaning(each, host) for each in dict.fromkeys(labels))
    return Collision(name=name, why=why, meanings=meanings, host=host)


def _meaning(name: str, host: str | None) -> Meaning:
    what = label(name)
    assert what is not None, name  # the indexes hold labels only
    return Meaning(
        label=name,
        kind=what.kind,
        hosts=(host,) if host else tuple(what.hosts),
        organisms=what.on(host) if host else what.organisms,
        sources=what.sources,
    )
