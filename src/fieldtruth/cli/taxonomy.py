"""Labels: what a name means and why, where names collide, how symptoms look."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fieldtruth.cli.group import Json, Out, app, say

Crop = Annotated[str | None, typer.Option(help="The crop it is on, which may tell more.")]


class _Names(TyperGroup):
    """What is not a command of this group is a name to look up."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = args[0] if args else "--help"
        if first not in self.commands and first not in ("--help",):
            args = ["name", *args]
        return super().parse_args(ctx, args)


names = typer.Typer(
    cls=_Names, no_args_is_help=True,
    help="What a name means and why: `taxonomy NAME`; collisions; symptom cues.",
)  # fmt: skip
app.add_typer(names, name="taxonomy")


@names.command("name")
def show(
    name: Annotated[str, typer.Argument(help="As somebody wrote it: 'Tomato___Late_blight'.")],
    *,
    crop: Crop = None,
    as_json: Json = False,
) -> None:
    """The label that a name means, and how that is known."""
    from fieldtruth.run import naming

    found = naming.look_up(name, crop)
    say(found, naming.lines(found), as_json=as_json)


@names.command("collisions")
def collisions(*, as_json: Json = False) -> None:
    """One name, two meanings: where the sources of the labels disagree."""
    from fieldtruth.run import naming

    found = naming.collisions()
    say(found, naming.collision_lines(found), as_json=as_json)


@names.command("describe")
def describe(
    labels: Annotated[list[str], typer.Argument(help="The names of the labels to describe.")],
    *,
    model: Annotated[str, typer.Option(help="Who describes them: a backend of models/.")],
    out: Out,
    crop: Crop = None,
    model_args: Annotated[
        str, typer.Option(help="Options of the backend: key=value,key=value.")
    ] = "",
    filed: Annotated[
        str | None, typer.Option("--name", help="What its replies are filed under.")
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="A folder of replies, as predict's.")] = None,
    as_json: Json = False,
) -> None:
    """Have a model write how symptoms look, into a file for you to edit."""
    from fieldtruth.run import describing
    from fieldtruth.run.asking import parse_options

    writer = describing.Writer(
        model=model, options=parse_options(model_args), name=filed, cache=cache
    )
    done = describing.describe(labels, crop, writer, out)
    line = f"{done.asked} asked, {done.cached} from the cache, {done.kept} kept. In {out}"
    say(done, line, as_json=as_json)
    describing.check(done)
