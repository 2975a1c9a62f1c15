"""What a model is asked about a target, and what its words are taken for."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.builders import leaf, plain, sample, target

from fieldtruth.models.contract import Request, Words, failed
from fieldtruth.records import Annotation, Drop, Sample, Space, Target
from fieldtruth.stages.annotate.detected import Asking, Report, detect


class Teller:
    """A backend that answers with what it is given, and remembers what it was asked."""

    version = "teller-1"

    def __init__(self, says: Callable[[Request], Words | str], space: Space = "pixel") -> None:
        self._says = says
        self.space: Space = space
        self.asked: list[Request] = []

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        for request in requests:
            self.asked.append(request)
            said = self._says(request)
            yield Words(text=said) if isinstance(said, str) else said


def rows(*boxes: Sequence[float], **more: float) -> str:
    return json.dumps([{"bbox_2d": box, "label": "x", **more} for box in boxes])


def run(
    model: Teller,
    targets: Sequence[Target],
    samples: Sequence[Sample],
    root: Path,
    **how: object,
) -> tuple[list[Annotation | Drop], Report]:
    report = Report()
    asking = Asking(model=model, by="teller", **how)  # type: ignore[arg-type]
    by_id = {each.id: each for each in samples}
    return list(detect(asking, targets, by_id, root, report)), report


def test_boxes_become_an_annotation_for_each_level_with_scores(tmp_path: Path) -> None:
    leaf(tmp_path / "a.png")  # 160 x 120
    said = json.dumps([
        {"bbox_2d": [10, 10, 30, 30], "label": "rust", "score": 0.4},
        {"bbox_2d": [0, 0, 150, 100], "label": "rust", "score": 0.8},
    ])  # fmt: skip
    made, report = run(Teller(lambda request: said), [target("s")], [sample("s")], tmp_path)
    lesion, whole = made
    assert isinstance(lesion, Annotation)
    assert isinstance(whole, Annotation)
    assert (lesion.id, lesion.level, lesion.boxes, lesion.scores) == (
        "s:rust:lesion", "lesion", ((10, 10, 30, 30),), (0.4,),
    )  # fmt: skip
    assert (whole.id, whole.level, whole.boxes, whole.scores) == (
        "s:rust:object", "object", ((0, 0, 150, 100),), (0.8,),
    )  # fmt: skip
    assert (lesion.width, lesion.height, lesion.rule) == (160, 120, "teller, published rules")
    assert dict(report.targets) == {"s: lesion and object": 1}
    assert report.boxes["s: said"] == 2


def test_a_box_that_the_reader_leaves_out_takes_its_score_along_and_no_other(
    tmp_path: Path,
) -> None:
    leaf(tmp_path / "a.png")
    flat = {"bbox_2d": [5, 5, 5, 9], "label": "x", "score": 0.9}
    near = {"bbox_2d": [10, 10, 30, 30], "label": "x", "score": 0.2}
    far = {"bbox_2d": [60, 60, 90, 90], "label": "x", "score": 0.4}
    bare = {"bbox_2d": [60, 60, 90, 90], "label": "x"}
    for said, scores in (([near, flat, far], (0.4, 0.2)), ([near, flat, bare], ())):
        text = json.dumps(said)
        made, _ = run(Teller(lambda _, text=text: text), [target("s")], [sample("s")], tmp_path)  # type: ignore[misc]
        (mark,) = made
        assert isinstance(mark, Annotation)
        assert mark.scores == scores
        assert set(mark.boxes) == {(10, 10, 30, 30), (60, 60, 90, 90)}


@pytest.mark.parametrize(
    ("says", "reason", "detail"),
    [
        (failed("out of memory"), "model_failed", "out of memory"),
        (Words(text="", finish="error", error=None), "model_failed", "no words came back"),
        ("[]", "nothing_found", ""),
        ("I see nothing.", "unreadable_reply", "prose"),
        ("", "unreadable_reply", "unreadable"),
        ('[{"bbox_2d": [1, 2]}]', "unreadable_reply", "unreadable"),
        (rows([0, 0, 1, 1]), "no_box_left", "too_small 1"),
    ],
)
def test_every_other_reply_is_a_drop_of_its_own_kind(
    tmp_path: Path, says: Words | str, reason: str, detail: str
) -> None:
    leaf(tmp_path / "a.png")
    (drop,), _ = run(Teller(lambda request: says), [target("s")], [sample("s")], tmp_path)
    assert isinstance(drop, Drop)
    assert (drop.reason, drop.parent, drop.sample) == (reason, "s:rust", "s")
    assert detail in drop.detail


def test_a_photo_that_cannot_be_read_is_not_asked_about(tmp_path: Path) -> None:
    model = Teller(lambda request: rows([0, 0, 50, 50]))
    (tmp_path / "a.png").write_bytes(b"nothing")
    made, _ = run(model, [target("s"), target("t")],
                  [sample("s"), sample("t", "../out.png")], tmp_path)  # fmt: skip
    assert [each.reason for each in made if isinstance(each, Drop)] == ["photo_unreadable"] * 2
    assert model.asked == []


def test_of_several_photos_the_surest_is_annotated(tmp_path: Path) -> None:
    for name in ("a.png", "b.png", "c.png"):
        leaf(tmp_path / name)
    scores = {"a.png": 0.4, "b.png": 0.9, "c.png": 0.9}
    given = sample("s").__class__(
        id="s", source="coffee", images=("a.png", "b.png", "c.png"), licence="CC0"
    )

    def says(request: Request) -> str:
        return rows([0, 0, 40, 40], score=scores[request.images[0].name])

    (mark,), _ = run(Teller(says), [target("s")], [given], tmp_path)
    assert isinstance(mark, Annotation)
    assert mark.image == "b.png"
    (mark,), _ = run(Teller(lambda request: rows([0, 0, 40, 40])), [target("s")], [given], tmp_path)
    assert isinstance(mark, Annotation)
    assert (mark.image, mark.scores) == ("a.png", ())  # no scores: the first

    def broken(request: Request) -> Words | str:
        return failed("gone") if request.images[0].name == "c.png" else says(request)

    (drop,), _ = run(Teller(broken), [target("s")], [given], tmp_path)
    assert isinstance(drop, Drop)
    assert drop.reason == "model_failed"  # c may be the one that shows it


def test_each_kind_of_model_is_asked_in_its_way(tmp_path: Path) -> None:
    leaf(tmp_path / "a.png")
    model = Teller(lambda request: "[]", space="norm1000")
    wanted = [
        target("s", "late blight"),
        target("s", "aphid", kind="pest"),
        target("s", "root rot", crop="avocado"),
    ]
    own = {"cues": {"late blight@tomato": "wet patches"}, "prompts": {"root rot": "bad roots"}}
    run(model, wanted, [sample("s")], tmp_path, **own)
    blight, aphid, rot = model.asked
    assert blight.phrases == ("late blight, wet patches on tomato leaf",)
    assert aphid.phrases == ("aphid",)
    assert rot.phrases == ("bad roots",)
    assert (blight.names, aphid.names) == (("late blight",), ("aphid",))
    assert (blight.level, aphid.level) == ("lesion", "object")
    assert '"late blight"' in blight.prompt
    assert "0 to 1000" in blight.prompt


def test_boxes_of_another_space_come_back_in_pixels(tmp_path: Path) -> None:
    leaf(tmp_path / "a.png")
    model = Teller(lambda request: rows([100, 250, 500, 500]), space="norm1000")
    (mark,), _ = run(model, [target("s")], [sample("s")], tmp_path)
    assert isinstance(mark, Annotation)
    assert mark.boxes == ((16.0, 30.0, 80.0, 60.0),)


def test_targets_come_out_in_their_order_past_one_batch(tmp_path: Path) -> None:
    plain(tmp_path / "a.png")
    given = [sample(f"s{number}") for number in range(1500)]
    wanted = [target(each.id) for each in given]
    made, report = run(Teller(lambda request: rows([0, 0, 9, 9])), wanted, given, tmp_path)
    assert [each.target for each in made if isinstance(each, Annotation)] == [t.id for t in wanted]
    assert report.targets == {"s: lesion": 1500}
