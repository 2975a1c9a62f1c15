"""Experts' answers from Label Studio: one file an expert, and the key, for `adjudicate`.

    A.jsonl, B.jsonl    {id, answer, note} a line, of the same ids; answer null where it is flagged
    key.jsonl           the generated answers with their crop, by which counts are broken down
    drops.jsonl         questions that two experts did not answer, and why
    answers.json        who is A and who is B, and the counts

The key comes in only here, from the set itself: the folder that was sent has none of it. A question
of which anything an expert saw has changed since is refused. Of two annotations of one person the
later counts; a flag weighs more than a letter beside it; a task that was skipped is flagged.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from fieldtruth import store
from fieldtruth.agreement import Answer
from fieldtruth.faults import Refused, Unbalanced, Usage
from fieldtruth.formats.label_studio import reading, writing
from fieldtruth.formats.label_studio.reading import Annotated
from fieldtruth.records import Drop, Question, Record
from fieldtruth.stages.review.blind import Sent, fingerprint, hashes
from fieldtruth.stages.review.sent import DROPS, SENT, new_folder

# Why a question has no two answers, the most telling first.
REASONS = ("unusable", "no_answer", "draft_only", "nameless", "one_expert", "not_annotated")
NAMES = "AB"
KEY = "key.jsonl"
BOOKS = "answers.json"


class Received(Record, frozen=True, kw_only=True):
    """`tasks == answered + sum(drops)`; `flagged` of the answered were flagged by either.

    `experts`: the file's letter -> the server's number of the person.
    """

    tasks: int
    answered: int
    flagged: int
    flags: dict[str, int]
    experts: dict[str, str]
    drops: dict[str, int]
    unknown: int


def receive(
    exported: Path, sent: Path, questions: Sequence[Question], root: Path, out: Path,
    experts: Sequence[str] = (),
) -> Received:  # fmt: skip
    """Write the answers of two experts; `experts` are their numbers where more took part.

    Raises `BadRecord` for what is no export of a server, `Usage` where there are not two people,
    `Refused` where a question is not as it was sent.
    """
    tasks = _sent(sent)
    asked = _questions(tasks, questions, root)
    back = reading.read(exported, dict.fromkeys(tasks, (1, 1)))
    people = _people(back.tasks.values(), experts)
    pairs: list[list[Answer]] = []
    drops: list[Drop] = []
    for key, task in sorted(tasks.items(), key=lambda entry: entry[1].question):
        said = [_said(task, back.tasks.get(key, ()), who) for who in people]
        pair = [each for each in said if isinstance(each, Answer)]
        if len(pair) == len(NAMES):
            pairs.append(pair)
        else:
            drops.append(_drop(task.question, [each for each in said if isinstance(each, str)]))
    flagged = [[each for each in pair if each.answer is None] for pair in pairs]
    flags = Counter(why for some in flagged for why in {e.note.partition(":")[0] for e in some})
    made = Received(
        tasks=len(tasks), answered=len(pairs), flagged=sum(map(bool, flagged)),
        flags=dict(sorted(flags.items())), experts=dict(zip(NAMES, people, strict=True)),
        drops=dict(sorted(Counter(each.reason for each in drops).items())), unknown=back.unknown,
    )  # fmt: skip
    if made.answered + len(drops) != made.tasks:
        raise Unbalanced(f"review answers: {made.tasks} tasks in, {made.answered} answered")
    with new_folder(out) as part:
        for at, name in enumerate(NAMES):
            store.write(part / f"{name}.jsonl", [pair[at] for pair in pairs])
        store.write(part / KEY, [_key(asked[pair[0].id]) for pair in pairs])
        store.write(part / DROPS, drops)
        with store.replacing(part / BOOKS) as file:
            file.write(msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")
    return made


def line(made: Received, out: Path) -> str:
    """What came back, in one line for people."""
    lost = ", ".join(f"{reason} {count}" for reason, count in made.drops.items())
    flags = ", ".join(f"{reason} {count}" for reason, count in made.flags.items())
    return (
        f"{made.answered} of {made.tasks} questions answered by both, {made.flagged} of them "
        f"flagged ({flags or 'none'}); left out: {lost or 'none'}. Next: fieldtruth adjudicate "
        f"{out / 'A.jsonl'} {out / 'B.jsonl'} --generated {out / KEY}"
    )


def _key(question: Question) -> Answer:
    return Answer(id=question.id, answer=question.answer, stratum=question.crop or "")


def _sent(folder: Path) -> dict[str, Sent]:
    path = folder / SENT
    if not path.is_file():
        raise Usage(f"{folder}: expected what `review blind` made, got no {SENT} there")
    return {each.id: each for each in store.read_unique(path, Sent)}


def _questions(
    tasks: Mapping[str, Sent], questions: Iterable[Question], root: Path
) -> dict[str, Question]:
    """The questions that were sent; `Refused` for one that is gone or is another now."""
    known = {each.id: each for each in questions}
    missing = sorted({each.question for each in tasks.values()} - known.keys())
    if missing:
        raise Refused(
            f"expected the set that was sent, got none of {len(missing)} questions: "
            f"{', '.join(missing[:5])}{' ...' if len(missing) > 5 else ''}"
        )
    asked = {each.question: known[each.question] for each in tasks.values()}
    photos = hashes(asked.values(), root)
    for each in tasks.values():
        if fingerprint(asked[each.question], photos) != each.shown:
            raise Refused(
                f"question {each.question!r}: expected the words, options and photos that were "
                "sent, got others; give the set as it was then"
            )
    return asked


def _people(annotated: Iterable[Sequence[Annotated]], wanted: Sequence[str]) -> list[str]:
    """The two, the lower number first; `Usage` where it is not clear who they are."""
    told = {each.who for some in annotated for each in some if each.who and not each.draft}
    people = sorted(set(wanted) or told, key=lambda who: (len(who), who))
    if len(people) != len(NAMES) or not set(people) <= told:
        raise Usage(
            f"expected two experts, got annotations of {', '.join(sorted(told)) or 'nobody'}; say "
            "which two count with --annotator"
        )
    return people


def _said(task: Sent, annotated: Sequence[Annotated], who: str) -> Answer | str:
    """What one person says of a question, or the reason why that is no answer.

    What nobody's name is on may be either's, so it is nobody's answer.
    """
    mine = [each for each in annotated if each.who == who]
    done = [each for each in mine if not each.draft]
    if not done:
        nameless = any(not each.who and not each.draft for each in annotated)
        return "draft_only" if mine else "nameless" if nameless else "not_annotated"
    last = max(done, key=lambda each: (each.at, each.number))
    flags = last.choices.get(writing.FLAG, ())
    if flags or last.skipped:
        why = ", ".join(flags) or "skipped"
        note = f"{why}: {last.note}" if last.note else why
        return Answer(id=task.question, answer=None, note=note)
    letters = last.choices.get(writing.ANSWER, ())
    if not letters:
        return "no_answer"
    if len(letters) > 1 or len(letters[0]) != 1 or letters[0] not in task.letters:
        return "unusable"
    return Answer(id=task.question, answer=letters[0], note=last.note)


def _drop(question: str, why: Sequence[str]) -> Drop:
    alone = "one_expert" if len(why) == 1 and why[0] == "not_annotated" else ""
    reason = alone or min(why, key=REASONS.index)
    return Drop(
        id=f"{question}:answers", sample=question, parent=question, stage="review answers",
        reason=reason,
    )  # fmt: skip
