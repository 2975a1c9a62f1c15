"""How questions are made of facts, and the closed list of why one is not."""

from dataclasses import dataclass

from fieldtruth.faults import Usage
from fieldtruth.records import Knowledge

# The five question types (AgMMU, section 3.2) with what stands for each in an id.
TYPES: dict[Knowledge, str] = {
    "disease/issue identification": "disease",
    "insect/pest": "pest",
    "species": "species",
    "management instructions": "management",
    "symptom/visual description": "symptom",
}
NAMING = frozenset(list(TYPES)[:3])  # answered with a name; the others with statements

PERSONAL = "personal data"  # of facts: of a dialogue in which some is left
FACE = "may show a face"
METADATA = "metadata tells a place or person"
NO_PHOTO = "no photo"
PHOTO_MISSING = "photo missing"
PHOTO_UNREADABLE = "photo unreadable"
VAGUE = "vague answer"
SEVERAL = "several answers"
GIVEN_AWAY = "answer in the question"
NOT_CHOSEN = "not chosen"
TOO_FEW = "too few wrong answers"
MODEL_FAILED = "model failed"
OF_WORDS = (VAGUE, SEVERAL, GIVEN_AWAY)  # in this order a draft is looked at
OF_PHOTOS = (NO_PHOTO, PHOTO_MISSING, PHOTO_UNREADABLE, FACE, METADATA)
REASONS = (*OF_WORDS, *OF_PHOTOS, NOT_CHOSEN, TOO_FEW, MODEL_FAILED)
MOST_OPTIONS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How many questions of which shape.

    `want` questions at most, each in both forms, spread evenly over the five types and, in each,
    over the categories; all that can be asked where it is None. `per_group`: at most so many of
    the conversations that share photos. `options`: how many a choice has; of several numbers,
    each makes a file of the same questions. `radius`: how near two photos' hashes lie that are
    held against each other, as in an audit. `faces`: photos that may show a face are shown all the
    same, since somebody looked at them.
    """

    want: int | None = None
    per_group: int = 1
    options: tuple[int, ...] = (4,)
    radius: int = 6
    faces: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.want is not None and self.want < 1:
            raise Usage(f"--want: expected at least 1 question, got {self.want}")
        if self.per_group < 1:
            raise Usage(f"--per-group: expected at least 1, got {self.per_group}")
        if not 0 <= self.radius <= 16:
            raise Usage(f"--radius: expected 0 to 16 bits, got {self.radius}")
        fit = all(2 <= each <= MOST_OPTIONS for each in self.options)
        if not self.options or not fit or len(set(self.options)) < len(self.options):
            raise Usage(
                f"--options: expected one or more of 2 to {MOST_OPTIONS}, each once, got "
                f"{','.join(map(str, self.options)) or 'none'}"
            )

    @property
    def wrong(self) -> int:
        """Wrong answers that the largest choice needs."""
        return max(self.options) - 1
