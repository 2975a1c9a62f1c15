"""Items to people: a folder for Label Studio, part of it blind, and the books of it.

    tasks.json    import this          config.xml    the labelling config
    project.json  what `POST /api/projects` takes: config, instructions, annotators a task
    images/       the photos           sheet.html    what to look for
    sent.jsonl    which task is which item, for the way back: not for annotators
    drops.jsonl   items whose photo could not be sent, and why

A task's id is a hash of the item's and its photo is named by content, tasks are in the order of
their ids, and a healthy photo is asked about like an ill one: nothing tells label, source or kind
of answer but the photo and, unless it is blind, whether a machine found something on it. Whether
an item is blind is drawn by its id, and a larger share holds all of a smaller one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from fieldtruth import draws, images, store
from fieldtruth.drafts import ItemDraft, as_given, read_drafts
from fieldtruth.faults import BadRecord, Unbalanced, Unreadable, Usage
from fieldtruth.formats.label_studio import writing as studio
from fieldtruth.records import Box, Drop, Record
from fieldtruth.stages.review.sent import DROPS, PHOTOS, SENT, Sent, apart, new_folder, task_id
from fieldtruth.stages.review.sheet import Asked, asked_of, page
from fieldtruth.taxonomy import cues

REASONS = ("photo_unreadable", "photo_differs")
VERSION = "before"  # what a pre-annotation says it comes from


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to send. `blind`: the share without pre-annotations. `url` stands before a photo's name.

    `annotators` people are to see every task; a server without accounts of its own for them hands
    each task out until it has as many annotations.
    """

    blind: float = 0.0
    annotators: int = 1
    url: str = f"{studio.LOCAL}{PHOTOS}/"
    cues: Path | None = None
    seed: int = 0
    title: str = "review"

    def __post_init__(self) -> None:
        if not 0 <= self.blind <= 1:
            raise Usage(f"blind: expected a share from 0 to 1, got {self.blind}")
        if self.annotators < 1:
            raise Usage(f"overlap: expected at least 1, got {self.annotators}")
        if len(self.title) < 3:
            raise Usage(f"title: expected three letters or more, got {self.title!r}")


class Exported(Record, frozen=True, kw_only=True):
    """What was sent: `items == tasks + sum(drops)`.

    `blind` tasks have boxes that were held back; `bare` ones have none to show, as healthy photos.
    """

    items: int
    tasks: int
    photos: int
    blind: int
    bare: int
    drops: dict[str, int]


def send(source: Path, root: Path | None, out: Path, settings: Settings) -> Exported:
    """A file of items (photos below `root`) or a frozen benchmark to a new folder `out`.

    Raises `Usage` where photos cannot be looked for, `Refused` for a path that leads out.
    """
    lines, root = _lines(source, root)
    words = cues.read(settings.cues) if settings.cues else {}
    with new_folder(out) as part:
        made = [_sent(each, root, part / PHOTOS, settings) for each in lines]
        sent = sorted((each for each in made if isinstance(each, Sent)), key=attrgetter("id"))
        drops = [each for each in made if isinstance(each, Drop)]
        apart(each.id for each in sent)
        questions = {each.id: asked_of(each.item, words) for each in sent}
        tasks = [_task(each, questions[each.id], settings) for each in sent]
        project(part, settings.title, studio.review_config(), tasks, settings.annotators)
        sheet(part, questions.values())
        store.write(part / SENT, sent)
        store.write(part / DROPS, drops)
        if len(sent) + len(drops) != len(lines):
            raise Unbalanced(f"review export: {len(lines)} items in, {len(made)} out")
    return Exported(
        items=len(lines), tasks=len(sent), photos=len({each.photo for each in sent}),
        blind=sum(each.blind and bool(each.item.boxes) for each in sent),
        bare=sum(not each.item.boxes for each in sent),
        drops=dict(sorted(Counter(each.reason for each in drops).items())),
    )  # fmt: skip


