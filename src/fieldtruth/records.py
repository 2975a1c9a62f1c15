"""The nouns of the pipeline, and nothing else.

Every stage reads some of these and writes others. They are frozen and refuse unknown fields, so
a record on disk is exactly what its class says. Boxes are `(x1, y1, x2, y2)`, corners in order.
Impossible values cannot be built: each `__post_init__` raises `ValueError` saying what was
expected and what was got.
"""

from itertools import chain
from math import isfinite
from typing import Literal

import msgspec

SCHEMA = 1  # of every record here; a change of shape adds one and a migration

Box = tuple[float, float, float, float]
Kind = Literal["disease", "pest", "weed", "symptom", "stress", "object"]
Level = Literal["lesion", "object", "healthy"]
AskLevel = Literal["lesion", "object"]
Split = Literal["train", "val", "test"]
Space = Literal[
    "pixel", "pixel_resized", "pixel840", "norm1000", "norm1", "yx1000", "loc1024"
]  # fmt: skip
Outcome = Literal["boxes", "empty", "prose", "unreadable", "error", "letter", "text"]
Finish = Literal["stop", "length", "error"]
Role = Literal["positive", "healthy", "wrong_target"]
Speaker = Literal["grower", "expert"]
Category = Literal[
    "disease", "weed", "pest", "growing advice", "environmental stress", "nutrient deficiency",
    "generic identification", "other",
]  # fmt: skip
# What a fact is about. The first five are the question types of AgMMU, spelt as it spells them.
Knowledge = Literal[
    "disease/issue identification", "insect/pest", "species", "management instructions",
    "symptom/visual description", "background", "miscellaneous",
]  # fmt: skip

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """What all records share: frozen, named fields only, unknown fields refused."""


def _require(condition: object, expected: str, got: object) -> None:
    if not condition:
        raise ValueError(f"expected {expected}, got {got!r}")


def _require_boxes(boxes: tuple[Box, ...], width: float, height: float) -> None:
    for x1, y1, x2, y2 in boxes:
        if not (0 <= x1 < x2 <= width and 0 <= y1 < y2 <= height):  # false for NaN as well
            raise ValueError(
                f"expected boxes [x1, y1, x2, y2] with 0 <= x1 < x2 <= {width:g} and "
                f"0 <= y1 < y2 <= {height:g} in pixels of the upright image, "
                f"got {[x1, y1, x2, y2]}"
            )


class Sample(Record, frozen=True, kw_only=True):
    """One row of a source dataset. `images` are paths relative to the source's root."""

    id: str  # SOURCE:NATIVE-ID
    source: str
    images: tuple[str, ...]
    question: str = ""
    options: tuple[str, ...] = ()
    answer: str = ""
    native: dict[str, str] = {}  # the few raw fields its handler needs, named
    licence: str


class Target(Record, frozen=True, kw_only=True):
    """The one thing a sample names. `sample` is its parent."""

    id: str
    sample: str
    kind: Kind
    label: str
    crop: str | None = None
    organ: str | None = None
    symptoms: str = ""  # what the release says it looks like, in its own words


class Healthy(Record, frozen=True, kw_only=True):
    """A sample that shows a healthy plant; kept, since abstention is measured on it."""

    id: str
    sample: str
    crop: str | None = None


class Drop(Record, frozen=True, kw_only=True):
    """A record that went no further, and why. `reason` comes from the stage's closed list.

    `parent` is the record that was dropped where it is not the sample itself: a target, say.
    """

    id: str
    sample: str
    parent: str | None = None
    stage: str
    reason: str
    detail: str = ""


class Annotation(Record, frozen=True, kw_only=True):
    """Boxes for one target, in pixels of the upright image, and who or what drew them."""

    id: str
    target: str
    image: str
    width: int
    height: int
    level: AskLevel
    boxes: tuple[Box, ...]
    scores: tuple[float, ...] = ()  # parallel to boxes; empty where a person or a mask drew them
    rule: str

    def __post_init__(self) -> None:
        _require(self.boxes, "at least one box", self.boxes)
        _require_boxes(self.boxes, self.width, self.height)
        _require(len(self.scores) in (0, len(self.boxes)), "a score per box or none", self.scores)
        _require(all(map(isfinite, self.scores)), "finite scores", self.scores)


class Finding(Record, frozen=True, kw_only=True):
    """What an audit saw, about which records, how bad it is, with the evidence."""

    id: str
    check: str
    about: tuple[str, ...]
    severity: Literal["note", "warning", "failure"]
    evidence: str


