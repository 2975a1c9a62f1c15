"""Make `labels.tsv` from the gathered vocabularies.

    python -m fieldtruth.taxonomy.build FOLDER [OUT]

FOLDER holds `taxonomy_raw.csv` (a row a name) and `taxonomy_pairs.csv` (a row a name and host).
Left out: the descriptions of symptoms; rows all of whose sources are share-alike or state no
licence, and from the rows that stay those sources, the hosts that only they give, and
synonyms where no source that may be carried over gives any. Merged: names that differ in spelling,
names that `synonyms` calls one thing, and a pest's Latin name with the one label of that species.
The same input gives the same bytes.
"""

import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fieldtruth.faults import Usage
from fieldtruth.taxonomy import synonyms as ours
from fieldtruth.taxonomy.data import COLUMNS, FILE, plainly, species
from fieldtruth.taxonomy.spelling import crop_named, normalise, spelled, spellings

LEFT_OUT = frozenset({"wikipedia_fruit_lists", "caps_host_lists"})
SOURCES: Mapping[str, str] = {
    "aps_via_planteome_pso": "names are facts (APS common names); file in CC BY 4.0 repository",
    "aps_via_samara": "names are facts (APS common names); repository MIT",
    "dataset_classes_via_agml": "class names are facts; agml metadata Apache-2.0",
    "defra_fera_pest_names": "OGL v3",
    "inatag_weeds_via_agml": "Apache-2.0",
    "ip102_classes": "class names are facts",
    "phi_base_phido": "CC BY 3.0",
    "planteome_pdo": "CC BY 4.0",
    "planteome_pso": "CC BY 4.0",
    "planteome_to": "CC BY 4.0",
    "plantseg_classes": "class names are facts",
    "plantvillage_classes_via_agml": "class names are facts; agml metadata Apache-2.0",
    "usfs_dca": "US public domain",
    "wordnet": "WordNet 3.0 licence",
    "wssa_composite_list_2023": "names are facts; repository MIT",
}
_WITH_SYNONYMS = frozenset({"defra_fera_pest_names", "planteome_pso", "planteome_to", "wordnet"})
_KINDS = {"disease": "disease", "pest": "pest", "weed": "weed", "deficiency": "stress",
          "other": "stress"}  # fmt: skip


@dataclass
class Entry:
    """One label while it is being put together."""

    kind: str
    part: str = ""
    base: str = ""
    synonyms: set[str] = field(default_factory=set)
    hosts: dict[str, set[str]] = field(default_factory=dict)
    stated: set[str] = field(default_factory=set)
    organisms: set[str] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)


def build(folder: Path) -> str:
    """The whole text of `labels.tsv`; `Usage` where a source or kind is not known here."""
    rows = [row for row in _rows(folder / "taxonomy_raw.csv") if _sources(row)]
    latin = _latin(rows)
    entries: dict[str, Entry] = {}
    where: dict[tuple[str, str], str] = {}  # label and kind as the data have them -> its id
    for row in rows:
        plain = _id(row["label"])
        name = where[row["label"], row["kind"]] = latin.get(plain, ours.SYNONYMS.get(plain, plain))
        _put(entries, name, row, plain)
    for pair in _rows(folder / "taxonomy_pairs.csv"):
        name = where.get((pair["label"], pair["kind"]), "")
        if name and _sources(pair):
            _host(entries[name], pair)
    words = {word: host for host in _hosts(entries) for word in spellings(host)}
    for name, entry in entries.items():
        _finish(name, entry, words)
        entry.organisms -= {each for each in entry.organisms if _id(each) in entries}
    return "\n".join([*_head(entries), *(_line(name, entries[name]) for name in sorted(entries))])


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise Usage(f"{path}: expected the gathered vocabulary, got {error}") from error


def _sources(row: Mapping[str, str]) -> set[str]:
    """Those that may be carried over."""
    named = set(row["source"].split("|")) - LEFT_OUT
    unknown = named - set(SOURCES)
    if unknown:
        raise Usage(f"{row['label']!r}: expected sources of `SOURCES`, got {sorted(unknown)}")
    return named


def _id(name: str) -> str:
    return spelled(normalise(_mended(name)))


