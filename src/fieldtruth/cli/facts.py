"""Dialogues to facts."""

from pathlib import Path
from typing import Annotated

import typer

from fieldtruth.cli.group import Json, Quiet, app, say


@app.command()
def facts(
    folder: Annotated[Path, typer.Argument(help="What ingest made of a source of talks.")],
    *,
    model: Annotated[
        str, typer.Option(help="Who reads the talks: `rules` (no model at all), or a backend.")
    ] = "rules",
    model_args: Annotated[
        str,
        typer.Option(help="Options of the backend; a max_cost is of each of its two questions."),
    ] = "",
    filed: Annotated[
        str | None, typer.Option("--name", help="What its replies are filed under.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="A folder of replies; FOLDER/replies if not given.")
    ] = None,
    allow_errors: Annotated[
        float, typer.Option(help="The share of failed dialogues that still ends with 0.")
    ] = 0.0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Talks of growers and experts to what the experts stated, with the words it rests on."""
    from fieldtruth.run import extracting
    from fieldtruth.run.asking import parse_options, share
    from fieldtruth.run.progress import Track

    job = extracting.Job(
        model=model,
        options=parse_options(model_args),
        name=filed,
        cache=cache,
        allow_errors=share("--allow-errors", allow_errors),
    )
    done = extracting.extract(folder, job, Track("facts", quiet=quiet))
    say(done, extracting.line(done, folder), as_json=as_json)
    extracting.check(done, folder, job)
