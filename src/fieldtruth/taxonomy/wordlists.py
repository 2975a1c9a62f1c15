"""The word lists of the lexicon: crops under other names, pests, weeds, stresses, measures, causes.

Only words; what is done with them is in `lexicon.py`. All are lower-case whole words.
"""

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Crops that question-answer sets name and for which the shipped labels have no host.
MORE_CROPS = (
    "arugula", "bitter gourd", "bok choy", "cashew", "dill", "dragon fruit", "endive", "fennel",
    "jackfruit", "jute", "kale", "kohlrabi", "lavender", "lychee", "magnolia", "mint", "okra",
    "oregano", "parsley", "parsnip", "passion fruit", "persimmon", "pomegranate", "radish",
    "rosemary", "rutabaga", "sesame", "swiss chard", "tangerine", "taro", "tulip", "turnip",
)  # fmt: skip
# Hosts whose names are everyday words: they are no crop of a text.
EVERYDAY = _words("ash box elder hop palm cereals crucifers cucurbits")
# Other names, and names of other plants that hold a crop's: None is a plant that is no crop here.
OTHER_NAMES: Mapping[str, str | None] = {
    "boxwood": "box", "ash tree": "ash", "hop plant": "hop", "palm tree": "palm",
    "oil palm": "palm", "kiwi": "kiwifruit", "roma tomato": "tomato", "rose of sharon": "hibiscus",
    "brussels sprout": "cabbage", "black pepper": "black pepper", "cherry tomato": "tomato",
    "pinto bean": "bean", "plum tomato": "tomato", "grape tomato": "tomato",
    "apple tree": "apple", "orange tree": "orange", "lime tree": "lime", "rose bush": "rose",
    "poison oak": None, "poison hemlock": None, "prickly pear": None, "horse chestnut": None,
    "water chestnut": None, "sweet pea": None, "rose apple": None, "custard apple": None,
    "star apple": None, "crab apple": None, "bitter melon": "bitter gourd", "wild mustard": None,
    "garlic mustard": None, "wild carrot": None, "wild oat": None, "wild onion": None,
    "water lily": None, "peace lily": None, "day lily": None, "canna lily": None,
    "lily of the valley": None, "lenten rose": None, "christmas rose": None, "moss rose": None,
    "tea tree": None, "osage orange": None, "mock orange": None, "pepper spray": None,
    "acorn squash": "squash", "butternut squash": "squash", "box elder": None, "pine nut": None,
    "grape hyacinth": None, "bamboo stake": None, "bamboo stick": None, "flax lily": None,
    "tobacco mosaic virus": None, "cucumber mosaic virus": None, "potato virus": None,
}  # fmt: skip
# What follows a crop's name where the crop is not on the photo: a thing made of it or like it.
MADE_OF = _words(
    "oil oils juice meal flour vinegar cider gravel mulch straw grounds butter ball balls swab "
    "swabs like shaped sized size syrup sauce leather bran hulls husks"
)
# An animal named after the crop that it was first found on may sit on any other.
NAMED_AFTER = _words(
    "aphid aphids armyworm beetle beetles bollworm borer borers bug bugs budworm caterpillar "
    "cutworm earworm fly flies fruitworm hornworm hornworms leafhopper leafminer leafroller "
    "looper loopers maggot maggots midge mite mites moth moths psyllid psyllids rootworm sawfly "
    "sawflies scale slug slugs thrips tuberworm webworm weevil weevils whitefly worm worms"
)
BETWEEN = _words(
    "bark boll bud cane cyst ear flea fruit gall lace leaf mealy pod root rust seed shell sphinx "
    "spider stem stink stone tip twig vine water"
)
COLOURS = _words(
    "apricot cherry chestnut coffee lemon lime mustard olive orange peach plum raspberry rose tea"
)
HUES = _words(
    "black blue brown brownish color colored colour coloured gray green greenish grey hue pink "
    "purple red reddish tan tint tinted tinge white yellow yellowish"
)
SHADES = _words("bright brownish dark deep light pale red reddish rusty vivid yellow yellowish")
# "Orange spots" are spots of that colour; so is what follows the other crops that are colours.
MARKS = _words(
    "band bands blister blisters blotch blotches bump bumps circle circles coating crust cup cups "
    "discoloration dot dots dust egg eggs fruiting fungus galls growth growths halo halos horn "
    "horns jelly larva larvae lesion lesions mass masses mold mould mushroom mushrooms patch "
    "patches pimples powder pustule pustules residue ring rings rust slime speck specks specs "
    "speckles spore spores spot spots spotted stain stains streak streaks stripe stripes tendrils "
    "tentacles tip tips edges margins veins wing wings"
)

