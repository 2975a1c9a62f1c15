"""One offline HTML page of a score: the sentence, tables, intervals, outcomes, and the photos.

Everything on the page comes from outside (labels, ids, replies, model names, licences) and is
escaped where it is written. The page has no script, and its own policy forbids it to load
anything; photos are data URIs. The same input gives the same bytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldtruth.grading import Graded, open_protocol
from fieldtruth.grading.few_groups import FEW_GROUPS, marked
from fieldtruth.records import Prediction
from fieldtruth.stages.report import view
from fieldtruth.stages.report.cards import Gallerist, Gallery
from fieldtruth.stages.report.frame import provenance, render
from fieldtruth.stages.report.glossary import OUTCOMES
from fieldtruth.stages.report.photos import Album
from fieldtruth.store import Bench, replacing

MOST_CARDS = 108  # on a page; spread over models and protocols
MOST_WALLS = 24  # models under protocols with photos, in the order given
KINDS = 6  # of galleries a wall may have


def report(  # noqa: PLR0913 - what a page shows; each is one thing
    scores: Mapping[str, Any],
    graded: Sequence[Graded],
    bench: Bench,
    *,
    predictions: Iterable[Prediction] = (),
    naive: Mapping[str, Any] | None = None,
    note: str | None = None,
    out: Path,
) -> Path:
    """Write the page to `out`, whole or not at all, and return where it is.

    `scores` is the score contract's dict (design, section 5) and `naive` another one of the same
    replies scored naively; `graded` are the gradings behind `scores`, `predictions` the rows
    behind those: without them cards lack the words. `note` stands under the sentence.
    A photo that is absent or cannot be opened is said to be so on its card.
    """
    scores, album = marked(scores), Album(bench)
    walls = _walls(graded, bench, predictions, album)
    sections = [
        view.section(
            scores,
            protocol,
            [each for each in graded if each.protocol == protocol],
            [(model, hung) for model, under, hung in walls if under == protocol],
        )
        for protocol in view.protocols_of(scores)
    ]
    page = render(
        "page.html.j2",
        {
            "benchmark": scores["benchmark"],
            "models": list(scores["models"]),
            "sections": sections,
            "lead": _lead(sections),
            "note": note,
            "few_groups": FEW_GROUPS,
            "naive": view.side_by_side(scores, naive) if naive is not None else [],
            "metrics": view.metrics_of(scores),
            "outcomes": OUTCOMES,
            "probes": view.probes(scores),
            "provenance": list(provenance(scores, bench.manifest)),
            "photos": album.shown,
        },
    )
    with replacing(out) as file:
        file.write(page.encode("utf-8"))
    return out


def _walls(
    graded: Sequence[Graded], bench: Bench, predictions: Iterable[Prediction], album: Album
) -> list[tuple[str, str, list[Gallery]]]:
    """(model, protocol, galleries) for the first `MOST_WALLS` gradings.

    A photo that a control changed was not seen as it is, so there is none to show.
    """
    hung = [each for each in graded if not open_protocol(each.protocol).changes_photo][:MOST_WALLS]
    wanted: dict[tuple[str, str], dict[str, Prediction]] = {
        (each.model, each.protocol): {} for each in hung
    }
    for row in predictions:
        if (row.model, row.protocol) in wanted:
            wanted[row.model, row.protocol].setdefault(row.item, row)
    most = max(1, min(3, MOST_CARDS // (KINDS * max(1, len(hung)))))
    gallerist = Gallerist(album, most)
    return [
        (
            each.model,
            each.protocol,
            gallerist.galleries(each, bench.items, wanted[each.model, each.protocol]),
        )
        for each in hung
    ]


def _lead(sections: Sequence[view.Section]) -> str:
    """The sentence of the protocol that asks most: the first one with a joint number.

    A control leads a page only where there is nothing else on it.
    """
    if not sections:
        return "Nothing could be measured."
    plain = [each for each in sections if "+" not in each.protocol] or list(sections)
    asks_most = (each for each in plain if "joint" in each.headline)
    return next(asks_most, plain[0]).sentence
