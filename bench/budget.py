"""Memory and time of training a model of photos and words, on paper.

Sizes of models are their makers' configurations; what is neither a size nor a setting stands in
`ASSUMED`. bench/full_systems.py makes the tables of docs/full-systems.md of it. Units: bytes,
tokens, seconds, floating point operations. GB are powers of ten: a card of "24 GB" holds 25.8.
"""

from dataclasses import dataclass
from math import ceil

GB, GIB, HOUR = 1e9, 2**30, 3600.0


@dataclass(frozen=True)
class Eyes:
    """A vision transformer, and how its patches become tokens of the language model.

    `merge` patches a side make one token; `taps` are layers whose features enter further down
    (DeepStack), each with a merger of its own.
    """

    layers: int
    hidden: int
    ffn: int
    patch: int
    merge: int
    positions: int
    taps: int = 0
    frames: int = 1


@dataclass(frozen=True)
class Model:
    """A model of photos and words. `tied`: the output layer is the embedding."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head: int
    ffn: int
    vocab: int
    tied: bool
    eyes: Eyes

    @property
    def linears(self) -> tuple[tuple[int, int], ...]:
        """(in, out) of a layer's seven projections: q, k, v, o, gate, up, down."""
        h, q, kv, f = self.hidden, self.heads * self.head, self.kv_heads * self.head, self.ffn
        return ((h, q), (h, kv), (h, kv), (q, h), (h, f), (h, f), (f, h))

    @property
    def body(self) -> int:
        """Weights of the language model that every token goes through: layers and output layer."""
        return self.layers * sum(i * o for i, o in self.linears) + self.vocab * self.hidden

    @property
    def words(self) -> int:
        """All weights of the language model, of Qwen3's build: with norms of queries and keys."""
        norms = self.layers * (2 * self.hidden + 2 * self.head) + self.hidden
        return self.body + norms + (0 if self.tied else self.vocab * self.hidden)

    @property
    def sight(self) -> int:
        """All weights of Qwen3-VL's eyes and mergers."""
        e = self.eyes
        d, f, wide = e.hidden, e.ffn, e.hidden * e.merge**2
        block = (3 * d * d + 3 * d) + (d * d + d) + (d * f + f) + (f * d + d) + 4 * d
        merger = wide * wide + wide + wide * self.hidden + self.hidden
        patches = 3 * e.frames * e.patch**2 * d + d + e.positions * d
        return patches + e.layers * block + merger + 2 * d + e.taps * (merger + 2 * wide)

    @property
    def whole(self) -> int:
        """All weights."""
        return self.words + self.sight

    def lora(self, rank: int) -> int:
        """Weights of LoRA on every projection of every layer of the language model."""
        return self.layers * sum(rank * (i + o) for i, o in self.linears)

    @property
    def kept(self) -> int:
        """Bytes of keys and values that a token leaves in the cache, in half precision."""
        return 2 * self.layers * self.kv_heads * self.head * 2

    def photo(self, pixels: int) -> int:
        """Tokens of a photo of so many pixels."""
        return pixels // (self.eyes.patch * self.eyes.merge) ** 2


# Layers, widths and heads as in the config.json of each; the sum of weights is checked against
# transformers' own classes in tests/test_full_systems.py.
SMALL = Model(
    "Qwen3-VL-2B", 28, 2048, 16, 8, 128, 6144, 151_936, True,
    Eyes(24, 1024, 4096, 16, 2, 2304, taps=3, frames=2),
)  # fmt: skip
LARGE = Model(
    "Qwen3-VL-8B", 36, 4096, 32, 8, 128, 12_288, 151_936, False,
    Eyes(27, 1152, 4304, 16, 2, 2304, taps=3, frames=2),
)  # fmt: skip
# CLIP's eyes are narrow, so taking Qwen's mergers for LLaVA's two layers is off by 0.2 %.
LLAVA = Model(
    "LLaVA-1.5-7B", 32, 4096, 32, 32, 128, 11_008, 32_064, False, Eyes(24, 1024, 4096, 14, 1, 577)
)
MODELS = {
    "Qwen/Qwen3-VL-2B-Instruct": SMALL,
    "Qwen/Qwen3-VL-8B-Instruct": LARGE,
    "llava-hf/llava-1.5-7b-hf": LLAVA,
}


@dataclass(frozen=True)
class Gpu:
    """Peak of dense bfloat16 products a second, bytes a second from memory, bytes of memory."""

    name: str
    peak: float
    bandwidth: float
    memory: float


