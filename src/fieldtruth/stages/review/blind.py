"""Questions to experts who are not to see the generated answer: a folder for Label Studio.

    tasks.json    import this          config.xml    the labelling config
    project.json  what `POST /api/projects` takes: config, instructions, annotators a task
    images/       the photos           sent.jsonl    which task is which question

PlantXpert, expert annotation: the generated answers were hidden to avoid anchoring. So nothing
here depends on them: of a question only its words, its options in their order and its photos are
used, and two sets that differ in answers, evidence, facts and labels give the same bytes. The order
of the tasks, and which questions are drawn, go by hashes of ids.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import images, store
from fieldtruth.draws import key
from fieldtruth.faults import Refused, Usage
from fieldtruth.formats.label_studio import writing as studio
from fieldtruth.protocols.contract import offered
from fieldtruth.records import LETTERS, Question, Record
from fieldtruth.stages.review.sent import PHOTOS, SENT, apart, new_folder, task_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`want` questions, whole papers (groups) at a time; all if None. `per_figure` of those that
    show the same photos, at most; the paper took one. `context`: a background is shown. The rest
    as of `sending.Settings`.
    """

    want: int | None = None
    per_figure: int | None = None
    context: bool = False
    annotators: int = 2
    url: str = f"{studio.LOCAL}{PHOTOS}/"
    seed: int = 0
    title: str = "questions"

    def __post_init__(self) -> None:
        for name in ("want", "per_figure"):
            if (number := getattr(self, name)) is not None and number < 1:
                raise Usage(f"--{name.replace('_', '-')}: expected at least 1, got {number}")
        if self.annotators < 2:
            raise Usage(f"--overlap: expected at least 2 people, got {self.annotators}")


class Sent(Record, frozen=True, kw_only=True):
    """One task. `shown` is the hash of what the expert sees; `letters` what may be answered."""

    id: str
    question: str
    shown: str
    letters: str
    annotators: int


class Handed(Record, frozen=True, kw_only=True):
    """What was handed out: `questions` of the set, `figures` and `groups` that `tasks` are of."""

    questions: int
    tasks: int
    figures: int
    groups: int
    photos: int


def send(questions: Sequence[Question], root: Path, out: Path, settings: Settings) -> Handed:
    """Write the folder, whole or not at all.

    Raises `Usage` where there is nothing to ask, `Refused` for a path that leads out of `root`,
    `Unreadable` for a photo that cannot be opened.
    """
    lettered = [each for each in questions if each.form == "mcq"]
    if not lettered:
        raise Usage("expected questions with options, got none; only those are adjudicated")
    chosen = drawn(lettered, settings)
    with new_folder(out) as part:
        photos = hashes(chosen, root)
        placed = _placed(photos, root, part / PHOTOS)
        sent = {each.id: _sent(each, photos, settings) for each in chosen}
        apart(each.id for each in sent.values())
        ordered = sorted(chosen, key=lambda each: sent[each.id].id)
        tasks = [_task(each, sent[each.id], placed, settings) for each in ordered]
        most = max(len(each.options or ()) for each in chosen)
        config = studio.questions_config(LETTERS[:most])
        studio.dump(part / "tasks.json", tasks)
        (part / "config.xml").write_text(config, encoding="utf-8")
        about = {
            "title": settings.title, "label_config": config,
            "maximum_annotations": settings.annotators, "show_collab_predictions": False,
            "show_instruction": True, "sampling": "Sequential sampling",
            "expert_instruction": "Answer from the photos alone, without asking others. Where a "
            "question cannot be answered so, say why in place of an answer.",
        }  # fmt: skip
        studio.dump(part / "project.json", about)
        store.write(part / SENT, sorted(sent.values(), key=attrgetter("id")))
    return Handed(
        questions=len(lettered), tasks=len(tasks), groups=len({each.group for each in chosen}),
        figures=len({each.images for each in chosen}), photos=len(set(placed.values())),
    )  # fmt: skip


def drawn(questions: Iterable[Question], settings: Settings) -> list[Question]:
    """The candidates: of each figure some, of as many groups as it takes."""

    def by_draw(name: str) -> tuple[int, str]:
        return key(settings.seed, "review blind", name), name

    figures: dict[tuple[str, ...], int] = {}
    groups: dict[str, list[Question]] = {}
    for each in sorted(questions, key=lambda each: by_draw(each.id)):
        figure = each.images or (each.id,)  # a question without photos is a figure of its own
        figures[figure] = figures.get(figure, 0) + 1
        if settings.per_figure is None or figures[figure] <= settings.per_figure:
            groups.setdefault(each.group, []).append(each)
    found: list[Question] = []
    for name in sorted(groups, key=by_draw):
        if settings.want is not None and len(found) >= settings.want:
            break
        found += groups[name]
    return found[: settings.want]


def fingerprint(question: Question, photos: Mapping[str, str]) -> str:
    """A hash of what an expert sees of a question, and of nothing else."""
    seen = (question.question, question.options, [photos[each] for each in question.images])
    return sha256(msgspec.json.encode(seen)).hexdigest()


def line(made: Handed, out: Path) -> str:
    """What was handed out, in one line for people."""
    return (
        f"{made.tasks} of {made.questions} questions with {made.photos} photos, of {made.figures} "
        f"figures and {made.groups} groups, without their answers. Serve {out} as "
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT; in a new project set config.xml, then import "
        "tasks.json"
    )


def hashes(questions: Iterable[Question], root: Path) -> dict[str, str]:
    """The SHA-256 of every photo of the questions, by its path."""
    names = sorted({image for each in questions for image in each.images})
    return {name: store.sha256(_there(root, name)) for name in names}


def _there(root: Path, image: str) -> Path:
    path = store.inside(root, image)
    if not path.is_file():
        raise Refused(f"{path}: expected a photo, got nothing there; bring it back")
    return path


def _placed(photos: Mapping[str, str], root: Path, folder: Path) -> dict[str, str]:
    """path -> the name of its copy in the folder."""
    made = {}
    for image, identity in photos.items():
        path = store.inside(root, image)
        images.facts(path)  # `Unreadable` for what no browser can show
        made[image] = studio.place_photo(path, folder, identity)
    return made


def _sent(question: Question, photos: Mapping[str, str], settings: Settings) -> Sent:
    return Sent(
        id=task_id(settings.seed, question.id), question=question.id,
        shown=fingerprint(question, photos), letters=LETTERS[: len(question.options or ())],
        annotators=settings.annotators,
    )  # fmt: skip


def _task(
    question: Question, sent: Sent, placed: Mapping[str, str], settings: Settings
) -> dict[str, Any]:
    shown = question if settings.context else msgspec.structs.replace(question, background="")
    data = {
        "task": sent.id, "ask": offered(shown),
        "images": [settings.url + placed[image] for image in question.images],
    }  # fmt: skip
    return {"data": data}
