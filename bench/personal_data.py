"""Personal data in real talks: how many planted names are hidden, and how many plants survive.

    python bench/personal_data.py MIRAGE

MIRAGE is the folder of the published files. Measured, each with a 95 % Wilson interval:

    names    500 people who do not exist (tests/privacy/people.txt: made up for this, 20 of each of
             25 origins), each planted once into a sentence of these talks; a name counts as hidden
             when no word of it is left. With the rules alone, and with Presidio beside them.
    plants   every name of the taxonomy (labels, other names, organisms, hosts) in a sentence; one
             counts as survived when it stands there as before. The allow-list is made of the
             same names, so this says that the list is applied, not that it is complete.
    unknown  the same for names of cultivars, genera and remedies that no list of ours holds
    hidden   what is hidden of each kind in the talks as they are

Exits 1 where fewer than 93 % of the names are hidden, or fewer than 99 % of the plants survive.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from statsmodels.stats.proportion import proportion_confint
from tests.privacy import planting

from fieldtruth import draws, taxonomy
from fieldtruth.privacy import names, plants, scrub, talks
from fieldtruth.records import Dialogue, Turn
from fieldtruth.sources.mirage_dialogues import SOURCE
from fieldtruth.taxonomy.data import label

CARRIERS = (
    "The leaves show signs of {name} this year.", "{name} has come back. What can I do?",
    "We found {name} in the garden, and my neighbor has it too.", "I asked about {name} last week.",
    "Hello, is this {name}? Thank you.",
)  # fmt: skip
# Of no list of ours: cultivars of several crops, genera of ornamentals and of insects, remedies.
UNKNOWN = (
    "Celebrity|Juliet|Mortgage Lifter|San Marzano|Russet Burbank|Red Pontiac|Braeburn|Empire"
    "|Liberty|Enterprise|Northern Spy|Winesap|Anjou|Moonglow|Redhaven|Contender|Bluecrop|Duke"
    "|Jersey"
    "|Caroline|Killarney|Catawba|Niagara|Marquette|Iceberg|Peace|Incrediball|Calycanthus|Clethra"
    "|Fothergilla|Itea|Leucothoe|Oxydendrum|Sambucus|Zelkova|Astilbe|Dicentra|Hemerocallis|Nepeta"
    "|Phlox|Pulmonaria|Scabiosa|Anoplophora|Ceratina|Lymantria|Megachile|Polistes|Vespula"
    "|Cyantraniliprole|Fluxapyroxad|Oxyfluorfen|Pyriproxyfen|Sulfentrazone|Halosulfuron|Mesotrione"
    "|Dithiopyr"
)


def main() -> int:
    """Measure and print; 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("mirage", type=Path)
    mirage: Path = parser.parse_args().mirage
    found = [each for each in SOURCE.dialogues(mirage) if isinstance(each, Dialogue)]
    planted = planting.planted(found, 0, measured=True)
    share = 0.0
    for who, finder in (("rules alone", None), (names.DETECTOR, names)):
        gone: Counter[str] = Counter()
        whole: Counter[str] = Counter()
        for one in planted:
            done = planting.gone(one, _left(one.text, finder))
            for group in ("all", one.way):
                whole[group] += 1
                gone[group] += done
        for group in whole:
            print(f"names hidden, {who}, {group}: {_told(gone[group], whole[group])}")
        share = gone["all"] / whole["all"]
    kept = [_survives(name) for name in _plants()]
    print(f"plants that survive: {_told(sum(kept), len(kept))}")
    unknown = [name for name in UNKNOWN.split("|") if not plants.spans(name)]
    lost = [name for name in unknown if not _survives(name)]
    print(f"unknown names that survive: {_told(len(unknown) - len(lost), len(unknown))}")
    print("lost of them:", ", ".join(lost))
    hidden: Counter[str] = Counter()
    for each in found:
        hidden += talks.hidden(scrub(each, names).notes)
    print(f"hidden in {len(found)} talks as they are: {dict(hidden)}")
    return 0 if share >= 0.93 and sum(kept) >= 0.99 * len(kept) else 1


def _left(text: str, finder: talks.Names | None) -> str:
    turn = Turn(speaker="grower", text=text)
    talk = Dialogue(id="x:1", source="x", turns=(turn,), group="g", licence="CC0")
    return scrub(talk, finder).turns[0].text


def _survives(name: str) -> bool:
    at = int(draws.rng(0, "survive", name).integers(len(CARRIERS)))
    return name in _left(CARRIERS[at].replace("{name}", name), names)


def _plants() -> list[str]:
    every: set[str] = set()
    for name in taxonomy.names():
        known = label(name)
        if known is not None:
            every |= {name, name.title(), *known.synonyms, *known.organisms, *known.hosts}
    return sorted(every)


def _told(count: int, of: int) -> str:
    low, high = proportion_confint(count, of, method="wilson")
    return f"{count}/{of} = {count / of:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    raise SystemExit(main())