@dataclass(frozen=True)
class Machine:
    """So many GPUs of a kind."""

    name: str
    gpu: Gpu
    count: int


@dataclass(frozen=True)
class Assumed:
    """What is neither a setting nor a size.

    `mfu`: the share of the peak that training reaches. `busy`: the share of the bandwidth that
    decoding reaches. `even`: the share of their work that
    several GPUs keep. `context`: bytes of CUDA, its libraries and NCCL.
    `slack`: what the allocator cannot use beside the weights, as a share. `tile`: tokens and words
    whose scores are held at a time (of TRL 1.16's fused head). `cast`: bytes that LoRA keeps for
    each number that goes into a projection: a copy in full precision, what dropout leaves of it and
    its mask, and one in half.
    """

    mfu: float = 0.25
    busy: float = 0.5
    even: float = 0.9
    context: float = 1.5 * GB
    slack: float = 0.15
    tile: tuple[int, int] = (4096, 32_768)
    cast: int = 11


ASSUMED = Assumed()
RTX = Gpu("RTX 4090", 165e12, 1.008e12, 24.0 * GIB)
A100 = Gpu("A100", 312e12, 2.039e12, 80.0 * GIB)
A6000 = Gpu("RTX A6000", 155e12, 0.768e12, 48.0 * GIB)
MACHINES = (
    Machine("one 24 GB", RTX, 1), Machine("one 80 GB", A100, 1), Machine("eight 80 GB", A100, 8),
)  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One supervised run: `photo` and `text` are tokens of an example, `longest` of one at most."""

    name: str
    model: Model
    rank: int
    examples: int
    epochs: float
    effective: int
    photo: int
    text: int
    longest: int

    @property
    def tokens(self) -> int:
        """Of an example."""
        return self.photo + self.text

    @property
    def steps(self) -> int:
        """Of the optimizer."""
        return ceil(self.epochs * ceil(self.examples / self.effective))  # a pass ends with a step


# --- memory ------------------------------------------------------------------------------------


def held(model: Model, rank: int) -> float:
    """Weights in half precision, and LoRA in full: itself, its gradient and AdamW's two moments."""
    return 2.0 * model.whole + 16.0 * model.lora(rank)


def of_layer(model: Model) -> float:
    """Bytes that a layer leaves for the way back, for each token.

    In half precision: its input and that normed, queries, keys, values, what attention makes, the
    sum and that normed, gate, up, the gate's curve and their product, and what goes out; norms hold
    a copy in full. And LoRA's share; see `Assumed.cast`.
    """
    q, kv = model.heads * model.head, model.kv_heads * model.head
    plain = 2 * (5 * model.hidden + 3 * q + 2 * kv + 4 * model.ffn) + 4 * 2 * model.hidden
    return plain + ASSUMED.cast * sum(i for i, _ in model.linears)


def active(model: Model, tokens: int, *, recompute: bool) -> float:
    """Bytes of activations of so many tokens at a time.

    Recomputed: the input of every layer, and one layer in full. The eyes are frozen and leave
    nothing for the way back: of them there is one layer at a time, here for photos alone.
    """
    eyes = model.eyes
    layer = of_layer(model) * tokens
    seen = 2.0 * tokens * eyes.merge**2 * (6 * eyes.hidden + 2 * eyes.ffn)
    if recompute:
        return 2.0 * tokens * model.hidden * model.layers + max(layer, seen)
    return model.layers * layer + seen


def scored(model: Model) -> float:
    """Scores of one tile, in half precision; their gradient takes their place."""
    tokens, words = ASSUMED.tile
    return 2.0 * tokens * min(words, model.vocab)


def needed(model: Model, rank: int, tokens: int, *, recompute: bool) -> float:
    """All of it, for so many tokens at a time on one GPU."""
    passing = active(model, tokens, recompute=recompute) + scored(model)
    return held(model, rank) + passing * (1 + ASSUMED.slack) + ASSUMED.context


def fitting(job: Job, memory: float) -> int:
    """The most examples at a time that fit, a power of two up to the effective batch; 0: none."""
    best, size = 0, 1
    while size <= job.effective:
        if needed(job.model, job.rank, size * job.longest, recompute=True) <= memory:
            best = size
        size *= 2
    return best


def working(job: Job, machine: Machine) -> int:
    """GPUs that have an example of every step."""
    return min(machine.count, job.effective)


