"""The shipped labels, read on first use: which there are, and what is known about each.

`labels.tsv` lies beside this file; `build.py` makes it. Its head names the hosts and the sources
with their licences; each line below is one label. Lines are kept as they are and
taken apart when a label is asked for, so that reading costs some tens of milliseconds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

from fieldtruth.records import Kind
from fieldtruth.taxonomy.spelling import one_crop_name

FILE = Path(__file__).with_name("labels.tsv")
COLUMNS = ("label", "kind", "part", "base", "synonyms", "hosts", "organisms", "sources")
_PUNCTUATION = str.maketrans("-_/", "   ", ".,'()[]×\"")


@dataclass(frozen=True, slots=True)
class Label:
    """What is known about one label.

    `hosts` gives for each host the organisms that cause the label on it (none where unknown);
    `read_off` names the hosts that were read off the name; `organisms` are all, those of no host
    included; `base` is the name without its host; `part` is a hint read off the name.
    """

    id: str
    kind: Kind
    part: str
    base: str
    synonyms: tuple[str, ...]
    hosts: Mapping[str, tuple[str, ...]]
    read_off: frozenset[str]
    organisms: tuple[str, ...]
    sources: tuple[str, ...]

    def on(self, crop: str | None) -> tuple[str, ...]:
        """The organisms behind it on this crop; all of them where the crop is not among its hosts.

        A pest is one organism wherever it sits. A disease may be another on each host ("bacterial
        spot"), so none are known on a host for which the data name none.
        """
        if crop is None or crop not in self.hosts or self.kind in ("pest", "weed"):
            return self.organisms
        return self.hosts[crop]

    def is_one_thing(self) -> bool:
        """Whether it means the same everywhere, as far as the data tell.

        A disease: on one host at most, or of one species that is known on each of them. A pest: of
        one species, under whatever genus. A weed: no two species of one genus, for
        its several Latin names are of several times.
        """
        if self.kind == "weed":
            found = {species(organism) for organism in self.organisms}
            return len({first for first, *_ in filter(None, found)}) == len(found)
        if self.kind == "pest":
            return len({plainly(organism).split()[-1] for organism in self.organisms}) <= 1
        if len(self.hosts) <= 1:
            return len({species(organism) for organism in self.organisms}) <= 1
        return all(self.hosts.values()) and one_species(self.organisms)


def plainly(organism: str) -> str:
    """An organism's name as `normalise` makes it; the builder checks that, for speed.

    >>> plainly("Puccinia graminis f. sp. tritici")
    'puccinia graminis f sp tritici'
    """
    return " ".join(organism.casefold().translate(_PUNCTUATION).split())


def species(organism: str) -> tuple[str, ...]:
    """Genus and species, normalised, without authors, ranks and "sp."; a virus' whole name."""
    words = plainly(organism).split()
    words = [word for word in words if word not in ("sp", "spp", "candidatus", "cf")]
    return tuple(words if "virus" in words or "viroid" in words else words[:2])


def one_species(organisms: Iterable[str]) -> bool:
    """Whether they are all of one species, and there is one."""
    return len({species(organism) for organism in organisms}) == 1


class Book:
    """All labels, and what leads to them."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.crops: frozenset[str] = frozenset()
        self.licences: dict[str, str] = {}
        self.lines: dict[str, str] = {}
        self.synonyms: dict[str, tuple[str, ...]] = {}
        self.bases: dict[str, tuple[str, ...]] = {}
        self.loose: dict[str, tuple[str, ...]] = {}
        for line in lines:
            if line.startswith("#"):
                self._head(line)
            else:
                self._line(line)

    def _head(self, line: str) -> None:
        what, _, rest = line.partition("\t")
        if what == "#hosts":
            self.crops = frozenset(rest.split("|"))
        elif what == "#source":
            source, _, licence = rest.partition("\t")
            self.licences[source] = licence

    def _line(self, line: str) -> None:
        name, _, _, base, synonyms, _ = line.split("\t", 5)
        self.lines[name] = line
        _add(self.loose, letters(name), name)
        _add(self.bases, base or name, name)
        if synonyms:
            for synonym in synonyms.split("|"):
                _add(self.synonyms, synonym, name)
                _add(self.loose, letters(synonym), name)

    @cached_property
    def organisms(self) -> dict[str, tuple[str, ...]]:
        """Organism, normalised -> the labels that it causes; made when first asked for."""
        index: dict[str, tuple[str, ...]] = {}
        for name, line in self.lines.items():
            for organism in filter(None, line.split("\t")[6].split("|")):
                _add(index, plainly(organism), name)
        return index


def _add(index: dict[str, tuple[str, ...]], key: str, name: str) -> None:
    there = index.get(key, ())
    if name not in there:
        index[key] = (*there, name)


def letters(name: str) -> str:
    """What two spellings have in common that differ in blanks or in a crop's name."""
    return one_crop_name(name).replace(" ", "")


@cache
def book() -> Book:
    """The shipped labels, read once."""
    return Book(FILE.read_text(encoding="utf-8").splitlines())


def names() -> tuple[str, ...]:
    """The ids of all labels, sorted."""
    return tuple(sorted(book().lines))


@lru_cache(maxsize=4096)
def label(name: str) -> Label | None:
    """What is known about the label of this id, or None where it is not one of the data."""
    line = book().lines.get(name)
    if line is None:
        return None
    _, kind, part, base, synonyms, hosts, organisms, sources = line.split("\t")
    rows = [row.partition("=") for row in _parts(hosts)]
    return Label(
        id=name,
        kind=kind,  # type: ignore[arg-type]  # the builder writes nothing else
        part=part,
        base=base or name,
        synonyms=_parts(synonyms),
        hosts={host.lstrip("~"): _parts(causes, ";") for host, _, causes in rows},
        read_off=frozenset(host[1:] for host, _, _ in rows if host.startswith("~")),
        organisms=_parts(organisms),
        sources=_parts(sources),
    )


def _parts(text: str, mark: str = "|") -> tuple[str, ...]:
    return tuple(text.split(mark)) if text else ()
