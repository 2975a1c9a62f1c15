"""Papers: screen a folder of PDFs, take the figures out, find what the text says of them."""

from pathlib import Path
from typing import Annotated

import typer

from fieldtruth.cli.group import Json, Out, Quiet, app, say


@app.command()
def screen(
    folder: Annotated[Path, typer.Argument(help="A folder with PDFs in it.")],
    *,
    out: Out,
    references: Annotated[
        list[Path] | None, typer.Option(help="What a search exported: .ris, .bib or .csv.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Take this language alone: en. May be repeated.")
    ] = None,
    since: Annotated[int | None, typer.Option(help="The first year that is taken.")] = None,
    until: Annotated[int | None, typer.Option(help="The last year that is taken.")] = None,
    crop: Annotated[
        list[str] | None, typer.Option(help="Take papers on this crop alone. May be repeated.")
    ] = None,
    any_kind: Annotated[
        bool, typer.Option("--any-kind", help="Take what is no research article as well.")
    ] = False,
    licence: Annotated[str, typer.Option(help="The licence of the papers.")] = "unknown",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """PDFs to papers: what each is, which are copies, and why the others are left out."""
    from fieldtruth.run import screening
    from fieldtruth.run.progress import Track
    from fieldtruth.stages.screen import Settings
    from fieldtruth.taxonomy import crop_id

    wanted = Settings(
        languages=tuple(language or ()), since=since, until=until,
        crops=tuple(map(crop_id, crop or ())), any_kind=any_kind, licence=licence,
    )  # fmt: skip
    done = screening.screen(
        folder, out, wanted, references or (), track=Track("screen", quiet=quiet)
    )
    say(done, screening.line(done, out), as_json=as_json)


@app.command()
def figures(
    folder: Annotated[Path, typer.Argument(help="What screen made.")],
    *,
    out: Out,
    dpi: Annotated[float, typer.Option(help="Dots an inch of the crops, 36 to 600.")] = 200.0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Papers to figures: picture and caption, rendered, and by page what was missed."""
    from fieldtruth.run import figuring
    from fieldtruth.run.progress import Track

    done = figuring.figures(folder, out, dpi, track=Track("figures", quiet=quiet))
    say(done, figuring.line(done, out), as_json=as_json)


@app.command()
def evidence(
    folder: Annotated[Path, typer.Argument(help="What figures made.")],
    *,
    out: Out,
    model: Annotated[
        str, typer.Option(help="Who proposes passages beside the rules: `rules`, or a model.")
    ] = "rules",
    model_args: Annotated[
        str, typer.Option(help="Options of the model: key=value,key=value.")
    ] = "",
    cache: Annotated[Path | None, typer.Option(help="A folder of replies.")] = None,
    allow_errors: Annotated[
        float, typer.Option(help="The share of failed calls that still ends with 0.")
    ] = 0.0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """What the papers say of their figures, word for word, and what kind of figure each is."""
    from fieldtruth.run import evidencing
    from fieldtruth.run.asking import parse_options, share
    from fieldtruth.run.progress import Track

    job = evidencing.Job(
        model=model, options=parse_options(model_args), cache=cache,
        allow_errors=share("--allow-errors", allow_errors),
    )  # fmt: skip
    done = evidencing.evidence(folder, out, job, track=Track("evidence", quiet=quiet))
    say(done, evidencing.line(done, out), as_json=as_json)
    evidencing.check(done, out, job)
