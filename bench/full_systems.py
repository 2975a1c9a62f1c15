"""The tables of docs/full-systems.md: what each recipe needs on three machines. Nothing is run.

    python bench/full_systems.py             print them; 1 where the page holds others
    python bench/full_systems.py --write     write them into the page

Settings are those of the recipes; how that is reckoned is in bench/budget.py.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.budget import (
    A6000,
    GB,
    HOUR,
    MACHINES,
    MODELS,
    Job,
    Machine,
    Round,
    active,
    answering,
    at_once,
    cache,
    fitting,
    held,
    hours,
    learning,
    learnt,
    needed,
    split,
    trained,
    working,
)  # fmt: skip

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "full-systems.md"

# --- the recipes -------------------------------------------------------------------------------

# Tokens. A prompt of ours has 566 characters on average, 4.2 to a token, and 20 of the template; a
# box takes 35 (reference, section 11.1), an answer 2.5 of them; the longest has thirty.
PROMPT, ANSWER, LONGEST = 155, 90, 155 + 30 * 35
# Examples and epochs: AgroGround, algorithm 1 and appendix N; PlantXpert, section 2; AgMMU,
# appendix C. (recipe, model if not its own, examples, tokens of photo, of text, of the longest)
FIGURE = 1_000_000  # pixels of a figure of a paper, about 1200 x 830
AGROGROUND = 635_977 + 86_000
SUPERVISED: tuple[tuple[str, str | None, int, int | None, int, int], ...] = (
    ("agroground-2b", None, AGROGROUND, None, PROMPT + ANSWER, LONGEST),
    ("agroground-8b", None, AGROGROUND, None, PROMPT + ANSWER, LONGEST),
    ("plantseg-training", None, 9_120, None, PROMPT + ANSWER, LONGEST),
    ("plantxpert-training", None, 2_707, FIGURE, 200, 4096),
    ("plantxpert-training", "Qwen/Qwen3-VL-8B-Instruct", 2_707, FIGURE, 200, 4096),
    ("agmmu-training", None, 57_079 + 10_000, 336 * 336, 150, 1536),
)
RL = ("agroground-2b", "agroground-8b")
RL_PIXELS, RL_SAID = 250_000, 100  # of a photo on average; of half a megapixel at most


def jobs() -> Iterator[Job]:
    """The supervised runs, with the settings of the recipes."""
    from fieldtruth.run import ablation, tuning

    for name, other, examples, pixels, text, longest in SUPERVISED:
        path = ROOT / "recipes" / f"{name}.toml"
        if name == "plantseg-training":
            opened = ablation.read(path)
            told = opened.tuning(opened.ablation.rows["plantseg"], 0, Path())
        else:
            told = tuning.read(path)
        model = MODELS[other or told.base]
        photo = model.photo(pixels or told.max_pixels or 0)
        yield Job(
            f"{name}, {model.name}", model, told.rank, examples, told.epochs,
            told.batch * told.accumulate, photo, text, longest if pixels else photo + longest,
        )  # fmt: skip


def rounds() -> Iterator[Round]:
    """The runs of reinforcement learning, likewise."""
    from fieldtruth.run import tuning

    for name in RL:
        told = tuning.read_grpo(ROOT / "recipes" / f"{name}.toml")
        recipe = tuning.read(ROOT / "recipes" / f"{name}.toml")
        model, photo = MODELS[recipe.base], MODELS[recipe.base].photo(RL_PIXELS)
        size = told.mix.size or 0
        yield Round(
            name, model, told.rank, told.prompts, told.replies,
            int(told.epochs * size / told.prompts), photo + PROMPT, photo, RL_SAID, told.budget,
            told.batch, told.vllm_memory,
        )  # fmt: skip


# --- the tables --------------------------------------------------------------------------------


def tables() -> dict[str, str]:
    """What the page holds, by the name of the place it stands in."""
    supervised, rl = list(jobs()), list(rounds())
    return {
        "sizes": _table(("model", "weights", "of them eyes", "GB in bf16", "LoRA at rank 64",
                         "GB of it with AdamW", "kB of cache a token"), _sizes()),
        "memory": _table(("recipe", "held", "activations of the longest example", "not recomputed",
                          "one example at a time", "one 24 GB", "one 80 GB"), _memory(supervised)),
        "hours": _table(("recipe", "examples", "tokens of one", "steps", "10^18 operations",
                         *(f"{each.name}: batch x accumulate, hours" for each in MACHINES)),
                        _hours(supervised)),
        "rl-memory": _table(("recipe", "trainer", "a prompt and its 8 replies in the cache",
                             *(f"replies at once, {each.name}" for each in MACHINES[:2])),
                            _rl_memory(rl)),
        "rl-hours": _table(("recipe", "steps", "replies a step",
                            *(f"{each.name}: replies, training, whole" for each in MACHINES[:2])),
                           _rl_hours(rl)),
        "told": _table(("run", "told", "10^18 operations", "share of the peak"), _told(supervised)),
    }  # fmt: skip


def _sizes() -> Iterator[Sequence[str]]:
    for model in MODELS.values():
        lora = model.lora(64)
        yield (
            model.name, f"{model.whole / 1e9:.2f} billion", f"{model.sight / 1e9:.2f}",
            _gb(2 * model.whole), f"{lora / 1e6:.1f} million", _gb(16 * lora),
            f"{model.kept / 1e3:.0f}",
        )  # fmt: skip


def _memory(some: Sequence[Job]) -> Iterator[Sequence[str]]:
    for job in some:
        one = needed(job.model, job.rank, job.longest, recompute=True)
        yield (
            job.name, _gb(held(job.model, job.rank)),
            f"{_gb(active(job.model, job.longest, recompute=True))} ({job.longest:,} tokens)",
            _gb(active(job.model, job.longest, recompute=False)), _gb(one),
            *(_most(fitting(job, each.gpu.memory)) for each in MACHINES[:2]),
        )  # fmt: skip


def _most(size: int) -> str:
    return f"{size} at a time" if size else "does not fit"


def _hours(some: Sequence[Job]) -> Iterator[Sequence[str]]:
    for job in some:
        yield (
            job.name, f"{job.examples:,} x {job.epochs:g}", f"{job.photo} + {job.text}",
            f"{job.steps:,}", f"{trained(job) / 1e18:.2f}",
            *(_taken(job, machine) for machine in MACHINES),
        )  # fmt: skip


def _taken(job: Job, machine: Machine) -> str:
    size, often = split(job, machine)
    if not size:
        return "does not fit"
    busy = working(job, machine)
    on = "" if busy == machine.count else f" on {busy} of them"
    return f"{size} x {often}{on}, {_time(hours(job, machine))}"


def _rl_memory(some: Sequence[Round]) -> Iterator[Sequence[str]]:
    for work in some:
        yield (
            work.name, f"{_gb(learning(work))} GB ({work.batch} replies)", f"{_gb(cache(work))} GB",
            *(_room(work, machine) for machine in MACHINES[:2]),
        )  # fmt: skip


def _room(work: Round, machine: Machine) -> str:
    memory = machine.gpu.memory
    if learning(work) + work.share * memory > memory or not at_once(work, memory):
        return "does not fit"
    return f"{at_once(work, memory):,}"


def _rl_hours(some: Sequence[Round]) -> Iterator[Sequence[str]]:
    for work in some:
        cells = []
        for machine in MACHINES[:2]:
            if _room(work, machine) == "does not fit":
                cells.append("does not fit")
                continue
            said, learns = answering(work, machine), learnt(work, machine)
            whole = (said + learns) * work.steps / HOUR
            cells.append(f"{said:.0f} s, {learns:.0f} s, {_time(whole)}")
        yield work.name, f"{work.steps}", f"{work.rollouts:,}", *cells


def _told(some: Sequence[Job]) -> Iterator[Sequence[str]]:
    """The papers' own hours, and what share of their GPUs' peak that would be."""
    for job, took in ((some[0], 5.5), (some[-1], 12.0)):
        share = trained(job) / (took * HOUR * 2 * A6000.peak)
        yield (
            job.name, f"{took:g} h on two {A6000.name}", f"{trained(job) / 1e18:.2f}",
            f"{100 * share:.0f} %",
        )  # fmt: skip


def _gb(size: float) -> str:
    return f"{size / GB:.1f}"


def _time(some: float) -> str:
    if some < 1:
        return f"{60 * some:.0f} min"
    return f"{some:.1f} h" if some < 48 else f"{some / 24:.1f} days"


def _table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def filled(page: str) -> str:
    """The page with every table in its place, between `<!-- NAME -->` and `<!-- end -->`."""
    for name, table in tables().items():
        begin, end = f"<!-- {name} -->\n", "<!-- end -->"
        before, found, rest = page.partition(begin)
        if not found:
            raise SystemExit(f"{PAGE}: expected a place <!-- {name} -->, got none")
        page = f"{before}{begin}{table}\n{end}{rest.partition(end)[2]}"
    return page


def main(arguments: Sequence[str]) -> int:
    """Print the tables; write them into the page, or say whether they are those it holds."""
    there = PAGE.read_text(encoding="utf-8")
    made = filled(there)
    for name, table in tables().items():
        print(f"{name}\n{table}\n")
    if "--write" in arguments:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    print(f"{PAGE.name}: {'ok' if there == made else 'it holds other tables: MISSED'}")
    return int(there != made)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