def split(job: Job, machine: Machine) -> tuple[int, int]:
    """(examples at a time, how often before a step): times the GPUs that work it is the effective
    batch; (0, 0) where not one fits."""
    share = job.effective // working(job, machine)
    size = min(fitting(job, machine.gpu.memory), share)
    return (size, ceil(share / size)) if size else (0, 0)


# --- work --------------------------------------------------------------------------------------


def trained(job: Job) -> float:
    """Operations of a run: forward, again, and back to the activations: 3 times 2 a weight.

    LoRA's own weights are some per cent of it and left out; so is attention, which within some
    hundred tokens is less. The eyes only go forward.
    """
    seen = job.photo * job.model.eyes.merge**2
    each = 6.0 * job.tokens * job.model.body + 2.0 * seen * job.model.sight
    return each * job.examples * job.epochs


def pace(gpus: int) -> float:
    """GPUs' worth of work of so many."""
    return 1.0 if gpus == 1 else gpus * ASSUMED.even


def hours(job: Job, machine: Machine) -> float:
    """Of a supervised run, without validation and reading photos."""
    return trained(job) / (ASSUMED.mfu * machine.gpu.peak * pace(working(job, machine))) / HOUR


@dataclass(frozen=True)
class Round:
    """Reinforcement learning: `prompts` are asked `replies` times a step.

    `prompt` and `photo` are tokens of a prompt, its photo included; `said` tokens of a reply, of
    at most `budget`. `batch` replies are trained on at a time. `share` of the GPU is vLLM's.
    """

    name: str
    model: Model
    rank: int
    prompts: int
    replies: int
    steps: int
    prompt: int
    photo: int
    said: int
    budget: int
    batch: int
    share: float

    @property
    def rollouts(self) -> int:
        """Of a step."""
        return self.prompts * self.replies


def shown(work: Round) -> float:
    """Bytes of the photos of a round, one a reply, as the eyes take them: in full precision."""
    eyes = work.model.eyes
    return 4.0 * work.rollouts * work.photo * eyes.merge**2 * 3 * eyes.frames * eyes.patch**2


def learning(work: Round) -> float:
    """Bytes of the trainer's part. The reference is the model with LoRA turned off: no copy.

    Or of scoring the replies, where that is more: all photos are there, and of one layer gate, up,
    the gate's curve and their product.
    """
    tokens = work.batch * (work.prompt + work.budget)
    passing = shown(work) + 2.0 * 4 * work.model.ffn * tokens + scored(work.model)
    scoring = held(work.model, work.rank) + passing * (1 + ASSUMED.slack) + ASSUMED.context
    return max(needed(work.model, work.rank, tokens, recompute=True), scoring)


def cache(work: Round) -> float:
    """Bytes of keys and values of one prompt and all its replies, at their longest.

    vLLM holds the prompt's once; transformers holds it for every reply.
    """
    return float(work.model.kept * (work.prompt + work.replies * work.budget))


def at_once(work: Round, memory: float) -> int:
    """Replies that vLLM's share has room for beside its own copy of the weights."""
    left = work.share * memory - 2.0 * work.model.whole - ASSUMED.context
    groups = left / float(work.model.kept * (work.prompt + work.replies * work.said))
    return max(int(groups * work.replies), 0)


def answering(work: Round, machine: Machine) -> float:
    """Seconds that one GPU takes for the replies of a step; infinite where nothing fits.

    Every pass reads the weights and what is cached once, and makes a token of each reply; prompts
    are worked through once, at the pace of training.
    """
    gpu = machine.gpu
    mine = ceil(work.rollouts / machine.count)
    some = min(at_once(work, gpu.memory), mine)
    if not some:
        return float("inf")
    context = work.prompt / work.replies + work.said / 2
    passes = ceil(mine / some) * work.said
    read = 2.0 * work.model.whole + some * context * work.model.kept
    prompts = mine / work.replies
    seen = work.photo * work.model.eyes.merge**2 * work.model.sight
    prefill = prompts * 2.0 * (work.prompt * work.model.body + seen)
    return passes * read / (ASSUMED.busy * gpu.bandwidth) + prefill / (ASSUMED.mfu * gpu.peak)


def learnt(work: Round, machine: Machine) -> float:
    """Seconds of a step's training: the reference forward, then forward, again and back.

    The eyes go forward for each, twice.
    """
    tokens = work.rollouts * (work.prompt + work.said)
    seen = work.rollouts * work.photo * work.model.eyes.merge**2
    each = 8.0 * tokens * work.model.body + 4.0 * seen * work.model.sight
    return each / (ASSUMED.mfu * machine.gpu.peak * pace(machine.count))
