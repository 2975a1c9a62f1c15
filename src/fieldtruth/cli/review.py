"""People's eyes: adjudicate, and the group `review`."""

from pathlib import Path
from typing import Annotated

import typer

from fieldtruth.cli.group import Json, Out, Seed, app, say

Overlap = Annotated[int, typer.Option(help="How many people see each photo.")]
Cues = Annotated[
    Path | None, typer.Option(help="Symptom cues, as `taxonomy describe` writes them.")
]
Address = Annotated[str, typer.Option(help="What stands before a photo's name in its address.")]


@app.command()
def adjudicate(
    first: Annotated[Path, typer.Argument(metavar="A", help="One expert: {id, answer} a line.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The other, of the same ids.")],
    *,
    generated: Annotated[Path, typer.Option(help="The generated answers: {id, answer} a line.")],
    rule: Annotated[
        str, typer.Option(help="published, both, unanimous, or majority (with --third).")
    ] = "published",
    third: Annotated[
        Path | None, typer.Option(help="A third expert's answers to what the two differ on.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="The whole set: with --out, a gold and a silver set too.")
    ] = None,
    way: Annotated[
        str,
        typer.Option(
            "--silver",
            help="disjoint: no figure or group of gold in silver; published: all but gold.",
        ),
    ] = "disjoint",
    out: Annotated[
        Path | None, typer.Option(help="A new folder for gold.jsonl, dropped.jsonl, the funnel.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Two experts' answers to gold, with their agreement: as PlantXpert's gold split was made."""
    from fieldtruth.run import experts
    from fieldtruth.stages import adjudicate as settling

    made = settling.adjudicate(first, second, generated, rule, third)
    told = experts.settle(made, questions, way, out)
    say(made, "\n".join(told), as_json=as_json)


reviews = typer.Typer(no_args_is_help=True, help="Photos and boxes to people, and back.")
app.add_typer(reviews, name="review")


@reviews.command("export")
def send(
    items: Annotated[Path, typer.Argument(help="Items, one a line, or a frozen benchmark.")],
    *,
    out: Out,
    images: Annotated[
        Path | None, typer.Option(help="The folder that the items' photos are relative to.")
    ] = None,
    blind: Annotated[
        float, typer.Option(help="Share of the items that is shown without its boxes.")
    ] = 0.0,
    overlap: Overlap = 1,
    cues: Cues = None,
    url: Address = "/data/local-files/?d=images/",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Items to a folder for Label Studio: tasks, config, photos, reference sheet."""
    from fieldtruth.stages.review import sending

    settings = sending.Settings(
        blind=blind, annotators=overlap, cues=cues, url=url, seed=seed, title=f"review {out.name}"
    )
    made = sending.send(items, images, out, settings)
    say(made, sending.line(made, out), as_json=as_json)


@reviews.command("import")
def receive(
    exported: Annotated[Path, typer.Argument(help="What the server exported as JSON.")],
    *,
    sent: Annotated[Path, typer.Option(help="The folder that `review export` made.")],
    out: Out,
    annotator: Annotated[
        str | None, typer.Option(help="Take what this one person decided (the server's number).")
    ] = None,
    as_json: Json = False,
) -> None:
    """People's decisions to items, drops with reasons, a log, and anchoring figures."""
    from fieldtruth.stages.review import returning

    made = returning.receive(exported, sent, out, annotator)
    say(made, returning.line(made, out), as_json=as_json)


@reviews.command("agreement")
def agreement(
    folder: Annotated[Path, typer.Argument(help="What `review import` made.")],
    *,
    as_json: Json = False,
) -> None:
    """How far two people agree on the photos both saw: boxes, levels, verdicts."""
    from fieldtruth.stages.review import agreement as agreeing

    found = agreeing.agreement(folder)
    say(found, agreeing.line(found), as_json=as_json)


@reviews.command("sample")
def sample(
    folders: Annotated[list[Path], typer.Argument(help="What annotate and split made.")],
    *,
    out: Out,
    number: Annotated[int, typer.Option(help="How many photos.")] = 100,
    strata: Annotated[int, typer.Option(help="Of how many sources and levels at most.")] = 8,
    split: Annotated[str, typer.Option(help="train, val or test.")] = "train",
    overlap: Overlap = 1,
    cues: Cues = None,
    url: Address = "/data/local-files/?d=images/",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Machine-made boxes for people to judge, drawn by source and level."""
    from fieldtruth.run import reviewing
    from fieldtruth.stages.review import sampling

    settings = sampling.Settings(
        number=number, strata=strata, annotators=overlap, cues=cues, url=url, seed=seed
    )
    made = reviewing.sample(folders, split, out, settings)
    say(made, sampling.line(made, out), as_json=as_json)


@reviews.command("verdicts")
def verdicts(
    told: Annotated[
        Path, typer.Argument(help="The server's export (.json), or {id, verdict, who} lines.")
    ],
    *,
    sent: Annotated[Path, typer.Option(help="The folder that `review sample` made.")],
    as_json: Json = False,
) -> None:
    """Rates of verdicts with intervals, and the boxes' confidence against them."""
    from fieldtruth.stages.review import verdicts as judging

    found = judging.audit(told, sent)
    say(found, judging.line(found), as_json=as_json)


@reviews.command("blind")
def ask(
    source: Annotated[
        Path,
        typer.Argument(metavar="QUESTIONS", help="A file, a folder, or a frozen benchmark."),
    ],
    *,
    out: Out,
    images: Annotated[
        Path | None, typer.Option(help="The folder that photos' paths are relative to.")
    ] = None,
    want: Annotated[
        int | None, typer.Option(help="Questions, of whole papers at a time; all, else.")
    ] = None,
    per_figure: Annotated[
        int | None, typer.Option(help="Questions of one figure, at most; 1 as published.")
    ] = None,
    context: Annotated[bool, typer.Option("--context", help="Show the background too.")] = False,
    overlap: Overlap = 2,
    url: Address = "/data/local-files/?d=images/",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Questions to experts for Label Studio, with no trace of the generated answers."""
    from fieldtruth.run import experts
    from fieldtruth.stages.review import blind

    settings = blind.Settings(
        want=want, per_figure=per_figure, context=context, annotators=overlap, url=url, seed=seed,
        title=f"questions {out.name}",
    )  # fmt: skip
    made = experts.send(source, images, out, settings)
    say(made, blind.line(made, out), as_json=as_json)


@reviews.command("answers")
def answered(
    exported: Annotated[Path, typer.Argument(help="What the server exported as JSON.")],
    *,
    sent: Annotated[Path, typer.Option(help="The folder that `review blind` made.")],
    questions: Annotated[Path, typer.Option(help="The set that was sent, for the key.")],
    out: Out,
    images: Annotated[
        Path | None, typer.Option(help="The folder that photos' paths are relative to.")
    ] = None,
    annotator: Annotated[
        list[str] | None,
        typer.Option(help="One of the two who count (the server's number). Twice, or not at all."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Two experts' answers and flags to A.jsonl, B.jsonl and key.jsonl, for `adjudicate`."""
    from fieldtruth.run import experts
    from fieldtruth.stages.review import answers

    made = experts.receive(exported, sent, (questions, images), out, annotator or ())
    say(made, answers.line(made, out), as_json=as_json)
