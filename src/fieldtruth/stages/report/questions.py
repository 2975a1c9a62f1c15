"""The page of a score of questions: types, counts, differences, and answers beside their questions.

As every page: offline, without a script, everything from outside escaped, the same bytes for the
same input. A number that fewer than `FEW` questions or `FEW_GROUPS` groups stand behind is greyed:
it is there to be checked, not to be quoted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fieldtruth.draws import key
from fieldtruth.grading.few_groups import FEW_GROUPS, marked
from fieldtruth.records import LETTERS, Question
from fieldtruth.stages.report import plots
from fieldtruth.stages.report.frame import provenance, render
from fieldtruth.stages.report.glossary import OUTCOMES, about
from fieldtruth.stages.report.numbers import Measured
from fieldtruth.stages.report.photos import Album, Photo
from fieldtruth.stages.report.sentence import left_out, sentence
from fieldtruth.store import Bench, replacing

FEW = 20  # questions under which a cell is greyed
VALUES = ("accuracy", "harmonic")
COUNTS = ("correct", "partial", "incorrect", "not_attempted", "unscored")
CUTS = ("types", "crops", "domains", "challenges")
MOST = 3  # cards of one kind
MOST_WALLS = 12  # models under protocols with cards
PHOTOS = 4  # on one card; the number of the others is told
SHOWN = 600  # characters of a reply on a card

GRADES: Mapping[str, str] = {
    "correct": "the answer is right",
    "partial": "a part of it is right, or something wider or narrower",
    "incorrect": "the answer is wrong",
    "not_attempted": "no answer in it: a refusal, blank words, no letter; stays in the denominator",
    "unscored": "nobody could grade it: not wrong, and left out of the values",
}


class Answer(NamedTuple):
    """One answer and what it was graded: None where it is unscored."""

    item: str
    protocol: str
    model: str
    text: str
    grades: Sequence[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One model over some questions: its values, and how many got each grade."""

    model: str
    cells: tuple[Measured, ...]
    counts: tuple[float, ...]
    n: int

    @property
    def few(self) -> bool:
        """Whether too little stands behind it to be quoted."""
        return _few(self.cells[0])


