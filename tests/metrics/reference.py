"""Every metric in plain loops, written from the sentences of the design; imports nothing of ours.

Corners are whole numbers, so that regions are sets of unit cells and every number is exact.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

Corners = tuple[int, int, int, int]


@dataclass(frozen=True)
class Photo:
    """One photo and what was said about it. `names` runs parallel to `said`.

    `how`: it was asked with a list (`candidates`), with no name at all (`open`), or for something
    that it does not show (`wrong`).
    """

    level: str
    label: str | None
    true: tuple[Corners, ...]
    said: tuple[Corners, ...]
    names: tuple[str, ...]
    empty: bool
    candidates: tuple[str, ...]
    how: str = "list"
    crop: str = ""

    @property
    def positive(self) -> bool:
        return self.level != "healthy" and self.how != "wrong"

    @property
    def dense(self) -> bool:
        return self.level == "lesion" and len(self.true) >= 5

    @property
    def answer(self) -> str | None:
        """Majority over non-empty labels; ties: first given."""
        given = [name for name in self.names if name]
        best, votes = None, 0
        for name in given:
            if given.count(name) > votes:
                best, votes = name, given.count(name)
        return best

    @property
    def right(self) -> bool:
        return self.answer is not None and self.answer == self.label

    @property
    def near(self) -> bool:
        """One name's words stand in the other's, side by side, the crop's word left out of both."""
        if self.answer is None or self.label is None:
            return False
        said, true = (
            [word for word in name.lower().split() if word != self.crop]
            for name in (self.answer, self.label)
        )
        short, long = sorted((said, true), key=len)
        starts = range(len(long) - len(short) + 1)
        within = any(long[at : at + len(short)] == short for at in starts)
        return self.right or (bool(set(short) - {"leaf"}) and within)


def cells(boxes: Iterable[Corners]) -> set[tuple[int, int]]:
    return {(x, y) for x1, y1, x2, y2 in boxes for x in range(x1, x2) for y in range(y1, y2)}


def over_union(a: set[tuple[int, int]], b: set[tuple[int, int]]) -> Fraction:
    return Fraction(len(a & b), len(a | b)) if a | b else Fraction(0)


def hits(photo: Photo, bar: Fraction = Fraction(1, 2)) -> int:
    """All pairs by (IoU, prediction, truth), descending; one-to-one; stop below the bar."""
    pairs = sorted(
        (
            (over_union(cells([p]), cells([t])), i, j)
            for i, p in enumerate(photo.said)
            for j, t in enumerate(photo.true)
        ),
        reverse=True,
    )
    said: list[int] = []
    true: list[int] = []
    for overlap, i, j in pairs:
        if overlap < bar:
            break
        if i not in said and j not in true:
            said.append(i)
            true.append(j)
    return len(said)


def region(photo: Photo) -> Fraction:
    """Exact IoU of the two unions; an empty prediction scores 0."""
    return over_union(cells(photo.said), cells(photo.true))


def mean(values: Iterable[Fraction | int]) -> Fraction | None:
    found = list(values)
    return Fraction(sum(found), len(found)) if found else None


def pooled(photos: list[Photo], bar: Fraction = Fraction(1, 2)) -> Fraction | None:
    """F1 of counts pooled over photos."""
    said, true = sum(len(p.said) for p in photos), sum(len(p.true) for p in photos)
    return Fraction(2 * sum(hits(p, bar) for p in photos), said + true) if said + true else None


def single(photo: Photo) -> Fraction:
    found = pooled([photo])
    assert found is not None
    return found


def reference(photos: list[Photo]) -> dict[str, Fraction | None]:
    """Every metric's value; None where there is nothing to measure."""
    positive = [p for p in photos if p.positive]
    lesion = [p for p in positive if p.level == "lesion"]
    healthy = [p for p in photos if p.level == "healthy"]
    unaided = [p for p in positive if p.how == "open"]
    said = sum(len(p.said) for p in positive)
    true = sum(len(p.true) for p in positive)
    found = sum(hits(p) for p in positive)
    chosen = [p for p in positive if p.answer in p.candidates]
    joint = {id(p): p.right and region(p) >= Fraction(1, 2) for p in positive}
    return {
        "precision": Fraction(found, said) if said else None,
        "recall": Fraction(found, true) if true else None,
        "f1": pooled(positive),
        "f1_75": pooled(positive, Fraction(3, 4)),
        "macro_f1": mean(map(single, positive)),
        "region_iou": mean(map(region, positive)),
        "region_iou_answered": mean(region(p) for p in positive if p.said),
        "lesion_f1": pooled(lesion),
        "object_f1": pooled([p for p in positive if p.level == "object"]),
        "dense_f1": pooled([p for p in positive if p.dense]),
        "sparse_f1": pooled([p for p in positive if not p.dense]),
        "abstention": mean(p.empty for p in healthy),
        "false_abstention": mean(p.empty for p in positive),
        "boxes_per_lesion_image": mean(len(p.said) for p in lesion),
        "recognition": mean(p.right for p in positive),
        "joint": mean(joint.values()),
        "instance_joint": mean(p.right and hits(p) >= 1 for p in positive),
        "lesion_joint": mean(joint[id(p)] for p in lesion),
        "first_option_share": mean(p.answer == p.candidates[0] for p in chosen),
        "off_list": mean(
            p.answer is not None and p.answer not in p.candidates for p in positive if p.candidates
        ),
        "wrong_target_abstention": mean(p.empty for p in photos if p.how == "wrong"),
        "open_strict": mean(p.right for p in unaided),
        "open_lenient": mean(p.near for p in unaided),
    }
