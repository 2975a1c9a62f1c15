"""Freeze: items or questions with their photos become a benchmark that can vouch for itself.

One road for a set made by hand and for one composed by a recipe: every line is held against its
photo, what may be missing is filled in, what contradicts the photo is an error with its line,
and the folder appears whole or not at all (design, sections 2, 4 and 8).

    photos     looked at once, grouped, placed, copied where the licence allows
    audited    what an audit says of them, and whether it lets them be frozen
    card       CARD.md, for people
    croissant  croissant.json, for machines
    fields     what each field of a record means, for both
"""

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import get_args

import msgspec

from fieldtruth import __version__, rooms, sources, store
from fieldtruth.drafts import Line, finish, read_drafts
from fieldtruth.faults import Usage
from fieldtruth.privacy import metadata
from fieldtruth.records import Item, Question, Split
from fieldtruth.stages.freeze import audited, card, croissant
from fieldtruth.stages.freeze.card import About
from fieldtruth.stages.freeze.photos import Photos, groups, look
from fieldtruth.store import fetch

__all__ = ["About", "Settings", "freeze", "line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the benchmark is called and was made from; all of it goes into the manifest.

    `audited` is what `audit --json` printed of these photos: it has to let them be frozen, or
    `accept` says why they are all the same. `audit` is one that was judged elsewhere.
    """

    name: str
    version: str
    split: str = "test"
    audit: store.Audit | None = None
    audited: Path | None = None
    accept: str | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)  # name -> sha256
    about: About = field(default_factory=About)


def freeze(records: Path, images: Path, out: Path, settings: Settings) -> store.Manifest:
    """Freeze the items or questions of a JSONL file, whose image paths are relative to `images`.

    Two freezes of one input are byte-equal; freezing again what `out` already holds changes
    nothing. Raises `BadRecord` with line and id for a line that is wrong or contradicts its
    photo, `Unreadable` for a photo that cannot be opened, `Refused` for a path that leaves
    `images` and for what the audit does not let through, `Usage` for settings that cannot be used
    or when `out` holds something else, and `Busy` when another process is freezing there.
    """
    out = out.resolve()
    _check(images, out, settings)
    with store.drafting(out) as part:
        manifest = _build(records, images, part, settings)
        _publish(part, out)
    return manifest


def line(made: store.Manifest, out: Path) -> str:
    """What was frozen, in one line for people."""
    count = f"{made.items} items" if made.items else f"{made.questions} questions"
    apart = f" ({len(made.references)} by reference: see fetch.py)" if made.references else ""
    audit = made.audit if isinstance(made.audit, str) else f"audited {made.audit.coverage:.1%}"
    private = made.counts.get(card.METADATA)
    told = f", whose files tell of {card.said(private)}" if private else ""
    return f"{made.name} {made.version}: {count}, {made.images} photos{apart}{told}, {audit}: {out}"


def _check(images: Path, out: Path, settings: Settings) -> None:
    if not images.is_dir():
        raise Usage(f"{images}: expected the folder of the photos, got none there")
    if settings.split not in get_args(Split):
        known = ", ".join(get_args(Split))
        raise Usage(f"--split: expected one of {known}, got {settings.split!r}")
    if settings.accept is not None and settings.audited is None:
        raise Usage("--accept: expected an audit to accept, got none; give it with --audit")
    for name in ("name", "version"):
        if not getattr(settings, name).strip():
            raise Usage(f"--{name}: expected a {name} for the benchmark, got a blank one")
    if out.exists() and not _is_empty(out) and not (out / store.MANIFEST).is_file():
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")


def _build(records: Path, images: Path, folder: Path, settings: Settings) -> store.Manifest:
    """Everything of the benchmark in a folder of its own, the manifest last."""
    lines = read_drafts(records)
    photos = look(lines, images)
    audit, inputs, names = _audited(lines, photos, settings)
    made = [finish(each, *photos.of(each), group) for each, group in zip(lines, names, strict=True)]
    made.sort(key=attrgetter("id"))
    items = [each for each in made if isinstance(each, Item)]
    name = store.ITEMS if items else store.QUESTIONS
    store.write(folder / name, made)
    files, references = photos.copy(lines, folder)
    counts = _counts(made)
    if private := Counter(kind for each in files for kind in metadata.tells(folder / each)):
        counts[card.METADATA] = dict(sorted(private.items()))
    own = [name]
    if references:
        shutil.copyfile(fetch.__file__, folder / "fetch.py")
        own.append("fetch.py")
    manifest = store.Manifest(
        name=settings.name.strip(),
        version=settings.version.strip(),
        split=msgspec.convert(settings.split, Split),
        items=len(items),
        questions=len(made) - len(items),
        images=len(files) + len(references),
        counts=counts,
        files=files | {each: store.sha256(folder / each) for each in own},
        references=references,
        audit=audit or "not audited",
        config={**settings.config, **settings.about.given()},
        inputs={**settings.inputs, **inputs, records.name: store.sha256(records)},
        code=__version__,
    )
    manifest = _described(manifest, made, settings.about, folder).sealed()
    (folder / store.MANIFEST).write_bytes(manifest.rendered())
    return manifest


def _audited(
    lines: Sequence[Line], photos: Photos, settings: Settings
) -> tuple[store.Audit | None, dict[str, str], list[str]]:
    """The audit to freeze, the hash of its file, and the group of each line."""
    path = settings.audited
    if path is None:
        return settings.audit, {}, groups(lines, photos)
    report = audited.read(path)
    names = groups(lines, photos, audited.copies(report, photos.hashes()))
    belongs: dict[str, set[str]] = {each: set() for each in photos.hashes()}
    for each, group in zip(lines, names, strict=True):
        for seen in photos.of(each)[0]:
            belongs[seen.sha256].add(group)
    judged = audited.judge(path, report, belongs, settings.accept)
    return judged, {f"audit:{path.name}": store.sha256(path)}, names


def _described(
    manifest: store.Manifest, made: Sequence[Item | Question], about: About, folder: Path
) -> store.Manifest:
    """Write the card and croissant.json, and vouch for them too."""
    texts = {
        card.CARD: card.render(manifest, made, about, _papers(made)),
        croissant.CROISSANT: croissant.render(manifest, made, about),
    }
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    own = {name: sha256(text).hexdigest() for name, text in texts.items()}
    return msgspec.structs.replace(manifest, files=manifest.files | own)


def _papers(made: Sequence[Item | Question]) -> dict[str, str]:
    """Where a source is described: only where name and licence are those of a file of `sources`."""
    papers = {}
    for name in {each.source for each in made} & set(rooms.names(sources)):
        known = rooms.open_room(sources, name).SOURCE
        if all(each.licence == known.licence for each in made if each.source == name):
            papers[name] = str(known.paper)
    return papers


def _counts(made: Sequence[Item | Question]) -> dict[str, dict[str, int]]:
    """Records by level, kind (form, qtype), source, licence and crop; `none` where not given."""
    named: dict[str, Callable[[Item | Question], str | None]] = {
        name: attrgetter(name) for name in ("source", "licence", "crop")
    }
    own = ("level", "kind") if made and isinstance(made[0], Item) else ("form", "qtype", "domain")
    named |= {name: attrgetter(name) for name in own}
    return {
        name: dict(sorted(Counter(value(each) or "none" for each in made).items()))
        for name, value in named.items()
    }


def _publish(part: Path, out: Path) -> None:
    """One rename makes the benchmark visible; what is there already must be the same."""
    if not out.exists() or _is_empty(out):
        store.publish(part, out)
        return
    same = (part / store.MANIFEST).read_bytes() == (out / store.MANIFEST).read_bytes()
    if not same or store.verify(out):
        raise Usage(
            f"{out}: expected no such folder, got another benchmark; give --out another "
            "folder (a frozen benchmark is never changed: a correction is a new version)"
        )


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())
