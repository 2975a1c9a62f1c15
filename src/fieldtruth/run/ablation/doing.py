"""One row after another: train it, ask it, score it, keep it. What is done is not done again.

A row is locked while it is worked on, so a second process takes the next one. One that was killed
goes on from its last checkpoint and its last reply.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import msgspec

from fieldtruth import pretrained, store
from fieldtruth.faults import Busy, Usage
from fieldtruth.grading import draw, estimates, grade, panel
from fieldtruth.records import Prediction, Record
from fieldtruth.run import asking, tuning
from fieldtruth.run.ablation import kept
from fieldtruth.run.ablation.settings import Opened, Row, runs
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.steps import text
from fieldtruth.stages.sft import Trained

PATHS = ("base", "train", "val", "tests", "out", "workers", "val_batch")  # change no weight
Tell = Callable[[str], None]


class Done(Record, frozen=True, kw_only=True):
    """What became of a row: done now, done before, another process is at it, or left for later."""

    row: str
    seed: int
    did: Literal["done", "kept", "busy", "left"]


@dataclass(slots=True)
class _Found:
    """What the recipe names, opened: benchmarks once, and hashes of files as they are asked for."""

    opened: Opened
    benches: dict[str, store.Bench] = field(init=False)
    _hashes: dict[Path, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.benches = {
            name: store.open_bench(self.opened.at(each.path))
            for name, each in self.opened.ablation.benchmarks.items()
        }

    def hash(self, path: Path) -> str:
        if path not in self._hashes:
            if not path.is_file():
                raise Usage(f"{path}: expected a file that the ablation names, got none; make it")
            self._hashes[path] = store.sha256(path)
        return self._hashes[path]

    def told(self, row: Row, seed: int) -> dict[str, Any]:
        """All that may change what a row comes to, without where it lies."""
        ablation, opened = self.opened.ablation, self.opened
        made: dict[str, Any] = {
            "model": row.model,
            "ask": {**(ablation.ask if row.model == "transformers" else {}), **row.ask},
            "files": {name: self.hash(opened.at(path)) for name, path in row.files.items()},
            "benchmarks": {
                name: [items_of(self.benches[name]), each.protocols]
                for name, each in ablation.benchmarks.items()
            },
            "control_seed": ablation.seed,
        }
        if row.model == "transformers":
            made["base_weights"] = pretrained.weights_of(opened.base(row))
        if row.train:
            told = msgspec.to_builtins(opened.tuning(row, seed, Path()))
            made["sft"] = {name: each for name, each in told.items() if name not in PATHS}
            made["train"] = [self.hash(opened.at(each) / store.EXAMPLES) for each in row.train]
        return made


def do(
    opened: Opened, most: int | None = None, track: Track = SILENT, tell: Tell = lambda _: None
) -> list[Done]:
    """Do the rows that are not done, at most so many; what became of each row of the recipe.

    Raises `Usage` where a benchmark, base or examples are not there, and whatever training,
    asking or scoring raises: what was kept until then stays.
    """
    found, done = _Found(opened), list[Done]()
    for name, bench in found.benches.items():
        if kept.items(opened.out, name) != list(bench.items):
            kept.keep_items(opened.out, name, bench.items)
    for name, row, seed in runs(opened.ablation):
        left = most is not None and sum(each.did == "done" for each in done) >= most
        did = _one(found, (name, row, seed), track, tell, left=left)
        done.append(Done(row=name, seed=seed, did=did))
    return done


def _one(
    found: _Found, which: tuple[str, Row, int], track: Track, tell: Tell, *, left: bool
) -> Literal["done", "kept", "busy", "left"]:
    name, row, seed = which
    opened = found.opened
    folder = kept.place(opened.out, name, seed)
    told = found.told(row, seed)
    key = sha256(msgspec.json.encode(told, order="deterministic")).hexdigest()[:16]
    if _has(folder, key):
        return "kept"
    if left:
        return "left"
    work = opened.at(opened.ablation.work) / f"{name}-seed{seed}-{key}"
    try:
        with store.lock(work):
            if _has(folder, key):  # done by the other process in the meantime
                return "kept"
            tell(f"{name}, seed {seed}: begun")
            _do(found, which, (folder, work), (told, key), track)
    except Busy:
        return "busy"
    tell(f"{name}, seed {seed}: done, in {folder}")
    return "done"


def _has(folder: Path, key: str) -> bool:
    made = kept.scores(folder)
    return made is not None and made.key == key


def _do(
    found: _Found,
    which: tuple[str, Row, int],
    places: tuple[Path, Path],
    identity: tuple[Mapping[str, Any], str],
    track: Track,
) -> None:
    name, row, seed = which
    (folder, work), (told, key) = places, identity
    learnt, options = _options(found, row, seed, work, track)
    parts, said = {}, list[kept.Said]()
    for bench_name, bench in found.benches.items():
        replies: dict[str, list[Prediction]] = {}
        for protocol in found.opened.ablation.benchmarks[bench_name].protocols:
            out = work / "replies" / f"{bench_name}.{protocol}.jsonl"
            job = asking.Job(
                benchmark=bench.folder, model=row.model, options=options, protocol=protocol,
                name=f"{name}-seed{seed}", seed=found.opened.ablation.seed,
            )  # fmt: skip
            asking.check(asking.predict(job, out, track), 0.0)
            replies[protocol] = list(asking.replies(out))
            said += [kept.Said(benchmark=bench_name, reply=each) for each in replies[protocol]]
        parts[bench_name] = scored(bench, replies)
    made = kept.Scores(row=name, seed=seed, key=key, told=told, learnt=learnt, benchmarks=parts)
    kept.keep(folder, made, said)


def _options(
    found: _Found, row: Row, seed: int, work: Path, track: Track
) -> tuple[kept.Learnt | None, dict[str, str]]:
    """Train the row, where it is one to train; and with which options it is asked."""
    opened = found.opened
    shared = opened.ablation.ask if row.model == "transformers" else {}
    options = {name: text(value) for name, value in {**shared, **row.ask}.items()}
    options |= {name: str(opened.at(path)) for name, path in row.files.items()}
    if row.model != "transformers":
        return None, options
    options["path"] = opened.base(row)
    if not row.train:
        return None, options
    settings = opened.tuning(row, seed, work / "sft")
    begun = time.process_time()
    done = tuning.train(settings, track)
    weights = str(work / "sft" / "best")
    options |= {"adapter": weights} if settings.rank else {"path": weights}
    return _learnt(done, time.process_time() - begun), options


def _learnt(done: Trained, seconds: float) -> kept.Learnt:
    return kept.Learnt(
        examples=done.examples, steps=done.steps, weights=done.weights,
        loss_first=done.history[0]["loss"], loss_last=done.history[-1]["loss"],
        cpu_seconds=round(seconds),
    )  # fmt: skip


def items_of(bench: store.Bench) -> str:
    """The hash of the items alone, photos by theirs: whatever the benchmark is called."""
    return bench.manifest.files[store.ITEMS]


def scored(bench: store.Bench, replies: Mapping[str, list[Prediction]]) -> kept.Part:
    """Every metric that can be measured under each protocol, with its interval."""
    metrics, outcomes = {}, {}
    for protocol, rows in replies.items():
        graded = grade(bench.items, rows, protocol)
        known = estimates(draw([panel(graded.items, graded.evidence)])[0])
        metrics[protocol] = {
            name: {"value": each.value, "low": each.low, "high": each.high, "n": each.n}
            for name, each in known.items()
            if each.value is not None
        }
        outcomes[protocol] = {name: count for name, count in graded.outcomes.items() if count}
    return kept.Part(
        digest=items_of(bench), items=len(bench.items), metrics=metrics, outcomes=outcomes
    )


def told_of(done: list[Done]) -> Iterator[str]:
    """What a person reads of the rows, one line for each kind of end."""
    for did, said in (
        ("done", "done now"), ("kept", "done before"), ("busy", "being done by another process"),
        ("left", "left"),
    ):  # fmt: skip
        names = [f"{each.row}-seed{each.seed}" for each in done if each.did == did]
        if names:
            yield f"{said}: {', '.join(names)}"