def line(made: Exported, out: Path) -> str:
    """What was sent, in one line for people."""
    lost = ", ".join(f"{reason} {count}" for reason, count in made.drops.items())
    return (
        f"{made.tasks} tasks with {made.photos} photos ({made.blind} blind, their boxes held back; "
        f"{made.bare} that have no boxes to show); "
        f"left out: {lost or 'none'}. Serve {out} as LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT; in a "
        "new project set config.xml, then import tasks.json"
    )


def project(
    folder: Path, title: str, config: str, tasks: Sequence[dict[str, Any]], annotators: int
) -> None:
    """The files that a server is given."""
    studio.dump(folder / "tasks.json", tasks)
    (folder / "config.xml").write_text(config, encoding="utf-8")
    about = {
        "title": title, "label_config": config, "maximum_annotations": annotators,
        "show_collab_predictions": True, "model_version": VERSION, "show_instruction": True,
        "expert_instruction": "Names and looks of what is asked for: sheet.html.",
        "sampling": "Sequential sampling",
    }  # fmt: skip
    studio.dump(folder / "project.json", about)


def _lines(source: Path, root: Path | None) -> tuple[list[tuple[ItemDraft, str]], Path]:
    """The items of a benchmark, or of a file, where what `freeze` fills in may be left out.

    Each with where it stands; ascending by id.
    """
    if source.is_dir():
        items = store.open_bench(source).items
        return [(ItemDraft(**asdict(each)), f"{source} (id {each.id!r})") for each in items], source
    if root is None:
        raise Usage(f"{source}: expected --images, the folder its photos are relative to, got none")
    lines = [(each.draft, each.where) for each in read_drafts(source)]
    drafts = [(draft, where) for draft, where in lines if isinstance(draft, ItemDraft)]
    if len(drafts) < len(lines):
        raise BadRecord(f"{lines[0][1]}: expected an item, got a question; only items are reviewed")
    return sorted(drafts, key=lambda each: each[0].id), root


def _sent(line: tuple[ItemDraft, str], root: Path, photos: Path, settings: Settings) -> Sent | Drop:
    draft, where = line
    path = store.inside(root, draft.image, f"item {draft.id!r}")
    try:
        seen = images.facts(path)
        item = as_given(draft, seen, draft.image, draft.group or seen.pixels)
        got = (seen.width, seen.height, seen.sha256)
        if got != (item.width, item.height, item.image_sha256):
            detail = f"expected {item.width}x{item.height} {item.image_sha256[:12]}, got {got[0]}x"
            return _drop(draft.id, "photo_differs", f"{detail}{got[1]} {got[2][:12]}")
        photo = studio.place_photo(path, photos, seen.sha256)
    except Unreadable as fault:
        return _drop(draft.id, "photo_unreadable", str(fault))
    except ValueError as error:
        raise BadRecord(f"{where}: {error}; correct the line") from None
    blind = draws.rng(settings.seed, "review blind", item.id).random() < settings.blind
    shown: tuple[Box, ...] = () if blind else item.boxes
    return Sent(
        id=task_id(settings.seed, item.id), item=item, photo=photo, shown=shown, blind=blind,
        annotators=settings.annotators,
    )  # fmt: skip


def _drop(item: str, reason: str, detail: str) -> Drop:
    return Drop(
        id=f"{item}:review", sample=item, stage="review export", reason=reason, detail=detail
    )


def _task(sent: Sent, question: Asked, settings: Settings) -> dict[str, Any]:
    item = sent.item
    data = {
        "task": sent.id, "image": settings.url + sent.photo, "ask": question.ask,
        "cue": question.cue,
    }  # fmt: skip
    if sent.blind or not sent.shown:
        return {"data": data}
    result = studio.regions(sent.shown, item.width, item.height, studio.TARGET)
    result.append(studio.choice(studio.LEVEL, item.wording))
    return {"data": data, "predictions": [studio.prediction(result, VERSION)]}


def sheet(folder: Path, questions: Iterable[Asked]) -> None:
    """The reference sheet of these questions."""
    text = page({each.ask: each for each in questions})
    (folder / "sheet.html").write_text(text, encoding="utf-8")
