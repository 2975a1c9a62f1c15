"""Audit: what is wrong with photos before they are trusted, within one set and between several.

    sets       folders, files of items, frozen benchmarks -> photos by name

What `duplicates` sees goes to every file of `checks/`, and the report is what they find (design,
section 8). Everything is compared with everything: two files of one set, and any two sets given,
healthy photos and negatives like all others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fieldtruth import checks, hashing, rooms
from fieldtruth.checks.contract import Bad, Member, Pair, Photo, Report, Seen, SetReport
from fieldtruth.duplicates import (
    BAD,
    Found,
    Nodes,
    Over,
    Passing,
    find,
    in_threads,
    look_at,
    verdict,
)
from fieldtruth.faults import Refused, Unreadable, Usage
from fieldtruth.hashing import TURNS, Look
from fieldtruth.records import Finding
from fieldtruth.stages.audit.sets import Entry, read_set

MOST_RADIUS = 16  # of 64 bits: photos that have nothing in common are 32 apart
_ABOUT_PAIRS = ("label_conflicts", "healthy_and_diseased")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an audit looks. `images` is what paths in files of items are relative to."""

    radius: int = 6
    max_pairs: int = 100_000
    flips: bool = False
    images: Path | None = None


def audit(
    names: Sequence[str], settings: Settings, track: Passing, over: Over = in_threads
) -> Report:
    """Compare every photo of the sets at these paths with every other one.

    Raises `Usage` for a set that is not there or empty, named twice, or settings out of range;
    `Refused` for a benchmark that does not verify; `BadRecord` for a line that is no item.
    """
    _check(names, settings)
    entries = [entry for name in names for entry in read_set(name, settings.images)]
    number: dict[Path, int] = {}
    places = [number.setdefault(entry.file, len(number)) for entry in entries]
    files = list(number)
    sets = [names.index(entry.set) for entry in entries]
    nodes = Nodes(np.array(sets, np.int64), np.array(places, np.int64))
    looks = look_at(files, track, over)
    knobs = settings.radius, settings.max_pairs, len(TURNS) if settings.flips else 1
    found = find(files, looks, nodes, knobs, track, over)
    for file, fault in found.broken.items():
        looks[file] = fault
    seen = _seen(entries, [looks[place] for place in places], nodes, found)
    return _report(seen, found, settings)


def refuse(report: Report) -> None:
    """`Refused` for what `--gate` does not let through: leaks between sets, photos not compared."""
    leaks = sum(pair.across and pair.verdict in BAD for pair in report.pairs)
    reasons = [f"{leaks} pairs between sets that are, or may be, one photo"] * bool(leaks)
    if report.coverage < 1:
        reasons.append(f"a coverage of {report.coverage:.2%}")
    if not report.complete and len(report.sets) > 1:
        reasons.append(f"more near pairs than the {len(report.pairs)} listed (see --max-pairs)")
    if reasons:
        raise Refused(
            f"audit: expected sets apart and every photo compared, got {', '.join(reasons)}; "
            "take those photos out, or put them right"
        )


def line(report: Report) -> str:
    """An audit in a few lines for people."""
    rows = [
        f"{name}: {each.images} photos, {each.coverage:.1%} compared, "
        f"{len(each.unreadable)} unreadable, {len(each.degenerate)} degenerate"
        for name, each in report.sets.items()
    ]
    counts = dict.fromkeys((*BAD, "collision"), 0)
    across = dict.fromkeys(counts, 0)
    for pair in report.pairs:
        counts[pair.verdict] += 1
        across[pair.verdict] += pair.across
    told = ", ".join(f"{n} {word} ({across[word]} between sets)" for word, n in counts.items())
    more = "" if report.complete else f"; only {len(report.pairs)} of {report.found} or more listed"
    rows.append(f"pairs: {told}{more}")
    rows.append(
        f"{len(report.groups)} groups of copies, {len(report.conflicts)} conflicts, "
        f"{len(report.findings)} findings"
    )
    return "\n".join(rows)


def _check(names: Sequence[str], settings: Settings) -> None:
    if len(set(names)) < len(names):
        raise Usage(f"audit: expected sets of different names, got {', '.join(names)}")
    if not 0 <= settings.radius <= MOST_RADIUS:
        raise Usage(f"--radius: expected 0 to {MOST_RADIUS} bits, got {settings.radius}")
    if settings.max_pairs < 1:
        raise Usage(f"--max-pairs: expected 1 or more, got {settings.max_pairs}")


