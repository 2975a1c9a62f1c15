"""A classifier that reads prompts and sees no photo cannot tell which are answered with nothing.

Word 1- to 3-grams and lengths, balanced classes, folds by group of photos. Empty and other
answers are as many here as would leave its balanced accuracy within 0.03 of a half by chance in all
but one of a thousand cases, which the test holds against itself.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from tests.mixtures import Field, mixed

from fieldtruth.records import AskLevel, Example, Kind
from fieldtruth.stages.compose import Mix

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

WITHIN = 0.03
LEAKS = 0.6
# crop: its diseases, from the most frequent on; photos that show one; healthy photos
CROPS: dict[str, tuple[Sequence[str], int, int]] = {
    "tomato": (("early blight", "late blight", "leaf mold", "septoria leaf spot", "target spot",
                "bacterial speck"), 4400, 1800),
    "apple": (("scab", "black rot", "cedar rust", "powdery mildew"), 1300, 2200),
    "rose": (("black spot", "downy mildew", "rust", "botrytis blight", "crown gall"), 2000, 0),
    "orange": (("huanglongbing",), 700, 0),
    "wheat": (("stripe rust", "tan spot", "fusarium head blight", "loose smut"), 1600, 300),
}  # fmt: skip
PESTS = ("aphid", "leaf beetle")
WEEDS = ("pigweed", "ryegrass", "thistle", "dock", "nettle")


def drawn(root: Path, weeds: float) -> Field:
    """Crops with many, few and no healthy photos; labels of unlike frequency, level and kind."""
    rng, field = np.random.default_rng(11), Field(root)
    for crop, (labels, ill, well) in CROPS.items():
        chance = 1 / np.arange(1, len(labels) + 1)
        for number in range(ill + well):
            row = field.row(
                group=f"{crop} {number // 3}" if number < ill else f"well {crop} {number}"
            )
            if number >= ill:
                field.healthy(crop, row)
                continue
            kind: Kind = "disease"
            label = labels[int(rng.choice(len(labels), p=chance / chance.sum()))]
            if rng.random() < weeds:
                label, kind = WEEDS[int(rng.integers(len(WEEDS)))], "weed"
            elif crop == "wheat" and rng.random() < 0.2:
                label, kind = PESTS[int(rng.integers(2))], "pest"
            lesions = 0.1 if label in labels[::2] else 0.8
            level: AskLevel = "lesion" if rng.random() < lesions else "object"
            field.ill(label, crop, kind, level, row)
    return field


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Field:
    """Of what a healthy plant is free of."""
    return drawn(tmp_path_factory.mktemp("photos"), weeds=0)


@pytest.fixture(scope="module")
def weedy(tmp_path_factory: pytest.TempPathFactory) -> Field:
    """With weeds among it, for which no healthy photo is asked."""
    return drawn(tmp_path_factory.mktemp("photos"), weeds=0.05)


def guessed(
    examples: Sequence[Example],
    text: Callable[[Example], str] = lambda example: example.prompt,
    true: Callable[[Example], bool] = lambda example: example.answer == "[]",
) -> tuple[float, float]:
    """Balanced accuracy over all folds, and its standard error were it a half."""
    texts = [text(example) for example in examples]
    empty = np.array([true(example) for example in examples])
    groups = [example.group for example in examples]
    words = CountVectorizer(ngram_range=(1, 3), token_pattern=r"\S+", min_df=3)
    grams = words.fit_transform(texts)
    varied = np.diff(grams.tocsc().indptr) < len(texts)  # a gram of every prompt tells nothing
    lengths = np.array([[len(each) / 500, len(each.split()) / 100] for each in texts])
    features = hstack([grams[:, varied], csr_array(lengths)]).tocsr()
    said = np.zeros(len(texts), bool)
    for train, held_out in GroupKFold(3).split(features, empty, groups):
        model = LogisticRegression(class_weight="balanced", solver="liblinear")
        said[held_out] = model.fit(features[train], empty[train]).predict(features[held_out])
    accuracy = (said[empty].mean() + (~said[~empty]).mean()) / 2
    error = 0.5 * (0.25 / empty.sum() + 0.25 / (~empty).sum()) ** 0.5
    return float(accuracy), float(error)


@pytest.mark.parametrize(
    "settings",
    [Mix(seed=1), Mix(seed=2, candidates=0), Mix(seed=3, candidates=1)],
    ids=["as the paper", "known target", "candidates"],
)
def test_prompts_do_not_tell_healthy_photos(field: Field, settings: Mix) -> None:
    hold(list(mixed(field, settings=settings)))


@pytest.mark.parametrize(
    "settings",
    [Mix(seed=4, healthy=0, wrong_target=0.12), Mix(seed=5, healthy=0.12, wrong_target=0.12)],
    ids=["alone", "with healthy photos"],
)
def test_prompts_do_not_tell_wrong_targets(weedy: Field, settings: Mix) -> None:
    hold(list(mixed(weedy, settings=settings)))


def hold(made: Sequence[Example]) -> None:
    """The accuracy is a half, and there is enough to say so."""
    accuracy, error = guessed(made)
    assert 3.3 * error < WITHIN, "too few to tell"
    assert abs(accuracy - 0.5) < WITHIN


@pytest.mark.parametrize("words", ["on the leaf", "plainly"])
def test_a_wording_of_their_own_would_be_found(field: Field, words: str) -> None:
    """In a third of the negatives; of the published ones a half had such a wording."""
    made = list(mixed(field, settings=Mix(seed=1)))

    def leaking(example: Example) -> str:
        told = example.answer == "[]" and sum(map(ord, example.id)) % 3 == 0
        return example.prompt.replace(" in this photo", f" {words}" if told else " in this photo")

    assert guessed(made, leaking)[0] > LEAKS


def test_negatives_of_crops_with_healthy_photos_alone_would_be_found(field: Field) -> None:
    """Two of five crops, a quarter of the positives, would never be asked in vain."""
    made = list(mixed(field, settings=Mix(seed=1)))
    own = {crop: set(labels) for crop, (labels, _, _) in CROPS.items()}
    kept = [
        example
        for example in made
        if example.role == "positive"
        or set(example.candidates or (example.query,)) & own[example.crop or ""]
    ]
    assert len(kept) < len(made)
    assert guessed(kept)[0] > 0.5 + 2 * WITHIN


def test_a_lone_kind_on_a_list_does_not_tell_that_it_is_the_answer(tmp_path: Path) -> None:
    """One pest among six diseases: a list that names it is as likely of any of its four."""
    rng, field = np.random.default_rng(12), Field(tmp_path)
    labels, _, _ = CROPS["tomato"]
    chance = 1 / np.arange(1, len(labels) + 1)
    for _ in range(6000):
        if rng.random() < 0.2:
            field.ill("mite", "tomato", "pest")
        else:
            field.ill(labels[int(rng.choice(len(labels), p=chance / chance.sum()))])
    made = list(mixed(field, settings=Mix(seed=6, candidates=1, healthy=0)))
    listed = [example for example in made if "mite" in (example.candidates or ())]
    true = sum(example.label == "mite" for example in listed)
    assert true == sum(example.label == "mite" for example in made)
    assert abs(true / len(listed) - 0.25) < 4 * (0.25 * 0.75 / len(listed)) ** 0.5
    accuracy, error = guessed(listed, true=lambda example: example.label == "mite")
    assert 3.3 * error < WITHIN, "too few to tell"
    assert abs(accuracy - 0.5) < WITHIN
