"""A frozen benchmark in another format, whole or in a folder for each licence."""

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from fieldtruth.formats.contract import Exported, Exporter
from fieldtruth.records import Item, Question
from fieldtruth.stages.export import licences
from fieldtruth.store import Bench
from fieldtruth.store.references import write_references


@dataclass(frozen=True, slots=True)
class Job:
    """What is exported and how. `inside`: the format holds photos within its own files."""

    write: Exporter
    bench: Bench
    fetched: bool
    inside: bool


def write(job: Job, folder: Path, *, by_licence: bool) -> Exported:
    """Write it into an empty folder. Photos that are left out are named by their hash there."""
    if not by_licence:
        return _whole(job, folder)
    records: list[Item | Question] = [*job.bench.items, *job.bench.questions]
    named = licences.folders(licences.key(each.licence) for each in records)
    made: dict[str, Exported] = {}
    for licence, name in named.items():
        (folder / name).mkdir()
        made[licence] = _whole(replace(job, bench=_under(job.bench, licence)), folder / name)
    licences.write_index(folder, [licences.part(k, named[k], each) for k, each in made.items()])
    return licences.total(made)


def _whole(job: Job, folder: Path) -> Exported:
    made = job.write(job.bench, folder, fetched=job.fetched)
    if not job.inside:
        shown = {item.image for item in job.bench.items}
        left_out = {
            place: known
            for place, known in job.bench.manifest.references.items()
            if place in shown and not (folder / place).exists()
        }
        write_references(folder, left_out)
    return made


def _under(bench: Bench, licence: str) -> Bench:
    """The records of one licence, with a manifest that counts them alone."""
    items = tuple(each for each in bench.items if licences.key(each.licence) == licence)
    questions = tuple(each for each in bench.questions if licences.key(each.licence) == licence)
    counts = {**bench.manifest.counts, "licence": {licence: len(items) + len(questions)}}
    manifest = msgspec.structs.replace(
        bench.manifest, items=len(items), questions=len(questions), counts=counts
    )
    return replace(bench, manifest=manifest, items=items, questions=questions)