def _seen(
    entries: Sequence[Entry], looks: Sequence[Look | Unreadable], nodes: Nodes, found: Found
) -> Seen:
    photos = [
        Photo(
            set=entry.set,
            path=entry.path,
            look=look if isinstance(look, Look) else None,
            labelled=entry.labelled,
            label=entry.label,
            source=entry.source,
            split=entry.split,
        )
        for entry, look in zip(entries, looks, strict=True)
    ]
    ends = list(zip(found.near.a.tolist(), found.near.b.tolist(), strict=True))
    pairs = [_pair(photos, found, row, *each) for row, each in enumerate(ends)]
    return Seen(
        sets=_sets(entries, looks, nodes),
        photos=photos,
        pairs=pairs,
        ends=ends,
        groups=_groups(nodes, found, pairs),
        complete=found.complete,
    )


def _pair(photos: Sequence[Photo], found: Found, row: int, a: int, b: int) -> Pair:
    r = float(found.correlation[row])
    known = None if np.isnan(r) else round(r, 6)
    one, other = photos[a], photos[b]
    return Pair(
        a=one.path,
        b=other.path,
        set_a=one.set,
        set_b=other.set,
        distance=int(found.near.distance[row]),
        correlation=known,
        verdict=verdict(None if known is None else r),
        turn=TURNS[int(found.near.turn[row])],
        sha256_a=one.look.sha256 if one.look else "",
        sha256_b=other.look.sha256 if other.look else "",
    )


def _sets(
    entries: Sequence[Entry], looks: Sequence[Look | Unreadable], nodes: Nodes
) -> dict[str, SetReport]:
    """What was covered of each set, each file once."""
    once = {(entry.set, int(file)): n for n, (entry, file) in
            reversed(list(enumerate(zip(entries, nodes.files, strict=True))))}  # fmt: skip
    reports = {}
    for name in dict.fromkeys(entry.set for entry in entries):
        mine = sorted(n for (owner, _), n in once.items() if owner == name)
        told = [(entries[n].image, looks[n]) for n in mine]
        unreadable = [
            Bad(path=image, reason=look.outcome, detail=str(look))
            for image, look in told
            if isinstance(look, Unreadable)
        ]
        poor = [
            Bad(path=image, reason="constant" if look.flat else "few_frequencies")
            for image, look in told
            if isinstance(look, Look) and look.poor
        ]
        readable = len(mine) - len(unreadable)
        reports[name] = SetReport(
            images=len(mine),
            readable=readable,
            unreadable=tuple(unreadable),
            degenerate=tuple(poor),
            coverage=readable / len(mine),
        )
    return reports


def _groups(nodes: Nodes, found: Found, pairs: Sequence[Pair]) -> list[list[int]]:
    """Nodes joined by confirmed copies, and by being one file; ascending, of two or more."""
    top = list(range(len(nodes.files)))

    def find_top(node: int) -> int:
        while top[node] != node:
            top[node] = top[top[node]]
            node = top[node]
        return node

    _, first, which = np.unique(nodes.files, return_index=True, return_inverse=True)
    links = list(zip(range(len(top)), first[which].tolist(), strict=True))
    ends = zip(found.near.a.tolist(), found.near.b.tolist(), strict=True)
    links += [each for pair, each in zip(pairs, ends, strict=True) if pair.verdict == "copy"]
    if not found.complete:
        links += list(zip(range(len(top)), found.joined.tolist(), strict=True))
    for a, b in links:
        low, high = sorted((find_top(a), find_top(b)))
        top[high] = low
    members: dict[int, list[int]] = {}
    for node in range(len(top)):
        members.setdefault(find_top(node), []).append(node)
    return [group for group in members.values() if len(group) > 1]


def _report(seen: Seen, found: Found, settings: Settings) -> Report:
    findings: dict[str, list[Finding]] = {
        name: list(rooms.open_room(checks, name).check(seen)) for name in rooms.names(checks)
    }
    conflicts = [each for name in _ABOUT_PAIRS for each in findings.pop(name)]
    photos = {
        name: tuple(sorted({p.look.sha256 for p in seen.photos if p.set == name and p.look}))
        for name in seen.sets
    }
    groups = [
        tuple(Member(set=seen.photos[n].set, path=seen.photos[n].path) for n in group)
        for group in seen.groups
    ]
    return Report(
        sets=seen.sets,
        pairs=tuple(seen.pairs),
        groups=tuple(groups),
        conflicts=tuple(conflicts),
        findings=tuple(each for some in findings.values() for each in some),
        found=found.total,
        complete=found.complete,
        radius=settings.radius,
        flips=settings.flips,
        hash=hashing.CONVENTION,
        photos=photos,
    )
