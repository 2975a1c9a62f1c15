"""Old artefacts stay readable: what each schema wrote, untouched since, is opened by today's code.

    schemaN/leaves/            a release, in the form that the source `drawn` reads
    schemaN/made/source/       what ingest, label and annotate left
    schemaN/made/bench/        a frozen benchmark of 8 photos
    schemaN/made/replies/      what two models said, one of which died
    schemaN/made/results/      score.json

A piece is made once, by the version that brought its schema, and never made again.
"""

import json
import shutil
from pathlib import Path

import pytest

from fieldtruth import store
from fieldtruth.faults import BadRecord, Fault, Refused
from fieldtruth.models import leaf_box
from fieldtruth.records import SCHEMA, Prediction, Target
from fieldtruth.run import asking, composing, migrations, results, workspace
from fieldtruth.run.migrations import Document
from fieldtruth.stages.score import Options

HERE = Path(__file__).parent
PIECES = [f"schema{number}" for number in range(1, SCHEMA + 1)]


@pytest.fixture(params=PIECES)
def piece(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(HERE / request.param, tmp_path / "piece")) / "made"


def said(piece: Path) -> list[Path]:
    return [piece / "replies" / f"{name}.candidates.jsonl" for name in ("box", "perfect")]


def test_every_schema_has_a_piece_and_every_change_a_migration() -> None:
    assert sorted(path.name for path in HERE.glob("schema*")) == PIECES
    assert migrations.numbered(migrations.MIGRATIONS)


def test_a_frozen_benchmark_verifies_and_opens(piece: Path) -> None:
    bench = store.open_bench(piece / "bench" / "benchmark")
    assert [item.id for item in bench.items] == [
        "drawn:test-0-0", "drawn:test-0-1", "drawn:test-1-0", "drawn:test-1-1", "drawn:test-2-0",
        "drawn:test-3-0", "drawn:test-healthy-0", "drawn:test-healthy-1",
    ]  # fmt: skip
    assert bench.items[2].boxes == ((69, 50, 93, 70), (90, 75, 100, 84))
    assert bench.items[2].candidates is not None


def test_a_source_on_its_way_goes_on(piece: Path) -> None:
    made = composing.compose_items(piece / "source", piece / "items.jsonl", "test", 5)
    assert (made.items, made.positives, made.healthy) == (8, 6, 2)
    before = list(store.read(piece / "source" / "targets.jsonl", Target))
    assert workspace.label(piece / "source").counts["targets"] == 10
    assert list(store.read(piece / "source" / "targets.jsonl", Target)) == before


def test_replies_are_read_and_scored_as_they_were(piece: Path) -> None:
    rows = [row for path in said(piece) for row in results.read(path, piece / "bench/benchmark")]
    assert [row["outcome"] for row in rows] == ["boxes"] * 14 + ["error"] * 2
    again = results.score(piece / "bench/benchmark", said(piece), Options(allow_missing=0.5))
    then = json.loads((piece / "results" / "score.json").read_text())
    assert again["benchmark"] == then["benchmark"]
    for name, entry in then["models"].items():
        got = again["models"][name]["candidates"]
        assert got["outcomes"] == entry["candidates"]["outcomes"]
        for metric, numbers in entry["candidates"]["metrics"].items():
            assert got["metrics"][metric] == pytest.approx(numbers, abs=1e-12)


def test_replies_are_not_asked_for_again(piece: Path) -> None:
    """By the same model: its rule has changed since, and is taken here for the one of then."""
    about = piece / "replies" / "box.candidates.manifest.json"
    now = leaf_box.OPEN({"label": "early blight"}).version
    about.write_text(about.read_text().replace("leaf_box-1-early blight", now))
    job = asking.Job(
        benchmark=piece / "bench/benchmark", model="leaf_box", protocol="candidates", name="box",
        options={"label": "early blight"},
    )  # fmt: skip
    done = asking.predict(job, said(piece)[0])
    assert (done.asked, done.kept) == (0, 8)


