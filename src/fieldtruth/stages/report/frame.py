"""What every page has: its templates filled in, and where its numbers come from."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fieldtruth.stages.report.glossary import term
from fieldtruth.stages.report.numbers import apart, digits, percent, plainly, signed
from fieldtruth.store import Audit, Manifest

# Control characters would be lost or change what is around them; halves of surrogate pairs
# cannot be written as UTF-8 at all.
_ODD = dict.fromkeys(
    (*range(9), 11, 12, *range(14, 32), *range(127, 160), *range(0xD800, 0xE000)), "\ufffd"
)


def render(template: str, context: Mapping[str, Any]) -> str:
    """A template of this folder with everything in it escaped and legible."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    def legible(value: object) -> object:
        return value.translate(_ODD) if type(value) is str else value

    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=legible,
    )
    pages.filters.update(
        digits=digits,
        signed=signed,
        percent=percent,
        plainly=plainly,
        title_of=lambda metric: term(metric).title,
        sentence_of=lambda metric: term(metric).sentence,
        better_of=lambda metric: term(metric).better,
    )
    pages.tests["apart_from"] = apart
    return pages.get_template(template).render(context)


def provenance(scores: Mapping[str, Any], manifest: Manifest) -> Iterable[tuple[str, str]]:
    """What the numbers stand on. Settings that the score names are shown as it names them."""
    yield "Benchmark", f"{manifest.name}, version {manifest.version}, split {manifest.split}"
    yield "Digest", manifest.digest
    yield "Made by", manifest.code
    yield "Audit", _audit(manifest.audit)
    for group in ("source", "licence", "level"):
        counts = manifest.counts.get(group, {})
        if counts:
            listed = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
            yield f"Photos by {group}", listed
    for name, value in scores.items():
        if name in ("benchmark", "models", "paired", "position"):
            continue
        for key, setting in value.items() if isinstance(value, dict) else [(name, value)]:
            if isinstance(setting, str | int | float):
                yield str(key).replace("_", " ").capitalize(), str(setting)


def _audit(audit: Audit | str) -> str:
    if isinstance(audit, str):
        return f"{audit}: copies between splits have not been looked for"
    found = ", ".join(f"{name} {count}" for name, count in sorted(audit.findings.items()))
    reason = f"; accepted because: {audit.reason}" if audit.reason else ""
    return f"coverage {digits(audit.coverage)}; findings: {found or 'none'}{reason}"
