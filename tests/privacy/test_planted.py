"""500 people who do not exist, in sentences of real talks: how many words of names are left.

The people of `people.txt` that are measured were never tried out; `bench/planted_names.py` prints
the numbers with their intervals. The bounds here are below what was measured, by its interval.
"""

from pathlib import Path

import pytest
from tests.privacy import planting

from fieldtruth.privacy import names, scrub
from fieldtruth.records import Dialogue, Turn
from fieldtruth.sources.mirage_dialogues import SOURCE

MIRAGE = Path(__file__).parents[3] / "shared" / "data" / "mirage"


def test_the_people_are_600_different_ones_and_none_is_tried_and_measured() -> None:
    measured = {f"{one.given} {one.family}" for one in planting.people(measured=True)}
    tried = {f"{one.given} {one.family}" for one in planting.people(measured=False)}
    assert (len(measured), len(tried), measured & tried) == (500, 100, set())


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not MIRAGE.is_dir(), reason="the real rows are not at hand")
@pytest.mark.skipif(not names.installed(), reason="names in running text need the extra privacy")
def test_nineteen_of_twenty_planted_names_are_gone() -> None:
    talks = [each for each in SOURCE.dialogues(MIRAGE) if isinstance(each, Dialogue)]
    planted = planting.planted(talks, 0, measured=True)
    gone = 0
    for one in planted:
        turn = Turn(speaker="grower", text=one.text)
        talk = Dialogue(id="x:1", source="x", turns=(turn,), group="g", licence="CC0")
        gone += planting.gone(one, scrub(talk, names).turns[0].text)
    assert len(planted) == 500
    assert gone >= 0.93 * len(planted)
