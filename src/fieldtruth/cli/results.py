"""Replies to numbers: read, score, report."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from fieldtruth import rewards, rooms
from fieldtruth.cli.group import Json, Quiet, app, note, say

Judge = Annotated[
    str, typer.Option(help="Who grades open answers: none (equality), or a server's address.")
]
JudgeArgs = Annotated[
    str, typer.Option(help="Options of the judge, as of the model openai: key=value,key=value.")
]
JudgeCache = Annotated[
    Path | None, typer.Option(help="Where grades are kept; beside the answers if not given.")
]


@app.command("read")
def read_replies(
    predictions: Annotated[Path, typer.Argument(help="A predictions file.")],
    *,
    bench: Annotated[Path | None, typer.Option(help="The frozen benchmark they answer.")] = None,
    as_json: Json = False,
) -> None:
    """How saved replies are read: counts, and each that was mended or is no answer."""
    from fieldtruth.run import results

    rows = results.read(predictions, bench)
    say(rows, results.reading_lines(rows), as_json=as_json)


@app.command()
def score(
    benchmark: Annotated[Path, typer.Argument(help="A frozen benchmark.")],
    predictions: Annotated[list[Path], typer.Argument(help="Predictions files.")],
    *,
    allow_missing: Annotated[
        float,
        typer.Option(help="Share of items per model and protocol without a reply or a grade."),
    ] = 0.0,
    unit: Annotated[
        str, typer.Option(help="What the bootstrap resamples: group or image.")
    ] = "group",
    matching: Annotated[str, typer.Option(help="greedy, hungarian or maximum.")] = "greedy",
    as_published: Annotated[
        bool, typer.Option("--as-published", help="The published raster, reader and intervals.")
    ] = False,
    pair: Annotated[
        list[str] | None,
        typer.Option(help="BASE=TUNED, set side by side part by part. Repeatable; of questions."),
    ] = None,
    judge: Judge = "none",
    judge_args: JudgeArgs = "",
    judge_cache: JudgeCache = None,
    hand: Annotated[
        Path | None,
        typer.Option(help="Grades by hand, {item, grade} a line: how far the judge agrees."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result, for `report`.")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Metrics with intervals, paired differences, outcomes; of questions also with a judge."""
    from fieldtruth.run import answers, asking, judging, results, terminal
    from fieldtruth.stages import score_questions
    from fieldtruth.stages.score import Options
    from fieldtruth.stages.score_questions import parts

    who = judging.Judging(
        url=judge, options=asking.parse_options(judge_args, "--judge-args"), cache=judge_cache
    )
    if results.of_questions(benchmark, predictions, who, hand):
        settings = score_questions.Settings(
            allow_missing=allow_missing, unit=cast(Any, unit), as_published=as_published,
            pairs=parts.pairs(pair or ()),
        )  # fmt: skip
        wanted = answers.Request(settings=settings, judging=who, hand=hand)
        told = results.score_answers(
            benchmark, predictions, wanted, out, lambda each: note(each, quiet=quiet)
        )
        say(told, terminal.answers(told), as_json=as_json)
        answers.check(told)
        return

    parts.none_of(pair or ())
    options = Options(
        allow_missing=allow_missing,
        unit=cast(Any, unit),
        matching=cast(Any, matching),
        as_published=as_published,
    )
    scores = results.score(benchmark, predictions, options, out)
    say(scores, terminal.table(scores), as_json=as_json)


@app.command()
def errors(
    benchmark: Annotated[Path, typer.Argument(help="A frozen benchmark of questions.")],
    first: Annotated[Path, typer.Argument(help="Predictions under choice.")],
    second: Annotated[Path, typer.Argument(help="The same model's under reasoned_choice.")],
    *,
    judge: Judge = "none",
    judge_args: JudgeArgs = "",
    judge_cache: JudgeCache = None,
    photos: Annotated[bool, typer.Option("--photos", help="The judge sees the photos.")] = False,
    hand: Annotated[
        list[Path] | None,
        typer.Option(help="Kinds by hand, {id, kind} a line: what --out left, filled in."),
    ] = None,
    allow_missing: Annotated[
        float,
        typer.Option(help="Share of questions that the first pass, or the judge, may lack."),
    ] = 0.0,
    out: Annotated[Path | None, typer.Option(help="A file with every error, one a line.")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Wrong answers by kind: perception, knowledge, corrected by reasoning, refusal."""
    from fieldtruth.run import asking, erring, judging

    who = judging.Judging(
        url=judge, options=asking.parse_options(judge_args, "--judge-args"), cache=judge_cache
    )
    wanted = erring.Wanted(
        judging=who, hands=tuple(hand or ()), photos=photos, allow_missing=allow_missing
    )
    found = erring.sort(
        benchmark, (first, second), wanted, out, lambda told: note(told, quiet=quiet)
    )
    say(found, erring.line(found), as_json=as_json)
    erring.check(found, allow_missing)


@app.command()
def guessable(
    benchmark: Annotated[Path, typer.Argument(help="A frozen benchmark of questions.")],
    predictions: Annotated[
        list[Path], typer.Argument(help="Predictions under choice+textonly or choice+blank.")
    ],
    *,
    alpha: Annotated[float, typer.Option(help="Name questions at or below this chance.")] = 0.05,
    out: Annotated[Path | None, typer.Option(help="A file with every question's test.")] = None,
    as_json: Json = False,
) -> None:
    """Questions that models answer without their photos more often than chance lets them."""
    from fieldtruth.run import results
    from fieldtruth.stages import guessable as testing

    found = results.guessed(benchmark, predictions, alpha, out)
    say(found, testing.line(found), as_json=as_json)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="What `score --out` made.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="The page; FOLDER/report.html if not given.")
    ] = None,
) -> None:
    """One offline HTML page: tables, intervals, plots, and photos with truth and prediction."""
    from fieldtruth.run import results

    say(None, f"report: {results.report(folder, out)}", as_json=False)


@app.command()
def reward(
    replies: Annotated[
        Path, typer.Argument(help="Replies with their truth, one JSON object a line.")
    ],
    *,
    kind: Annotated[
        str, typer.Option(help=f"{', '.join(rooms.names(rewards))}: a file of rewards/.")
    ],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """What saved replies earn, and what each term paid of it."""
    from fieldtruth.run.progress import Track
    from fieldtruth.stages import reward as rewarding

    paid = rewarding.paid_file(replies, kind, Track("reward", quiet=quiet))
    say(paid, rewarding.line(paid), as_json=as_json)
