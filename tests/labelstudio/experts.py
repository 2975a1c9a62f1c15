"""Eight questions, what two experts answer in Label Studio, and the gold that has to come of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from tests.builders import plain, question
from tests.labelstudio import people
from tests.labelstudio.server import Server

from fieldtruth.records import Question
from fieldtruth.stages.review import blind
from fieldtruth.store import read, write

# question -> what the first says, what the second says (a letter, a flag, or None: skipped), key
SAID: dict[str, tuple[str | None, str | None, str]] = {
    "both": ("B", "B", "B"),
    "against": ("C", "C", "A"),
    "first": ("A", "D", "A"),
    "second": ("A", "D", "D"),
    "three": ("A", "B", "C"),
    "flagged": ("ambiguous", "A", "A"),
    "skipped": ("A", None, "A"),
    "alone": ("A", "", "A"),  # the second never saw it
}
GOLD = {"both": "B", "against": "C", "first": "A", "second": "D"}
DROPPED = {"three": "three_way", "flagged": "flagged", "skipped": "flagged"}


def questions(folder: Path) -> list[Question]:
    """The set, beside `folder/photos`; one question has two photos."""
    for at, name in enumerate(("a.png", "b.png")):
        plain(folder / "photos" / name, at, (96, 64))
    made = []
    for name, (_, _, key) in SAID.items():
        images = ["a.png", "b.png"] if name == "both" else ["a.png"]
        more: dict[str, Any] = {"images": images, "answer": key, "group": "p1", "crop": "cotton"}
        made.append(msgspec.convert(question(name, **more), Question))
    write(folder / "questions.jsonl", made)
    return made


def sent(folder: Path) -> Path:
    """The questions as they are sent to the two."""
    blind.send(questions(folder), folder / "photos", folder / "sent", blind.Settings(seed=5))
    return folder / "sent"


def picked(name: str, *values: str) -> dict[str, Any]:
    """A choice as the browser posts it: it belongs to the question's words."""
    return people.ticked(name, *values) | {"to_name": "ask"}


def annotate(server: Server, folder: Path) -> int:
    """Both experts' work in a new project; its number."""
    project, tasks = people.begun(server, folder, "questions")
    other = people.second_person(server)
    task_of = {each.question: each.id for each in read(folder / "sent.jsonl", blind.Sent)}

    def post(name: str, result: Sequence[Mapping[str, Any]], **more: Any) -> None:
        body = {"result": result, "lead_time": 7.5} | more
        server.call("POST", f"/api/tasks/{tasks[task_of[name]]['id']}/annotations/", body)

    for name, (first, second, _) in SAID.items():
        for said, who in ((first, {}), (second, {"completed_by": other})):
            if said is None:
                post(name, [], was_cancelled=True, **who)
            elif len(said) == 1:
                post(name, [picked("answer", said)], **who)
            elif said:
                note = {
                    "id": "words", "from_name": "note", "to_name": "ask", "type": "textarea",
                    "origin": "manual", "value": {"text": ["two of them fit"]},
                }  # fmt: skip
                post(name, [picked("flag", said), note], **who)
    return project
