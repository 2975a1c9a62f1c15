"""What an audit says of the photos that are frozen, and whether that lets them be.

An audit is told by contents: the set whose files have the hashes of these photos is the one they
lie in, whatever it was called. So the audit of another set, or of the photos before they were
edited, covers nothing here (design, section 2, rule 11).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from fieldtruth import store
from fieldtruth.checks.contract import Pair, Report
from fieldtruth.duplicates import BAD
from fieldtruth.faults import BadRecord, Refused, Usage

Groups = Mapping[str, set[str]]  # SHA-256 of a photo -> the groups it is in


def read(path: Path) -> Report:
    """A report as `fieldtruth audit --json` prints it. `Usage` where there is none, `BadRecord`
    where it is something else."""
    with store.open_existing(path) as file:
        raw = file.read()
    try:
        return msgspec.json.decode(raw, type=Report)
    except (ValueError, RecursionError) as error:
        raise BadRecord(
            f"{path}: expected what `fieldtruth audit --json` prints, got: {error}; "
            "audit the photos again"
        ) from None


def copies(report: Report, photos: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The hashes of each two of these photos that are confirmed copies."""
    home, mine = _home(report, photos)
    for pair in report.pairs:
        if pair.verdict == "copy" and _ends(pair, home, mine) == 2:
            yield pair.sha256_a, pair.sha256_b


def judge(path: Path, report: Report, groups: Groups, accept: str | None) -> store.Audit:
    """What is frozen of the audit; `Refused` where it has to be, unless `accept` says why not."""
    if accept is not None and not accept.strip():
        raise Usage("--accept: expected the reason in words, got a blank one")
    home, mine = _home(report, groups)
    if not mine:
        raise Refused(
            f"{path}: expected an audit of these photos, got one of others, or of these before "
            "they changed; audit them again"
        )
    coverage = min(report.coverage, len(mine) / len(groups))
    between = Counter(
        pair.verdict
        for pair in report.pairs
        if pair.verdict in BAD and _between_groups(pair, home, mine, groups)
    )
    against = [f"{count} pairs between groups: {word}" for word, count in sorted(between.items())]
    if coverage < 1:
        against.append(f"coverage {coverage:.2%}")
    if not report.complete:
        against.append(f"only {len(report.pairs)} pairs listed (see --max-pairs)")
    if against and accept is None:
        raise Refused(
            f"{path}: expected every photo compared and no copy between groups, got "
            f"{'; '.join(against)}; take them out or put them into one group and audit again, "
            "or say with --accept why they may stay"
        )
    return store.Audit(
        coverage=coverage,
        findings=_counts(report, between.total()),
        reason=accept.strip() if against and accept else None,
    )


def _home(report: Report, photos: Iterable[str]) -> tuple[str, set[str]]:
    """The audited set that these photos lie in, the first of the fullest, and which of them do."""
    wanted = set(photos)
    held = {name: wanted.intersection(known) for name, known in report.photos.items()}
    home = max(held, key=lambda name: len(held[name]), default="")
    return home, held.get(home, set())


def _ends(pair: Pair, home: str, mine: set[str]) -> int:
    """How many ends of a pair are photos that are frozen."""
    return (pair.set_a == home and pair.sha256_a in mine) + (
        pair.set_b == home and pair.sha256_b in mine
    )


def _between_groups(pair: Pair, home: str, mine: set[str], groups: Groups) -> bool:
    ends = _ends(pair, home, mine)
    if ends == 2:
        return groups[pair.sha256_a].isdisjoint(groups[pair.sha256_b])
    return ends == 1 and pair.across


def _counts(report: Report, between: int) -> dict[str, int]:
    """Findings by name, those that there are: pairs by verdict, the rest by check."""
    counts = Counter[str](pair.verdict for pair in report.pairs)
    counts["between groups"] = between
    for finding in (*report.conflicts, *report.findings):
        if finding.check == "quality":
            counts[finding.evidence.partition(":")[0]] += 1
        elif finding.check != "near_duplicates":
            counts[finding.check.replace("_", " ")] += 1
    return {name: count for name, count in sorted(counts.items()) if count}
