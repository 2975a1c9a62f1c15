"""The words that were meant for the reader: without thinking, and what a fence holds."""

import re

# <think>, <thinking>, <thought>, <reasoning>, <|think|>, and Kimi's own brackets.
_THOUGHT = re.compile(r"[<◁]\|?(/?)(?:think(?:ing)?|thought|reasoning)\s?\|?[>▷]", re.IGNORECASE)
# What a fence may call what it holds; any other word behind it is one of the reply's.
_FENCE = re.compile(
    r"""```[ \t]*+ (?:(?:json[\w+-]*+|javascript|js|typescript|ts|python3?|py|tool_code|text|txt
        |plain(?:text)?|markdown|md|xml|html|ya?ml|toml|csv|bash|sh) (?![\w+-]))?+""",
    re.VERBOSE | re.IGNORECASE,
)
_FENCED_NULL = re.compile(r"```[ \t]*+(?:json[\w+-]*+|[jJ]avascript)?+\s*+null\s*+(?:```|\Z)", re.I)
# Around an answer: the tags that a prompt asked for, and the end of a turn that a server let stand.
_TAGS = re.compile(
    r"</?answer>|<\|(?:im_end|endoftext|eot_id|end)\|>|</s>|<eos>|<end_of_turn>", re.IGNORECASE
)
_INVISIBLE = "\ufeff\u200b\u2060\x00"


def without_thinking(text: str) -> str:
    """The text outside thinking tags.

    Nothing follows a tag that is never closed. A closing tag without an opening one means that
    the prompt held the opening one (R1, Qwen3): all before it was thinking.

    >>> without_thinking("<think>is it []? no</think>[1]"), without_thinking("hm</think>[2]")
    ('[1]', '[2]')
    """
    kept: list[str] = []
    start, thinking = 0, False
    for tag in _THOUGHT.finditer(text):
        if not tag[1]:
            if not thinking:
                kept.append(text[start : tag.start()])
            thinking = True
            continue
        if not thinking:
            kept.clear()
        thinking, start = False, tag.end()
    if not thinking:
        kept.append(text[start:])
    return "".join(kept)


def without_fences(text: str) -> str:
    """The text without its fence marks, stripped of blanks seen and unseen."""
    return _FENCE.sub("", text).strip().strip(_INVISIBLE).strip()


def fenced_nulls(text: str) -> list[int]:
    """Where a code fence holds a bare `null` and nothing else."""
    return [found.start() for found in _FENCED_NULL.finditer(text)]


def without_nulls(text: str) -> str:
    """The text without those."""
    return _FENCED_NULL.sub("", text)


def without_tags(text: str) -> str:
    """The text without tags around an answer and marks of its end.

    >>> without_tags("<answer>[]</answer><|im_end|>")
    '[]'
    """
    return _TAGS.sub("", text)