def _few(cell: Measured) -> bool:
    return cell.n < FEW or cell.groups is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One question with its photos, what is right, and what was said."""

    question: Question
    photos: tuple[Photo, ...]
    more: int  # photos that are not shown
    options: tuple[tuple[str, str, bool], ...]  # letter, text, whether it is right
    truth: tuple[str, ...]
    graded: str
    reply: str
    cut: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """All of one protocol."""

    anchor: str
    protocol: str
    about: str
    sentence: str
    left_out: tuple[tuple[str, int, int], ...]
    unscored: tuple[tuple[str, float, int], ...]
    shown: tuple[tuple[str, object], ...]  # model -> photos of a question at most
    rows: tuple[Row, ...]
    means: tuple[tuple[Measured, ...], ...]  # parallel to rows
    forests: tuple[plots.Forest, ...]
    stacks: tuple[tuple[str, tuple[plots.Share, ...]], ...]
    cuts: tuple[tuple[str, tuple[tuple[str, tuple[Row, ...]], ...]], ...]
    paired: tuple[plots.Forest, ...]
    outcome_names: tuple[str, ...]
    outcomes: tuple[tuple[str, tuple[int, ...]], ...]
    runs: tuple[tuple[str, int, tuple[tuple[str, Measured, float | None, bool], ...]], ...]
    parts: tuple[tuple[str, tuple[tuple[str, Measured, bool], ...]], ...]
    agreements: tuple[Mapping[str, Any], ...]
    walls: tuple[tuple[str, tuple[tuple[str, int, tuple[Card, ...]], ...]], ...]


def report(
    scores: Mapping[str, Any],
    answers: Iterable[Answer],
    bench: Bench,
    out: Path,
    note: str | None = None,
) -> Path:
    """Write the page to `out`, whole or not at all, and return where it is.

    `scores` is what `score_questions` made, `answers` what each answer was graded;
    `note` stands under the sentence.
    """
    scores, album = marked(scores), Album(bench)
    told = _as_metrics(scores)
    names = list(dict.fromkeys(name for each in scores["models"].values() for name in each))
    walls = _walls(list(answers), bench, album)
    sections = [_section(scores, told, name, number, walls) for number, name in enumerate(names, 1)]
    plain = [each for each in sections if each.protocol == "open"] or sections
    page = render(
        "questions.html.j2",
        {
            "benchmark": scores["benchmark"],
            "models": list(scores["models"]),
            "apart": [name for name, each in told["models"].items() if each],
            "ranked": bool(plain) and not _too_few(told, plain[0].protocol),
            "sections": sections,
            "lead": plain[0].sentence if plain else "Nothing could be measured.",
            "photo_count": len({image for each in bench.questions for image in each.images}),
            "groups": len({each.group for each in bench.questions}),
            "values": VALUES,
            "counts": COUNTS,
            "grades": GRADES,
            "outcome_words": OUTCOMES,
            "few": FEW,
            "few_groups": FEW_GROUPS,
            "note": note,
            "provenance": [*provenance(scores, bench.manifest), *_judge(scores)],
            "photos": album.shown,
        },
    )
    with replacing(out) as file:
        file.write(page.encode("utf-8"))
    return out


def _judge(scores: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    judge = scores["settings"]["judge"]
    if judge["url"] == "none":
        yield "Judge", "none: open answers were graded by equality, names of one thing being equal"
        return
    yield "Judge", f"{judge['model']} at {judge['url']}, prompts {judge['prompts']}"


def _section(
    scores: Mapping[str, Any],
    told: Mapping[str, Any],
    protocol: str,
    number: int,
    walls: Mapping[tuple[str, str], tuple[tuple[str, int, tuple[Card, ...]], ...]],
) -> Section:
    entries = {m: each[protocol] for m, each in scores["models"].items() if protocol in each}
    # Without a partial grade the harmonic mean is the accuracy: one plot tells both.
    drawn = VALUES if any(e["all"]["partial"] for e in entries.values()) else VALUES[:1]
    pairs = [row for row in scores["paired"] if row["protocol"] == protocol]
    counted = [name for name in OUTCOMES if any(name in e["outcomes"] for e in entries.values())]
    return Section(
        anchor=f"protocol-{number}",
        protocol=protocol,
        about=about(protocol),
        sentence=_lead(told, protocol),
        left_out=tuple(left_out(told, protocol)),
        unscored=tuple(
            (model, entry["all"]["unscored"], entry["all"]["n"])
            for model, entry in entries.items()
            if entry["all"]["unscored"]
        ),
        shown=tuple(
            (model, entry["max_photos"])
            for model, entry in entries.items()
            if entry.get("max_photos", "all") != "all"
        ),
        rows=tuple(_row(model, entry["all"]) for model, entry in entries.items()),
        means=tuple(
            tuple(Measured.of(entry["type_mean"][value]) for value in VALUES)
            for entry in entries.values()
        ),
        forests=tuple(
            plots.values(
                value,
                [(model, Measured.of(entry["all"][value])) for model, entry in entries.items()],
            )
            for value in drawn
        ),
        stacks=tuple(
            (model, plots.stacked([(name, entry["all"][name]) for name in COUNTS]))
            for model, entry in entries.items()
        ),
        cuts=tuple(_cuts(entries)),
        paired=tuple(plot for value in drawn if (plot := _pairs(pairs, value)).marks),
        runs=tuple(_runs(scores, protocol)),
        parts=tuple(_parts(scores, protocol)),
        outcome_names=tuple(counted),
        outcomes=tuple(
            (model, tuple(entry["outcomes"].get(name, 0) for name in counted))
            for model, entry in entries.items()
        ),
        agreements=tuple(_agreements(scores, protocol)),
        walls=tuple(
            (model, walls[model, protocol]) for model in entries if (model, protocol) in walls
        ),
    )


def _too_few(told: Mapping[str, Any], protocol: str) -> int:
    """The most questions that one of several models has, where that is fewer than `FEW`; else 0."""
    counts = [each[protocol]["metrics"][VALUES[0]]["n"]
              for each in told["models"].values() if protocol in each]  # fmt: skip
    return max(counts) if len(counts) > 1 and max(counts) < FEW else 0


def _lead(told: Mapping[str, Any], protocol: str) -> str:
    """The sentence; where every model has fewer than `FEW` questions, that none is ranked."""
    if few := _too_few(told, protocol):
        return (
            f"{few} questions under {protocol} rank no model: fewer than {FEW} are shown in grey, "
            "to be checked and not to be quoted."
        )
    return sentence(told, protocol, VALUES)


def _as_metrics(scores: Mapping[str, Any]) -> dict[str, Any]:
    """The scores in the shape of those of items, which sentences are made from.

    Runs of one model are one model there: what asking again moves is no difference of models.
    """
    models: dict[str, dict[str, Any]] = {
        model: {
            protocol: {
                "metrics": {value: entry["all"][value] for value in VALUES},
                "outcomes": entry["outcomes"],
            }
            for protocol, entry in each.items()
        }
        for model, each in scores["models"].items()
    }
    whole = [row for row in scores.get("paired_parts", ()) if row["cut"] == "all"]
    for name, each in scores.get("runs", {}).items():
        for protocol, told in each.items():
            runs = [models[run].pop(protocol) for run in told["runs"]]
            outcomes = sum((Counter(run["outcomes"]) for run in runs), Counter[str]())
            entry = {"metrics": {VALUES[0]: told["all"]}, "outcomes": dict(outcomes)}
            models.setdefault(name, {})[protocol] = entry
    return {"models": models, "paired": [*whole, *scores["paired"]]}


def _row(model: str, part: Mapping[str, Any]) -> Row:
    return Row(
        model=model,
        cells=tuple(Measured.of(part[value]) for value in VALUES),
        counts=tuple(part[name] for name in COUNTS),
        n=part["n"],
    )


def _cuts(
    entries: Mapping[str, Any],
) -> Iterator[tuple[str, tuple[tuple[str, tuple[Row, ...]], ...]]]:
    """Each way to cut the questions: its parts, and in them the models under one another."""
    for cut in CUTS:
        parts = dict.fromkeys(part for entry in entries.values() for part in entry.get(cut, {}))
        if len(parts) < 2:  # one part is the whole again
            continue
        rows = {
            part: tuple(_row(m, e[cut][part]) for m, e in entries.items() if part in e.get(cut, {}))
            for part in parts
        }
        yield cut, tuple(rows.items())


def _pairs(pairs: Sequence[Mapping[str, Any]], value: str) -> plots.Forest:
    rows = [
        (f"{row['b']} \u2212 {row['a']}", Measured.difference(row))
        for row in pairs
        if row["metric"] == value
    ]
    return plots.differences(value, rows)


def _agreements(scores: Mapping[str, Any], protocol: str) -> Iterator[Mapping[str, Any]]:
    for row in scores.get("agreement", ()):
        if row["protocol"] == protocol:
            yield {**row, "kappa": Measured.of(row["kappa"])}


def _of(cut: str, part: str) -> str:
    return "all" if cut == "all" else f"{cut[:-1]}: {part}"


def _runs(
    scores: Mapping[str, Any], protocol: str
) -> Iterator[tuple[str, int, tuple[tuple[str, Measured, float | None, bool], ...]]]:
    """Each model that was asked several times: how often, and the mean of each part."""
    for model, protocols in scores.get("runs", {}).items():
        if protocol in protocols:
            told = protocols[protocol]
            cells = [("all", "", told["all"])]
            cells += [(cut, name, each) for cut in CUTS for name, each in told.get(cut, {}).items()]
            yield (
                model,
                len(told["runs"]),
                tuple(
                    (_of(cut, name), got := Measured.of(each), each["sd"], _few(got))
                    for cut, name, each in cells
                ),
            )


def _parts(
    scores: Mapping[str, Any], protocol: str
) -> Iterator[tuple[str, tuple[tuple[str, Measured, bool], ...]]]:
    """Each pair of models: the difference over each part."""
    rows: dict[str, list[tuple[str, Measured, bool]]] = {}
    for row in scores.get("paired_parts", ()):
        if row["protocol"] == protocol:
            cell = Measured.difference(row)
            part = (_of(row["cut"], row["part"]), cell, _few(cell))
            rows.setdefault(f"{row['b']} \u2212 {row['a']}", []).append(part)
    for pair, some in rows.items():
        yield pair, tuple(some)


def _walls(
    answers: Sequence[Answer], bench: Bench, album: Album
) -> dict[tuple[str, str], tuple[tuple[str, int, tuple[Card, ...]], ...]]:
    """(model, protocol) -> kinds of cards: title, how many there are, some of them by a draw."""
    questions = {question.id: question for question in bench.questions}
    mine: dict[tuple[str, str], list[Answer]] = {}
    for answer in answers:
        mine.setdefault((answer.model, answer.protocol), []).append(answer)
    made = {}
    for place, some in list(mine.items())[:MOST_WALLS]:
        kinds = []
        for title, fits in _KINDS:
            found = sorted(
                (each for each in some if each.item in questions and fits(each.grades)),
                key=lambda each: (key(0, "report", each.item), each.item),
            )
            cards = tuple(_card(each, questions[each.item], album) for each in found[:MOST])
            if cards:
                kinds.append((title, len(found), cards))
        made[place] = tuple(kinds)
    return made


def _has(*grades: str) -> Any:
    return lambda got: got is not None and bool(set(got) & set(grades))


_KINDS: tuple[tuple[str, Any], ...] = (
    ("Wrong", _has("incorrect")),
    ("Partly right", _has("partial")),
    ("Not attempted", lambda got: got is not None and set(got) == {"not_attempted"}),
    ("Unscored", lambda got: got is None),
    ("Right", lambda got: got is not None and set(got) == {"correct"}),
)


def _card(answer: Answer, question: Question, album: Album) -> Card:
    truth = question.facts if question.form == "open" and len(question.facts) > 1 else ()
    if question.form == "open" and not truth:
        truth = (question.answer,)
    return Card(
        question=question,
        photos=tuple(album.picture(image) for image in question.images[:PHOTOS]),
        more=max(0, len(question.images) - PHOTOS),
        options=tuple(
            (letter, text, letter == question.answer)
            for letter, text in zip(LETTERS, question.options or (), strict=False)
        ),
        truth=truth,
        graded=", ".join(each.replace("_", " ") for each in answer.grades or ("unscored",)),
        reply=answer.text[:SHOWN],
        cut=max(0, len(answer.text) - SHOWN),
    )
