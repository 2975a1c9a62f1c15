"""What a run of reinforcement learning is told: the base, the prompts, the reward, the watch.

Defaults are AgroGround's (section 4.4, appendix J; reference, sections 12 and 13): 128 prompts with
8 replies each at a temperature of 0.7, top-p 0.9, top-k 50, KL weight 0.005, learning rate 3e-6
after 10 steps of warm-up, replies of at most 512 tokens, prompts of photos up to half a megapixel.
The clip is GSPO's, which is of whole replies and so a hundred times tighter than that of tokens.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from fieldtruth.models.transformers.settings import Patches, Precision
from fieldtruth.records import Record, Space

Share = Annotated[float, Meta(ge=0, le=1)]
Above = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=1)]


class Mix(Record, frozen=True, kw_only=True):
    """Which examples are asked about; shares hold after all that cannot be asked is left out.

    `size`: prompts; as many as the shares allow if null. `healthy` and `wrong_target`: shares of
    all; the rest shows what is asked for. `dense`: the share of those on photos with at least
    `dense_boxes` boxes (the paper's are of 4; dense_f1 counts from 5); `uniform` takes them as they
    come instead, like the paper's ablation. `listed`: the share of every kind that gives a list of
    names.
    `photo_pixels`: larger photos are left out.
    """

    size: Count | None = None
    healthy: Share = 0.16
    wrong_target: Share = 0.0
    dense: Share = 0.5
    dense_boxes: Count = 5
    uniform: bool = False
    listed: Share = 0.5
    photo_pixels: Count = 500_000

    def __post_init__(self) -> None:
        if self.healthy + self.wrong_target > 1:
            raise ValueError("expected healthy and wrong_target to be shares of all prompts")


class Watch(Record, frozen=True, kw_only=True):
    """From where on a policy is taken to get its reward for something else than the task.

    Means over the last `window` rounds of replies are held against these. `on_alarm` stop ends the
    run at the next end of a round; the same recipe with warn goes on from there.

    `empty`: the share of empty replies to photos that show the target. A supervised model leaves
    some 5 % unanswered and the paper's RL less; one that is paid for silence goes to 1.
    `first_option`: the share of choices, right or wrong, that are the first name of the list. Names
    stand in drawn order, so that of four each is first in a quarter.
    `boxes`: boxes said for each that is there. Three leave a precision of a third at best.
    `zero_spread`: the share of prompts whose replies all earn the same, of which nothing is learnt.
    `truncated`: the share of replies that were cut off: boxes without end.
    `unread`: the share of replies that are no answer. Under the published reward they earn nothing,
    so this should fall.
    `kl`: nats a token from the base; what is learnt from a reward of boxes stays under 0.1.
    `fall`: of the validation reward, from its best: over-optimization (the paper's run fell by
    0.020 from its step 30 to its end; of fewer than some 200 prompts that much is chance).
    """

    window: Count = 5
    on_alarm: Literal["warn", "stop"] = "warn"
    empty: Share = 0.5
    first_option: Share = 0.6
    boxes: Above = 3.0
    zero_spread: Share = 0.8
    truncated: Share = 0.25
    unread: Share = 0.25
    kl: Above = 0.5
    fall: Above = 0.02


class Grpo(Record, frozen=True, kw_only=True):
    """One run. Paths are as the recipe's reader resolved them.

    `base`: a folder or hub name of a whole model; LoRA weights are merged first (`train merge`).
    `train` and `val`: folders that `compose --training` made; no group or photo of `val` is in
    `train`. `reward`: a file of `rewards`; `weights` stand over its own, `known_weights` over those
    that `grounded` has for prompts that name the target.

    A round asks `prompts` prompts for `replies` replies each; `updates` steps of the optimizer are
    made of them, `batch` replies at a time. With one update the ratio that is clipped is 1
    everywhere and `clip_low` and `clip_high` do nothing. `steps` of the optimizer, or `epochs` of
    the mix. `budget`: tokens of a reply. `rank` 0 trains the weights themselves; no dropout, which
    would make the same words likelier or less from one look to the next. `min_pixels` and
    `max_pixels`: the area photos are resized to; as the base was trained if null.

    Every `save_every` steps, whole rounds, a checkpoint is saved and asked about at most
    `val_limit` prompts of `val`, taking the likeliest token; the best by `select` and the last are
    kept. `vllm`: rollouts by vLLM in the same process, with `vllm_memory` of the GPU's memory.
    `keep_replies`: every reply with its truth in OUT/replies, which `fieldtruth reward` pays alike.
    """

    base: str
    train: tuple[str, ...]
    out: str
    val: tuple[str, ...] = ()
    limit: Count | None = None
    space: Space | None = None
    reward: str = "grounded"
    weights: Mapping[str, float] = {}
    known_weights: Mapping[str, float] = {}
    mix: Mix = Mix()
    watch: Watch = Watch()
    prompts: Count = 128
    replies: Annotated[int, Meta(ge=2)] = 8
    updates: Count = 1
    batch: Count = 8
    steps: Count | None = None
    epochs: Above = 2.0
    temperature: Above = 0.7
    top_p: Annotated[float, Meta(gt=0, le=1)] = 0.9
    top_k: Annotated[int, Meta(ge=0)] = 50
    budget: Count = 512
    beta: Annotated[float, Meta(ge=0)] = 0.005
    clip_low: Above = 3e-4
    clip_high: Above = 4e-4
    rank: Annotated[int, Meta(ge=0)] = 64
    alpha: Count = 128
    targets: str | None = None
    vision: Literal["frozen", "trained"] = "frozen"
    rate: Above = 3e-6
    schedule: Literal["cosine", "linear", "constant", "constant_with_warmup"] = (
        "constant_with_warmup"
    )
    warmup: Annotated[int, Meta(ge=0)] = 10  # steps
    optimizer: Literal["adamw", "muon"] = "adamw"
    decay: Annotated[float, Meta(ge=0)] = 0.0
    clip: Above = 1.0
    min_pixels: Count | None = None
    max_pixels: Count | None = None
    save_every: Count = 10
    val_limit: Count | None = 400
    val_batch: Count = 8
    select: str = "reward.mean"
    seed: int = 0
    device: str = "auto"
    dtype: Precision = "auto"
    patches: Patches = "auto"
    recompute: bool | None = None  # activations anew on the way back: memory for time; on a GPU
    vllm: bool = False
    vllm_memory: Annotated[float, Meta(gt=0, lt=1)] = 0.3
    keep_replies: bool = False
    tests: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.train:
            raise ValueError("expected at least one folder of examples to ask about, got none")
        whole, part = self.prompts * self.replies, self.updates * self.batch
        if whole % part:
            raise ValueError(
                f"expected prompts x replies ({whole}) to be a multiple of updates x batch ({part})"
            )
        if (self.steps or 0) % self.updates:
            raise ValueError(
                f"expected steps ({self.steps}) to be a multiple of updates ({self.updates}): "
                "rounds are whole"
            )
        if self.save_every % self.updates:
            raise ValueError(
                f"expected save_every ({self.save_every}) to be a multiple of updates "
                f"({self.updates}): a round that was begun cannot be gone on with"
            )

    @property
    def dropout(self) -> float:
        """None, whatever learns."""
        return 0.0
