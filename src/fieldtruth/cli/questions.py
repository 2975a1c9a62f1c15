"""Facts to questions, and people's eyes on them, on figures and on evidence."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fieldtruth.cli.group import Json, Out, Quiet, Seed, app, note, say
from fieldtruth.cli.review import reviews

if TYPE_CHECKING:
    from fieldtruth.run.questioning import Writer
    from fieldtruth.stages.questions.figures import Settings as Figures

Because = Annotated[
    str | None, typer.Option(help="Why names of people need not have been looked for (scrub).")
]


@app.command()
def questions(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `facts` or `evidence` made.")],
    *,
    out: Out,
    want: Annotated[
        int | None,
        typer.Option(help="Questions, evenly over five types; all that can be asked, else."),
    ] = None,
    per_group: Annotated[
        int | None, typer.Option(help="At most, of a conversation (1) or of a figure (8).")
    ] = None,
    options: Annotated[
        str, typer.Option(help="Options of a choice; 4,5,6 makes a file each of the same ones.")
    ] = "4",
    model: Annotated[
        str, typer.Option(help="Who writes wrong answers, or what is asked: `rules`, or a model.")
    ] = "rules",
    model_args: Annotated[
        str, typer.Option(help="Options of the model: key=value,key=value.")
    ] = "",
    cache: Annotated[Path | None, typer.Option(help="A folder of replies.")] = None,
    allow_errors: Annotated[
        float, typer.Option(help="The share of failed calls that still ends with 0.")
    ] = 0.0,
    images: Annotated[
        Path | None, typer.Option(help="The folder of the photos, where they are elsewhere now.")
    ] = None,
    faces: Annotated[
        bool, typer.Option("--faces", help="Show photos that may show a face: you looked at them.")
    ] = False,
    because: Because = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Facts to questions of four options and open ones, and a knowledge base apart from them.

    Of papers' figures: up to eight of four options each, with domain and challenge.
    """
    from fieldtruth.run import picturing, questioning
    from fieldtruth.run.asking import parse_options, share
    from fieldtruth.run.progress import Track
    from fieldtruth.stages.questions import Settings

    allow, bar = share("--allow-errors", allow_errors), Track("questions", quiet=quiet)
    writer = questioning.Writer(
        model=model, options=parse_options(model_args), cache=cache, images=images,
        because=because,
    )  # fmt: skip
    if picturing.of_figures(folder):
        picturing.refuse(want=want, options=options, faces=faces, because=because)
        asked = picturing.settings(per_group, seed)
        return _of_figures((folder, out), asked, writer, allow, quiet=quiet, as_json=as_json)
    settings = Settings(
        want=want, per_group=1 if per_group is None else per_group,
        options=questioning.numbers(options), faces=faces, seed=seed,
    )  # fmt: skip
    tell = partial(note, quiet=quiet)
    made = questioning.questions(folder, out, settings, writer, bar, tell)
    say(made, questioning.line(made, out), as_json=as_json)
    return questioning.check(made, allow)


def _of_figures(
    places: tuple[Path, Path],
    asked: "Figures",
    writer: "Writer",
    allow: float,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """The questions of figures: from a folder, to another."""
    from fieldtruth.run import picturing
    from fieldtruth.run.progress import Track

    folder, out = places
    done = picturing.questions(
        folder, out, asked, writer, Track("questions", quiet=quiet),
        lambda told: note(told, quiet=quiet),
    )  # fmt: skip
    say(done, picturing.line(done, out), as_json=as_json)
    picturing.check(done, allow)


@reviews.command("questions")
def send(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS",
            help="What questions, figures or evidence made, a file, or a frozen benchmark.",
        ),
    ],
    *,
    out: Out,
    annotator: Annotated[
        list[str], typer.Option(help="A person, by the name of the workbook. Repeatable.")
    ],
    dialogues: Annotated[
        Path | None,
        typer.Option(help="The folder of the dialogues, or of the evidence, to be shown beside."),
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="The folder that photos' paths are relative to.")
    ] = None,
    overlap: Annotated[
        int | None, typer.Option(help="How many people judge each question; all, else.")
    ] = None,
    third: Annotated[
        str | None, typer.Option(help="A further person, who decides where the others differ.")
    ] = None,
    because: Because = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Questions, figures or evidence to people: one offline page, and a workbook for each."""
    from fieldtruth.run import verifying

    job = verifying.Job(
        questions=source, annotators=tuple(annotator), dialogues=dialogues, images=images,
        overlap=overlap, because=because, seed=seed, third=third,
    )  # fmt: skip
    made = verifying.send(job, out)
    say(made, verifying.line(made, out), as_json=as_json)


@reviews.command("verified")
def receive(
    books: Annotated[list[Path], typer.Argument(metavar="XLSX...", help="The filled workbooks.")],
    *,
    sent: Annotated[Path, typer.Option(help="The folder that `review questions` made.")],
    out: Out,
    least: Annotated[
        int | None, typer.Option(help="People that have to have read a question; all, else.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Filled workbooks to what nobody found wrong, or a third held, with agreement and funnel."""
    from fieldtruth.run import verifying
    from fieldtruth.stages import verification

    made = verifying.receive(books, sent, out, least)
    say(made, f"{verification.line(made)}. In {out}", as_json=as_json)
