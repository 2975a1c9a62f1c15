"""Words -> the text that was meant for the reader, for open questions."""

from fieldtruth.records import Finish, Reading
from fieldtruth.replies import visible


def said(text: str) -> str:
    """The text outside thinking tags, without fence marks and without blanks around it."""
    return visible.without_fences(visible.without_thinking(text))


def read_text(text: str, finish: Finish) -> Reading:
    """`text` where there are words, `unreadable` where there are none. Never raises."""
    thought = len(visible.without_thinking(text)) != len(text)
    return Reading(
        outcome="text" if any(mark.isalnum() for mark in said(text)) else "unreadable",
        repairs=("thinking",) if thought else (),
        truncated=finish == "length",
    )
