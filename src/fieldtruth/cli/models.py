"""Models fitted and asked: train, predict."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fieldtruth import models, protocols, rooms
from fieldtruth.cli.group import Engine, Json, Out, Quiet, Seed, Workers, app, note, say, train

if TYPE_CHECKING:
    from fieldtruth.run.progress import Track
    from fieldtruth.stages.grpo import Grpo
    from fieldtruth.stages.sft import Sft

Limit = Annotated[
    int | None, typer.Option(min=1, help="Only the first so many items; for a first look.")
]
CacheFolder = Annotated[
    Path | None, typer.Option(help="A folder of replies; what is in it is not asked again.")
]
AskedHow = Annotated[
    str, typer.Option(help=f"{', '.join(rooms.names(protocols))}; or +CONTROL: +blank.")
]
FiledUnder = Annotated[
    str | None,
    typer.Option(help="What the replies are filed under; the backend's name if not given."),
]
MaxPhotos = Annotated[
    int | None, typer.Option(min=1, help="Of one question: the first so many. All if not given.")
]
Context = Annotated[
    str | None,
    typer.Option(
        help="Told with a question: none, background, evidence; filed under NAME@nocontext, "
        "@context, @evidence. Its background if not given."
    ),
]
Run = Annotated[
    int | None, typer.Option(min=1, help="The number of a repeated run: filed under NAME@runN.")
]
Concurrency = Annotated[int | None, typer.Option(min=1, help="Calls to a server at a time.")]
Timeout = Annotated[float | None, typer.Option(help="Seconds for one call.")]
Retries = Annotated[int | None, typer.Option(min=0, help="Further tries of a call that failed.")]
Retrieve = Annotated[
    int | None, typer.Option(min=1, help="Show so many facts of --knowledge before each question.")
]
KnowledgeBase = Annotated[
    Path | None, typer.Option(help="What `knowledge --not BENCHMARK` made; see --retrieve.")
]
EmbedderFolder = Annotated[
    str | None, typer.Option(help="Another encoder of sentences to search with: a folder or name.")
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="One step on a small model; nothing is kept. See --base."),
]
DryBase = Annotated[
    str | None,
    typer.Option(help="Of --dry-run: a folder or hub name in place of the recipe's; tiny."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(help="Begin no call that could cost more in all; needs the model's prices."),
]


@train.command("colour")
def train_colour(
    benchmarks: Annotated[
        list[Path], typer.Argument(help="Training benchmarks (freeze --split train).")
    ],
    *,
    out: Out,
    as_json: Json = False,
) -> None:
    """Fit the embedded colour model on training splits."""
    from fieldtruth.run import training

    made = training.fit_colour(benchmarks, out)
    say(made, f"colour fitted on {made.items} photos: {out}", as_json=as_json)


def _rehearse(
    told: "Sft | Grpo", base: str | None, track: "Track", *, quiet: bool, as_json: bool
) -> None:
    """The dry run of a training; fails where the recipe would not train what it is to."""
    from fieldtruth.run import rehearsing

    tried = rehearsing.rehearse(told, base, track, lambda n: note(n, quiet=quiet))
    say(tried, rehearsing.line(tried), as_json=as_json)
    rehearsing.check(tried)


@train.command("sft")
def train_sft(
    recipe: Annotated[
        Path, typer.Argument(help="TOML with a table [sft]: recipes/agroground-2b.toml.")
    ],
    *,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Replace a setting: sft.rate=1e-5.")
    ] = None,
    dry_run: DryRun = False,
    base: DryBase = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fine-tune a model of photos and words on composed examples; goes on where it stopped."""
    from fieldtruth.models.transformers import ranks
    from fieldtruth.run import rehearsing, tuning
    from fieldtruth.run.progress import Track

    told = tuning.read(recipe, setting or ())
    track = Track("train sft", quiet=quiet)
    if dry_run:
        _rehearse(told, base, track, quiet=quiet, as_json=as_json)
        return
    rehearsing.no_base(base)
    done = tuning.train(told, track, lambda n: note(n, quiet=quiet))
    if ranks.leads():
        say(done, tuning.line(done, told), as_json=as_json)


