"""How much of the machine's boxes people kept, and whether showing them changed that.

A final box and a proposal are matched one to one (Hungarian, IoU of at least 0.5). A matched
proposal is kept at an IoU of 0.9 (Label Studio's percents move an untouched box by a pixel or
two) and adjusted below; one without a match was deleted, and a final box without one is new
(agroground.md, 10.5; AgroGround's appendix on annotation conventions). Only photos that stay
positive count. On the blind photos the same boxes were there and nobody saw them: the difference
between the two parts is what showing them did.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fieldtruth.geometry import as_boxes, match, overlaps
from fieldtruth.records import Box, Record
from fieldtruth.resampling import BOUNDS, RESAMPLES, Estimate, Floats, estimate, ratio, totals

KEPT, MATCHED = 0.9, 0.5
# Columns of the sums of a photo.
_PROPOSED, _KEPT, _ADJUSTED, _FINAL, _OVERLAP = range(5)


class Reviewed(Record, frozen=True, kw_only=True):
    """One positive photo after review: the machine's boxes, the person's, and whether shown."""

    item: str
    source: str
    blind: bool
    proposed: tuple[Box, ...]
    final: tuple[Box, ...]


class Share(Record, frozen=True, kw_only=True):
    """A share or mean with its 95 % interval over photos; null with n = 0 where there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class Part(Record, frozen=True, kw_only=True):
    """The counts of some photos: `proposals == kept + adjusted + deleted`,
    `final == kept + adjusted + new`.

    Shares are of the proposals, but for `new_share`, of the final boxes; `overlap` is the mean
    IoU of the matched pairs.
    """

    photos: int
    proposals: int
    kept: int
    adjusted: int
    deleted: int
    final: int
    new: int
    kept_share: Share
    adjusted_share: Share
    deleted_share: Share
    new_share: Share
    overlap: Share


class Anchoring(Record, frozen=True, kw_only=True):
    """All photos, the two parts, each source; `effect`: kept share where shown less where blind.

    `effect` resamples the two parts apart, since they are different photos; its n counts both.
    """

    overall: Part
    shown: Part
    blind: Part
    sources: dict[str, Part]
    effect: Share


def anchoring(reviewed: Sequence[Reviewed]) -> Anchoring:
    """The figures of these photos, whatever their order."""
    rows = sorted(reviewed, key=lambda each: each.item)
    sums = np.array([_sums(each) for each in rows]).reshape(len(rows), 5)
    blind = np.array([each.blind for each in rows], bool)
    source = np.array([each.source for each in rows])
    return Anchoring(
        overall=_part(sums), shown=_part(sums[~blind]), blind=_part(sums[blind]),
        sources={str(name): _part(sums[source == name]) for name in np.unique(source)},
        effect=_effect(sums[~blind], sums[blind]),
    )  # fmt: skip


def _sums(each: Reviewed) -> list[float]:
    said, true = as_boxes(each.proposed), as_boxes(each.final)
    pairs = np.array(match(said, true, MATCHED, "hungarian"), np.int64).reshape(-1, 2)
    overlap = overlaps(said[pairs[:, 0]], true[pairs[:, 1]])
    kept = int((overlap >= KEPT).sum())
    return [len(said), kept, len(pairs) - kept, len(true), float(overlap.sum())]


def _part(sums: Floats) -> Part:
    proposed, kept, adjusted, final = (int(sums[:, at].sum()) for at in range(4))
    matched = sums[:, _KEPT] + sums[:, _ADJUSTED]

    def share(above: Floats, below: Floats) -> Share:
        return _share(estimate(np.stack([above, below], axis=1), ratio))

    of = sums[:, _PROPOSED]
    return Part(
        photos=len(sums), proposals=proposed, kept=kept, adjusted=adjusted,
        deleted=proposed - kept - adjusted, final=final, new=final - kept - adjusted,
        kept_share=share(sums[:, _KEPT], of),
        adjusted_share=share(sums[:, _ADJUSTED], of),
        deleted_share=share(of - matched, of),
        new_share=share(sums[:, _FINAL] - matched, sums[:, _FINAL]),
        overlap=share(sums[:, _OVERLAP], matched),
    )  # fmt: skip


def _effect(shown: Floats, blind: Floats) -> Share:
    values = [ratio(part[:, [_KEPT, _PROPOSED]].sum(axis=0)) for part in (shown, blind)]
    if not all(known for _, known in values):
        return Share(value=None, low=None, high=None, n=0)
    # Two streams of draws, one after the other: the parts are different photos.
    drawn = [_draws(part, seed) for seed, part in enumerate((shown, blind))]
    known = drawn[0][1] & drawn[1][1]
    gap = drawn[0][0] - drawn[1][0]
    if not known.any():
        return Share(value=None, low=None, high=None, n=0)
    low, high = np.percentile(gap[known], BOUNDS)
    value = float(values[0][0] - values[1][0])
    return Share(value=value, low=float(low), high=float(high), n=len(shown) + len(blind))


def _draws(part: Floats, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    made = totals([part[:, [_KEPT, _PROPOSED]]], RESAMPLES, seed)
    return ratio(made[0])


def _share(found: Estimate) -> Share:
    return Share(value=found.value, low=found.low, high=found.high, n=found.n)