class Item(Record, frozen=True, kw_only=True):
    """One photo of a frozen benchmark with its truth (design, section 3; a contract).

    `boxes` are pixels of the upright image, `()` when healthy. `query` is the label asked about
    when the target is given; `absent_query` a label of the same crop that is certainly not on
    the image; `candidates` four distinct labels or None. `ask_level` and `ask_kind` say with which
    wording a healthy photo is asked, so that the wording does not give the answer away.
    """

    id: str
    image: str
    image_sha256: str
    width: int
    height: int
    source: str
    licence: str
    crop: str | None
    kind: Kind | None
    label: str | None
    level: Level
    boxes: tuple[Box, ...]
    query: str | None
    absent_query: str | None
    candidates: tuple[str, ...] | None
    group: str
    ask_level: AskLevel | None = None
    ask_kind: Kind | None = None

    def __post_init__(self) -> None:
        _require(self.id, "a non-empty id", self.id)
        _require(self.width > 0 and self.height > 0, "a size over 0", (self.width, self.height))
        if self.level == "healthy":
            _require(self.label is None, "label null on a healthy image", self.label)
            _require(not self.boxes, "no boxes on a healthy image", self.boxes)
        else:
            _require(self.label, f"a label on a {self.level}-level image", self.label)
            _require(self.boxes, f"boxes on a {self.level}-level image", self.boxes)
            _require_boxes(self.boxes, self.width, self.height)
        if self.candidates is not None:
            fit = len(self.candidates) == 4 and len(set(self.candidates)) == 4
            _require(fit, "four distinct candidates or null", self.candidates)

    @property
    def positive(self) -> bool:
        """Whether the photo shows its target (so: is not healthy)."""
        return self.level != "healthy"

    @property
    def wording(self) -> AskLevel:
        """The level the prompt is worded for: lesions, or whole affected leaves and plants."""
        if self.level == "healthy":
            return self.ask_level or "lesion"
        return self.level

    @property
    def asked_kind(self) -> Kind:
        """The kind of the query: the truth's own, or what a healthy photo is asked about."""
        return self.kind or self.ask_kind or "disease"


class Place(Record, frozen=True, kw_only=True):
    """Where a photo of a source belongs: its group of near-duplicates, and the group's split.

    One line of `splits.jsonl` in a source's folder. `id` is the photo's path relative to the
    source's root.
    """

    id: str
    image_sha256: str
    group: str
    split: Split


class Example(Record, frozen=True, kw_only=True):
    """One training example: a photo, a prompt under a protocol, and the right reply to it.

    `role` says why the answer is what it is: boxes on a `positive`, the empty list on a `healthy`
    photo and on a `wrong_target`, a diseased photo that is asked about something else. `parent` is
    the target or healthy record it was made of. `prompt` holds no image placeholder: the photo
    goes before it, in the way of each trainer. `boxes` are those of the answer in pixels of the
    upright image; the answer writes them in `space`. `level` and `kind` are what the prompt is
    worded for, `crop` and `label` what is on the photo; `query` is null where there is a list.
    """

    id: str
    parent: str
    image: str
    image_sha256: str
    width: int
    height: int
    source: str
    licence: str
    group: str
    split: Split
    role: Role
    protocol: str
    space: Space
    prompt: str
    answer: str
    level: AskLevel
    crop: str | None
    kind: Kind | None
    label: str | None
    query: str | None
    candidates: tuple[str, ...] | None
    boxes: tuple[Box, ...]

    def __post_init__(self) -> None:
        _require(self.width > 0 and self.height > 0, "a size over 0", (self.width, self.height))
        _require((self.role == "positive") == bool(self.boxes), "boxes iff positive", self.boxes)
        _require((self.role == "healthy") == (self.label is None), "a label iff ill", self.label)
        _require_boxes(self.boxes, self.width, self.height)


