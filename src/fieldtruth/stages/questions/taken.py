"""A draft with its words, and the wrong answers that stand beside it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fieldtruth import taxonomy
from fieldtruth.stages.questions.drafts import Draft, sentence
from fieldtruth.stages.questions.names import Names
from fieldtruth.stages.questions.names import fits as name_fits
from fieldtruth.stages.questions.options import pick
from fieldtruth.stages.questions.statements import Statements, apart
from fieldtruth.stages.questions.statements import fits as statement_fits
from fieldtruth.taxonomy.giveaways import catch_all, content_words
from fieldtruth.taxonomy.spelling import normalise


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A draft that can be asked: its words, the true statements, and the truth as an option."""

    draft: Draft
    question: str
    background: str
    truths: tuple[str, ...]
    option: str

    @property
    def said(self) -> str:
        """All that a person reads before the options."""
        return f"{self.question}\n{self.background}"


class Pool:
    """All names and statements of a set, for wrong answers."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self._names, self._statements = Names(drafts), Statements(drafts)

    def wrong(self, ready: Ready, invented: Iterable[str], needed: int, seed: int) -> list[str]:
        """Wrong answers in the order in which choices take them; fewer where there are no more.

        Those that a model wrote come first, where they hold; the set and the taxonomy give the
        rest.
        """
        draft = ready.draft
        own = held(ready, invented)
        if len(own) >= needed:
            return pick(ready.option, own, needed, (seed, draft.id))
        if draft.naming:
            more = self._names.wrong(draft, ready.said, needed, seed)
            truths = [*draft.truths, *draft.talk.named, *own]
            more = taxonomy.rivals(truths, more, draft.crop)
        else:
            more = self._statements.wrong(draft, ready.option, ready.said, needed, seed)
            more = apart([*own, *more], draft.knowledge)[len(own) :] if own else more
        return [*own, *pick(ready.option, more, needed - len(own), (seed, draft.id))]


def held(ready: Ready, invented: Iterable[str]) -> list[str]:
    """The wrong answers of a model that hold to the rules of ours, in their order."""
    draft = ready.draft
    some = [each for each in invented if not catch_all(each)]
    if not draft.naming:
        there = set(content_words(draft.talk.words))
        said = [sentence(each) for each in some]
        fit = [each for each in said if statement_fits(each, draft, ready.said, there)]
        return apart(fit, draft.knowledge)
    names = [normalise(each.partition("(")[0]) for each in some]
    fit = [each for each in names if each and name_fits(each, draft, ready.said)]
    kept = set(taxonomy.rivals([*draft.truths, *draft.talk.named], fit, draft.crop))
    return [each for each in dict.fromkeys(fit) if each in kept]
