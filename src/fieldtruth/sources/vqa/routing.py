"""What a row of any question-answer set names: by its columns where it has them, else by words.

First what the mapping says of the row's kind, then its label, then the answer: `yes`, a number, a
sentence and a name are told apart, and what the question asks about decides what a name is of.
The word lists look at whole words (`fieldtruth.taxonomy.lexicon`).
"""

import re

import msgspec

from fieldtruth.records import Drop, Healthy, Kind, Sample, Target
from fieldtruth.rows import dropped, kind_of
from fieldtruth.taxonomy import label_id, normalise, resolve
from fieldtruth.taxonomy.lexicon import (
    asked_for,
    crop_in,
    disease_after_no,
    measurement,
    words_in,
)

REASONS = (
    "yes_no", "count", "measurement", "place", "action", "cause", "plant_id", "aerial", "sentence",
    "names_nothing", "unclear", "unknown_kind",
)  # fmt: skip
VACUOUS = ("", "none", "n a", "unknown", "unclear", "general", "other", "null", "nothing")
LONGEST = 7  # words of an answer that can be a name
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_ASKED = {"action": "action", "cause": "cause", "plant": "plant_id", "count": "count",
          "place": "place"}  # fmt: skip


def label(sample: Sample) -> Target | Healthy | Drop:
    """The target, the healthy photo or the drop that a sample is."""
    told = sample.native.get("told", "")
    name = sample.native.get("label", "")
    if told in REASONS:
        return dropped(sample, "label", told, sample.native.get("kind", ""))
    if told == "healthy":
        return _healthy(sample)
    if told:
        return _target(sample, name or _bare(sample.answer), msgspec.convert(told, Kind))
    if "labelled" in sample.native:
        return _labelled(sample, name)
    return _by_words(sample)


def _labelled(sample: Sample, name: str) -> Target | Healthy | Drop:
    words = words_in(name)
    if words == {"healthy"}:
        return _healthy(sample)
    if "healthy" in words:  # "healthy leaf with aphids" is neither
        return dropped(sample, "label", "unclear", name)
    return _target(sample, name, None)


def _by_words(sample: Sample) -> Target | Healthy | Drop:
    answer, asked = sample.answer, asked_for(sample.question)
    after_no = disease_after_no(answer)
    if after_no is not None:
        return _target(sample, after_no, None)
    words = words_in(answer)
    if words == {"healthy"}:
        return _healthy(sample)
    if normalise(answer) in ("yes", "no"):
        # "Is it healthy? If not, what disease has it?" with "No, it has X" among the options
        others = any(disease_after_no(option) for option in sample.options)
        if normalise(answer) == "yes" and others and "healthy" in words_in(sample.question):
            return _healthy(sample)
        return dropped(sample, "label", "yes_no", answer)
    if measurement(answer):
        return dropped(sample, "label", "count" if asked == "count" else "measurement", answer)
    if asked in _ASKED:
        return dropped(sample, "label", _ASKED[asked], answer)
    if len(normalise(answer).split()) > LONGEST:
        reason = next((why for why in ("action", "cause") if why in words), "sentence")
        return dropped(sample, "label", reason, answer)
    return _name(sample, _bare(answer), asked)


def _name(sample: Sample, name: str, asked: str | None) -> Target | Healthy | Drop:
    words = words_in(name)
    if "action" in words and "pest" not in words:  # an answer to another question than was asked
        return dropped(sample, "label", "action", name)
    if asked in ("pest", "weed", "symptom"):
        return _target(sample, name, msgspec.convert(asked, Kind))
    if asked == "disease":
        return _target(sample, name, None)
    known = resolve(name, sample.native.get("crop")).label
    if known is not None and known.kind != "weed":  # lists of weeds hold maples and roses
        return _target(sample, name, known.kind)
    if words & {"pest", "weed", "stress"}:
        return _target(sample, name, None)
    return dropped(sample, "label", "unclear", name)


def _bare(answer: str) -> str:
    return _ARTICLE.sub("", answer.strip().rstrip("."))


def _crop(sample: Sample) -> str | None:
    found = (sample.native.get("crop"), crop_in(sample.answer), crop_in(sample.question))
    return next(filter(None, found), None)


def _healthy(sample: Sample) -> Healthy:
    return Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop=_crop(sample))


def _target(sample: Sample, name: str, kind: Kind | None) -> Target | Drop:
    if normalise(name) in VACUOUS:
        return dropped(sample, "label", "names_nothing", name)
    crop = _crop(sample)
    return Target(
        id=f"{sample.id}:target", sample=sample.id, kind=kind or kind_of(name, crop),
        label=label_id(name, crop), crop=crop,
    )  # fmt: skip
