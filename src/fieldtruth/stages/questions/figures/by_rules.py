"""Questions that a caption supports, by rule: panel, count, crop, condition, scale.

Nothing is asked that the caption does not say, so a figure may have fewer than eight, or none. What
a rule asks is easy beside what PlantXpert's model asks; its use is a set without any model.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, zip_longest

from fieldtruth import taxonomy
from fieldtruth.draws import rng
from fieldtruth.papers.records import Figure
from fieldtruth.stages.questions.figures.captions import Said, apart, counted, said
from fieldtruth.stages.questions.figures.drawn import Drawn
from fieldtruth.stages.questions.figures.labels import told_by
from fieldtruth.taxonomy.lexicon import crop_in
from fieldtruth.taxonomy.spelling import normalise

WRONG = 3
NEXT = 5  # panels nearest to the one asked about, of which three are drawn as wrong options
_SCALE = re.compile(
    r"\bscale[ -]?bars?\b\s*(?:[=:,]|is|are|represents?|indicates?|corresponds? to|of)?\s*"
    r"(\d+(?:\.\d+)?)\s?(nm|µm|μm|um|mm|cm|dm|m|km)\b",
    re.IGNORECASE,
)
_LADDER = (1.0, 2.0, 5.0)  # what scale bars are long, times a power of ten
_SHORTEST, _LONGEST = 1e-3, 1e5  # a bar's number in its unit; others are no bar's
_FACTORS = (0.1, 0.2, 0.5, 2.0, 5.0, 10.0)  # of a bar of another length
_HEALTHY = "healthy"
_SORTS = {"disease": "disease", "pest": "pest", "symptom": "symptom", "stress": "kind of stress"}
# Crops that everybody has heard of, so that none stands out as the odd one.
_CROPS = (
    "apple", "banana", "barley", "bean", "cassava", "coffee", "cotton", "cucumber", "grape",
    "maize", "orange", "peach", "peanut", "pepper", "potato", "rice", "sorghum", "soybean",
    "strawberry", "sugarcane", "sunflower", "tomato", "wheat",
)  # fmt: skip


def items(figure: Figure, crop: str | None, seed: int) -> Iterator[Drawn]:
    """All that can be asked about a figure, one of each sort in turn; the same for one seed."""
    draw = _Draw(figure, said(figure), crop, seed)
    sorts = (
        _which(draw), _condition(draw), _count(draw), _crop(draw), _what(draw), _panels(draw),
        _scale(draw),
    )  # fmt: skip
    yield from (each for each in chain.from_iterable(zip_longest(*sorts)) if each is not None)


class _Draw:
    """A figure that is asked about. Panels come in an order that is drawn, each sort its own."""

    def __init__(self, figure: Figure, told: Said, crop: str | None, seed: int) -> None:
        self.figure, self.told, self.crop, self.seed = figure, told, crop, seed
        self.clear = {} if counted(told.panels) else apart(told.panels)

    def mixed(self, names: Sequence[str], what: str) -> list[str]:
        """The names in an order of their own."""
        draw = rng(self.seed, f"figure {what}", self.figure.id)
        return [names[at] for at in draw.permutation(len(names))]

    def near(self, name: str, what: str) -> list[str]:
        """Three of the panels nearest to one: captions go through crops from A to Z, or by year.

        Of panels far apart their order tells which is meant.
        """
        names = list(self.clear)
        at = names.index(name)
        nearest = sorted(range(len(names)), key=lambda other: (abs(other - at), other))
        return self.mixed([names[other] for other in nearest[1 : NEXT + 1]], what)[:WRONG]

    def rank(self, what: str) -> int:
        """How many of three wrong numbers are lower than the right one, drawn: 0 to 3."""
        return int(rng(self.seed, f"figure rank {what}", self.figure.id).integers(WRONG + 1))

    def item(
        self, name: str, panel: str, asked: tuple[str, str, Sequence[str]],
        why: tuple[str, str, str],
    ) -> Drawn:  # fmt: skip
        """`asked`: question, truth, wrong; `why`: challenge, difficulty, visual evidence.

        `name` goes into the id, which those see who are not to know the answer: no part of it.
        `panel`: what the item rests on, "" for the whole figure.
        """
        (question, truth, wrong), (challenge, difficulty, visual) = asked, why
        words = self.told.panels.get(panel, "") or self.told.head
        domain = told_by(words)
        return Drawn(
            id=f"{self.figure.id}:{name}",
            question=question, truth=truth, wrong=tuple(wrong),
            domain=told_by(self.figure.caption) if domain == "Others" else domain,
            challenge=challenge, difficulty=difficulty, visual=visual,
            words=words[:300], sort=name.partition("-")[0],
        )  # fmt: skip


def _which(draw: _Draw) -> Iterator[Drawn]:
    """Which panel shows this?"""
    if len(draw.clear) <= WRONG:
        return
    for at, name in enumerate(draw.mixed(list(draw.clear), "which")[::2], start=1):
        others = draw.near(name, f"which {name}")
        yield draw.item(
            f"panel-which-{at}", name,
            (f"Which panel of this figure shows: {draw.clear[name]}?", f"Panel {name}",
             [f"Panel {each}" for each in others]),
            ("Visual", "The panels are of one kind and have to be told apart by what they show.",
             f"What is seen in panel {name}, against the other panels."),
        )  # fmt: skip


def _what(draw: _Draw) -> Iterator[Drawn]:
    """What does this panel show? Asked of the panels that `_which` leaves."""
    if len(draw.clear) <= WRONG:
        return
    for name in draw.mixed(list(draw.clear), "which")[1::2]:
        others = draw.near(name, f"what {name}")
        yield draw.item(
            f"panel-what-{name}", name,
            (f"What does panel {name} of this figure show?", draw.clear[name],
             [draw.clear[each] for each in others]),
            ("Visual", "Every option is true of another panel of the same figure.",
             f"What is seen in panel {name}."),
        )  # fmt: skip


def _panels(draw: _Draw) -> Iterator[Drawn]:
    """How many panels are there? Of few it is easily guessed, as no number is below one."""
    count = len(draw.figure.panels)
    if count > WRONG:
        yield draw.item(
            "count-panels", "",
            ("How many panels does this figure have?", str(count), _near(draw, count, "panels")),
            ("Quantitative", "All panels have to be found and counted once.",
             "The panels and the letters or numbers printed on them."),
        )  # fmt: skip


def _count(draw: _Draw) -> Iterator[Drawn]:
    """How many panels show one crop, or healthy plants? Where every panel is described."""
    panels = draw.told.panels
    if len(panels) < max(len(draw.figure.panels), 3):
        return
    count: Counter[str] = Counter(crop for text in panels.values() if (crop := crop_in(text)))
    asked = {f"show {name}": n for name, n in count.items() if WRONG <= n < len(panels)}
    healthy = sum(_HEALTHY in normalise(text).split() for text in panels.values())
    if WRONG <= healthy < len(panels):
        asked["show a healthy plant or leaf"] = healthy
    for at, what in enumerate(draw.mixed(sorted(asked), "count"), start=1):
        yield draw.item(
            f"count-shown-{at}", "",
            (f"How many panels of this figure {what}?", str(asked[what]),
             _near(draw, asked[what], what)),
            ("Quantitative", "Each panel has to be recognised before the panels can be counted.",
             "The panels that show it, among all panels."),
        )  # fmt: skip


def _near(draw: _Draw, count: int, what: str) -> list[str]:
    """Three numbers next to a count; its rank among the four is drawn."""
    begin = count - draw.rank(what)
    return [str(each) for each in range(begin, begin + WRONG + 1) if each != count]


def _crop(draw: _Draw) -> Iterator[Drawn]:
    """Which crop is it? Of the figure where it shows one, else of single panels."""
    of_panels = {name: crop for name, text in draw.told.panels.items() if (crop := crop_in(text))}
    why = (
        "Visual", "The plant has to be recognised by its leaves, fruit or habit.",
        "Shape, margin, veins and colour of the plant that is shown.",
    )  # fmt: skip
    there = set(of_panels.values())
    if draw.crop is not None and draw.told.head and there <= {draw.crop}:
        asked = "Which crop is shown in this figure?"
        if draw.crop == crop_in(draw.figure.caption):
            yield draw.item("crop", "", (asked, draw.crop, _crops(draw, draw.crop, [])), why)
        return
    for name in draw.mixed(list(of_panels), "crop"):
        truth = of_panels[name]
        asked = f"Which crop is shown in panel {name} of this figure?"
        yield draw.item(
            f"crop-{name}", name, (asked, truth, _crops(draw, truth, _beside(of_panels, name))), why
        )


def _beside(of_panels: dict[str, str], name: str) -> list[str]:
    """The other crops of a figure, those of the panels nearest to one first."""
    names = list(of_panels)
    at = names.index(name)
    nearest = sorted(range(len(names)), key=lambda other: (abs(other - at), other))
    found = dict.fromkeys(of_panels[names[other]] for other in nearest)
    return [crop for crop in found if crop != of_panels[name]]


def _crops(draw: _Draw, truth: str, beside: Sequence[str]) -> list[str]:
    """Other crops: those of the figure first, then as well known ones as the right one."""
    own = draw.mixed(beside[:NEXT], f"crops {truth}")
    known = _CROPS if truth in _CROPS else sorted({*taxonomy.CROPS.values()} - {*_CROPS})
    more = draw.mixed([each for each in known if each != truth and each not in own], truth)
    return [*own, *more][:WRONG]


def _condition(draw: _Draw) -> Iterator[Drawn]:
    """Which disease, or pest, is it? Where the description is a name that is known.

    All options are of one kind: a beetle among diseases is told from them without a look.
    """
    named: dict[str, tuple[str, str, str | None]] = {}
    for name, text in draw.told.panels.items():
        if (found := _named(text, draw.crop)) is not None:
            named[name] = (*found, crop_in(text) or draw.crop)
    for name in draw.mixed(list(named), "condition"):
        truth, kind, crop = named[name]
        near = [label for label, its, _ in named.values() if its == kind]
        pool = taxonomy.rivals([truth], near, crop)
        wrong = draw.mixed(pool, f"condition {name}")[:WRONG]
        if len(wrong) < WRONG:
            more = taxonomy.rivals([truth, *wrong], _of_crop(crop, kind), crop)
            wrong += draw.mixed(more, f"more conditions {name}")[: WRONG - len(wrong)]
        if len(wrong) == WRONG:
            yield draw.item(
                f"condition-{name}", name,
                (f"Which {_SORTS[kind]} is seen in panel {name} of this figure?", truth, wrong),
                ("Visual", "What different ones do to a plant looks alike.",
                 f"Colour, shape and place of what is seen on the plant in panel {name}."),
            )  # fmt: skip


def _named(text: str, crop: str | None) -> tuple[str, str] | None:
    """What a description names, in the taxonomy's words, without its crop, and its kind."""
    words = re.split(r"[,(;]", text)[0].strip()
    if len(words.split()) > 7 or _HEALTHY in normalise(words).split():
        return None
    own = crop_in(words) or crop
    found = taxonomy.label(taxonomy.label_id(words, own))
    if found is None or found.kind not in _SORTS:
        return None
    return normalise(found.base or found.id), found.kind


