"""Photos into train, val and test, by groups: split."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fieldtruth.cli.group import Json, Quiet, Seed, app, say
from fieldtruth.faults import Usage


@app.command()
def split(
    folders: Annotated[
        list[Path], typer.Argument(help="What ingest made: one source, or several together.")
    ],
    *,
    radius: Annotated[
        int, typer.Option(help="Bits of 64 that the hashes of a near pair may differ in.")
    ] = 6,
    flips: Annotated[
        bool, typer.Option("--flips", help="Keep flipped and quarter-turned copies together too.")
    ] = False,
    shares: Annotated[
        str, typer.Option(help="Of the groups that no release has put into a split.")
    ] = "train=0.8,val=0.1,test=0.1",
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; end with 4 where a split leaks.")
    ] = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Photos to train, val and test, near-duplicates together."""
    from fieldtruth.run import splitting
    from fieldtruth.run.progress import Track
    from fieldtruth.stages import split as stage

    settings = stage.Settings(radius=radius, flips=flips, seed=seed, shares=_shares(shares))
    track = Track("split", quiet=quiet)
    if check:
        checked = splitting.check(folders, settings, track)
        say(checked, splitting.checked_line(checked), as_json=as_json)
        stage.refuse(checked)
    else:
        made = splitting.split(folders, settings, track)
        say(made, stage.line(made), as_json=as_json)


def _shares(text: str) -> Any:
    from fieldtruth.run.asking import parse_options

    try:
        return {name: float(share) for name, share in parse_options(text, "--shares").items()}
    except ValueError:
        raise Usage(f"--shares: expected train=0.8,val=0.1,test=0.1, got {text!r}") from None
