"""Reinforcement learning with rewards for grounded answers: prompts in, weights out, through TRL.

    settings  what a run is told
    mix       which examples are asked about, in which shares
    prompts   how TRL is handed them, and a look at their tokens before the first step
    paying    replies held against their examples by a reward of `rewards`
    watch     signs that the reward is earned by something else than the task
    trainer   TRL's trainer, told what to do

A run that was killed goes on from its last checkpoint and comes to the same rewards and the same
weights as if it had not been (rollouts by vLLM excepted, which are drawn there). One that an alarm
stopped keeps its checkpoints, and goes on from the last where `watch.on_alarm` comes to be "warn".

OUT/steps.jsonl   a row a step, while it goes on
OUT/train.json    what came of it
OUT/best, last    weights like those of `train sft`
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from math import isfinite, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import msgspec

from fieldtruth import pretrained, store
from fieldtruth.faults import Usage
from fieldtruth.models.contract import Words
from fieldtruth.models.transformers import ranks
from fieldtruth.models.transformers.answering import Speaker
from fieldtruth.models.transformers.card import read_card
from fieldtruth.models.transformers.first_step import FirstStep
from fieldtruth.models.transformers.loading import ADAPTER_CONFIG, Caps
from fieldtruth.records import Example, Record
from fieldtruth.rewards.contract import Reward, Rollout, pay
from fieldtruth.stages.grpo import mix, prompts, watch
from fieldtruth.stages.grpo.mix import Books
from fieldtruth.stages.grpo.paying import Payer, reward_of, rollout
from fieldtruth.stages.grpo.settings import Grpo, Mix, Watch
from fieldtruth.stages.grpo.watch import Alarm
from fieldtruth.tuning import work
from fieldtruth.tuning.rows import Rows, apart
from fieldtruth.tuning.validating import Validation, Value, graded, selector
from fieldtruth.tuning.work import Track

__all__ = ["Grpo", "Mix", "Trained", "Watch", "line", "selected", "train"]

STEPS, REPLIES = "steps.jsonl", "replies"
MEAN = "reward.mean"
Tell = Callable[[str], None]
Row = dict[str, Any]


class Trained(Record, frozen=True, kw_only=True):
    """`train.json`: what a run was told and what came of it. No dates and no paths of photos.

    `run` is the fingerprint of what it was told. `asked` counts prompts, `steps` those of the
    optimizer. `history` has a row a step (see `paying.looked_at`; and loss, grad_norm, kl, clipped:
    the share of replies whose ratio was, zero_spread, entropy), without what is no number.
    `validations` begin with the base, at step 0. `gained`: what `best` has by `select` over the
    base it began with; below 0 the base did better; null where nothing was validated. `stopped`
    says why it ended early, "" where it did not.
    """

    run: str
    base: str
    base_weights: str
    reward: str
    mix: Books
    asked: int
    val_examples: int
    steps: int
    weights: int  # that were trained, as numbers
    caps: Caps
    select: str
    best: int
    last: int
    history: list[dict[str, float]]
    validations: list[Validation]
    alarms: tuple[Alarm, ...]
    stopped: str
    notes: tuple[str, ...]
    versions: dict[str, str]
    gained: float | None = None


def train(settings: Grpo, track: Track, tell: Tell, seen: FirstStep | None = None) -> Trained:
    """Train to the end, from wherever an earlier process of the same run stopped.

    `seen` looks on at each step.

    Raises `Usage` where a setting, the base or the examples cannot be used, or where another run
    lies in `out`; `Refused` where validation examples are trained on, or for the split test;
    `Unreadable` for a prompt whose tokens are not those of its photo; `CannotWrite` where there is
    no room; `Busy` where another process is at it.
    """
    pretrained.load_trl()
    device = _device(settings)
    reward = reward_of(settings)
    rows = work.rows_of(settings.train, settings.limit)
    val = work.rows_of(settings.val) if settings.val else None
    if val is not None:
        apart(rows, val)
    out = Path(settings.out)
    with store.lock(out), pretrained.hushed():
        run = _Work(_as_trained(settings), device, rows, val, reward)
        done = work.finished(
            out, run.run, run.checkpoints, Trained, lambda made: bool(made.stopped)
        )
        if done is None:
            return run.do(track, tell, seen)
        return run.go_on(done, track, tell, seen)


class _Work:
    """One run, opened."""

    def __init__(
        self, settings: Grpo, device: str, rows: Rows, val: Rows | None, reward: Reward
    ) -> None:
        self.settings, self.rows, self.reward = settings, rows, reward
        eyes = (settings.min_pixels, settings.max_pixels)
        # When it stops changes no weight: what was stopped is the run that goes on.
        watched = msgspec.structs.replace(settings.watch, on_alarm="warn")
        told = msgspec.structs.replace(settings, watch=watched)
        self.work = work.Work(told, device, rows, val, work.Eyes(eyes, eyes))
        self.select = selected(settings.select, [each for each, _ in self.work.shown])
        self.checkpoints = self.work.checkpoints(self.select)
        self.run = self.work.fingerprint()
        self.taken, self.books = mix.draw(
            rows, settings.mix, settings.seed,
            lambda each: reward.unfit(rollout(each, Words(text=""))) is not None,
        )  # fmt: skip
        self.notes = tuple(_noted(settings, val))
        self.alarms: list[Alarm] = []

    def do(self, track: Track, tell: Tell, seen: FirstStep | None) -> Trained:
        """Train what is left, publish, and say what came of it."""
        from fieldtruth.stages.grpo import trainer

        for note in self.notes:
            tell(note)
        asked = self._asked(trainer, tell)
        (self.work.out / STEPS).unlink(missing_ok=True)
        if not self.checkpoints.steps():  # to go on from; those that lie there are of another run
            shutil.rmtree(self.work.out / REPLIES, ignore_errors=True)
        work.begin(self.work.out, self.run, self.checkpoints)
        self.checkpoints.folder.mkdir(parents=True, exist_ok=True)
        judge = self._judge(trainer) if self.work.shown else None
        tuner = trainer.open_tuner(
            self.settings, self.work.weights, self.work.device, self.work.processor, asked,
            trainer.Rest(self.checkpoints, judge, seen),
        )  # fmt: skip
        steps = self.checkpoints.steps()
        total, done = self._planned(), steps[-1] if steps else 0
        if done and self._looked(self.checkpoints.history(), tell):
            total = done
        if done < total:
            left = track(range(done, total), total - done)
            trainer.run(tuner, left, self.checkpoints.at(done) if done else None)
        else:
            tuner.judge_again(done)
        learnt = sum(each.numel() for each in tuner.model.parameters() if each.requires_grad)
        return self._ended(learnt)

    def go_on(self, done: Trained, track: Track, tell: Tell, seen: FirstStep | None) -> Trained:
        """What is done; but one that an alarm stopped goes on where alarms no longer stop it."""
        if not done.stopped or self.settings.watch.on_alarm == "stop":
            return done
        if not self.checkpoints.steps():
            tell(f"stopped at {done.stopped}; its checkpoints are gone: nothing to go on from")
            return done
        (self.work.out / work.TRAINED).unlink()
        return self.do(track, tell, seen)

    def _planned(self) -> int:
        """Steps of the optimizer: whole rounds, at least one."""
        told = self.settings
        wanted = told.steps or int(told.epochs * len(self.taken) / told.prompts) * told.updates
        return max(-(-wanted // told.updates), 1) * told.updates

    def _asked(self, trainer: Any, tell: Tell) -> Any:
        told = self.settings
        count = self._planned() // told.updates * told.prompts
        order = mix.order(self.rows, self.taken, told.seed, count)
        speaker = self._speaker(self.work.weights.model)
        config = self.work.weights.model.config
        sign = getattr(config, "image_token_id", getattr(config, "image_token_index", -1))
        longest = prompts.check(self.rows, order, self.work.processor, speaker.encoder, sign)
        example = lru_cache(maxsize=2 * told.prompts)(lambda number: self.rows[number][0])
        payer = Payer(
            self.reward, example, speaker.words, self._keep if told.keep_replies else None
        )
        return trainer.Asked(
            shown=prompts.Shown(self.rows), order=order, payer=payer, longest=longest,
            look=lambda history: self._looked(history, tell),
        )  # fmt: skip

    def _keep(self, step: int, rollouts: Sequence[Rollout]) -> None:
        path = self.work.out / REPLIES / f"step-{step:06d}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with store.replacing(path) as file:
            file.writelines(msgspec.json.encode(each) + b"\n" for each in rollouts)

    def _speaker(self, model: Any) -> Speaker:
        return Speaker(model, self.work.val_processor, self.work.device, self.settings.budget)

    def _judge(self, trainer: Any) -> Any:
        return trainer.Judge(
            self.work.shown, self._speaker, self.settings.val_batch, self._validated
        )

    def _validated(
        self, step: int, examples: Sequence[Example], words: Sequence[Words]
    ) -> Validation:
        """The headline metrics, and what the replies earn."""
        found = graded(step, examples, words)
        paid = pay(self.reward, [rollout(*each) for each in zip(examples, words, strict=True)])
        earned: dict[str, list[float]] = {"mean": [each.reward for each in paid]}
        for example, each in zip(examples, paid, strict=True):
            earned.setdefault(mix.kind_of(example, self.settings.mix), []).append(each.reward)
        values = {name: _value(some) for name, some in sorted(earned.items())}
        return msgspec.structs.replace(found, values={**found.values, "reward": values})

    def _looked(self, history: Sequence[Row], tell: Tell) -> bool:
        """Write the history down and tell what is new in it; whether to stop."""
        rows = _rows(history)
        with store.replacing(self.work.out / STEPS) as file:
            file.writelines(msgspec.json.encode(each) + b"\n" for each in rows)
        known = self.alarms
        # A checkpoint is judged after its step was told: it counts from the next one on.
        self.alarms = self._alarms(rows, int(rows[-1]["step"]) - 1)
        for each in self.alarms:
            if each not in known:
                tell(str(each))
        return self.settings.watch.on_alarm == "stop" and bool(self.alarms)

    def _alarms(self, rows: Sequence[dict[str, float]], judged_to: int) -> list[Alarm]:
        judged = {
            each.step: each.by(MEAN)
            for each in self.checkpoints.judgements()
            if each.step <= judged_to
        }
        return watch.alarms(rows, judged, self.settings.watch)

    def _ended(self, learnt: int) -> Trained:
        """Make the results, say what came of it, and only then let go of the checkpoints."""
        chosen = self.checkpoints.publish(self.settings.base)
        rows = _rows(self.checkpoints.history())
        told, alarms = self.settings, self._alarms(rows, chosen["last"])
        early = chosen["last"] < self._planned()
        validations = self.checkpoints.judgements()
        made = Trained(
            run=self.run, base=told.base, base_weights=self.work.base_weights, reward=told.reward,
            mix=self.books, asked=chosen["last"] // told.updates * told.prompts,
            val_examples=len(self.work.shown), steps=chosen["last"], weights=learnt,
            caps=self.work.caps, select=self.select, best=chosen["best"], last=chosen["last"],
            history=rows, validations=validations, alarms=tuple(alarms),
            stopped=str(alarms[-1]) if early and alarms else "", notes=self.notes,
            versions=work.versions(), gained=gained(self.select, validations, chosen["best"]),
        )  # fmt: skip
        work.end(self.work.out, made, self.checkpoints, early=bool(made.stopped))
        return made


def _device(settings: Grpo) -> str:
    """As for `train sft`, in one process; `Usage` where vLLM is asked for and cannot be had."""
    ranks.alone("train grpo")
    device = work.device_of(settings.device)
    if settings.vllm and find_spec("vllm") is None:
        raise Usage(
            "vllm: expected the package vllm, which is not installed; install it (`pip install "
            "vllm`) on a machine with a GPU, or say vllm = false: transformers writes the replies"
        )
    if settings.vllm and device == "cpu":
        raise Usage("vllm: expected a GPU, got device cpu; say vllm = false")
    if Path(settings.base, ADAPTER_CONFIG).is_file():
        raise Usage(
            f"{settings.base}: expected a whole model, got LoRA weights; merge them with: "
            f"fieldtruth train merge {settings.base} --out MERGED"
        )
    return device


def _as_trained(settings: Grpo) -> Grpo:
    """With the bounds of photos that the base was trained at, where none are given."""
    card = read_card(Path(settings.base).expanduser())
    if card is None:
        return settings
    least, most = settings.min_pixels, settings.max_pixels
    return msgspec.structs.replace(
        settings,
        min_pixels=card.min_pixels if least is None else least,
        max_pixels=card.max_pixels if most is None else most,
    )


def _noted(settings: Grpo, val: Rows | None) -> Iterator[str]:
    """What a reader of the numbers has to know."""
    if val is None:
        yield "no val: nothing is validated, and best is last"
    if settings.reward == "published" and settings.mix.wrong_target:
        yield (
            "the published reward pays for boxes where what is asked for is not on the photo: "
            "wrong_target prompts teach that under it"
        )


def selected(select: str, examples: Sequence[Example]) -> str:
    """What checkpoints are compared by; `Usage` for what cannot be measured."""
    if not examples or select == MEAN:
        return MEAN if examples else ""
    try:
        return selector(select, examples)
    except Usage as fault:
        raise Usage(f"{fault}; or {MEAN}") from None


def _value(some: Sequence[float]) -> Value:
    """A mean with the interval of its standard error."""
    mean = fmean(some)
    error = 1.96 * stdev(some) / sqrt(len(some)) if len(some) > 1 else 0.0
    return Value(value=mean, low=max(mean - error, 0.0), high=min(mean + error, 1.0), n=len(some))


def gained(select: str, validations: Sequence[Validation], best: int) -> float | None:
    """What the checkpoint of a step has over the base; None where one of them has no value."""
    values = {each.step: each.by(select) for each in validations}
    base, kept = values.get(0), values.get(best)
    return None if base is None or kept is None else kept - base


def _rows(history: Sequence[Row]) -> list[dict[str, float]]:
    """A row a step, of what means the same after a resume; by name, as a checkpoint has it.

    What is no number is left out: JSON has none.
    """
    return [
        {
            name: float(row[name])
            for name in sorted(row)
            if row[name] is not None and name != "epoch" and isfinite(row[name])
        }
        for row in history
        if "loss" in row
    ]


def line(done: Trained, out: str) -> str:
    """For people: how far, how the reward went, and which checkpoints are kept."""
    earned = [row["reward"] for row in done.history if "reward" in row]
    parts = [
        f"{done.steps:,} steps, {done.asked:,} prompts: reward {earned[0]:.3f} -> {earned[-1]:.3f}"
    ]
    values = {each.step: each.by(done.select) for each in done.validations}
    for name, step in (("base", 0), ("best", done.best), ("last", done.last)):
        value = values.get(step)
        told = f" ({done.select} {value:.3f})" if value is not None else ""
        if step or told:
            parts.append(f"{name}{f' is step {step}' if step else ''}{told}")
    if done.gained is not None and done.gained <= 0:
        how = f"better by {-done.gained:.3f}" if done.gained else "as well"
        parts.append(f"the base it began with did {how}: best is no gain on it")
    if done.alarms:
        parts.append(f"{len(done.alarms)} alarms" if len(done.alarms) > 1 else "1 alarm")
    if done.stopped:
        parts.append(f"stopped at {done.stopped}; watch.on_alarm = 'warn' goes on from there")
    return f"{'; '.join(parts)}. In {out}"
