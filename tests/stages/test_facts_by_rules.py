"""The embedded default, sentence by sentence. All sentences here are made up."""

import pytest
from tests.stages.test_facts import talk

from fieldtruth.stages.facts.by_rules import Rules
from fieldtruth.stages.facts.by_rules.looking import looks_in
from fieldtruth.stages.facts.by_rules.managing import alone, measure_in
from fieldtruth.stages.facts.by_rules.naming import named_in
from fieldtruth.stages.facts.by_rules.plants import plant_asked_about
from fieldtruth.stages.facts.by_rules.telling import tells
from fieldtruth.stages.facts.sentences import Sentence

ISSUE, PEST, SPECIES = "disease/issue identification", "insect/pest", "species"


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("This is definitely powdery mildew.", "powdery mildew", ISSUE),
        ("Your rose has black spot.", "black spot", ISSUE),
        ("The spots are caused by cedar apple rust.", "cedar apple rust", ISSUE),
        ("It is a harmless disease called tar spot.", "tar spot", ISSUE),
        ("Your hydrangea is suffering from drought stress.", "drought stress", ISSUE),
        ("The damage is due to winter injury.", "winter injury", ISSUE),
        ("Those are carpenter bees.", "carpenter bees", PEST),
        ("The insects in your photo are boxelder bugs (Boisea trivittata).",
         "boxelder bugs (Boisea trivittata)", PEST),
        ("The caterpillar is a black swallowtail (Papilio polyxenes).",
         "black swallowtail (Papilio polyxenes)", PEST),
        ("Thanks for the pictures, this is a male Dobsonfly.", "Dobsonfly", PEST),
        ("It appears you have emerald ash borer.", "emerald ash borer", PEST),
        ("I can confirm that this is Asian longhorned beetle.", "Asian longhorned beetle", PEST),
        ("What you have is Tree of Heaven (Ailanthus altissima).",
         "Tree of Heaven (Ailanthus altissima)", SPECIES),
        ("The tree is a Norway maple.", "Norway maple", SPECIES),
        ("The weed is called mugwort.", "mugwort", SPECIES),
        ("Your plant looks like a jade plant.", "jade plant", SPECIES),
    ],
)  # fmt: skip
def test_a_name_is_read(text: str, name: str, kind: str) -> None:
    assert [(each.told, each.kind) for each in named_in(Sentence(text, 0))] == [(name, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "It is not rust.", "If this is rust, spray it.", "Is this rust?", "This is normal.",
        "The spots are caused by a fungus.", "Your tree has a disease.",
        "This is a photo of a beetle.",
        "They are beneficial insects.", "This is an invasive plant.", "That is a great idea.",
        "This is rust or scab.", "It can be rust.", "This plant is a member of the mint family.",
        "Roses are susceptible to black spot.", "This is not scab but rust.",
    ],
)  # fmt: skip
def test_what_names_nothing_definite_is_no_name(text: str) -> None:
    assert list(named_in(Sentence(text, 0))) == []


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("Remove all of the infested branches now.", "Remove all of the infested branches now."),
        ("**Pruning**: Remove all infested branches in winter.",
         "Remove all infested branches in winter."),
        ("You can also wash the aphids off with water.",
         "You can also wash the aphids off with water."),
        ("To slow the rot, it's best to prune in late winter.",
         "To slow the rot, it's best to prune in late winter."),
        ("I recommend thinning the stems in early spring.",
         "I recommend thinning the stems in early spring."),
        ("If the soil stays wet, improve the drainage first.",
         "If the soil stays wet, improve the drainage first."),
        ("Never cover landscape fabric with a layer of mulch.",
         "Never cover landscape fabric with a layer of mulch."),
        ("The aphids can be dislodged with a jet of water.",
         "The aphids can be dislodged with a jet of water."),
        ("Removing the fallen leaves can help reduce the spores.",
         "Removing the fallen leaves can help reduce the spores."),
    ],
)  # fmt: skip
def test_a_measure_is_read(text: str, measure: str) -> None:
    found = measure_in(Sentence(text, 0))
    assert found is not None
    assert text[found.start : found.end] == measure


@pytest.mark.parametrize(
    "text",
    [
        "Prune it.", "Should I remove the infested branches now?",
        "Check under the leaves for mites.",
        "Keep an eye on the tree through summer.", "Give us a call if it gets any worse.",
        "Move it to a larger pot in spring.", "I remove the leaves of my own lilacs.",
        "Removing bark is what the beetles do all summer.",
        "The leaves turned brown in late summer.",
        "There are no fungicides effective against this rust.",
        "Look closely at the lower leaves now.",
        "The removal of the branches was a good idea.",
    ],
)  # fmt: skip
def test_what_changes_nothing_is_no_measure(text: str) -> None:
    assert measure_in(Sentence(text, 0)) is None


