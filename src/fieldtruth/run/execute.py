"""Do the steps of a recipe that are not done yet, in order.

A step is done when its stamp says so: `OUT/.steps/NAME.json` holds its settings, the hashes of
what it read and made, and the code's. It is written twice, before the work (so that work cut
short is told from other work) and last. What was made is compared by content: where a step
makes the same bytes again, those after it are not done again.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from os import walk
from pathlib import Path
from typing import Literal

import msgspec

import fieldtruth
from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Record
from fieldtruth.run.plan import steps
from fieldtruth.run.progress import Track
from fieldtruth.run.recipe import Opened
from fieldtruth.run.steps import STAGES, Places, Step

STAMPS = ".steps"
RECIPE = "recipe.json"  # the resolved recipe, beside the results


class Stamp(Record, frozen=True, kw_only=True):
    """What a step was done with, and what it left; `outputs` is null while it is at work."""

    config: dict[str, object]
    inputs: dict[str, str]  # name -> hash
    code: str
    outputs: dict[str, str] | None = None  # path relative to the run's folder -> hash


class Done(Record, frozen=True, kw_only=True):
    """One step of a run: done now, found done, or skipped since what it reads is not there.

    `why` it had to be done or is skipped, `said` what it told.
    """

    step: str
    stage: str
    did: Literal["done", "unchanged", "skipped"]
    why: str = ""
    said: str = ""


class Ran(Record, frozen=True, kw_only=True):
    """A run: its steps in order, and the page where one was drawn."""

    steps: tuple[Done, ...]
    report: str | None = None


class Part(Record, frozen=True, kw_only=True):
    """A part of a recipe: `since` is the first stage done in any case, `until` the last one."""

    since: str | None = None
    until: str | None = None


WHOLE = Part()


def execute(
    opened: Opened,
    out: Path | None = None,
    part: Part = WHOLE,
    each: Callable[[Done], None] = lambda _: None,
    *,
    quiet: bool = False,
) -> Ran:
    """Do what is not done of a recipe, in `out` or the folder that it names.

    `each` hears of every step as it ends. Raises `Usage` where that folder holds what no run made
    or the recipe lacks a stage that `part` names, and whatever a stage raises: what was done until
    then stays done.
    """
    out = opened.at(opened.recipe.out) if out is None else out
    plan = list(steps(opened, out))
    chosen, anew = _chosen(plan, part)
    _claim(out)
    done: list[Done] = []
    with store.lock(out):
        _write(out / RECIPE, opened.recipe)
        for step in anew:  # all of them now: cut short, the rest is still to do
            _stamp_of(out, step).unlink(missing_ok=True)
        hashes, code = _Hashes(), code_version()
        for step in chosen:
            done.append(_do(step, out, hashes, code, quiet=quiet))
            each(done[-1])
    drawn = any(each.stage == "report" for each in done)
    return Ran(steps=tuple(done), report=str(Places(out).page) if drawn else None)


def line(ran: Ran) -> str:
    """What a person reads when a run ends; where a page was drawn, its path is last."""
    count = sum(each.did == "done" for each in ran.steps)
    left = [each.step for each in ran.steps if each.did == "skipped"]
    whole = len(ran.steps) - len(left)
    told = f"{count} of {whole} steps done now, the rest unchanged"
    if not count:
        told = f"nothing to do: all {whole} steps are done and unchanged"
    if left:
        told += f"; skipped, for there is no release: {', '.join(left)}"
    return told if ran.report is None else f"{told}. The report:\n{ran.report}"


@cache
def code_version(root: Path = Path(fieldtruth.__file__).parent) -> str:
    """Hash of everything that may change a result: this package, and what computes for it.

    Of the package every file counts: tables of names, prompts and weights as well as code.
    """
    files = {path.relative_to(root): path for path in root.rglob("*")}
    parts = [
        f"{name.as_posix()} {store.sha256(path)}"
        for name, path in sorted(files.items())
        if path.is_file() and "__pycache__" not in name.parts
    ]
    parts += [f"{name} {version(name)}" for name in ("numpy", "pillow", "scipy")]
    return f"{fieldtruth.__version__} {sha256(chr(10).join(parts).encode()).hexdigest()[:16]}"


def _chosen(plan: Sequence[Step], part: Part) -> tuple[list[Step], list[Step]]:
    """The steps to look at, and those of them to do in any case."""
    has = [stage for stage in STAGES if any(step.stage == stage for step in plan)]
    for flag, stage in (("--from", part.since), ("--until", part.until)):
        if stage is not None and stage not in has:
            raise Usage(f"{flag}: expected a stage of the recipe ({', '.join(has)}), got {stage!r}")
    last = STAGES.index(part.until or STAGES[-1])
    first = STAGES.index(part.since) if part.since else len(STAGES)
    if part.since and first > last:
        raise Usage(f"--from {part.since} --until {part.until}: nothing lies between them")
    chosen = [step for step in plan if STAGES.index(step.stage) <= last]
    return chosen, [step for step in chosen if STAGES.index(step.stage) >= first]


def _claim(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise Usage(f"{out}: expected a folder for the results, got a file")
    if out.is_dir() and any(out.iterdir()) and not (out / STAMPS).is_dir():
        raise Usage(f"{out}: expected an empty folder or one of an earlier run; name another")
    (out / STAMPS).mkdir(parents=True, exist_ok=True)


def _do(step: Step, out: Path, hashes: "_Hashes", code: str, *, quiet: bool) -> Done:
    if step.skipped:
        return Done(step=step.name, stage=step.stage, did="skipped", why=step.skipped)
    at = _stamp_of(out, step)
    earlier = _read(at)
    now = Stamp(
        config=msgspec.json.decode(msgspec.json.encode(step.config)),
        inputs={name: hashes.of(path) for name, path in step.inputs.items()},
        code=code,
    )
    why = _why(earlier, now, _made(step, out, hashes))
    if not why:
        return Done(step=step.name, stage=step.stage, did="unchanged")
    if not (step.resumes and earlier == now):
        for path in (*step.outputs, *step.clears):
            _remove(path)
    _write(at, now)
    said = step.work(lambda label: Track(label, quiet=quiet))
    hashes.forget((*step.outputs, *step.clears))
    made = _made(step, out, hashes)
    if not step.optional and "absent" in made.values():
        raise AssertionError(f"{step.name} ended without having made all of {list(made)}")
    _write(at, msgspec.structs.replace(now, outputs=made))
    return Done(step=step.name, stage=step.stage, did="done", why=why, said=said)


def _why(earlier: Stamp | None, now: Stamp, made: Mapping[str, str]) -> str:
    """Why a step has to be done; nothing where it does not."""
    if earlier is None:
        return "not done yet"
    changed = [name for name, each in now.inputs.items() if earlier.inputs.get(name) != each]
    if earlier.config != now.config:
        return "its settings changed"
    if changed or earlier.inputs.keys() != now.inputs.keys():
        return f"changed: {', '.join(changed) or 'what it reads'}"
    if earlier.code != now.code:
        return "the code changed"
    if earlier.outputs is None:
        return "it was cut short"
    return "" if earlier.outputs == made else "what it made is no longer as it was"


def _made(step: Step, out: Path, hashes: "_Hashes") -> dict[str, str]:
    return {path.relative_to(out).as_posix(): hashes.of(path) for path in step.outputs}


def _stamp_of(out: Path, step: Step) -> Path:
    return out / STAMPS / f"{step.name.replace(' ', '.')}.json"


def _read(stamp: Path) -> Stamp | None:
    """A stamp, or None where there is none that can be read: then the step is done again."""
    try:
        return msgspec.json.decode(stamp.read_bytes(), type=Stamp)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _write(path: Path, record: Record) -> None:
    flat = msgspec.json.encode(record, order="deterministic")
    whole = msgspec.json.format(flat, indent=1) + b"\n"
    if not path.is_file() or path.read_bytes() != whole:
        with store.replacing(path) as file:
            file.write(whole)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


class _Hashes:
    """Hashes of files and folders by content, each taken once between two pieces of work."""

    def __init__(self) -> None:
        self._known: dict[Path, str] = {}

    def of(self, path: Path) -> str:
        """The hash of a file, or of a folder's names and files; `absent` where nothing lies."""
        if path not in self._known:
            self._known[path] = self._look(path)
        return self._known[path]

    def forget(self, changed: Sequence[Path]) -> None:
        """These may have changed, and with them what holds them or lies in them."""
        for known in list(self._known):
            if any(known.is_relative_to(one) or one.is_relative_to(known) for one in changed):
                del self._known[known]

    def _look(self, path: Path) -> str:
        if not path.is_dir():
            return store.sha256(path) if path.is_file() else "absent"
        whole = sha256()
        for name, file in sorted(_files(path)):
            whole.update(f"{name}\0{store.sha256(file)}\n".encode(errors="surrogateescape"))
        return whole.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    def stop(error: OSError) -> None:
        raise Usage(f"{error.filename}: expected a folder that can be read, got: {error.strerror}")

    for root, _, names in walk(folder, onerror=stop):
        for name in names:
            file = Path(root, name)
            if file.is_file():
                yield file.relative_to(folder).as_posix(), file
