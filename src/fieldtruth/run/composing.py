"""What `compose` reads and leaves: a file of items for a benchmark, or a folder of examples.

    FOLDER/examples.jsonl, drops.jsonl, manifest.json

Photos stay where they are; the manifest says where, relative to the folder, which appears whole or
not at all.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import get_args

import msgspec

from fieldtruth import __version__, store
from fieldtruth.faults import Refused, Unbalanced, Usage
from fieldtruth.records import Drop, Example, Healthy, Item, Record, Space, Split, Target
from fieldtruth.run import workspace
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.stages import compose as stage

COUNTED = ("role", "protocol", "level", "kind", "source")
DROPS = "drops.jsonl"
READ = ("samples", "targets", "healthy", "annotations", "splits")


class Composed(Record, frozen=True, kw_only=True):
    """What `compose` counted."""

    items: int
    positives: int
    healthy: int
    without_candidates: int
    drops: dict[str, int]


def compose_items(
    out: Path, items: Path, split: str = "all", seed: int = 0, track: Track = SILENT
) -> Composed:
    """Annotated targets and healthy photos become items in `items`; the rest lies beside it."""
    source = workspace.labelled(out)
    drops, kept = items.with_name(f"{items.stem}.drops.jsonl"), list[Item]()
    gone: list[Drop] = []
    owed = len(source.targets) + len(source.healthy)
    made: Iterable[Item | Drop] = track(stage.compose(source, split, seed), owed)
    for record in made:
        if isinstance(record, Drop):
            gone.append(record)
        else:
            kept.append(record)
    if len(kept) + len(gone) != owed:
        raise Unbalanced(f"compose: {owed} records in, {len(kept)} kept and {len(gone)} dropped")
    if not kept:
        raise _nothing(out, split, gone)
    kept.sort(key=attrgetter("id"))
    with store.writing(items) as keep, store.writing(drops) as drop:
        for item in kept:
            keep(item)
        for each in gone:
            drop(each)
        items.unlink(missing_ok=True)  # so that no items stand beside the drops of others
    return Composed(
        items=len(kept),
        positives=sum(item.positive for item in kept),
        healthy=sum(not item.positive for item in kept),
        without_candidates=sum(item.candidates is None for item in kept),
        drops=_reasons(gone),
    )


def composed_line(made: Composed, out: Path) -> str:
    """What a person reads when `compose` ends."""
    lost = ", ".join(f"{reason} {count}" for reason, count in made.drops.items())
    return (
        f"{made.items} items ({made.positives} positive, {made.healthy} healthy, "
        f"{made.without_candidates} without candidates); left out: {lost or 'none'}. In {out}"
    )


def only(folders: Sequence[Path], told: Mapping[str, object]) -> Path:
    """The one folder that items are made of; `Usage` for several, and for settings of a mixture."""
    given = [name for name, value in told.items() if value is not None]
    if given:
        flag = given[0].replace("_", "-")
        raise Usage(f"--{flag}: expected --training beside it; items have no such setting")
    if len(folders) != 1:
        raise Usage(
            f"compose: expected one folder, got {len(folders)}: a benchmark's photos lie in one "
            "place; compose and freeze each, or give --training for a mixture"
        )
    return folders[0]


def mixture(split: str, seed: int, told: Mapping[str, object]) -> stage.Mix:
    """The settings of a mixture; what is None is as the stage has it. Raises as `Mix` does."""
    given = {name: value for name, value in told.items() if value is not None}
    if split not in get_args(Split):
        raise Usage(f"--split: expected train or val for training, got {split!r}")
    if given.get("space", "norm1000") not in get_args(Space):
        known = ", ".join(get_args(Space))
        raise Usage(f"--space: expected one of {known}, got {given['space']!r}")
    try:
        return msgspec.convert({"split": split, "seed": seed, **given}, stage.Mix)
    except msgspec.ValidationError as error:
        raise Usage(f"compose --training: {error}") from None


def compose_training(
    folders: Sequence[Path], out: Path, mix: stage.Mix, track: Track = SILENT
) -> store.ExamplesManifest:
    """Examples of one split of these sources in `out`, a new or empty folder.

    Raises `Usage` for two folders of one source, where nothing is of the split, and where `out`
    holds files; `Refused` for what `stages.compose.gathered.gather` refuses, and for sources that
    were split apart so that a photo of theirs lies in two splits.
    """
    out = out.resolve()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    sources = _sources(folders)
    for _, each in sources:
        if out.is_relative_to(each.root.resolve()):
            raise Usage(f"{out}: expected a folder outside the release, got one in {each.root}")
    _split_together(sources)
    ledger = Ledger("compose", stage.TRAINING_REASONS)
    for _, each in sources:
        owed: Iterable[Target | Healthy] = chain(each.targets, each.healthy)
        for _ in ledger.incoming(owed):
            pass
    with store.drafting(out) as part:
        mixed = stage.mix([each for _, each in sources], mix, track)
        if not len(mixed):
            raise _nothing(folders[0], mix.split, mixed.drops)
        counts = _write(part, mixed, ledger, track)
        ledger.close()
        manifest = store.ExamplesManifest(
            name=out.name, split=mix.split, space=mix.space, seed=mix.seed,
            settings=_settings(mix), examples=len(mixed), counts=counts,
            drops=_reasons(mixed.drops),
            roots={each.name: workspace.seen_from(out, each.root) for _, each in sources},
            files={name: store.sha256(part / name) for name in (store.EXAMPLES, DROPS)},
            inputs=_inputs(sources), code=__version__,
        )  # fmt: skip
        (part / store.MANIFEST).write_bytes(manifest.rendered())
        store.publish(part, out)
    return manifest


def training_line(made: store.ExamplesManifest, out: Path) -> str:
    """What a person reads when `compose --training` ends."""
    roles = ", ".join(f"{count} {role}" for role, count in made.counts["role"].items())
    notes = ", ".join(
        f"{name.replace('_', ' ')} {count}" for name, count in made.counts["notes"].items() if count
    )
    lost = ", ".join(f"{reason} {count}" for reason, count in made.drops.items())
    return (
        f"{made.examples} examples ({roles}; {made.counts['protocol'].get('candidates', 0)} with "
        f"candidates); to note: {notes or 'nothing'}; left out: {lost or 'none'}. In {out}"
    )


def _sources(folders: Sequence[Path]) -> list[tuple[Path, stage.Labelled]]:
    """The folders with what they hold, by the names of their sources."""
    found = {
        each.name: (folder, each)
        for folder, each in zip(folders, map(workspace.labelled, folders), strict=True)
    }
    if len(found) < len(folders):
        raise Usage(
            f"{', '.join(map(str, folders))}: expected one folder of each source, got two of one, "
            "whose photos could not be told apart; ingest them as one release"
        )
    return [found[name] for name in sorted(found)]


def _split_together(sources: Sequence[tuple[Path, stage.Labelled]]) -> None:
    """`Refused` where a photo, or a group, lies in one split here and in another there.

    One `split` over all of them never does that; one for each knows nothing of the others.
    """
    first: dict[str, tuple[Split, str, Path]] = {}
    for folder, each in sources if len(sources) > 1 else ():
        for place in (each.places or {}).values():
            for key in (place.image_sha256, place.group):
                split, image, there = first.setdefault(key, (place.split, place.id, folder))
                if key and split != place.split:
                    raise Refused(
                        f"{folder}: expected a photo in one split, got {place.id!r} in "
                        f"{place.split} and {image!r} of {there} in {split}; split these folders "
                        f"together: fieldtruth split {there} {folder}"
                    )


def _write(
    folder: Path, mixed: stage.Mixed, ledger: Ledger, track: Track
) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {name: Counter() for name in COUNTED}
    counts |= {f"{name} of empty answers": Counter() for name in COUNTED[1:]}
    made: Iterable[Example] = track(mixed, len(mixed))
    with store.writing(folder / store.EXAMPLES) as keep, store.writing(folder / DROPS) as drop:
        for example in ledger.outgoing(made, attrgetter("parent")):
            keep(example)
            _count(example, counts)
        for each in ledger.outgoing(mixed.drops, lambda one: one.parent or ""):
            drop(each)
    told = {name: dict(sorted(found.items())) for name, found in counts.items()}
    return told | {"notes": dict(sorted(mixed.notes.items()))}


def _count(example: Example, counts: dict[str, Counter[str]]) -> None:
    for name in COUNTED:
        value = getattr(example, name) or "none"
        counts[name][value] += 1
        if name != "role" and example.role != "positive":
            counts[f"{name} of empty answers"][value] += 1


def _settings(mix: stage.Mix) -> dict[str, str]:
    told = ("candidates", "healthy", "wrong_target", "assume_absent")
    return {name: str(getattr(mix, name)) for name in told}


def _inputs(sources: Sequence[tuple[Path, stage.Labelled]]) -> dict[str, str]:
    """The hashes of the files that were read, by source."""
    paths = {
        f"{each.name}/{name}.jsonl": folder / f"{name}.jsonl"
        for folder, each in sources
        for name in READ
    }
    return {name: store.sha256(path) for name, path in paths.items() if path.is_file()}


def _nothing(folder: Path, split: str, gone: Sequence[Drop]) -> Usage:
    return Usage(
        f"{folder}: expected photos of the split {split!r}, got none; the drops say why: "
        f"{_reasons(gone)}"
    )


def _reasons(drops: Sequence[Drop]) -> dict[str, int]:
    return dict(sorted(Counter(drop.reason for drop in drops).items()))