class Prediction(Record, frozen=True, kw_only=True):
    """A model's words for one item, verbatim (a contract). Read only when graded.

    (item, protocol, model) is unique. `space` is the box space the model declares, null where a
    protocol has no boxes. `error` is null, or says in short why the call failed.
    """

    item: str
    protocol: str
    model: str
    text: str
    space: Space | None = None
    finish: Finish = "stop"
    error: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the call failed, so that there are no words to read."""
        return self.finish == "error" or self.error is not None


class Turn(Record, frozen=True, kw_only=True):
    """What one person wrote at one time in a dialogue. `time` is ISO 8601 as far as it is known."""

    speaker: Speaker
    text: str
    time: str | None = None
    images: tuple[str, ...] = ()


class Dialogue(Record, frozen=True, kw_only=True):
    """A conversation of a grower with an expert (AgMMU, section 3).

    `images` of the turns are paths relative to the source's root, in the order they were sent;
    `missing` are those among them that are not there. `place` is coarse: a state, never a county
    or a street. `notes` say what was repaired or taken out of the words on the way here.
    """

    id: str  # SOURCE:NATIVE-ID
    source: str
    turns: tuple[Turn, ...]
    title: str = ""
    place: str | None = None
    time: str | None = None
    tags: tuple[str, ...] = ()
    group: str
    licence: str
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    faces: tuple[str, ...] = ()  # photos that may show a person's face

    def __post_init__(self) -> None:
        _require(self.turns, "at least one turn", self.turns)

    @property
    def images(self) -> tuple[str, ...]:
        """Every photo of the dialogue once, in the order they were sent."""
        return tuple(dict.fromkeys(image for turn in self.turns for image in turn.images))


class Fact(Record, frozen=True, kw_only=True):
    """One piece of knowledge an expert stated in a dialogue (AgMMU, section 3.2, appendix B).

    `words` stand exactly so in the text of the dialogue's turn number `turn` (from 0): what a fact
    rests on can be read again. `species` is the living thing asked about, as the dialogue names
    it; `label` the taxonomy's label id of what the fact names, where it names one it knows.
    """

    id: str
    dialogue: str
    category: Category
    knowledge: Knowledge
    statement: str
    turn: int
    words: str
    species: str | None = None
    label: str | None = None
    crop: str | None = None
    images: tuple[str, ...] = ()
    group: str
    source: str
    licence: str
    extractor: str  # the model and the version of its prompt, or the rules

    def __post_init__(self) -> None:
        _require(self.statement.strip(), "a statement", self.statement)
        _require(self.words.strip(), "the words it rests on", self.words)
        _require(self.turn >= 0, "a turn from 0", self.turn)


class Question(Record, frozen=True, kw_only=True):
    """One question of a question benchmark (a contract).

    `options` are texts in letter order, null for `open`; `answer` is a letter for `mcq`, a text
    for `open`; `facts` holds the true statements of a multi-statement question; `background`
    what a person would know besides, kept apart from the question and shown before it.
    """

    id: str
    form: Literal["mcq", "open"]
    images: tuple[str, ...]
    question: str
    options: tuple[str, ...] | None
    answer: str
    facts: tuple[str, ...]
    domain: str | None
    challenge: str | None
    crop: str | None
    qtype: str | None
    group: str
    evidence: tuple[str, ...]
    source: str
    licence: str
    background: str = ""

    def __post_init__(self) -> None:
        _require(self.id, "a non-empty id", self.id)
        if self.form == "open":
            _require(self.options is None, "options null on an open question", self.options)
            return
        count = len(self.options or ())
        _require(2 <= count <= len(LETTERS), "2 to 26 options on an mcq", self.options)
        letters = LETTERS[:count]
        _require(len(self.answer) == 1 and self.answer in letters, f"one of {letters}", self.answer)


class Reading(Record, frozen=True, kw_only=True):
    """What a reply was read as (design, section 2, rule 1): one of the outcomes, never two.

    `boxes` are in the space the model declared, corners in order; `labels` runs parallel, as
    written, `""` where a box has none. `repairs` names each liberty taken with the words, and
    each thing that was left out.
    """

    outcome: Outcome
    boxes: tuple[Box, ...] = ()
    labels: tuple[str, ...] = ()
    letter: str | None = None
    repairs: tuple[str, ...] = ()
    truncated: bool = False

    def __post_init__(self) -> None:
        _require(len(self.labels) == len(self.boxes), "a label per box", self.labels)
        finite = isfinite(sum(chain.from_iterable(self.boxes)))  # else each: a sum may run over
        finite = finite or all(map(isfinite, chain.from_iterable(self.boxes)))
        _require(finite, "finite boxes", self.boxes)
        _require((self.outcome == "boxes") == bool(self.boxes), "boxes iff so read", self.boxes)
        lettered = self.letter is not None
        _require((self.outcome == "letter") == lettered, "a letter iff so read", self.letter)
