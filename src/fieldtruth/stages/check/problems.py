"""What may be wrong with a row: a closed list of short names, each with a sentence for people."""

from collections.abc import Iterator
from typing import NamedTuple

MEANING = {
    "bad_row": "not a JSON object of this file's shape; nothing else was looked at in it",
    "duplicate_id": "an earlier row has the same id",
    "placeholders": "as many <image> as photos are needed, one for each",
    "literal_image": "a photo's placeholder, or a model's own token for it, stands in the words",
    "roles": "first the user, then in turn, the assistant last (a system message may come before)",
    "empty_prompt": "nothing is asked",
    "unreadable_answer": "the reader that scores replies cannot read this one, or not all of it",
    "several_answers": "more than one list of boxes; only the last would count",
    "degenerate_box": "no width or height, or corners out of order, as read in its box space",
    "box_out_of_space": "beyond the limits of its box space",
    "answer_too_long": "more tokens than the model may say (estimated)",
    "unknown_label": "a name that the taxonomy does not know",
    "image_missing": "no such file",
    "image_unreadable": "not a photo that can be opened",
    "image_unsafe": "a path that leaves the folder of the photos",
    "image_too_small": "a side of less than one patch",
    "image_too_thin": "so long and thin that Qwen's processor refuses it",
    "wrong_size": "the photo is not of the size that its boxes were written for",
    "test_image": "a photo, or a group of photos, of a test split",
    "bad_letter": "the answer is not the letter of an option",
    "duplicate_options": "two options are the same",
    "answer_absent": "the right answer is none of the options",
    "answer_in_question": "words of the answer, and of no wrong option, stand in the question",
    "also_right": "a wrong option is another name of the right one, or a part of it",
    "catch_all": "an option that speaks of the other options",
    "answer_position": "some letter is right more or less often than chance explains (p < 0.001)",
    "answer_length": "the right option is the longest, or the shortest, more often than chance "
    "explains (p < 0.001, and 0.1 above a guess)",
    "answer_form": "the right option is the one that is written unlike the others, more often than "
    "chance explains (p < 0.001, and 0.1 above a guess)",
    "empty_text": "a question, option, answer or fact without words",
    "no_facts": "an answer of several statements, and none of them under `facts`",
    "shared_photo": "two questions of different groups show one photo",
}


class Found(NamedTuple):
    """One thing that is wrong, named as in `MEANING`, with what was seen."""

    problem: str
    detail: str


def repeated(name: str, row: int, seen: dict[str, int]) -> Iterator[Found]:
    """`duplicate_id` where an earlier row has this id; `seen` keeps the first row of each."""
    first = seen.setdefault(name, row)
    if first != row:
        yield Found("duplicate_id", f"row {first} has it too")
