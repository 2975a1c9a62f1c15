"""Rows of real releases and what a person read in them: route, kind, label, crop."""

import json
from pathlib import Path
from typing import Any

from fieldtruth.records import Drop, Healthy, Target
from fieldtruth.taxonomy import crop_id, label_id

HERE = Path(__file__).parent


def verdicts(name: str) -> dict[str, dict[str, Any]]:
    """Sample id -> {route, kind, label, crop}; `route` is target, healthy, or why it is neither."""
    lines = (HERE / f"{name}_by_hand.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    for row in found:
        crop = row["crop"] = crop_id(row["crop"]) if row["crop"] else None
        row["label"] = label_id(row["label"], crop) if row["label"] else None
    return {row.pop("id"): row for row in found}


def verdict(record: Target | Healthy | Drop) -> dict[str, Any]:
    """What the source said, in the same words."""
    if isinstance(record, Target):
        kind, label, crop = record.kind, record.label, record.crop
        return {"route": "target", "kind": kind, "label": label, "crop": crop}
    route = record.reason if isinstance(record, Drop) else "healthy"
    crop = record.crop if isinstance(record, Healthy) else None
    return {"route": route, "kind": None, "label": None, "crop": crop}
