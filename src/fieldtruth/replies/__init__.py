"""A reply's words turned into what was meant: the one reader of scoring, audits and rewards.

`read_boxes`, `read_choice` and `read_text` never raise, whatever the words, and take time in
proportion to their length. `write_boxes` is the inverse of the first, `spelling` says in a prompt
how to write, `said` is what was meant for the reader. What counts as which outcome: design,
section 2, rule 1.
"""

from fieldtruth.replies.boxes import read_boxes
from fieldtruth.replies.choice import read_choice
from fieldtruth.replies.free import read_text, said
from fieldtruth.replies.writing import spelling, write_boxes

__all__ = ["read_boxes", "read_choice", "read_text", "said", "spelling", "write_boxes"]
