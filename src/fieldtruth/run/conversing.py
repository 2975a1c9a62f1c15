"""The steps of a recipe over dialogues: ingest, facts, questions, freeze, and the page of all."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from fieldtruth import store
from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Question
from fieldtruth.run import extracting, questioning, scrubbing, workspace
from fieldtruth.run.recipe import Facts, Freeze, Ingest, Opened, Questions
from fieldtruth.run.steps import Bar, Places, Step, text
from fieldtruth.stages import freeze as freezing
from fieldtruth.stages.questions import Settings, page
from fieldtruth.store.fetch import fetch


def steps(opened: Opened, places: Places) -> Iterator[Step]:
    """Every step; each after those it hangs on. The recipe has [ingest], [facts], [questions]."""
    recipe = opened.recipe
    if recipe.ingest is None or recipe.facts is None or recipe.questions is None:
        raise Usage("expected [ingest], [facts] and [questions], got not all of them")
    yield _ingest(opened, recipe.ingest, places)
    yield _facts(opened, recipe.facts, places)
    yield _questions(opened, recipe.questions, places)
    for name, bench in recipe.freeze.items():
        yield _freeze(opened, (name, bench), places)
    if recipe.report is not None:
        yield _report(opened, recipe.report.note, places)


def _root(opened: Opened, wanted: Ingest) -> Path:
    return opened.at(wanted.path or "")


def _ingest(opened: Opened, wanted: Ingest, places: Places) -> Step:
    """The dialogues without personal data: scrubbed in place, so both are one step."""
    folder, root, scrub = places.source(""), _root(opened, wanted), opened.recipe.scrub

    def work(bar: Bar) -> str:
        made = workspace.ingest(wanted.source, root, folder, bar("ingest"), wanted.options)
        clean = scrubbing.scrub(folder, scrub.names, bar("scrub"), look=scrub.faces)
        return f"{workspace.line(made, folder)}\n{scrubbing.line(clean, folder)}"

    config = {"source": wanted.source, "options": dict(wanted.options), "path": wanted.path,
              "names": scrub.names, "faces": scrub.faces}  # fmt: skip
    return Step("ingest", "ingest", config, {"release": root}, (folder / "dialogues.jsonl",), work)


def _facts(opened: Opened, wanted: Facts, places: Places) -> Step:
    folder = places.source("")
    given = {option: text(value) for option, value in wanted.options.items()}
    cache = None if wanted.cache is None else opened.at(wanted.cache)
    job = extracting.Job(
        model=wanted.model, options=given, cache=cache, allow_errors=wanted.allow_errors
    )

    def work(bar: Bar) -> str:
        done = extracting.extract(folder, job, bar("facts"))
        extracting.check(done, folder, job)
        return extracting.line(done, folder)

    config = {"model": wanted.model, "its options": given}
    inputs = {"dialogues": folder / "dialogues.jsonl"}
    return Step("facts", "facts", config, inputs, (folder / "facts.jsonl",), work)


def _questions(opened: Opened, wanted: Questions, places: Places) -> Step:
    folder, out = places.source(""), places.questions
    given = {option: text(value) for option, value in wanted.options.items()}
    cache = None if wanted.cache is None else opened.at(wanted.cache)
    because = opened.recipe.scrub.because
    per_group = 1 if wanted.per_group is None else wanted.per_group
    writer = questioning.Writer(model=wanted.model, options=given, cache=cache, because=because)
    settings = Settings(
        want=wanted.want, per_group=per_group, options=wanted.choices, faces=wanted.faces,
        seed=opened.recipe.seed,
    )  # fmt: skip

    def work(bar: Bar) -> str:
        made = questioning.questions(folder, out, settings, writer, bar("questions"))
        questioning.check(made, wanted.allow_errors)
        return questioning.line(made, out)

    config = {
        "want": wanted.want, "per_group": per_group, "choices": list(wanted.choices),
        "model": wanted.model, "its options": given, "seed": opened.recipe.seed,
        "faces": wanted.faces, "because": because,
    }  # fmt: skip
    inputs = {name: folder / f"{name}.jsonl" for name in ("dialogues", "facts")}
    if opened.recipe.ingest is not None:
        inputs["release"] = _root(opened, opened.recipe.ingest)
    return Step("questions", "questions", config, inputs, (out,), work)


def _freeze(opened: Opened, named: tuple[str, Freeze], places: Places) -> Step:
    (_, bench), recipe = named, opened.recipe
    asked = recipe.questions or Questions()
    count = bench.choices or asked.choices[0]
    questions = places.questions / questioning.file_of(count, Settings(options=asked.choices))
    made_with = {
        "recipe": recipe.name, "seed": str(recipe.seed), "choices": str(count),
        "facts": recipe.facts.model if recipe.facts else "", "wrong answers": asked.model,
    }  # fmt: skip

    def images() -> Path:
        return (places.questions / questioning.read_made(places.questions).root).resolve()

    return freeze(opened, named, (questions, images), made_with, places)


def freeze(
    opened: Opened,
    named: tuple[str, Freeze],
    of: tuple[Path, Callable[[], Path]],
    made_with: Mapping[str, str],
    places: Places,
) -> Step:
    """A file of questions, frozen. `of`: the file, and what tells the folder of its photos."""
    (name, bench), (questions, folder) = named, of
    out, called = places.bench(name), bench.name or f"{opened.recipe.name}-{name}"
    about = freezing.About(
        published=bench.published, creator=bench.creator, url=bench.url, cite=bench.cite
    )

    def work(_: Bar) -> str:
        images = folder()
        settings = freezing.Settings(
            name=called, version=bench.version, split=bench.split, config=made_with, about=about
        )
        frozen = freezing.freeze(questions, images, out, settings)
        # Photos that may not be handed on are only referenced; this run needs them here.
        missing = fetch(out, images)
        if missing:
            raise Refused(f"{images}: expected the photos that were frozen, lacks {missing[0]}")
        return freezing.line(frozen, out)

    config = {"name": called, "version": bench.version, "split": bench.split, **about.given(),
              **made_with}  # fmt: skip
    return Step("freeze", f"freeze {name}", config, {"questions": questions}, (out,), work)


def _report(opened: Opened, note: str | None, places: Places) -> Step:
    out, folder = places.page, places.questions

    def work(_: Bar) -> str:
        made = questioning.read_made(folder)
        questions = list(store.read(folder / store.QUESTIONS, Question))
        shown = page.Shown(
            name=opened.recipe.name, note=note, funnel=made.funnel, asked=made.asked,
            categories=made.categories, drops=made.drops, extractors=made.extractors,
            wrong_answers=made.wrong_answers, evaluation=made.evaluation,
            knowledge=made.knowledge, seed=made.seed, code=made.code,
        )  # fmt: skip
        with store.replacing(out) as file:
            file.write(page.render(shown, questions))
        return f"report: {out}"

    return Step("report", "report", {"note": note}, {"questions": folder}, (out,), work)
