"""Words -> boxes and labels: which list is the answer, and what was repaired on the way.

An answer list holds objects, or bare lists of four numbers. Of several the last valid one counts;
a bare `[x1, y1, x2, y2]` counts where nothing better is said; an object that wraps a list
(`{"boxes": [...]}`) is that list; objects that stand side by side without brackets are one list.
A malformed object costs only itself. Numbers are never rescaled: the space is the declared one.
The keys are those of `answers`: `BOX_KEYS`, `LABEL_KEYS`, `LIST_KEYS`, whatever their case.

`Reading.repairs` says what was done, each once, in this vocabulary.

About the words: `thinking`, `fence` and `tags` (`<answer>`, the end of a turn) were taken away,
`prose` stood around the answer (also as a list or object of words alone, or as a fence's name that
is no language), `several_lists` were given, `bare_box` or `bare_boxes` came without objects,
`single_object` and `no_brackets` without a list, `wrapped` in an object, `nested` in another list,
`box_tokens` or `loc_tokens` as special tokens, `escaped_quotes`, `python` names or quotes,
`comment`, `trailing_comma`, `missing_comma`, `unquoted`, `stray_bracket`, `cut_off`,
`too_many` brackets (over 24 deep, or 50,000).
About boxes kept: `swapped_corners` put in order, `out_of_space`, `number_text` read as numbers,
`several_boxes` in one object.
About what was left out: `unclosed` (not whole), `no_box`, `wrong_length` (not four),
`not_a_number` (a word, true, NaN, infinity, or beyond 1e12), `zero_area` (so `[0, 0, 0, 0]` is
no box, and no abstention).
"""

import re
from collections.abc import Iterator

from fieldtruth.records import Finish, Outcome, Reading, Space
from fieldtruth.replies import marks, visible
from fieldtruth.replies.answers import Found, is_element, is_words, of_list, of_node
from fieldtruth.replies.clean import read_clean
from fieldtruth.replies.loose import Array, Root, containers

_SCALAR = re.compile(r"[+-]?[0-9][0-9.eE+-]*+|true|false|\"[^\"]*+\"")  # JSON of another shape
_BETWEEN = re.compile(r"[\s,]*+\Z")


def read_boxes(text: str, space: Space, finish: Finish) -> Reading:
    """What a reply says under a box protocol: `boxes`, `empty`, `prose` or `unreadable`.

    Boxes are in `space`, in its order of axes, corners in order, as floats; out-of-space values
    are kept and flagged. Never raises. Whether the call failed is not in the words: a caller
    holding a `Prediction` asks its `failed` first.
    """
    return read_clean(text, space, finish) or repaired(text, space, finish)


def repaired(text: str, space: Space, finish: Finish) -> Reading:
    """`read_boxes` for any reply, the clean ones too, to which it comes to the same."""
    seen, notes = _seen(text)
    plain = visible.without_fences(seen)
    if plain == "null":
        return _reading("empty", Found(notes=notes), finish)
    roots = list(containers(seen))
    found = _search(roots, seen, space)
    answer = _best(found)
    if answer is None:
        other = found or not plain or _SCALAR.fullmatch(plain)
        for wrong in found:
            notes |= wrong.notes
        return _reading("unreadable" if other else "prose", Found(notes=notes), finish)
    if sum(each.kind != "wrong" and not each.weak for each in found) > 1:
        notes["several_lists"] = None
    if roots or answer.kind == "empty":
        notes |= _beside(seen, roots)
    answer.notes = notes | answer.notes
    return _reading("empty" if answer.kind == "empty" else "boxes", answer, finish)


def _beside(seen: str, roots: list[Root]) -> dict[str, None]:
    """`prose` where words stand before, between or behind the containers, or fill one of them;
    `tags` where those of an answer do."""
    ends, starts = [0, *(each.end for each in roots)], [*(each.start for each in roots), len(seen)]
    around = "\n".join(seen[end:start] for end, start in zip(ends, starts, strict=True))
    words = visible.without_tags(around)
    left = visible.without_fences(visible.without_nulls(words)).strip(", ]}\r\n\t")
    talks = bool(left) or any(is_words(each.node) for each in roots)
    found = {"tags": words != around, "prose": talks}
    return {name: None for name, there in found.items() if there}


def _seen(text: str) -> tuple[str, dict[str, None]]:
    """The words that count, and what was taken away to get at them."""
    seen = visible.without_thinking(text)
    notes: dict[str, None] = {"thinking": None} if len(seen) != len(text) else {}
    if "```" in seen:
        notes["fence"] = None
    if '{\\"' in seen:  # a list that went through a JSON encoder once more
        seen = seen.replace('\\"', '"')
        notes["escaped_quotes"] = None
    return seen, notes


def _reading(outcome: Outcome, answer: Found, finish: Finish) -> Reading:
    return Reading(
        outcome=outcome,
        boxes=tuple(box for box, _ in answer.pairs),
        labels=tuple(label for _, label in answer.pairs),
        repairs=tuple(answer.notes),
        truncated=finish == "length",
    )


def _best(found: list[Found]) -> Found | None:
    """The last valid answer; a lone bare box only where there is nothing else."""
    valid = [each for each in found if each.kind != "wrong"]
    strong = [each for each in valid if not each.weak]
    return strong[-1] if strong else valid[-1] if valid else None


def _search(roots: list[Root], seen: str, space: Space) -> list[Found]:
    """What may be an answer, in the order of the text, as far back as can matter.

    From the last one on until two valid lists are found: which one counts is known then, and
    that it was not the only one. A reply of a million brackets costs no more than it must.
    """
    pieces: list[tuple[int, list[Root] | Found]] = [
        *((run[0].start, run) for run in _runs(roots, seen)),
        *((mark.start, mark) for mark in marks.found(seen, space)),
        *((at, Found("empty")) for at in visible.fenced_nulls(seen)),
    ]
    found: list[Found] = []
    strong = 0
    for _, piece in sorted(pieces, key=lambda piece: -piece[0]):
        answers = [piece] if isinstance(piece, Found) else list(_of_run(piece, space))
        found += reversed(answers)
        strong += sum(each.kind != "wrong" and not each.weak for each in answers)
        if strong > 1:
            break
    return found[::-1]


def _runs(roots: list[Root], seen: str) -> Iterator[list[Root]]:
    """Containers that stand side by side without brackets around them, taken together."""
    run: list[Root] = []
    for root in roots:
        beside = run and _BETWEEN.match(seen, run[-1].end, root.start)
        if run and not (beside and is_element(run[-1].node) and is_element(root.node)):
            yield run
            run = []
        run.append(root)
    if run:
        yield run


def _of_run(run: list[Root], space: Space) -> Iterator[Found]:
    notes: dict[str, None] = {}
    for root in run:
        notes |= root.notes
    if len(run) > 1:
        notes["no_brackets"] = None
        answers = of_list(Array([root.node for root in run], whole=True), space)
    else:
        answers = of_node(run[0].node, space)
    for answer in answers:
        answer.notes = notes | answer.notes
        yield answer
