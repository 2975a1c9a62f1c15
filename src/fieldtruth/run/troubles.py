"""What is wrong with a recipe that its types cannot say: names that have to be there, shares."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fieldtruth.run.recipe import Model, Recipe

_RUNS = 99
_LETTERS = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@")


def all_of(recipe: "Recipe") -> Iterator[str]:
    """What types cannot say: names that must be there, and shares."""
    for table in ("sources", "compose", "freeze", "train", "models"):
        for name in getattr(recipe, table):
            if not name or name.startswith(".") or set(name) - _LETTERS:
                yield f"[{table}.{name}]: expected a name of letters, digits and -_.@, got {name!r}"
    yield from _origins(recipe) if recipe.papers is None else _of_papers(recipe)
    if recipe.predict is None and (recipe.score or recipe.models):
        yield "expected [predict], which [models] and [score] need"
    talks = recipe.questions is not None and recipe.papers is None
    if recipe.report is not None and recipe.score is None and not talks:
        yield "expected [score], which [report] needs"
    if recipe.papers is None:
        yield from _of_dialogues(recipe)
        yield from _of_items(recipe)
    yield from _names(recipe)
    for key, share in _shares(recipe):
        if not 0 <= share <= 1:  # false for NaN as well
            yield f"{key}: expected a share from 0 to 1, got {share}"


def _origins(recipe: "Recipe") -> Iterator[str]:
    """Where the photos come from, and that something is made of them."""
    if (recipe.ingest is None) == (not recipe.sources):
        yield "expected either [ingest] or [sources.NAME], got both or neither"
    elif recipe.ingest is None and recipe.draw is not None:
        yield "[draw]: expected [ingest] beside it, whose photos it draws; got [sources.NAME]"
    elif recipe.ingest is not None and (recipe.draw is None) == (recipe.ingest.path is None):
        yield "expected either [draw] or ingest.path, so that the photos come from one place"
    if not recipe.freeze and not recipe.compose:
        yield "expected at least one [freeze.NAME] or [compose.NAME], got none"
    both = sorted(set(recipe.freeze) & set(recipe.compose))
    if both:
        yield f"[compose.{both[0]}]: expected a name of its own, got that of a [freeze.NAME]"
    for name, bench in recipe.freeze.items():
        if bench.source is None and len(recipe.sources) > 1:
            yield f"freeze.{name}.source: expected which of the [sources.NAME], got none"
    yield from _doubled(recipe)


def _of_dialogues(recipe: "Recipe") -> Iterator[str]:
    """What [facts] and [questions] go with, and that what is frozen of them is made."""
    asked = recipe.questions
    if (recipe.facts is None) != (asked is None):
        yield "expected both [facts] and [questions], or neither, got one"
    for name, bench in recipe.freeze.items():
        if bench.choices is not None and (asked is None or bench.choices not in asked.choices):
            has = "none" if asked is None else ", ".join(map(str, asked.choices))
            yield f"freeze.{name}.choices: expected one of questions.choices ({has})"
    if asked is None:
        return
    if recipe.ingest is None or recipe.ingest.path is None:
        yield "[questions]: expected [ingest] with a path, the release of the dialogues"
    for table in ("split", "compose", "train", "predict"):
        if getattr(recipe, table):
            yield f"[{table}]: expected a source of photos, got [questions] of dialogues"


def _of_items(recipe: "Recipe") -> Iterator[str]:
    """What only questions have."""
    if recipe.predict is not None and (recipe.predict.runs != 1 or recipe.predict.context):
        yield "[predict]: expected runs and context with [papers], whose questions have them"
    for name, model in recipe.models.items():
        if model.script is not None and model.script.says is not None:
            yield f"models.{name}.script.says: expected it with [papers], which have questions"
    if recipe.score is not None and recipe.score.pairs:
        yield "score.pairs: expected it with [papers], whose questions are set side by side"


def _asked_of_papers(recipe: "Recipe") -> Iterator[str]:
    """What questions are asked with, and what they have not."""
    if recipe.predict is None:
        return
    if not 1 <= recipe.predict.runs <= _RUNS:
        yield f"predict.runs: expected 1 to {_RUNS}, got {recipe.predict.runs}"
    if recipe.predict.skip_unsuited:
        yield "predict.skip_unsuited: expected it with photos, got [papers]"
    for name, model in recipe.models.items():
        if model.majority_of is not None or model.fitted is not None:
            yield f"[models.{name}]: expected no fitted or majority_of, for there are [papers]"
        if model.script is not None and model.script.dies_at != 1:
            yield f"models.{name}.script.dies_at: expected it with photos, got [papers]"


def _of_papers(recipe: "Recipe") -> Iterator[str]:
    """What goes with [papers], and what does not."""
    asked = recipe.questions
    if asked is None:
        yield "[papers]: expected [questions] beside it, got none"
    elif asked.want is not None or asked.faces or asked.choices != (4,):
        yield "[questions]: expected no want, faces or choices, which are of dialogues"
    if not recipe.freeze:
        yield "expected at least one [freeze.NAME], got none"
    yield from _asked_of_papers(recipe)
    for table in ("draw", "ingest", "sources", "split", "compose", "facts", "train"):
        if getattr(recipe, table):
            yield f"[{table}]: expected it with photos or dialogues, got [papers]"
    for name, bench in recipe.freeze.items():
        if bench.source is not None or bench.choices is not None:
            yield f"[freeze.{name}]: expected no source or choices, for there are [papers]"


def _doubled(recipe: "Recipe") -> Iterator[str]:
    """Two tables of one dataset, whose photos could not be told apart."""
    first: dict[str, str] = {}
    for name, each in recipe.sources.items():
        other = first.setdefault(each.source or name, name)
        if other != name:
            yield (
                f"[sources.{name}]: expected a source of its own, got the one of "
                f"[sources.{other}]; put the photos of both under one folder"
            )


def _shares(recipe: "Recipe") -> Iterator[tuple[str, float]]:
    """Every setting that is a share."""
    yield from _errors(recipe)
    if recipe.draw is not None:
        yield "draw.test", recipe.draw.test
    for name, mixture in recipe.compose.items():
        for key in ("candidates", "healthy", "wrong_target"):
            yield f"compose.{name}.{key}", getattr(mixture, key) or 0
    for name, model in recipe.models.items():
        if model.script is not None:
            yield f"models.{name}.script.dies_at", model.script.dies_at
    if recipe.score is not None:
        yield "score.allow_missing", recipe.score.allow_missing


def _errors(recipe: "Recipe") -> Iterator[tuple[str, float]]:
    """The shares of failed calls that are allowed."""
    yield "annotate.allow_errors", recipe.annotate.allow_errors
    for name, source in recipe.sources.items():
        if source.annotate is not None:
            yield f"sources.{name}.annotate.allow_errors", source.annotate.allow_errors
    for name, model in recipe.models.items():
        yield f"models.{name}.allow_errors", model.allow_errors
    for table in ("facts", "evidence", "questions"):
        if (of := getattr(recipe, table)) is not None:
            yield f"{table}.allow_errors", of.allow_errors


def _names(recipe: "Recipe") -> Iterator[str]:
    """A table of this recipe that another one names, and that has to be there."""
    named = {f"train.{name}.on": (each.on, "freeze") for name, each in recipe.train.items()}
    if recipe.predict is not None:
        named["predict.benchmark"] = (recipe.predict.benchmark, "freeze")
        if not recipe.predict.protocols:
            yield "predict.protocols: expected at least one, got none"
        if not recipe.models:
            yield "expected at least one [models.NAME] to ask, got none"
    for name, model in recipe.models.items():
        yield from _twice(name, model)
        if model.fitted is not None:
            named[f"models.{name}.fitted"] = (model.fitted, "train")
        if model.majority_of is not None:
            named[f"models.{name}.majority_of"] = (model.majority_of, "freeze")
    named |= {
        f"freeze.{name}.source": (bench.source, "sources")
        for name, bench in recipe.freeze.items()
        if bench.source is not None
    }
    for key, (name, table) in named.items():
        if name not in getattr(recipe, table):
            has = ", ".join(getattr(recipe, table)) or "none"
            yield f"{key}: expected a [{table}.NAME] of this recipe ({has}), got {name!r}"


def _twice(name: str, model: "Model") -> Iterator[str]:
    """An option that more than one setting of a model gives."""
    made = {
        "files": set(model.files),
        "fitted": {"fitted"} if model.fitted is not None else set(),
        "majority_of": {"label"} if model.majority_of is not None else set(),
        "script": {"table", "space"} if model.script is not None else set(),
    }
    given = set(model.options)
    for setting, options in made.items():
        for option in sorted(given & options):
            yield f"models.{name}.{setting}: the option {option!r} is given twice"
        given |= options
