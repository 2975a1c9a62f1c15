"""Any question-answer set by a mapping: what it may say, what rows become, what errors name."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sources.asked_releases import as_lines, as_list
from tests.sources.releases import photo

from fieldtruth.faults import BadRecord, Fault, Refused, Usage
from fieldtruth.records import Drop, Healthy, Record, Sample, Target
from fieldtruth.run import workspace
from fieldtruth.sources import vqa

PLAIN = """
[fields]
images = "image"
question = "question"
options = "options"
answer = "answer"
"""


def told(root: Path, mapping: str, rows: list[dict[str, Any]]) -> list[Sample | Drop]:
    root.mkdir(exist_ok=True)
    (root / "mapping.toml").write_text(mapping, encoding="utf-8")
    as_list(root / "rows.json", rows)
    return list(vqa.open_source({"photos": "optional"}).samples(root))


def routed(root: Path, question: str, answer: str, options: list[str] | None = None) -> Record:
    rows = [{"image": "a.jpg", "question": question, "answer": answer, "options": options}]
    [sample] = told(root, PLAIN, rows)
    if isinstance(sample, Drop):
        return sample
    [record] = vqa.SOURCE.label(sample)
    return record


SICK = "Is the leaf healthy? If not, what disease does it have?"


@pytest.mark.parametrize(
    ("question", "answer", "options", "said"),
    [
        ("What disease is on the tomato?", "Leaf Mold", None, ("disease", "leaf mold", "tomato")),
        ("What pest is it?", "A", ["cutworm", "thrips"], ("pest", "cutworm", None)),
        ("What is this?", "powdery mildew", None, ("disease", "powdery mildew", None)),
        ("What is this?", "an unknown beetle", None, ("pest", "unknown beetle", None)),
        (SICK, "No, it has scab", None, ("disease", "scab", None)),
        (SICK, "B", ["No, it has scab", "Yes"], "healthy"),
        (SICK, "Yes", None, "yes_no"),
        ("Is it?", "No", None, "yes_no"),
        ("What is the state of the leaf?", "healthy", None, "healthy"),
        ("What is the state of the leaf?", "unhealthy", None, "unclear"),
        ("How many mites?", "12", None, "count"),
        ("What is its width?", "12 mm", None, "measurement"),
        ("Where is the lesion?", "top left", None, "place"),
        ("What should I do?", "prune it", None, "action"),
        ("Why?", "It rained", None, "cause"),
        ("What plant is this?", "maple", None, "plant_id"),
        ("Tell me", "remove the old leaves and spray them with a fungicide", None, "action"),
        ("Tell me", "it has been raining for a week and they are brown", None, "sentence"),
        ("What disease?", "none", None, "names_nothing"),
        ("What disease?", "remove the leaves", None, "action"),
        ("What disease?", "Q", ["rust", "scab"], "bad_answer"),
        ("Hm", "something else", None, "unclear"),
    ],
)
def test_where_a_row_goes_by_its_words(
    tmp_path: Path, question: str, answer: str, options: list[str] | None, said: object
) -> None:
    record = routed(tmp_path, question, answer, options)
    if isinstance(record, Target):
        assert (record.kind, record.label, record.crop) == said
    else:
        assert (record.reason if isinstance(record, Drop) else "healthy") == said


def test_a_column_of_labels_goes_before_words(tmp_path: Path) -> None:
    mapping = '[fields]\nimages = ["i1", "i2"]\nlabel = "disease"\ncrop = "meta.plant"\n'
    rows: list[dict[str, Any]] = [
        {"i1": "a.jpg", "i2": "b.jpg", "disease": "Late_blight", "meta": {"plant": "Potatoes"}},
        {"i1": "c.jpg", "disease": "Tomato healthy", "meta": None},
        {"i1": "d.jpg", "disease": "unhealthy", "meta": {}},
        {"i1": "e.jpg", "disease": None},
        {"i1": "f.jpg", "disease": "healthy leaf with aphids"},
    ]
    samples = [row for row in told(tmp_path, mapping, rows) if isinstance(row, Sample)]
    assert samples[0].images == ("a.jpg", "b.jpg")
    first, second, third, fourth, fifth = (
        next(iter(vqa.SOURCE.label(sample))) for sample in samples
    )
    assert isinstance(first, Target)
    assert (first.label, first.crop, first.kind) == ("late blight", "potato", "disease")
    assert isinstance(second, Healthy)
    assert isinstance(third, Target)
    assert isinstance(fourth, Drop)
    assert fourth.reason == "names_nothing"
    assert isinstance(fifth, Drop)  # neither the one nor the other
    assert fifth.reason == "unclear"


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "parquet"])
def test_the_same_rows_in_every_form(tmp_path: Path, ending: str) -> None:
    rows = [{"name": "a b.jpg", "said": "rust", "from": 1}, {"name": "c.jpg", "said": "scab",
            "from": 2}]  # fmt: skip
    path = tmp_path / f"rows.{ending}"
    if ending == "json":
        as_list(path, rows)
    elif ending == "jsonl":
        as_lines(path, rows)
    elif ending == "csv":
        path.write_text("name,said,from\na b.jpg,rust,1\nc.jpg,scab,2\n", encoding="utf-8")
    else:
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(rows), path)
    mapping = 'ignore = ["from"]\n[fields]\nimages = "name"\nlabel = "said"\n'
    (tmp_path / "mapping.toml").write_text(mapping, encoding="utf-8")
    source = vqa.open_source({"photos": "optional"})
    found = [row for row in source.samples(tmp_path) if isinstance(row, Sample)]
    assert [(row.id, row.images) for row in found] == [
        (f"vqa:rows.{ending}:1", ("a b.jpg",)), (f"vqa:rows.{ending}:2", ("c.jpg",)),
    ]  # fmt: skip
    (tmp_path / "mapping.toml").write_text(mapping.split("\n", 1)[1], encoding="utf-8")
    with pytest.raises(BadRecord, match=rf"rows\.{ending}.*from"):
        list(source.samples(tmp_path))


@pytest.mark.parametrize(
    ("mapping", "fault", "says"),
    [
        ("[fields]\nimages = 'a'\n", Usage, "expected the field of the answer or of the label"),
        ("[fields]\nanswer = 'a'\n", Usage, "images"),
        ("[fields]\nimages = 'a'\nanswer = 'b'\nimage = 'c'\n", Usage, "unknown field `image`"),
        ("sep = 1\n[fields]\nimages = 'a'\nanswer = 'b'\n", Usage, "unknown field `sep`"),
        ("[fields]\nimages = 'a'\nanswer = 'b'\nkind = 'k'\n", Usage, r"expected \[kinds\]"),
        (
            "[fields]\nimages = 'a'\nanswer = 'b'\n[kinds]\nx = 'ill'\n",
            Usage,
            r"\[kinds\] 'x': expected one of disease",
        ),
        ("count_from = 2\n[fields]\nimages = 'a'\nanswer = 'b'\n", Usage, "count_from"),
        ("files = ['../*.json']\n[fields]\nimages = 'a'\nanswer = 'b'\n", Refused, r"step up"),
        ("files = ['*.txt']\n[fields]\nimages = 'a'\nanswer = 'b'\n", Usage, r"\*\.txt, got none"),
        ("[fields", Usage, "expected a mapping"),
    ],
)
def test_a_mapping_that_cannot_be_used(
    tmp_path: Path, mapping: str, fault: type[Fault], says: str
) -> None:
    with pytest.raises(fault, match=says):
        told(tmp_path, mapping, [])


def test_without_a_mapping_it_says_how_to_give_one(tmp_path: Path) -> None:
    """The mapping that it shows is one that reads a set of these three fields."""
    photo(tmp_path / "a.jpg")
    row = {"image": "a.jpg", "question": "What disease is this?", "answer": "Late blight"}
    as_list(tmp_path / "rows.json", [row])
    with pytest.raises(Usage, match=r"mapping\.toml: .*--source-args mapping=FILE\.toml") as told:
        list(vqa.SOURCE.samples(tmp_path))
    (tmp_path / "mapping.toml").write_text(str(told.value).partition("\n")[2])
    (sample,) = vqa.SOURCE.samples(tmp_path)
    assert isinstance(sample, Sample)
    assert (sample.images, sample.answer) == (("a.jpg",), "Late blight")


@pytest.mark.parametrize(
    ("start", "answer", "text"),
    [(0, 0, "rust"), (1, 2, "scab"), (1, 0, None), (0, 2, None), (None, "b)", "scab")],
)
def test_answers_that_count_the_options(
    tmp_path: Path, start: int | None, answer: object, text: str | None
) -> None:
    mapping = PLAIN if start is None else f"count_from = {start}\n{PLAIN}"
    row = {"image": "a.jpg", "question": "", "answer": answer, "options": ["rust", "scab"]}
    [found] = told(tmp_path, mapping, [row])
    if isinstance(found, Sample):
        assert found.answer == text
    else:
        assert (found.reason, text) == ("bad_answer", None)


def test_options_of_every_form(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"image": {"path": "a.jpg", "bytes": None}, "question": "", "answer": "A",
         "options": {"A": "rust", "B": "scab"}},
        {"image": [{"path": "a.jpg"}, "b.jpg"], "question": "", "answer": "rust", "options": None},
    ]  # fmt: skip
    first, second = told(tmp_path, PLAIN, rows)
    assert isinstance(first, Sample)
    assert isinstance(second, Sample)
    assert (first.answer, first.images, first.options) == ("rust", ("a.jpg",), ("rust", "scab"))
    assert (second.answer, second.images) == ("rust", ("a.jpg", "b.jpg"))
    mapping = PLAIN.replace('"options"', '["A", "B"]')
    row = {"image": "a.jpg", "question": "", "answer": "b", "A": "rust", "B": "scab"}
    [third] = told(tmp_path, mapping, [row])
    assert isinstance(third, Sample)
    assert third.answer == "scab"


def test_the_whole_road_from_the_command_line_words(tmp_path: Path) -> None:
    """The mapping lies elsewhere; `label` needs it no more."""
    root, mapping = tmp_path / "set", tmp_path / "mine.toml"
    rows = [{"image": f"{at}.jpg", "question": "What pest?", "answer": name, "options": None}
            for at, name in enumerate(("aphids", "12", "black cutworm"))]  # fmt: skip
    as_list(root / "rows.json", rows)
    mapping.write_text(PLAIN, encoding="utf-8")
    options = {"mapping": str(mapping), "photos": "optional", "licence": "CC0"}
    workspace.ingest("vqa", root, tmp_path / "work", options=options)
    mapping.unlink()
    books = workspace.label(tmp_path / "work")
    assert books.counts == {"rows": 3, "samples": 3, "targets": 2, "healthy": 0}
    assert (books.kinds, books.drops) == ({"pest": 2}, {"label: measurement": 1})
    lines = (tmp_path / "work/samples.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["licence"] for line in lines} == {"CC0"}
