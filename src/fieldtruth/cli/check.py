"""Training files and question sets before they are used: check."""

from pathlib import Path
from typing import Annotated

import typer

from fieldtruth.cli.group import Json, Quiet, app, say


@app.command()
def check(
    file: Annotated[
        Path,
        typer.Argument(
            help="Examples (or their folder), conversations of TRL, LLaMA-Factory, ms-swift or "
            "Qwen, questions, or items: JSON lines or a JSON list."
        ),
    ],
    *,
    images: Annotated[
        Path | None,
        typer.Option(help="The folder that photos' paths are relative to; the file's own, else."),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(help="The box space of conversations, where rows name none: norm1000, else."),
    ] = None,
    budget: Annotated[int, typer.Option(help="Tokens that a reply may take, as predict's.")] = 1024,
    test: Annotated[
        list[Path] | None,
        typer.Option(help="A frozen benchmark whose photos may not be in it. Repeatable."),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Pre-flight of a training file or a question set: no GPU, seconds. 3 if anything is wrong.

    `row` counts from 1; in JSON lines it is the line.
    """
    from fieldtruth.run.progress import Track
    from fieldtruth.stages import check as checking

    settings = checking.Settings(images=images, space=space, budget=budget, tests=tuple(test or ()))
    report = checking.check(file, settings, Track("check", quiet=quiet))
    say(report, checking.line(report, file), as_json=as_json)
    raise typer.Exit(3 if report.problems else 0)
