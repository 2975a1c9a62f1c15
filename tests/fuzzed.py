"""Replies by the hundred thousand: what models write, broken in the ways that words break.

A grammar writes a reply as some model would: good, wrapped in prose, a fence or thoughts, in
another's keys, in special tokens, or as noise. Then it is cut, doubled, and has pieces put in.
All is drawn from one generator, so a seed is a set of replies.
"""

import json
from collections.abc import Callable, Sequence

import numpy as np

Rng = np.random.Generator

NAMES = (
    "rust", "Early-Blight", "late blight of potato", "leaf, spot", 'so-called "scab"', "2",
    "2. rust", "", "healthy", "\u0930\u094b\u0917", "rost\u00fc", "x" * 300, "[]", "null",
    "\ud800", "a\nb",
)  # fmt: skip
KEYS = ("bbox_2d", "box_2d", "bbox", "BOX", "bounding_box", "boxes", "coordinates", "")
ODD = (
    "null", "None", "NaN", "-Infinity", "1e999", "true", '"7"', '"x"', "[1]", "{}", "-0", "1e-9",
    "+3", "0x1F", "9" * 400, "1_000", "\u0663",
)  # fmt: skip
NOISE = (
    "[", "]", "{", "}", ",", ":", '"', "'", "\\", "```", "```json\n", "\n", " ", "//", "/*", "*/",
    "#", "<think>", "</think>", "null", "None", "[]", "[[]]", "[0, 1000]", "[10, 20, 30, 40]",
    "<loc0001>", "<loc0102><loc0051><loc0307><loc0205> rust", "<box>(1,2),(3,4)</box>", "\x00",
    "<|box_start|>(1,2),(3,4)<|box_end|>", "\ufeff", "\u200b", "Answer: ", "no", "I cannot help.",
    "leaf's", '{"boxes": ', "[" * 30, "{" * 30, '\\"', "\ud83d", "\u2028", "=", "(", ")", "<", ">",
    ";", "`",
)  # fmt: skip
PROSE = (
    "The plant looks fine to me.", "Sure! Here it is:", "I see [2] spots.", "Nothing.",
    "Sorry, I cannot.", "No lesions [see note] are visible.", "Let me look at the photo.",
    "{leaf}", "[]?", "null",
)  # fmt: skip


def reply(rng: Rng) -> str:
    """One reply."""
    text = WRITERS[int(rng.choice(len(WRITERS), p=SHARES))](rng)
    if rng.random() < 0.3:
        text = _wrapped(text, rng)
    for _ in range(int(rng.choice((0, 0, 0, 1, 1, 2, 5)))):
        text = _mutated(text, rng)
    return text


def _pick(rng: Rng, of: Sequence[str]) -> str:
    return of[int(rng.integers(len(of)))]


def _number(rng: Rng) -> str:
    if rng.random() < 0.02:
        return _pick(rng, ODD)
    value = rng.random() * float(rng.choice((1, 100, 1000, 1024, 1e5))) - (rng.random() < 0.03) * 50
    return f"{value:.4g}" if rng.random() < 0.3 else str(int(value))


def _box(rng: Rng) -> str:
    if rng.random() < 0.9:
        x, y, wide, high = rng.random(4) * (600, 600, 400, 400)
        return f"[{x:.0f}, {y:.0f}, {x + wide:.0f}, {y + high:.0f}]"
    count = int(rng.choice((4, 4, 4, 3, 5, 0)))
    return f"[{', '.join(_number(rng) for _ in range(count))}]"


def _object(rng: Rng) -> str:
    key = KEYS[0] if rng.random() < 0.7 else _pick(rng, KEYS)
    name = json.dumps(_pick(rng, NAMES), ensure_ascii=bool(rng.random() < 0.5))
    parts = [f'"{key}": {_box(rng)}', f'"label": {name}']
    if rng.random() < 0.1:
        parts.append(f'"score": {_number(rng)}')
    if rng.random() < 0.05:
        parts.pop(0)
    return "{" + ", ".join(parts) + "}"


def _listed(rng: Rng) -> str:
    gap = _pick(rng, (", ", ",\n  ", ",", "\n"))
    return f"[{gap.join(_object(rng) for _ in range(int(rng.integers(0, 6))))}]"


def _same_name(rng: Rng) -> str:
    rows = [json.loads(f'{{"bbox_2d": {_plain(rng)}}}') for _ in range(int(rng.integers(1, 9)))]
    name = _pick(rng, NAMES[:4])
    return json.dumps([row | {"label": name} for row in rows], indent=2 if len(rows) % 2 else None)


def _plain(rng: Rng) -> str:
    x1, y1, x2, y2 = (rng.random(4) * 1000).astype(int).tolist()
    return f"[{x1}, {y1}, {x2}, {y2}]"


def _table(rng: Rng) -> str:
    key = _pick(rng, ("boxes", "detections", "answer", "result", "Output"))
    inner = _listed(rng) if rng.random() < 0.6 else f"[{_box(rng)}, {_box(rng)}]"
    return f'{{"{key}": {inner}, "labels": ["rust", "scab"]}}'


def _tokens(rng: Rng) -> str:
    if rng.random() < 0.5:
        marks = "".join(f"<loc{int(n):04d}>" for n in rng.integers(0, 1024, 4))
        return f"{marks} {_pick(rng, NAMES)}" + (" ; " + marks if rng.random() < 0.3 else "")
    a, b, c, d = rng.integers(0, 1000, 4).tolist()
    return f"<ref>{_pick(rng, NAMES)}</ref><box>({a},{b}),({c},{d})</box>"


def _noise(rng: Rng) -> str:
    return "".join(_pick(rng, NOISE) for _ in range(int(rng.integers(0, 20))))


def _empty(rng: Rng) -> str:
    return _pick(
        rng, ("[]", "null", "[ ]", "[]\n", '{"boxes": []}', "", " ", "[[]]", "```\n[]\n```")
    )


def _prose(rng: Rng) -> str:
    return " ".join(_pick(rng, PROSE) for _ in range(int(rng.integers(1, 4))))


def _wrapped(text: str, rng: Rng) -> str:
    ways: tuple[Callable[[str], str], ...] = (
        lambda t: f"```json\n{t}\n```",
        lambda t: f"{_prose(rng)}\n{t}",
        lambda t: f"{t}\n{_prose(rng)}",
        lambda t: f"<think>{_listed(rng)} {_prose(rng)}</think>\n{t}",
        lambda t: f"{_listed(rng)}\n{t}",
        lambda t: json.dumps(t),
        lambda t: t.replace('"', "'"),
        lambda t: t.replace('"', '\\"'),
        lambda t: f"thinking ...</think>{t}",
    )
    return ways[int(rng.integers(len(ways)))](text)


def _mutated(text: str, rng: Rng) -> str:
    a, b = sorted(rng.integers(0, len(text) + 1, 2).tolist())
    way = int(rng.integers(6))
    if way == 0:
        return text[:a]  # cut off
    if way == 1:
        return text[:a] + text[min(b, a + 3) :]
    if way == 2:
        return text[:b] + text[a:]
    if way == 3:
        return text[:a] + _pick(rng, NOISE) + text[a:]
    if way == 4:
        return text[:a] + text[a:b][::-1] + text[b:]
    return text[:a] + chr(int(rng.integers(1, 0x2FFF))) + text[a + 1 :]


WRITERS: tuple[Callable[[Rng], str], ...] = (
    _same_name, _listed, _table, _tokens, _noise, _empty, _prose,
)  # fmt: skip
SHARES = (0.25, 0.3, 0.1, 0.08, 0.12, 0.07, 0.08)