def _mended(text: str) -> str:
    """A letter that was read in the wrong code page: "moli\\x8ares" is from a DOS file."""
    return "".join(
        bytes([ord(each)]).decode("cp850") if "\x80" <= each <= "\x9f" else each for each in text
    )


def _latin(rows: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Pests that stand under their Latin name -> the one label of that species under another."""
    named: dict[tuple[str, ...], set[str]] = defaultdict(set)
    under: dict[str, tuple[str, ...]] = {}
    for row in rows:
        plain = _id(row["label"])
        for organism in filter(None, row["scientific_name"].split("|")):
            if row["kind"] != "pest":
                continue
            if plain == _id(organism):
                under[plain] = species(organism)
            elif len(species(organism)) == 2:
                named[species(organism)].add(ours.SYNONYMS.get(plain, plain))
    return {
        plain: next(iter(named[what])) for plain, what in under.items() if len(named[what]) == 1
    }


def _put(entries: dict[str, Entry], name: str, row: Mapping[str, str], plain: str) -> None:
    kind = _KINDS[row["kind"]]
    entry = entries.setdefault(name, Entry(kind=kind))
    if entry.kind != kind:
        raise Usage(f"{name!r}: expected one kind, got {entry.kind} and {kind}")
    entry.part = entry.part or row["part"]
    entry.base = entry.base or (_id(row["base_label"]) if name == plain else "")
    entry.sources |= _sources(row)
    entry.synonyms.add(plain)
    if LEFT_OUT.isdisjoint(row["source"].split("|")) or _sources(row) & _WITH_SYNONYMS:
        entry.synonyms |= {_id(each) for each in row["synonyms"].split("|")}
    if row["kind"] in ("pest", "weed") or not row["hosts"]:  # a disease's stand beside its hosts
        entry.organisms |= _organisms(row["scientific_name"])


def _host(entry: Entry, pair: Mapping[str, str]) -> None:
    host = crop_named(pair["host"], frozenset())
    entry.hosts.setdefault(host, set()).update(_organisms(pair["scientific_name"]))
    if pair["basis"] == "stated":
        entry.stated.add(host)


def _organisms(text: str) -> set[str]:
    parts = (" ".join(_mended(each).replace("'", "").split()) for each in text.split("|"))
    names = {each.removesuffix(" sp.").removesuffix(" spp.") for each in parts} - {""}
    strange = sorted(each for each in names if plainly(each) != normalise(each))
    if strange:
        raise Usage(f"expected organisms that `plainly` reads as `normalise` does, got {strange}")
    return names


def _finish(name: str, entry: Entry, words: Mapping[str, str]) -> None:
    """Synonyms that are a host and the label are hosts; organisms of all hosts together."""
    for synonym in sorted(entry.synonyms):
        host = words.get(synonym.removesuffix(f" {name}")) or words.get(
            synonym.removeprefix(f"{name} of ")
        )
        if host:
            entry.hosts.setdefault(host, set())
        if host or synonym in ("", name) or (name, synonym) in ours.NOT_SYNONYMS:
            entry.synonyms.discard(synonym)
    entry.organisms = entry.organisms.union(*entry.hosts.values())


def _hosts(entries: Mapping[str, Entry]) -> list[str]:
    return sorted({host for entry in entries.values() for host in entry.hosts})


def _head(entries: Mapping[str, Entry]) -> list[str]:
    used = Counter(source for entry in entries.values() for source in entry.sources)
    return [
        "#made by fieldtruth.taxonomy.build; attributions in ATTRIBUTION.md",
        "#hosts\t" + "|".join(_hosts(entries)),
        *(f"#source\t{source}\t{SOURCES[source]}" for source in sorted(used)),
        "#" + "\t".join(COLUMNS),
    ]


def _line(name: str, entry: Entry) -> str:
    hosts = [
        f"{'' if host in entry.stated else '~'}{host}={';'.join(sorted(entry.hosts[host]))}"
        for host in sorted(entry.hosts)
    ]
    base = "" if entry.base == name else entry.base
    lists = (sorted(entry.synonyms), hosts, sorted(entry.organisms), sorted(entry.sources))
    return "\t".join([name, entry.kind, entry.part, base, *("|".join(each) for each in lists)])


def main(folder: Path, out: Path = FILE) -> None:
    """Write it."""
    out.write_bytes(build(folder).encode() + b"\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
