"""The judge of `score --judge URL`: an OpenAI-compatible server, asked once for each answer.

Temperature 0, JSON of the schema beside each prompt, nothing but the core install. Grades that
came are kept in a folder beside the answers, so a second `score` asks nothing twice and goes on
where one ended; a failed call or a reply of another shape is not kept, and is asked again.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.grading.judge import PROMPTS, SHORT, STATEMENTS, Judge, Strict, is_verdict
from fieldtruth.models.contract import Model, Request
from fieldtruth.models.openai.plain import open_plain
from fieldtruth.records import Record
from fieldtruth.run.cached import Cached

NONE = "none"
NAME = "judge"  # what the server is asked for where --judge-args says no model

_OURS = {"temperature": "0", "timeout": "30", "retries": "2", "concurrency": "8"}
_FIXED = ("base_url", "schema", "space")

Tell = Callable[[str], None]


class Judging(Record, frozen=True, kw_only=True):
    """Who judges: `none` or a server's address, the backend's options, and where grades are kept.

    `cache` is beside the answers if not given.
    """

    url: str = NONE
    options: Mapping[str, str] = {}
    cache: Path | None = None

    def about(self) -> dict[str, str]:
        """Who judged and by which words, as a result tells it."""
        if self.url == NONE:
            return {"url": NONE}
        prompts = f"{SHORT}, {STATEMENTS}"
        return {"url": self.url, "model": self.options.get("model", NAME), "prompts": prompts}


def open_judge(who: Judging, answers: Path, tell: Tell | None = None) -> Judge | None:
    """The judge, or None for `none`; `Usage` where what was given cannot be used."""
    if not is_asked(who):
        return None
    short, several = (asked(who, answers, name, is_verdict) for name in (SHORT, STATEMENTS))
    return Judge(short, several, tell)


def asked(who: Judging, answers: Path, prompt: str, fits: Callable[[Request, str], bool]) -> Model:
    """The server, answering in the schema of one prompt; what fits it is kept."""
    given = {"model": NAME, **_OURS, **who.options, "base_url": who.url}
    model = open_plain(given | {"schema": str(PROMPTS / f"{prompt}.json")})
    return Cached(f"judge {prompt}", Strict(model, fits), store.Cache(place(who, answers)))


def place(who: Judging, answers: Path) -> Path:
    """Where grades are kept."""
    return who.cache or answers.with_name(f"{answers.stem}.judged")


def is_asked(who: Judging) -> bool:
    """Whether there is a judge to ask; `Usage` for options that cannot be."""
    if who.url == NONE:
        if who.options:
            raise Usage("--judge-args: expected it with --judge URL, got it with --judge none")
        return False
    fixed = [name for name in _FIXED if name in who.options]
    if fixed:
        raise Usage(f"--judge-args: {fixed[0]} is set here; give the server as --judge URL")
    return True