def test_a_measure_stands_alone() -> None:
    assert alone("Additionally, to treat this, apply oil.") == "apply oil."
    assert alone("As for pruning, wait for winter.") == "wait for winter."
    assert alone("When it is dry, water it.") == "When it is dry, water it."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The leaves have small brown spots with yellow halos.", True),
        ("Mature worms have a white band around the body.", True),
        ("The adult is a dark beetle with orange stripes on its wings.", True),
        ("Do the leaves have small brown spots with halos?", False),
        ("You mentioned brown spots on the lower leaves there.", False),
        ("The leaves have no brown spots or holes at all.", False),
        ("Check the leaves for brown spots and yellow halos.", False),
        ("Brown spots on leaves are caused by several fungi.", False),
        ("The soil around the trunk is dark brown there.", False),
        ("The leaves are many and the summer was dry.", False),
    ],
)
def test_how_it_looks(text: str, *, shown: bool) -> None:
    assert looks_in(Sentence(text, 0)) is shown


@pytest.mark.parametrize(
    ("text", "general"),
    [
        ("Dogwoods typically prefer partial shade and moist soil.", True),
        ("Late blight is caused by a water mold in wet years.", True),
        ("Lacewings are also effective at consuming many aphids.", True),
        ("Your dogwood prefers partial shade and moist soil.", False),
        ("They typically prefer partial shade and moist soil.", False),
        ("Dogwoods are just taking advantage of the shade there.", False),
        ("Does the dogwood prefer partial shade and moist soil?", False),
    ],
)
def test_what_is_told_in_general(text: str, *, general: bool) -> None:
    assert tells(Sentence(text, 0)) is general


@pytest.mark.parametrize(
    ("asked", "said", "plant"),
    [
        ("Holes in my hostas", "Slugs eat hostas.", "hostas"),
        ("Under the oak, my hosta has holes", "Slugs eat hostas.", "hosta"),
        ("My roses and my lilacs are ill", "Prune the roses and lilacs.", None),
        ("My roses and my lilacs are ill", "Prune in winter.", None),
        ("My trees are dying", "Your Leyland cypress trees are dry.", "Leyland cypress trees"),
        ("My pin oak is yellow", "Oaks need iron.", "pin oak"),
        ("Rose aphids on a lawn with pine straw", "", None),
        ("We have no cedar, but my service berries are spotted", "Serviceberries get rust.",
         "service berries"),
        ("", "", None),
    ],
)  # fmt: skip
def test_which_plant_is_asked_about(asked: str, said: str, plant: str | None) -> None:
    assert plant_asked_about(asked, said) == plant


@pytest.mark.parametrize(
    ("asked", "said", "category"),
    [
        ("White stuff on my phlox, the leaves are dying", "This is powdery mildew.", "disease"),
        ("Holes in my hosta leaves, how do I stop it?", "Those are slugs.", "pest"),
        ("What is this bug?", "It is a wheel bug.", "generic identification"),
        ("What kind of tree is this?", "It is a Norway maple.", "generic identification"),
        ("What is this weed? How do I kill it?", "It is bindweed.", "weed"),
        ("Leaves are yellow and dying", "Your tree has iron deficiency.", "nutrient deficiency"),
        (
            "My lilac leaves are brown",
            "The damage is due to winter injury.",
            "environmental stress",
        ),
        ("When should I plant bulbs?", "In the fall.", "growing advice"),
        ("Hello there", "Hello!", "other"),
    ],
)
def test_the_category(asked: str, said: str, category: str) -> None:
    (made,) = Rules().read([talk(f"g: {asked}", f"e: {said}")])
    assert made.category == category


def test_a_whole_talk() -> None:
    dialogue = talk(
        "g: What is wrong with my phlox? It looks ill.",
        "e: This is powdery mildew. The leaves have white powdery patches on the upper side. "
        "Additionally, thin the stems in early spring. It may be dry, too.",
    )
    (made,) = Rules().read([dialogue])
    assert (made.category, made.species) == ("disease", "phlox")
    assert [(each.knowledge, each.statement) for each in made.stated] == [
        (ISSUE, "powdery mildew"),
        ("management instructions", "Thin the stems in early spring."),
        ("symptom/visual description", "The leaves have white powdery patches on the upper side."),
    ]
