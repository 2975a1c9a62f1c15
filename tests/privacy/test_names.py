"""Names in running text, by the real Presidio and the real model, with the network shut."""

import socket
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fieldtruth import taxonomy
from fieldtruth.faults import Refused
from fieldtruth.privacy import names, scrub
from fieldtruth.records import Dialogue, Turn
from fieldtruth.taxonomy.data import label

pytestmark = [
    pytest.mark.timeout(600),  # spaCy looks for torch and loads it where it is
    pytest.mark.skipif(not names.installed(), reason="names need the extra privacy"),
]


@pytest.fixture(autouse=True)
def no_network() -> Iterator[None]:
    """Whoever reaches for the network fails."""
    real = socket.socket.connect

    def refuse(*_: Any) -> None:
        raise AssertionError("the network was asked")

    socket.socket.connect = refuse  # type: ignore[method-assign]
    yield
    socket.socket.connect = real  # type: ignore[method-assign]


def left(text: str) -> str:
    dialogue = Dialogue(
        id="x:1", source="x", turns=(Turn(speaker="grower", text=text),), group="g", licence="CC0"
    )
    return scrub(dialogue, names).turns[0].text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("I asked Ngozi Adeyemi about it.", "I asked <<name>> about it."),
        ("My neighbor Tunde has it, too.", "My neighbor <<name>> has it, too."),
        ("Harriet's garden has the rust.", "<<name>>'s garden has the rust."),
        ("We live in Beaverton, Oregon.", "We live in <<place>>, Oregon."),
        ("Is Septoria on my Bradford pear?", "Is Septoria on my Bradford pear?"),
        ("My daisy and my rose are near the Norway maple.",
         "My daisy and my rose are near the Norway maple."),
        ("Maryland has Japanese beetles in June.", "Maryland has Japanese beetles in June."),
        ("Fertilizer and Mulch: Water them in Spring.",
         "Fertilizer and Mulch: Water them in Spring."),
        ("Ask the University of Minnesota.", "Ask the University of Minnesota."),
        ("It is Pachypsylla celtidismamma, a mite.", "It is Pachypsylla celtidismamma, a mite."),
        ("See https://extension.umn.edu/Poe and <<name>>.",
         "See https://extension.umn.edu/Poe and <<name>>."),
        ("It is sprayed with Azoxystrobin.", "It is sprayed with Azoxystrobin."),
    ],
)  # fmt: skip
def test_people_and_small_places_go_and_gardens_stay(text: str, clean: str) -> None:
    assert left(text) == clean


@pytest.mark.slow
def test_a_tenth_of_all_names_of_the_taxonomy_survives_in_sentences() -> None:
    carriers = (
        "The leaves show signs of {name} this year.", "We found {name}, and my neighbor did.",
        "{name} has come back. What can I do?", "Hello, is this {name}? Thank you.",
    )  # fmt: skip
    every: set[str] = set()
    for name in taxonomy.names():
        known = label(name)
        assert known is not None
        every |= {name.title(), *known.synonyms, *known.organisms}
    some = sorted(every)[::25]
    lost = [
        name
        for at, name in enumerate(some)
        if name not in left(carriers[at % len(carriers)].replace("{name}", name))
    ]
    assert len(some) > 400
    assert len(lost) <= len(some) / 100, lost


def test_a_model_of_other_bytes_is_refused(tmp_path: Path) -> None:
    spec = find_spec(names.MODEL)
    assert spec is not None
    assert spec.origin is not None
    assert names.verified(Path(spec.origin).parent) == Path(spec.origin).parent
    (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(Refused, match=r"expected the model with the hash 86e45dad"):
        names.verified(tmp_path)


def test_the_hash_sees_names_and_bytes(tmp_path: Path) -> None:
    prints: set[str] = set()
    for name, raw in (("a", b"1"), ("a", b"2"), ("b", b"1"), ("a1", b"")):
        folder = tmp_path / f"{len(prints)}"
        folder.mkdir()
        (folder / name).write_bytes(raw)
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__" / "x.pyc").write_bytes(raw)
        prints.add(names.fingerprint(folder))
    assert len(prints) == 4
