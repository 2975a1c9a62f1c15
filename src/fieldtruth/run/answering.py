"""The last steps of a recipe over papers: the questions asked, scored, and shown on a page.

    OUT/replies/MODEL.PROTOCOL.jsonl  guessable.jsonl  results/score.json  report.html

A model that is asked several times has its runs filed under NAME@run1, NAME@run2, ... (PlantXpert
reports the mean of three, at temperature 0). Replies without photos go to `guessable`, not to the
score of those with them: what words alone give away is another question.
"""

from collections.abc import Iterator
from pathlib import Path

from fieldtruth import store
from fieldtruth.grading import open_questions, question_control
from fieldtruth.models.scripted import Line
from fieldtruth.run import answers, asking, judging, results, terminal
from fieldtruth.run.recipe import Model, Opened, Predict, Report, Score
from fieldtruth.run.steps import Bar, Places, Step, text
from fieldtruth.stages import guessable, score_questions
from fieldtruth.stages.score_questions import parts

Files = dict[str, Path]  # what a step reads: name -> replies


def steps(opened: Opened, places: Places) -> Iterator[Step]:
    """Every step after what is frozen; none where the recipe asks no model."""
    recipe = opened.recipe
    if recipe.predict is None:
        return
    seen: Files = {}
    blind: Files = {}
    for protocol in recipe.predict.protocols:
        control = question_control(protocol) is not None
        for name, model in recipe.models.items():
            if control and model.script is not None and model.script.says is None:
                continue  # a table of right answers guesses nothing
            runs = 1 if control else recipe.predict.runs
            for run in range(1, runs + 1) if runs > 1 else (None,):
                told = _told(name, run)
                at = places.replies(told, protocol)
                (blind if control else seen)[f"{told} {protocol}"] = at
                yield _predict(opened, recipe.predict, (name, model, run), protocol, places)
    if blind:
        yield _guessable(recipe.predict, blind, places)
    if recipe.score is not None:
        yield _score(recipe.predict, recipe.score, seen, places)
        if recipe.report is not None:
            yield _report(recipe.predict, recipe.report, seen, places)


def _told(name: str, run: int | None) -> str:
    return name if run is None else f"{name}@run{run}"


def _predict(
    opened: Opened, asked: Predict, named: tuple[str, Model, int | None], protocol: str,
    places: Places,
) -> Step:  # fmt: skip
    (name, model, run), bench = named, places.bench(asked.benchmark)
    told = _told(name, run)
    out = places.replies(told, protocol)
    table = out.with_name(f"{out.stem}.table.jsonl")
    files = {option: opened.at(path) for option, path in model.files.items()}
    given = {option: text(value) for option, value in model.options.items()}
    cache = None if asked.cache is None else opened.at(asked.cache) / told
    config: dict[str, object] = {
        "backend": model.backend, "options": given, "protocol": protocol, "run": run,
        "context": asked.context, "scripted": model.script is not None,
        "says": model.script.says if model.script else None,
        "seed": opened.recipe.seed if "+" in protocol else None,
    }  # fmt: skip

    def work(bar: Bar) -> str:
        options = given | {option: str(path) for option, path in files.items()}
        if model.script is not None:
            _script(bench, protocol, model.script.says, table)
            options |= {"table": str(table), "space": "pixel"}
        job = asking.Job(
            benchmark=bench, model=model.backend, options=options, protocol=protocol, name=name,
            cache=cache, seed=opened.recipe.seed, context=asked.context, run=run,
        )  # fmt: skip
        done = asking.predict(job, out, bar(f"{told}, {protocol}"))
        asking.check(done, model.allow_errors)
        return asking.line(done, out)

    sealed = out.with_name(f"{out.stem}.manifest.json")
    return Step(
        "predict", f"predict {told} {protocol}", config, {"benchmark": bench} | files,
        (out, sealed) + ((table,) if model.script else ()), work,
        clears=(out.with_name(f"{out.name}.journal"),), resumes=True,
    )  # fmt: skip


def _script(bench: Path, protocol: str, says: str | None, table: Path) -> None:
    """One answer to every question, or the right one, as a server that knows them would give it."""
    spoken = open_questions(protocol)
    known = [each for each in store.open_bench(bench).questions if spoken.suits(each)]
    store.write(table, (Line(id=q.id, text=says or spoken.answer(q)) for q in known))


def _guessable(asked: Predict, blind: Files, places: Places) -> Step:
    bench, out = places.bench(asked.benchmark), places.made("guessable.jsonl")

    def work(_: Bar) -> str:
        found = results.guessed(bench, list(blind.values()), guessable.ALPHA, out)
        return guessable.line(found)

    inputs = {"benchmark": bench} | blind
    return Step("guessable", "guessable", {"alpha": guessable.ALPHA}, inputs, (out,), work)


def _score(asked: Predict, wanted: Score, seen: Files, places: Places) -> Step:
    bench = places.bench(asked.benchmark)
    settings = score_questions.Settings(
        allow_missing=wanted.allow_missing, unit=wanted.unit, pairs=parts.pairs(wanted.pairs)
    )

    def work(_: Bar) -> str:
        request = answers.Request(settings=settings, judging=judging.Judging())
        told = results.score_answers(bench, list(seen.values()), request, places.results)
        return terminal.answers(told)

    config = {"allow_missing": wanted.allow_missing, "unit": wanted.unit,
              "pairs": list(wanted.pairs)}  # fmt: skip
    outputs = (places.results / results.RESULT, places.results / answers.GRADED)
    return Step("score", "score", config, {"benchmark": bench} | seen, outputs, work)


def _report(asked: Predict, wanted: Report, seen: Files, places: Places) -> Step:
    inputs = {
        "benchmark": places.bench(asked.benchmark), "scores": places.results / results.RESULT,
    } | seen  # fmt: skip
    return Step(
        "report", "report", {"note": wanted.note}, inputs, (places.page,),
        lambda _: f"report: {results.report(places.results, places.page, wanted.note)}",
    )  # fmt: skip
