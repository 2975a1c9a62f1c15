"""Questions to two experts and back, and what they settle into gold and silver sets."""

from collections.abc import Sequence
from pathlib import Path

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Question
from fieldtruth.run.verifying import questions_of
from fieldtruth.stages import adjudicate as settling
from fieldtruth.stages import silver
from fieldtruth.stages.review import answers, blind


def send(source: Path, images: Path | None, out: Path, settings: blind.Settings) -> blind.Handed:
    """The questions of a file, a folder or a benchmark to a new folder for Label Studio."""
    questions, root = _set(source, images)
    return blind.send(questions, root, out, settings)


def receive(
    exported: Path, sent: Path, source: tuple[Path, Path | None], out: Path, experts: Sequence[str]
) -> answers.Received:
    """What the server exported to two files of answers and the key, which is read from `source`:
    the set that was sent, and the folder of its photos where it has to be said."""
    questions, root = _set(*source)
    return answers.receive(exported, sent, questions, root, out, experts)


def settle(
    made: settling.Adjudication, source: Path | None, way: str, out: Path | None
) -> list[str]:
    """Write what was adjudicated to `out`, with gold and silver of the set `source` where one is
    given; what to tell people, a line each."""
    told = [settling.line(made)]
    if source is None:
        if out is not None:
            settling.write(made, out)
        return told
    questions, root = questions_of(source, None)
    gold = {each.id: each.answer for each in made.gold}
    reviewed = [*gold, *(each.id for each in made.dropped)]
    images = {image for each in questions for image in each.images}
    photos = _photos(images, root)
    parted = silver.part(questions, gold, reviewed, way, photos)
    if out is not None:
        settling.write(made, out, lambda folder: silver.write(parted, folder))
    told.append(silver.line(parted))
    if lost := len(images - photos.keys()):
        told.append(f"{lost} of {len(images)} photos are not at hand: told apart by their paths")
    return told


def _photos(images: set[str], root: Path | None) -> dict[str, str]:
    """The hashes of the photos that are at hand; none where it is not known where they lie."""
    if root is None:
        return {}
    places = {image: store.inside(root, image) for image in sorted(images)}
    return {image: store.sha256(path) for image, path in places.items() if path.is_file()}


def _set(source: Path, images: Path | None) -> tuple[list[Question], Path]:
    questions, root = questions_of(source, images)
    if not questions:
        raise Usage(f"{source}: expected questions, got none")
    if root is None:
        if any(each.images for each in questions):
            raise Usage(f"{source}: expected --images, the folder its photos are relative to")
        root = source if source.is_dir() else source.parent
    return questions, root
