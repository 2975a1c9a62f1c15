"""What each metric, outcome and protocol means, in one sentence a plant pathologist reads.

A metric that is not listed here is shown under its own name, without a sentence: a new metric
needs no change here to be reported, and one line to be explained.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple


class Term(NamedTuple):
    """`beats` completes "A ... B" where A is better; `better` is more, less or neither."""

    title: str
    sentence: str
    beats: str = "does better than"
    better: Literal["more", "less", "neither"] = "more"


METRICS: Mapping[str, Term] = {
    "accuracy": Term(
        "Accuracy",
        "Share of the scored questions answered correctly; where several things are true, the "
        "share of them that was said.",
        "answers more questions than",
    ),
    "harmonic": Term(
        "Harmonic mean",
        "Of the correct share of all answers and that of answers not partly correct, as AgMMU has "
        "it; equal to accuracy where none is partly correct.",
        "answers more questions than",
    ),
    "joint": Term(
        "Joint",
        "Share of diseased photos where the name is right and the drawn area fits (region IoU of "
        "at least 0.5).",
        "finds more than",
    ),
    "f1": Term(
        "F1",
        "How well boxes and true lesions meet: 1 when each true box is found once and nothing else "
        "is drawn; a hit overlaps by half (IoU of at least 0.5).",
        "finds more than",
    ),
    "precision": Term(
        "Precision",
        "Of the boxes drawn on diseased photos, the share that lie on a true one.",
        "draws fewer wrong boxes than",
    ),
    "recall": Term("Recall", "Of the true boxes, the share that were found.", "finds more than"),
    "f1_75": Term(
        "F1 at 0.75",
        "F1 where a hit has to fit more tightly (IoU of at least 0.75).",
        "draws tighter boxes than",
    ),
    "macro_f1": Term(
        "Macro F1",
        "F1 of each photo on its own, averaged, so that one spot on a leaf weighs as much as "
        "fifteen.",
        "finds more than",
    ),
    "region_iou": Term(
        "Region IoU",
        "Area that is both drawn and truly affected, over the area that is either; an empty answer "
        "counts 0.",
        "outlines the affected area better than",
    ),
    "region_iou_answered": Term(
        "Region IoU, answered",
        "Region IoU over the diseased photos where boxes were drawn; read it beside false "
        "abstention.",
        "outlines the affected area better than",
    ),
    "lesion_f1": Term(
        "Lesion F1", "F1 on photos whose single lesions are boxed.", "finds more lesions than"
    ),
    "object_f1": Term(
        "Object F1",
        "F1 on photos whose whole affected leaves, plants or pests are boxed.",
        "finds more than",
    ),
    "dense_f1": Term(
        "Dense F1", "F1 on lesion photos with five true boxes or more.", "finds more lesions than"
    ),
    "sparse_f1": Term("Sparse F1", "F1 on all other diseased photos.", "finds more than"),
    "abstention": Term(
        "Abstention",
        "Of the healthy photos, the share answered with an explicit empty answer; prose, "
        "unreadable words and failed calls do not count as one.",
        "leaves more healthy photos alone than",
    ),
    "false_abstention": Term(
        "False abstention",
        "Of the diseased photos, the share wrongly answered as empty; lower is better.",
        "misses fewer diseased photos than",
        better="less",
    ),
    "boxes_per_lesion_image": Term(
        "Boxes per lesion photo",
        "Mean number of boxes drawn on a photo with boxed lesions.",
        better="neither",
    ),
    "recognition": Term(
        "Recognition",
        "Of the diseased photos, the share given the right name.",
        "names more photos rightly than",
    ),
    "instance_joint": Term(
        "Instance joint",
        "Share of diseased photos where the name is right and at least one true box is hit.",
        "finds more than",
    ),
    "lesion_joint": Term(
        "Lesion joint", "Joint on photos whose single lesions are boxed.", "finds more than"
    ),
    "first_option_share": Term(
        "First-option share",
        "Of the listed names given, the share that were first on the list; near 0.25 when position "
        "plays no part.",
        better="neither",
    ),
    "off_list": Term(
        "Off list",
        "Of the diseased photos, the share given a name that was not on the list; lower is better.",
        "leaves the list less often than",
        better="less",
    ),
    "wrong_target_abstention": Term(
        "Wrong-target abstention",
        "Asked for something that is not on the photo, the share answered as empty.",
        "is fooled by a wrong name less often than",
    ),
    "open_strict": Term(
        "Open, strict", "Named without a list: the share that is the true name exactly."
    ),
    "open_lenient": Term(
        "Open, lenient", "Named without a list: the share that holds the true name or lies in it."
    ),
}

OUTCOMES: Mapping[str, str] = {
    "boxes": "an answer with boxes",
    "letter": "an answer with one letter",
    "text": "an answer in free words",
    "empty": "an explicit empty answer: the model abstains",
    "prose": "a refusal or other words without an answer in them",
    "unreadable": "blank, broken or of another shape",
    "error": "the call failed: no answer at all",
    "truncated": "of the replies above, those cut off at the length limit",
    "missing": "items without a prediction",
    "duplicate": "predictions given more than once",
    "extra": "predictions for items that are not asked",
}

PROTOCOLS: Mapping[str, str] = {
    "choice": "The model is shown a question with lettered options; it answers with one letter.",
    "reasoned_choice": "The model is shown a question with lettered options; it gives its reasons, "
    "then one letter.",
    "open": "The model is asked a question without options; it answers in words of its own.",
    "known_target": "The model is told what to look for and answers where it is, or that it is "
    "not there.",
    "candidates": "The model is shown four names; it answers which one it is and where, or that "
    "none is there.",
    "open_set": "The model is given no names; it says in its own words what it sees and where, or "
    "that there is nothing.",
}
CONTROLS: Mapping[str, str] = {
    "blank": "Control: every photo is a uniform grey one of the same size. Nothing can be seen, so "
    "an empty answer is the honest one, and whatever is right is guessed from the words.",
    "shuffle": "Control: every photo is cut into 4 x 4 tiles that lie in another order. Read the "
    "names; the true boxes are those of the photo before it was cut.",
    "textonly": "Control: no photo is shown. Whatever is right is guessed from the words.",
    "wrong_target": "Control: diseased photos, asked for something that is certainly not on them. "
    "The empty answer is the right one.",
    "rotate1": "Control: the same list, beginning with its second name.",
    "rotate2": "Control: the same list, beginning with its third name.",
    "rotate3": "Control: the same list, beginning with its fourth name.",
}


def about(protocol: str) -> str:
    """What a protocol asks, and what its control changes; "" for what is not listed here.

    >>> about("candidates+rotate1").endswith("beginning with its second name.")
    True
    """
    base, _, control = protocol.partition("+")
    return " ".join(filter(None, (PROTOCOLS.get(base, ""), CONTROLS.get(control, ""))))


def term(metric: str) -> Term:
    """The term of a metric; an unknown one is its own title.

    >>> term("joint").title, term("new_metric").sentence
    ('Joint', '')
    """
    return METRICS.get(metric) or Term(metric, "", better="neither")
