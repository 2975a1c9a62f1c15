"""Questions under controls and with a declared context, asked of a model that keeps what it saw."""

import json
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image
from tests.builders import frozen, question, table

from fieldtruth.faults import Usage
from fieldtruth.models.contract import Request
from fieldtruth.models.scripted import OPEN
from fieldtruth.run import asking
from fieldtruth.run.asks import How, asks
from fieldtruth.store import Bench, open_bench


def bench(tmp_path: Path) -> Bench:
    rows = [
        question("seen", images=["a.png", "b.png"], background="It is June.", evidence=["Spots."]),
        question("bare"),
    ]  # fmt: skip
    return open_bench(frozen(tmp_path / "bench", rows))


def requests(tmp_path: Path, protocol: str, how: How) -> dict[str, Request]:
    model = OPEN({"table": str(table(tmp_path / "table.jsonl", {"seen": "A"})), "space": "pixel"})
    about = asks(bench(tmp_path), protocol, model, 0, how)
    with about.ready(about.ids, tmp_path / "out.jsonl") as ready:
        for each in ready.requests:
            for image in each.images:
                with Image.open(image) as photo:
                    assert photo.size == (32, 24)
                    if protocol.endswith("+blank"):
                        assert (np.asarray(photo) == 128).all()
        return {each.id: each for each in ready.requests}


@pytest.mark.parametrize(
    ("control", "photos"), [("", 2), ("+blank", 2), ("+textonly", 0)]
)  # fmt: skip
@pytest.mark.parametrize("base", ["choice", "reasoned_choice"])
def test_the_same_words_with_other_photos(
    base: str, control: str, photos: int, tmp_path: Path
) -> None:
    alone = requests(tmp_path / "alone", base, How())
    made = requests(tmp_path / "made", f"{base}{control}", How())
    assert made["seen"].prompt == alone["seen"].prompt
    assert len(made["seen"].images) == photos
    assert ("bare" in made) == (not control)  # without photos, the control would change nothing
    assert not (tmp_path / "made" / ".out.jsonl.photos").exists()


def test_a_control_of_items_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Usage, match=r"control of questions \(blank, textonly\)"):
        requests(tmp_path, "choice+shuffle", How())


@pytest.mark.parametrize(
    ("context", "arm", "told"),
    [
        (None, "scripted", "It is June.\nWhat is it?"),
        ("none", "scripted@nocontext", "What is it?"),
        ("background", "scripted@context", "It is June.\nWhat is it?"),
        ("evidence", "scripted@evidence", "It is June.\nSpots.\nWhat is it?"),
    ],
)
def test_a_context_is_a_declared_arm(
    context: str | None, arm: str, told: str, tmp_path: Path
) -> None:
    made = requests(tmp_path / "asked", "choice", How(context=context))
    assert made["seen"].prompt.startswith(f"{told}\nA. rust")
    options = {"table": str(table(tmp_path / "t.jsonl", {"seen": "A", "bare": "A"})),
               "space": "pixel"}  # fmt: skip
    job = asking.Job(
        benchmark=tmp_path / "asked" / "bench", model="scripted", protocol="choice",
        options=options, context=context, run=2,
    )  # fmt: skip
    out = tmp_path / "replies.jsonl"
    asking.predict(job, out)
    assert {each.model for each in asking.replies(out)} == {f"{arm}@run2"}
    seal = json.loads((tmp_path / "replies.manifest.json").read_text())
    assert seal.get("context") == context
    assert seal["model"].startswith(f"{arm}@run2: ")
    again = tmp_path / "again.jsonl"
    asking.predict(replace(job, name=f"{arm}@run2"), again)  # named as it is filed
    assert again.read_bytes() == out.read_bytes()


def test_what_is_no_context(tmp_path: Path) -> None:
    one = bench(tmp_path)
    job = asking.Job(
        benchmark=one.folder, model="scripted", protocol="choice", context="all",
        options={"table": str(table(tmp_path / "t.jsonl", {"seen": "A"})), "space": "pixel"},
    )  # fmt: skip
    with pytest.raises(Usage, match="--context: expected one of none, background, evidence"):
        asking.predict(job, tmp_path / "out.jsonl")