PESTS = _words(
    "adelgid adelgids ant ants aphid aphids armyworm armyworms beetle beetles borer borers bug "
    "bugs caterpillar caterpillars chafer chafers cicada cicadas cricket crickets curculio "
    "earwig earwigs flea fleas fly flies gnat gnats grasshopper grasshoppers grub grubs hispa "
    "hopper hoppers hornet hornets insect insects jassid jassids katydid katydids larva larvae "
    "leafhopper leafhoppers leafminer leafminers leafroller leafrollers locust locusts looper "
    "loopers maggot maggots mealybug mealybugs midge midges mite mites moth moths nematode "
    "nematodes nymph nymphs pest pests phylloxera planthopper planthoppers psyllid psyllids "
    "sawyer sawyers sharpshooter sharpshooters skeletonizer skeletonizers slug slugs snail snails "
    "spider spiders spittlebug spittlebugs springtail springtails termite termites thrip thrips "
    "tick ticks treehopper treehoppers wasp wasps weevil weevils worm worms"
)
NO_PESTS = _words(
    "earthworm earthworms ringworm silkworm silkworms dragonfly dragonflies damselfly damselflies "
    "briefly chiefly gruffly stiffly firefly fireflies ladybug ladybugs debug humbug"
)
SCALE_BEFORE = _words("bar bud full gray grey large small the this to wide")
SCALE_AFTER = _words("bar from leaf leaves of")
WEEDS = _words(
    "amaranth barnyardgrass bermudagrass burdock crabgrass dallisgrass dandelion "
    "dandelions dodder foxtail goosegrass henbit johnsongrass kochia lambsquarters nutsedge "
    "orchardgrass purslane quackgrass sandbur shepherdspurse sorrel speedwell spurge thistle "
    "thistles velvetleaf waterhemp weed weeds"
)
NO_WEEDS = _words("seaweed seaweeds milkweed milkweeds duckweed")
STRESSES = _words(
    "chilling compaction deficiencies deficiency deficient drought edema frost frostbite "
    "hail lightning oedema ozone overwatering overwatered phytotoxicity "
    "pollution salinity stress sunburn sunburned sunscald toxicity underwatering underwatered "
    "waterlogged waterlogging windburn winterkill"
)
HARMFUL = _words("chemical cold fertilizer freeze heat herbicide pesticide salt spray sun water "
                  "wind winter mechanical freezing chlorine")  # fmt: skip
HARM = _words("burn burns damage drift exposure injury injuries scorch shock")
# An action is one of these words anywhere in a text ...
ACTIONS = _words(
    "applied apply applying avoid avoiding biocontrol destroy destroying disinfect dispose "
    "eradicate fertilize fertilizing fumigate fungicide fungicides handpick handpicking harvest "
    "herbicide herbicides hoeing insecticide insecticides irrigate irrigating irrigation manage "
    "management monitor monitoring mow mowing mulch mulching pesticide pesticides plough ploughing "
    "plow plowing prevent preventing prevention preventive prune pruning quarantine rake raking "
    "recommend recommended remove removed removing replant replanting repot rogue rotate rotating "
    "sanitation sanitize scout scouting spray sprayed spraying sprays sterilize till tilling treat "
    "treated treating treatment treatments weeding"
)
# ... or one of these where a clause begins: "use a trap", but no "land use".
ORDERS = _words(
    "add adopt allow bag burn burying bury change check choose clean clear control cover cut "
    "cutting dig digging discard ensure enclose grow improve increase inspect install isolate keep "
    "leave let limit maintain pick place plant provide pull reduce release replace rinse select "
    "set space sow stop supplement take thin trap use using ventilate wash water wait wrap"
)
BEFORE_ORDERS = _words("and or to by should must please then not never immediately regularly")
HEALTHY = _words("healthy normal")
NOT = _words(
    "not isnt arent wasnt werent doesnt dont cannot cant never hardly barely neither nor non un "
    "less without longer"
)
NOTHING_WRONG = (
    ("no", "disease"), ("no", "diseases"), ("no", "issue"), ("no", "issues"), ("no", "problem"),
    ("no", "problems"), ("no", "symptom"), ("no", "symptoms"), ("disease", "free"),
    ("free", "of", "disease"), ("not", "diseased"), ("not", "infected"),
    ("no", "signs", "of", "disease"), ("no", "visible", "symptoms"), ("no", "visible", "disease"),
)  # fmt: skip
CAUSES = (
    ("caused", "by"), ("causes",), ("cause",), ("because",), ("due", "to"), ("result", "of"),
    ("results", "from"), ("resulting", "from"), ("resulted", "from"), ("attributed", "to"),
    ("reason",), ("reasons",), ("leads", "to"), ("led", "to"), ("owing", "to"), ("stems", "from"),
)  # fmt: skip