@train.command("grpo")
def train_grpo(
    recipe: Annotated[Path, typer.Argument(help="A TOML file with a table [grpo].")],
    *,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Replace a setting: grpo.rate=1e-5.")
    ] = None,
    dry_run: DryRun = False,
    base: DryBase = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Let a fine-tuned model answer, and learn from what its answers earn; goes on likewise."""
    from fieldtruth.run import rehearsing, tuning
    from fieldtruth.run.progress import Track

    told = tuning.read_grpo(recipe, setting or ())
    track = Track("train grpo", quiet=quiet)
    if dry_run:
        _rehearse(told, base, track, quiet=quiet, as_json=as_json)
        return
    rehearsing.no_base(base)
    done = tuning.learn(told, track, lambda n: note(n, quiet=quiet))
    say(done, tuning.grpo_line(done, told), as_json=as_json)


@train.command("scratch")
def train_scratch(
    recipe: Annotated[
        Path, typer.Argument(help="TOML with a table [scratch]: recipes/tiny-base.toml.")
    ],
    *,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Replace a setting: scratch.steps=3000.")
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make a small model from nothing: its words, its weights, and eyes that are warmed up."""
    from fieldtruth.run import tuning
    from fieldtruth.run.progress import Track

    told = tuning.read_scratch(recipe, setting or ())
    made = tuning.make(told, Track("train scratch", quiet=quiet), lambda n: note(n, quiet=quiet))
    say(made, tuning.scratch_line(made, told), as_json=as_json)


@train.command("merge")
def train_merge(
    adapter: Annotated[Path, typer.Argument(help="A folder with LoRA weights (train sft).")],
    *,
    out: Out,
    base: Annotated[
        str | None, typer.Option(help="The model they are for, if not where they say it is.")
    ] = None,
    dtype: Annotated[
        str, typer.Option(help="Of the merged weights: float32, bfloat16, float16; the base's.")
    ] = "auto",
    as_json: Json = False,
) -> None:
    """Put LoRA weights into their base: one model like any other, its processor kept."""
    from fieldtruth.run import tuning

    made = tuning.merge(adapter, out, base, dtype)
    say(made, tuning.merged_line(made, out), as_json=as_json)


@app.command()
def predict(
    benchmark: Annotated[Path, typer.Argument(help="A frozen benchmark.")],
    *,
    model: Annotated[
        str, typer.Option(help=f"{', '.join(rooms.names(models))}: a file of models/.")
    ],
    protocol: AskedHow,
    out: Out,
    model_args: Annotated[
        str, typer.Option(help="Options of the backend: key=value,key=value.")
    ] = "",
    name: FiledUnder = None,
    allow_errors: Annotated[
        float, typer.Option(help="The share of failed calls that still ends with 0.")
    ] = 0.0,
    limit: Limit = None,
    cache: CacheFolder = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    retries: Retries = None,
    max_cost: MaxCost = None,
    max_photos: MaxPhotos = None,
    context: Context = None,
    run: Run = None,
    retrieve: Retrieve = None,
    knowledge: KnowledgeBase = None,
    embedder: EmbedderFolder = None,
    seed: Seed = 0,
    engine: Engine = "local",
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Ask a model about every item or question; resumes where it stopped."""
    from fieldtruth.run import asking, spread
    from fieldtruth.run.progress import Track

    flags = {
        "concurrency": concurrency, "timeout": timeout, "retries": retries, "max_cost": max_cost,
    }  # fmt: skip
    allow_errors = asking.share("--allow-errors", allow_errors)
    job = asking.Job(
        benchmark=benchmark,
        model=model,
        options=asking.with_flags(asking.parse_options(model_args), flags),
        protocol=protocol,
        name=name,
        limit=limit,
        cache=cache,
        seed=seed,
        engine=spread.engine_of(engine),
        workers=workers,
        max_photos=max_photos,
        context=context,
        run=run,
        lookup=asking.lookup(retrieve, knowledge, embedder),
    )
    track = Track(f"predict {model} {protocol}", quiet=quiet)
    done = asking.predict(job, out, track, lambda told: note(told, quiet=quiet))
    say(done, asking.line(done, out), as_json=as_json)
    asking.check(done, allow_errors)
