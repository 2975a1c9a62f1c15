"""What tells the right answer of a choice to somebody who sees no photo.

Row by row: words of the answer in the question, options that speak of other options, options that
are one thing by the taxonomy. Over the whole set: where the right answer stands, how long it is,
whether it is the odd one out in form. A set is told only where chance is no explanation: the exact
binomial probability of what was seen is below `CHANCE`, after the number of looks, and for length
and form the share is `EXCESS` above that of a guess as well.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from fieldtruth import taxonomy
from fieldtruth.drafts import QuestionDraft
from fieldtruth.formats.chat import shown
from fieldtruth.records import LETTERS
from fieldtruth.stages.check.problems import Found
from fieldtruth.stages.check.questions import letter
from fieldtruth.taxonomy.giveaways import catch_all, content_words, given_away
from fieldtruth.taxonomy.spelling import normalise

CHANCE = 0.001
EXCESS = 0.1


def of_row(row: QuestionDraft) -> Iterator[Found]:
    """The tells of one choice, and an open answer that stands in its question."""
    said = f"{row.question}\n{row.background}"
    if row.form == "open":
        words = content_words(row.answer)
        if not row.facts and words and len(given_away(row.answer, said)) == len(words):
            yield Found("answer_in_question", f"all of {shown(row.answer)}")
        return
    options = row.options or ()
    for at, option in enumerate(options):
        if catch_all(option):
            yield Found("catch_all", f"{letter(at)}: {shown(option)}")
    right = right_of(row)
    if right is None:
        return
    yield from _in_question(options, right, said)
    yield from _also_right(options, right, row.crop)


def right_of(row: QuestionDraft) -> int | None:
    """The place of the right option; None where there is none."""
    options = row.options or ()
    fit = len(row.answer) == 1 and row.answer in LETTERS[: len(options)]
    return LETTERS.index(row.answer) if fit else None


def _in_question(options: Sequence[str], right: int, said: str) -> Iterator[Found]:
    """Half of the answer's words, and none of those of any wrong option."""
    words = content_words(options[right])
    told = given_away(options[right], said)
    wrong = [each for at, each in enumerate(options) if at != right]
    if words and 2 * len(told) >= len(words) and not any(given_away(each, said) for each in wrong):
        yield Found("answer_in_question", f"{letter(right)}: {', '.join(map(repr, told))}")


def _also_right(options: Sequence[str], right: int, crop: str | None) -> Iterator[Found]:
    """Wrong options that name what the right one names; only of names that the taxonomy knows."""
    truth = options[right]
    if _known(truth, crop) is None:
        return
    for at, option in enumerate(options):
        if at == right or _plain(option) == _plain(truth):
            continue  # equal options are told as such
        if _known(option, crop) is not None and taxonomy.conflict(option, truth, crop):
            yield Found("also_right", f"{letter(at)} {shown(option)} beside {shown(truth)}")


def _known(name: str, crop: str | None) -> taxonomy.Label | None:
    return taxonomy.label(taxonomy.label_id(name, crop))


def _plain(text: str) -> str:
    return normalise(text)


@dataclass
class Tally:
    """What was seen of the choices of a set, by how many options they have."""

    places: dict[int, Counter[int]] = field(default_factory=dict)
    seen: dict[tuple[str, int], list[bool]] = field(default_factory=dict)

    def add(self, row: QuestionDraft) -> None:
        """Count one question, where it is a choice whose right option is known."""
        right, options = right_of(row), row.options or ()
        if row.form != "mcq" or right is None or len(options) < 3:
            return
        count = len(options)
        self.places.setdefault(count, Counter())[right] += 1
        sizes = [len(each) for each in options]
        others = [size for at, size in enumerate(sizes) if at != right]
        self._saw("longest", count, holds=sizes[right] > max(others))
        self._saw("shortest", count, holds=sizes[right] < min(others))
        odd = _odd_one(options)
        if odd is not None:
            self._saw("odd", count, holds=odd == right)

    def _saw(self, what: str, count: int, *, holds: bool) -> None:
        self.seen.setdefault((what, count), []).append(holds)

    def found(self) -> Iterator[Found]:
        """What of it is no chance."""
        for count, places in sorted(self.places.items()):
            yield from _places(count, places)
        for (what, count), seen in sorted(self.seen.items()):
            yield from _share(what, count, seen)


def _places(count: int, places: Counter[int]) -> Iterator[Found]:
    """A letter that is right too often or too seldom, told once, for the one that is furthest."""
    from scipy.stats import binomtest

    n = places.total()
    by_chance = {at: float(binomtest(places[at], n, 1 / count).pvalue) for at in range(count)}
    at = min(by_chance, key=lambda each: (by_chance[each], each))
    p = min(1.0, by_chance[at] * count)
    if p < CHANCE:
        yield Found(
            "answer_position",
            f"{letter(at)} is right in {places[at]} of {n} choices of {count} (p {p:.1g})",
        )


_TOLD = {
    "longest": ("answer_length", "the right option is the longest"),
    "shortest": ("answer_length", "the right option is the shortest"),
    "odd": ("answer_form", "where one option is written unlike the others, it is the right one"),
}


def _share(what: str, count: int, seen: Sequence[bool]) -> Iterator[Found]:
    from scipy.stats import binomtest

    n, hits = len(seen), sum(seen)
    p = float(binomtest(hits, n, 1 / count, alternative="greater").pvalue)
    if p < CHANCE and hits / n >= 1 / count + EXCESS:
        problem, told = _TOLD[what]
        yield Found(problem, f"{told} in {hits} of {n} choices of {count} (p {p:.1g})")


def _odd_one(options: Iterable[str]) -> int | None:
    """The one option that begins, ends or is set unlike all others; None where there is none."""
    forms = [_form(each) for each in options]
    counts = Counter(forms)
    alone = [at for at, form in enumerate(forms) if counts[form] == 1]
    return alone[0] if len(alone) == 1 and len(counts) == 2 else None


def _form(text: str) -> tuple[bool, bool, bool, bool]:
    plain = text.strip()
    return (
        plain[:1].isupper(),
        plain.endswith((".", "!", ";")),
        "(" in plain,
        any(letter.isdigit() for letter in plain),
    )
