"""One row after another: train it, ask it, score it, keep it. What is done is not done again.

A row is locked while it is worked on, so a second process takes the next one. One that was killed
goes on from its last checkpoint and its last reply.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import msgspec

from fieldtruth import pretrained, store
from fieldtruth.faults import Busy, Usage
from fieldtruth.grading import draw, estimates, few_groups, grade, panel
from fieldtruth.models.transformers import ranks
from fieldtruth.models.transformers.loading import ADAPTER_CONFIG
from fieldtruth.records import Prediction, Record
from fieldtruth.run import asking, tuning
from fieldtruth.run.ablation import kept
from fieldtruth.run.ablation.settings import Opened, Row, runs
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.steps import text
from fieldtruth.stages import grpo, sft
from fieldtruth.stages.grpo import Grpo
from fieldtruth.stages.sft import Sft
from fieldtruth.tuning.work import PLACES, TRAINED

ROUNDS = 10  # whose rewards are averaged, at the beginning and at the end
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
            made |= self.lineage(row, seed)
        return made

    def lineage(self, row: Row, seed: int) -> dict[str, Any]:
        """All that may change the weights of a row; of settings those that are not as usual.

        So a setting that comes to be changes no row.
        """
        opened, made = self.opened, dict[str, Any]()
        parent = opened.parent(row, seed)
        if parent is None:
            made["base_weights"] = pretrained.weights_of(opened.base(row))
        else:
            made["after"] = {"which": row.which, **self.lineage(*parent[1:])}
        if row.train:
            told = self.training(row, seed, Path())
            name = "grpo" if isinstance(told, Grpo) else "sft"
            usual = msgspec.to_builtins(type(told)(base="", train=("",), out=""))
            made[name] = {
                key: value
                for key, value in msgspec.to_builtins(told).items()
                if key not in PLACES and (value != usual[key] or key == "seed")
            }
            made["train"] = [self.hash(opened.at(each) / store.EXAMPLES) for each in row.train]
            made["val"] = [self.hash(Path(each) / store.EXAMPLES) for each in told.val]
        return made

    def training(self, row: Row, seed: int, out: Path, base: str | None = None) -> Sft | Grpo:
        """What a row is trained by."""
        if row.grpo is None:
            return self.opened.tuning(row, seed, out, base)
        return self.opened.learning(row, seed, out, base)

    def place(self, name: str, seed: int, told: Mapping[str, Any]) -> Path:
        """Where something of a row lies until it is done: its weights, or its replies."""
        return self.opened.at(self.opened.ablation.work) / f"{name}-seed{seed}-{_key(told)}"


def _key(told: Mapping[str, Any]) -> str:
    return sha256(msgspec.json.encode(told, order="deterministic")).hexdigest()[:16]


def do(
    opened: Opened, most: int | None = None, track: Track = SILENT, tell: Tell = lambda _: None
) -> list[Done]:
    """Do the rows that are not done, at most so many; what became of each row of the recipe.

    Raises `Usage` where a benchmark, base or examples are not there, or in one of several
    processes of a launcher, and whatever training, asking or scoring raises: what was kept until
    then stays.
    """
    ranks.alone("train ablation")  # one would wait in a row for the others, which take the next
    found, done = _Found(opened), list[Done]()
    for name, bench in found.benches.items():
        if kept.digest(opened.out, name) != items_of(bench):
            kept.keep_items(opened.out, name, bench.folder)
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
    key = _key(told)
    work = found.place(name, seed, told)
    if _has(folder, key):
        if work.with_name(f"{work.name}.lock").exists():  # of one that was killed at its very end
            with suppress(Busy), store.lock(work):
                pass
        return "kept"
    if left:
        return "left"
    try:
        with store.lock(work):
            if _has(folder, key):  # done by the other process in the meantime
                return "kept"
            tell(f"{name}, seed {seed}: begun")
            _do(found, which, (folder, work), (told, key), (track, tell))
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
    heard: tuple[Track, Tell],
) -> None:
    name, row, seed = which
    (folder, work), (told, key), (track, _) = places, identity, heard
    learnt, options = _options(found, which, heard)
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
    found: _Found, which: tuple[str, Row, int], heard: tuple[Track, Tell]
) -> tuple[kept.Learnt | None, dict[str, str]]:
    """Train the row, where it is one to train; and with which options it is asked."""
    _, row, seed = which
    opened = found.opened
    shared = opened.ablation.ask if row.model == "transformers" else {}
    options = {name: text(value) for name, value in {**shared, **row.ask}.items()}
    options |= {name: str(opened.at(path)) for name, path in row.files.items()}
    if row.model != "transformers":
        return None, options
    base = _begins_with(found, row, seed, heard)
    if not row.train:
        return None, {**options, "path": base}
    out, learnt = _trained(found, which, base, heard[0])
    weights = str(out / "best")
    adapted = (out / "best" / ADAPTER_CONFIG).is_file()
    return learnt, {
        **options,
        "path": base,
        **({"adapter": weights} if adapted else {"path": weights}),
    }


def _begins_with(found: _Found, row: Row, seed: int, heard: tuple[Track, Tell]) -> str:
    """The base of a row, or the weights of the row that it comes after.

    Those are not kept with its scores: where they are not at hand it is trained again.
    """
    parent = found.opened.parent(row, seed)
    if parent is None:
        return found.opened.base(row)
    track, tell = heard
    name, above, number = parent
    base = _begins_with(found, above, number, heard)
    out = found.place(f"{name}-weights", number, found.lineage(above, number))
    if not (out / TRAINED).is_file():
        tell(f"{name}, seed {number}: its weights are not at hand; training it")
        _trained(found, parent, base, track)
    weights = out / row.which
    if not (weights / ADAPTER_CONFIG).is_file():
        return str(weights)
    merged = out / f"{row.which}-merged"
    with store.lock(out):  # of the rows that come after it another process may have one
        if not merged.is_dir():
            tuning.merge(weights, merged, base, "auto")
    return str(merged)


def _trained(
    found: _Found, which: tuple[str, Row, int], base: str, track: Track
) -> tuple[Path, kept.Learnt]:
    """Train a row where it is not; returns the folder of its weights, and how it went."""
    name, row, seed = which
    out = found.place(f"{name}-weights", seed, found.lineage(row, seed))
    told = found.training(row, seed, out, base)
    ended, begun = (out / TRAINED).is_file(), time.process_time()
    if isinstance(told, Grpo):
        learnt = _paid(tuning.learn(told, track), told)
    else:
        learnt = _taught(tuning.train(told, track), told)
    spent = None if ended else round(time.process_time() - begun)
    return out, msgspec.structs.replace(learnt, cpu_seconds=spent)


def _taught(done: sft.Trained, told: Sft) -> kept.Learnt:
    return kept.Learnt(
        examples=done.examples, steps=done.steps, weights=done.weights,
        loss_first=done.history[0]["loss"], loss_last=done.history[-1]["loss"], cpu_seconds=None,
        seen=shown(done.examples, done.steps, told.batch, told.accumulate), best=done.best,
    )  # fmt: skip


def shown(examples: int, steps: int, batch: int, accumulate: int) -> int:
    """Examples that steps were made of, with repeats: the last step of a pass has what is left."""
    each = ceil(ceil(examples / batch) / accumulate)
    passes, rest = divmod(steps, each)
    return passes * examples + min(rest * batch * accumulate, examples)


def _paid(done: grpo.Trained, told: Grpo) -> kept.Learnt:
    earned = [row["reward"] for row in done.history if "reward" in row]
    return kept.Learnt(
        examples=done.mix.taken, steps=done.steps, weights=done.weights,
        loss_first=done.history[0]["loss"], loss_last=done.history[-1]["loss"], cpu_seconds=None,
        seen=done.asked, replies=done.asked * told.replies, best=done.best,
        reward_first=fmean(earned[:ROUNDS]), reward_last=fmean(earned[-ROUNDS:]),
        alarms=tuple(map(str, done.alarms)),
    )  # fmt: skip


def items_of(bench: store.Bench) -> str:
    """The hash of the items alone, photos by theirs: whatever the benchmark is called."""
    return bench.manifest.files[store.ITEMS]


def scored(bench: store.Bench, replies: Mapping[str, list[Prediction]]) -> kept.Part:
    """Every metric that can be measured under each protocol, with its interval.

    And with how many groups it stands on, where those are few (`grading.few_groups`).
    """
    metrics, outcomes = {}, {}
    for protocol, rows in replies.items():
        graded = grade(bench.items, rows, protocol)
        known = estimates(draw([panel(graded.items, graded.evidence)])[0])
        metrics[protocol] = {
            name: {"value": each.value, "low": each.low, "high": each.high, "n": each.n}
            | few_groups.told(each.groups)
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
