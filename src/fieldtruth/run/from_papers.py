"""The steps of a recipe over papers: screen, figures, evidence, questions, freeze, and scores."""

from collections.abc import Iterator
from pathlib import Path

from fieldtruth.faults import Usage
from fieldtruth.run import (
    answering,
    conversing,
    evidencing,
    figuring,
    picturing,
    questioning,
    screening,
)  # fmt: skip
from fieldtruth.run.recipe import Evidence, Freeze, Opened, Papers, Questions
from fieldtruth.run.steps import Bar, Places, Step, text
from fieldtruth.stages.screen import Settings as Screening
from fieldtruth.taxonomy import crop_id


def steps(opened: Opened, places: Places) -> Iterator[Step]:
    """Every step; each after those it hangs on. The recipe has [papers] and [questions]."""
    recipe = opened.recipe
    if recipe.papers is None or recipe.questions is None:
        raise Usage("expected [papers] and [questions], got not both of them")
    yield _screen(opened, recipe.papers, places)
    yield _figures(opened, recipe.papers, places)
    yield _evidence(opened, recipe.evidence, places)
    yield _questions(opened, recipe.questions, places)
    for name, bench in recipe.freeze.items():
        yield _freeze(opened, recipe.questions, (name, bench), places)
    yield from answering.steps(opened, places)


def _screen(opened: Opened, wanted: Papers, places: Places) -> Step:
    root, out = opened.at(wanted.path), places.made("papers")
    exports = [opened.at(each) for each in wanted.references]
    settings = Screening(
        languages=wanted.languages, since=wanted.since, until=wanted.until,
        crops=tuple(map(crop_id, wanted.crops)), any_kind=wanted.any_kind, licence=wanted.licence,
    )  # fmt: skip

    def work(bar: Bar) -> str:
        done = screening.screen(root, out, settings, exports, track=bar("screen"))
        return screening.line(done, out)

    config = {
        "path": wanted.path, "languages": list(wanted.languages), "since": wanted.since,
        "until": wanted.until, "crops": list(wanted.crops), "any_kind": wanted.any_kind,
        "licence": wanted.licence,
    }  # fmt: skip
    inputs = {"release": root} | {f"export {at}": each for at, each in enumerate(exports, start=1)}
    return Step("screen", "screen", config, inputs, (out,), work)


def _figures(opened: Opened, wanted: Papers, places: Places) -> Step:
    folder, out = places.made("papers"), places.made("figures")

    def work(bar: Bar) -> str:
        done = figuring.figures(folder, out, wanted.dpi, track=bar("figures"))
        return figuring.line(done, out)

    inputs = {"papers": folder, "release": opened.at(wanted.path)}
    return Step("figures", "figures", {"dpi": wanted.dpi}, inputs, (out,), work)


def _evidence(opened: Opened, wanted: Evidence, places: Places) -> Step:
    folder, out = places.made("figures"), places.made("evidence")
    given = {option: text(value) for option, value in wanted.options.items()}
    job = evidencing.Job(
        model=wanted.model, options=given, allow_errors=wanted.allow_errors,
        cache=_cache(opened, wanted.model, wanted.cache, places),
    )  # fmt: skip

    def work(bar: Bar) -> str:
        done = evidencing.evidence(folder, out, job, track=bar("evidence"))
        evidencing.check(done, out, job)
        return evidencing.line(done, out)

    config = {"model": wanted.model, "its options": given}
    return Step("evidence", "evidence", config, {"figures": folder}, (out,), work)


def _cache(opened: Opened, model: str, said: str | None, places: Places) -> Path | None:
    """Where replies are kept; beside what is made, where nobody says."""
    if model == evidencing.RULES:
        return None
    return places.made("replies") if said is None else opened.at(said)


def _questions(opened: Opened, wanted: Questions, places: Places) -> Step:
    folder, out = places.made("evidence"), places.questions
    given = {option: text(value) for option, value in wanted.options.items()}
    writer = questioning.Writer(
        model=wanted.model, options=given,
        cache=_cache(opened, wanted.model, wanted.cache, places),
    )  # fmt: skip
    settings = picturing.settings(wanted.per_group, opened.recipe.seed)

    def work(bar: Bar) -> str:
        made = picturing.questions(folder, out, settings, writer, bar("questions"))
        picturing.check(made, wanted.allow_errors)
        return picturing.line(made, out)

    config = {
        "per_figure": settings.per_figure, "model": wanted.model, "its options": given,
        "seed": opened.recipe.seed,
    }  # fmt: skip
    inputs = {"evidence": folder, "figures": places.made("figures")}
    return Step("questions", "questions", config, inputs, (out,), work)


def _freeze(opened: Opened, asked: Questions, named: tuple[str, Freeze], places: Places) -> Step:
    made_with = {
        "recipe": opened.recipe.name, "seed": str(opened.recipe.seed),
        "evidence": opened.recipe.evidence.model, "questions": asked.model,
    }  # fmt: skip
    of = (places.questions / "questions.jsonl", lambda: places.made("figures"))
    return conversing.freeze(opened, named, of, made_with, places)