def test_a_result_becomes_a_page(piece: Path) -> None:
    page = results.report(piece / "results")
    assert "museum-benchmark" in page.read_text(encoding="utf-8")


NEWER = [
    "source/manifest.json", "bench/benchmark/manifest.json", "replies/box.candidates.manifest.json",
    "results/score.json",
]  # fmt: skip


@pytest.mark.parametrize("name", NEWER)
def test_what_a_newer_version_wrote_is_refused(piece: Path, name: str) -> None:
    path = piece / name
    document = json.loads(path.read_text())
    document |= {"schema": SCHEMA + 1, "brought by it": 1}
    path.write_text(json.dumps(document))
    if name.startswith("source"):
        with pytest.raises(Refused, match=rf"{name}: schema {SCHEMA + 1} is newer than {SCHEMA}"):
            composing.compose_items(piece / "source", piece / "items.jsonl")
    elif name.startswith("bench"):
        with pytest.raises(Refused, match=rf"{name}: expected a schema of at most {SCHEMA}"):
            store.open_bench(piece / "bench" / "benchmark")
    elif name.startswith("replies"):
        with pytest.raises(Refused, match="is newer than"):
            results.read(said(piece)[0], None)
        with pytest.raises(Refused, match="is newer than"):
            results.score(piece / "bench/benchmark", said(piece), Options(allow_missing=0.5))
    else:
        with pytest.raises(Refused, match="is newer than"):
            results.report(piece / "results")


def test_no_schema_is_the_present_one(piece: Path) -> None:
    for name in ("source/manifest.json", "replies/box.candidates.manifest.json"):
        path = piece / name
        document = json.loads(path.read_text())
        del document["schema"]
        path.write_text(json.dumps(document))
    assert workspace.root(piece / "source") == piece.parent / "leaves"
    assert len(list(asking.replies(said(piece)[0]))) == 8
    assert all(isinstance(row, Prediction) for row in asking.replies(said(piece)[0]))


def m002_crop_is_a_list(document: Document) -> Document:
    return {**document, "crops": [document["crop"]]}


def m003_crop_is_gone(document: Document) -> Document:
    return {name: value for name, value in document.items() if name != "crop"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"schema": 1, "crop": "bean"}', {"crops": ["bean"]}),
        ('{"schema": 2, "crop": "bean", "crops": ["pea"]}', {"crops": ["pea"]}),
        ('{"schema": 3, "crops": []}', {"crops": []}),
        ('{"crops": []}', {"crops": []}),
    ],
)
def test_migrations_follow_each_other(text: str, expected: Document) -> None:
    steps = (m002_crop_is_a_list, m003_crop_is_gone)
    assert migrations.document(text.encode(), Path("x.json"), "ingest", steps) == expected


@pytest.mark.parametrize(
    ("text", "fault", "told"),
    [
        ('{"schema": 4}', Refused, "x.json: schema 4 is newer than 3; update fieldtruth"),
        ('{"schema": 0}', BadRecord, "x.json: expected a schema from 1 to 3, got 0"),
        ('{"schema": true}', BadRecord, "expected a schema from 1 to 3, got True"),
        ('{"schema": "1"}', BadRecord, "expected a schema from 1 to 3, got '1'"),
        ("[]", BadRecord, "x.json: expected what `ingest` writes, got: "),
        ("{", BadRecord, "x.json: expected what `ingest` writes, got: "),
        ('{"a": "\\ud800"', BadRecord, "x.json: expected what `ingest` writes, got: "),
        ("[" * 100_000, BadRecord, "x.json: expected what `ingest` writes, got: "),
    ],
)
def test_documents_that_cannot_be_brought_on(text: str, fault: type[Fault], told: str) -> None:
    steps = (m002_crop_is_a_list, m003_crop_is_gone)
    with pytest.raises(fault) as caught:
        migrations.document(text.encode(), Path("x.json"), "ingest", steps)
    assert told in str(caught.value)


def test_the_names_of_migrations_are_in_order() -> None:
    assert not migrations.numbered((m003_crop_is_gone,))
    assert not migrations.numbered((m002_crop_is_a_list, m002_crop_is_a_list))
