"""Facts to a knowledge base: knowledge."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from fieldtruth.cli.group import Json, Out, Quiet, Seed, app, say
from fieldtruth.faults import Usage


@app.command()
def knowledge(
    facts: Annotated[
        Path, typer.Argument(help="The folder that questions (or facts) made, or a file of facts.")
    ],
    *,
    out: Out,
    images: Annotated[
        Path | None, typer.Option(help="Where the photos lie, if FACTS does not say.")
    ] = None,
    benchmarks: Annotated[
        list[Path] | None,
        typer.Option("--not", help="A frozen benchmark that the base may know nothing of."),
    ] = None,
    only: Annotated[
        Literal["all", "species"], typer.Option(help="species: names of living things alone.")
    ] = "all",
    keep_vague: Annotated[
        bool, typer.Option("--keep-vague", help='Keep what is called no more than "tree" or "bug".')
    ] = False,
    general: Annotated[
        Path | None, typer.Option(help="A general instruction set (JSON, or JSON lines).")
    ] = None,
    general_images: Annotated[
        Path | None, typer.Option(help="The folder that its photos lie in.")
    ] = None,
    general_rows: Annotated[int | None, typer.Option(help="So many of its rows: 10000.")] = None,
    general_share: Annotated[
        float | None, typer.Option(help="So many that they are this share of the whole: 0.5.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Experts' facts as conversations to train on, and as facts to look up while answering."""
    import msgspec

    from fieldtruth.run import knowing
    from fieldtruth.run.progress import Track
    from fieldtruth.stages import knowledge as stage

    told = {
        "only": only, "rows": general_rows, "share": general_share,
        "vague": "keep" if keep_vague else "drop", "seed": seed,
    }  # fmt: skip
    try:
        settings = msgspec.convert(told, stage.Settings)
    except msgspec.ValidationError as error:
        raise Usage(f"knowledge: --general: {error}") from None
    job = knowing.Job(
        facts=facts, images=images, benchmarks=benchmarks or (), general=general,
        general_images=general_images,
    )  # fmt: skip
    made = knowing.build(job, settings, out, Track("knowledge", quiet=quiet))
    say(made, knowing.line(made, out), as_json=as_json)
