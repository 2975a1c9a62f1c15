"""Invented talks of growers with experts, and the facts in them written down by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from tests.builders import leaf

from fieldtruth import store
from fieldtruth.records import Category, Dialogue, Fact, Knowledge, Turn

KINDS: Mapping[str, Knowledge] = {
    "d": "disease/issue identification", "p": "insect/pest", "s": "species",
    "m": "management instructions", "y": "symptom/visual description", "b": "background",
    "x": "miscellaneous",
}  # fmt: skip
# Name, category, the plant, its crop, what the grower says, the facts (kind, statement): those of
# kind b and s are the grower's words, the others the expert's.
TALKS: Sequence[tuple[str, Category, str, str | None, str, Sequence[tuple[str, str]]]] = (
    ("peony", "disease", "peony", None, "It stands in shade.", [
        ("d", "powdery mildew"), ("m", "Cut down the stems in fall."),
        ("y", "White film on both leaf sides."), ("b", "It stands in shade.")]),
    ("tomato", "disease", "tomato", "tomato", "The lower leaves went first.", [
        ("d", "early blight"), ("m", "Mulch under the rows."), ("m", "Rotate beds every year."),
        ("y", "Brown rings like a target.")]),
    ("potato", "disease", "potato", "potato", "It rained for weeks.", [
        ("d", "late blight"), ("m", "Spray copper before the next rain."),
        ("y", "Water-soaked lesions with pale borders.")]),
    ("apple", "disease", "apple", "apple", "There are junipers near.", [
        ("d", "cedar apple rust"), ("y", "Orange horns on round galls."),
        ("m", "Choose resistant cultivars.")]),
    ("grape", "disease", "grape", "grape", "My vines.", [
        ("d", "black rot"), ("y", "Shriveled, hard mummies among sound berries.")]),
    ("squash", "pest", "squash", "squash", "They come each July.", [
        ("p", "squash bug"), ("m", "Hand pick the egg clusters."),
        ("y", "Bronze eggs in neat triangles."), ("s", "squash")]),
    ("rose", "pest", "rose", "rose", "They eat at noon.", [
        ("p", "Japanese beetle"), ("m", "Knock them into soapy water."),
        ("y", "Foliage eaten down to a lace."), ("s", "rose")]),
    ("oak", "pest", "pin oak", "oak", "It is forty years old.", [
        ("p", "gouty oak gall wasp"), ("m", "It is harmless; no treatment is needed."),
        ("y", "Knobby swellings around the twigs."), ("s", "pin oak")]),
    ("lawn", "weed", "spotted spurge", None, "It is in the gravel.", [
        ("s", "spotted spurge"), ("m", "Pull it before it sets seed."),
        ("y", "Flat mats with a dark fleck in the middle.")]),
    ("pond", "weed", "purple loosestrife", None, "It is by the water.", [
        ("s", "purple loosestrife"), ("m", "Dig out the whole crown."),
        ("y", "Tall spikes, six petals, square stalks.")]),
    ("yard", "generic identification", "ginkgo", None, "It was here before us.", [
        ("s", "ginkgo"), ("y", "Fan-shaped foliage, split in the middle.")]),
    ("maple", "environmental stress", "maple", "maple", "We dug a trench.", [
        ("d", "soil compaction"), ("m", "Aerate the ground around it."), ("s", "maple"),
        ("y", "Scorched margins on the south side.")]),
    ("corn", "nutrient deficiency", "corn", "maize", "The field is sandy.", [
        ("d", "nitrogen deficiency"), ("m", "Side-dress with urea."),
        ("y", "A yellow V from the tip along the midrib."), ("s", "corn")]),
    ("citrus", "nutrient deficiency", "lemon", "lemon", "It is in a pot.", [
        ("d", "magnesium deficiency"), ("y", "An inverted green wedge at the base.")]),
)  # fmt: skip


def talk(name: str) -> tuple[Dialogue, list[Fact]]:
    """One of the talks, with its facts."""
    (row,) = (each for each in TALKS if each[0] == name)
    _, category, species, crop, told, stated = row
    own = [text for kind, text in stated if kind in "bs"]
    said = [text for kind, text in stated if kind not in "bs"]
    turns = (
        Turn(speaker="grower", text=" ".join([told, *own]), images=(f"{name}.png",)),
        Turn(speaker="expert", text=" ".join(["We see it.", *said])),
    )
    dialogue = Dialogue(
        id=f"hand:{name}", source="hand", turns=turns, group=f"g:{name}", licence="CC0",
        place="Ohio", time="2021-06-03T10:00:00",
    )  # fmt: skip
    return dialogue, [
        fact(dialogue, kind, text, category=category, species=species, crop=crop)
        for kind, text in stated
    ]


def fact(of: Dialogue, kind: str, text: str, **changes: Any) -> Fact:
    turn = next(at for at, each in enumerate(of.turns) if text in each.text)
    number = f"{kind}{sum(map(ord, text))}"
    given: dict[str, Any] = {
        "id": f"{of.id}#{number}", "dialogue": of.id, "category": "disease",
        "knowledge": KINDS[kind], "statement": text, "turn": turn, "words": text,
        "images": of.images, "group": of.group, "source": of.source, "licence": of.licence,
        "extractor": "hand",
    }  # fmt: skip
    return Fact(**(given | changes))


def all_talks() -> tuple[list[Dialogue], list[Fact]]:
    """All of them."""
    pairs = [talk(row[0]) for row in TALKS]
    return [one for one, _ in pairs], [each for _, some in pairs for each in some]


def paint(folder: Path, names: Sequence[str] | None = None) -> Path:
    """A photo for each talk, no two alike."""
    for number, (name, *_) in enumerate(TALKS):
        if names is None or name in names:
            x, y = 25 + 30 * (number % 4), 25 + 18 * (number // 4)
            spots = [(x, y, x + 12 + number, y + 9), (60, 30, 64 + 4 * number, 44)]
            leaf(folder / f"{name}.png", spots, 17 * number)
    return folder


def folder(
    root: Path,
    dialogues: Sequence[Dialogue] | None = None,
    facts: Sequence[Fact] | None = None,
    *,
    photos: Sequence[str] | None = None,
) -> Path:
    """What `facts` leaves, with the photos beside it."""
    known, stated = all_talks()
    out = root / "talks"
    out.mkdir(parents=True)
    store.write(out / "dialogues.jsonl", known if dialogues is None else dialogues)
    store.write(out / "facts.jsonl", stated if facts is None else facts)
    looked = {"detectors": ["rules", "by hand"], "names": True, "hidden": {}}
    books = {
        "schema": 1, "source": "hand", "root": "../photos", "licence": "CC0", "paper": "none",
        "counts": {"dialogues": len(TALKS)}, "drops": {}, "personal": looked,
    }  # fmt: skip
    (out / "manifest.json").write_text(json.dumps(books))
    (root / "photos").mkdir(exist_ok=True)
    paint(root / "photos", photos)
    return out


def changed(dialogue: Dialogue, **changes: Any) -> Dialogue:
    """The same with some fields replaced."""
    return msgspec.structs.replace(dialogue, **changes)
