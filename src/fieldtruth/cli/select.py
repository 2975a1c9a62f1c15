"""Composed items to candidates of a benchmark: select."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from fieldtruth.cli.group import Json, Out, Quiet, Seed, app, say
from fieldtruth.faults import Usage

N = TypeVar("N", int, float)


@app.command()
def select(
    items: Annotated[list[Path], typer.Argument(help="Files of items that compose made.")],
    *,
    out: Out,
    want: Annotated[
        str, typer.Option(help="Photos by stratum: dense=250,lesion=150,object=70,healthy=270.")
    ],
    floor: Annotated[
        str, typer.Option(help="Photos of a stratum from each source at least: 5,mirage=2.")
    ] = "",
    cap: Annotated[
        str, typer.Option(help="The share of a stratum from each source at most: 0.5,cddm=0.4.")
    ] = "",
    lift_cap: Annotated[
        bool,
        typer.Option("--lift-cap", help="Go beyond caps where a stratum is short, and say so."),
    ] = False,
    earlier: Annotated[
        list[Path] | None,
        typer.Option("--not", help="An earlier selection, file of items, or frozen benchmark."),
    ] = None,
    train: Annotated[
        list[Path] | None,
        typer.Option(help="Photos of a trainer: splits.jsonl, examples, a benchmark, a folder."),
    ] = None,
    images: Annotated[
        list[Path] | None,
        typer.Option(help="The folder of the photos, one for each file: they are copied along."),
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Items to candidates for people to look at, in rounds that share no photo. 3 if it is short.

    What could be chosen is chosen and written then, too.
    """
    from fieldtruth.run import selecting
    from fieldtruth.run.progress import Track
    from fieldtruth.stages import select as stage

    settings = stage.Settings(
        want=_numbers("--want", want, int),
        floor=_numbers("--floor", floor, int),
        cap=_numbers("--cap", cap, float),
        lift_cap=lift_cap,
        seed=seed,
    )
    job = selecting.Job(
        items=items, images=images or (), earlier=earlier or (), trained=train or ()
    )
    made = selecting.select(job, settings, out, Track("select", quiet=quiet))
    say(made, f"{stage.line(made)}. In {out}", as_json=as_json)
    stage.check(made, out)


def _numbers(flag: str, text: str, kind: Callable[[str], N]) -> dict[str, N]:
    """`NAME=N,NAME=N`; a number without a name is for all that are not named."""
    found: dict[str, N] = {}
    for piece in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = piece.rpartition("=")
        try:
            value = kind(number)
        except ValueError:
            raise Usage(f"{flag}: expected NAME=NUMBER,..., got {piece!r}") from None
        if name.strip() in found or (equals and not name.strip()):
            raise Usage(f"{flag}: expected each name once, got {text!r}")
        found[name.strip()] = value
    return found