@cache
def _of_crop(crop: str | None, kind: str) -> tuple[str, ...]:
    """Names of one kind that the taxonomy has on a crop."""
    found = ((name, taxonomy.label(name)) for name in taxonomy.names())
    return tuple(
        normalise(label.base or name) for name, label in found
        if label is not None and crop in label.hosts and label.kind == kind
    )  # fmt: skip


def _scale(draw: _Draw) -> Iterator[Drawn]:
    """How long is the scale bar? Where the caption tells of one."""
    found = _SCALE.findall(draw.figure.caption)
    if len({(size, unit.casefold()) for size, unit in found}) != 1:
        return
    size, unit = float(found[0][0]), found[0][1].replace("um", "µm").replace("μ", "µ")
    if not _SHORTEST <= size < _LONGEST:
        return
    near = _bars(draw, size)
    yield draw.item(
        "scale", "",
        ("What length does the scale bar of this figure stand for?", f"{size:g} {unit}",
         [f"{each} {unit}" for each in near]),
        ("Quantitative", "The bar has to be held against things of known size.",
         "The scale bar, and the size of what it lies beside."),
    )  # fmt: skip


def _bars(draw: _Draw, size: float) -> list[str]:
    """Three lengths as bars have them, as often shorter as longer than the right one."""
    power = 10.0 ** math.floor(math.log10(size))
    if round(size / power, 6) in _LADDER:
        steps = [step * power * ten for ten in (0.1, 1.0, 10.0) for step in _LADDER]
        at = min(range(len(steps)), key=lambda each: abs(steps[each] - size))
        low, high = steps[at - WRONG : at], steps[at + 1 : at + 1 + WRONG]
    else:
        some = [factor * size for factor in _FACTORS]
        low, high = some[:WRONG], some[WRONG:]
    lower = draw.rank("scale")
    shorter = draw.mixed([f"{each:g}" for each in low], "shorter")[:lower]
    return [*shorter, *draw.mixed([f"{each:g}" for each in high], "longer")[: WRONG - lower]]
