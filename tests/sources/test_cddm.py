"""CDDM: the folder gives crop and spelling, and only what an answer affirms is a target."""

import json
from pathlib import Path

import pytest
from tests.sources.asked_more import cddm, cddm_row, turns
from tests.sources.asked_releases import as_list
from tests.sources.releases import photo

from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import Drop, Healthy, Sample, Target
from fieldtruth.run import workspace
from fieldtruth.sources.cddm import SOURCE, open_source, place_of
from fieldtruth.sources.cddm.answers import asks
from fieldtruth.sources.cddm.classes import read_folder

LEAF_MOLD, RUST = "Tomato,Leaf Mold", "Apple,Cedar-Apple Rust"
OTHERS = (  # this leaf has leaf mold; it has no leaf mold; half in English; powdery mildew
    "\u8fd9\u7247\u53f6\u60a3\u6709\u53f6\u9709\u75c5\u3002",
    "\u8fd9\u7247\u53f6\u6ca1\u6709\u60a3\u53f6\u9709\u75c5\u3002",
    "This leaf is affected by \u53f6\u9709\u75c5.",
    "\u041c\u0443\u0447\u043d\u0438\u0441\u0442\u0430\u044f \u0440\u043e\u0441\u0430",
)


def label(folder: str, question: str, answer: str) -> Target | Healthy | Drop:
    (record,) = SOURCE.label(
        Sample(
            id="cddm:q", source="cddm", images=(f"dataset/images/{folder}/p.jpg",),
            question=question, answer=answer, licence="not stated",
        )
    )  # fmt: skip
    return record


@pytest.mark.parametrize(
    ("folder", "answer", "crop", "name"),
    [
        (LEAF_MOLD, "This tomato leaf is affected by Leaf Mold.", "tomato", "leaf mold"),
        (LEAF_MOLD, "The plant is affected by a leaf mold disease.", "tomato", "leaf mold"),
        (LEAF_MOLD, "Leaf mould", "tomato", "leaf mold"),
        (LEAF_MOLD, "There is no doubt that this is Leaf Mold.", "tomato", "leaf mold"),
        (LEAF_MOLD, "Without doubt Leaf Mold.", "tomato", "leaf mold"),
        (LEAF_MOLD, "Leaf Mold is not the only problem of humid houses.", "tomato", "leaf mold"),
        (LEAF_MOLD, "This leaf has yellow spots and Leaf Mold.", "tomato", "leaf mold"),
        (LEAF_MOLD, "It is not only Leaf Mold that is seen.", "tomato", "leaf mold"),
        (LEAF_MOLD, "It has Leaf Mold, which spreads in humid air, and yellow spots.", "tomato",
         "leaf mold"),
        (LEAF_MOLD, "This is not a healthy leaf: it has Leaf Mold.", "tomato", "leaf mold"),
        (LEAF_MOLD, "It isn't infected by Early Blight but by Leaf Mold.", "tomato", "leaf mold"),
        ("Tomato,Late Blight", "No, it is not affected by Early Blight, it has Late Blight.",
         "tomato", "late blight"),
        (RUST, "This is an apple leaf infected with Cedar-Apple Rust.", "apple",
         "cedar apple rust"),
        ("Apple,Cedar Apple Rust", "It exhibits symptoms of Cedar-Apple Rust.", "apple",
         "cedar apple rust"),
        ("Corn,Cercospora Leaf Spot (Gray Leaf Spot)", "It has Grey Leaf Spot.", "maize",
         "gray leaf spot"),
        ("Tomato,Target Spot 2", "The leaf is affected by Target Spot 2.", "tomato",
         "target spot 2"),
        ("Apple,Stewart's Wilt", "It is affected by Stewart\u2019s Wilt.", "apple",
         "stewarts wilt"),
        ("Apple,Scab", "No, it is not healthy; it has apple scab.", "apple", "scab"),
        ("Apple,Grey Spot", "The leaf exhibits symptoms of Gray Spot", "apple", "gray spot"),
        ("\u5c0f\u9ea6\u53f6\u9508\u75c5", "This wheat leaf is affected by Leaf Rust.", "wheat",
         "leaf rust"),
        ("\u7389\u7c73\u9508\u75c5", "This corn leaf has rust.", "maize", "rust"),
        # Folders that say nothing: then the answer gives the spelling.
        ("\u602a\u75c5", "This wheat leaf is affected by Leaf Rust.", "wheat", "leaf rust"),
        # Either part in either language, with either comma; what is not known says nothing.
        ("\u82f9\u679c,Scab", "This apple leaf has scab.", "apple", "scab"),
        ("Wheat,\u53f6\u9508\u75c5", "It is affected by Leaf Rust.", "wheat", "leaf rust"),
        ("\u5c0f\u9ea6\uff0c\u53f6\u9508\u75c5", "It has leaf rust.", "wheat", "leaf rust"),
        ("Wheat,\u602a\u75c5", "It is affected by Leaf Rust.", "wheat", "leaf rust"),
        ("\u602a,Leaf Rust", "It is affected by Leaf Rust.", None, "leaf rust"),
        (LEAF_MOLD, "This \u756a\u8304 leaf is affected by Leaf Mold.", "tomato", "leaf mold"),
    ],
)  # fmt: skip
def test_what_an_answer_affirms_is_a_target(
    folder: str, answer: str, crop: str | None, name: str
) -> None:
    record = label(folder, "What is this?", answer)
    assert isinstance(record, Target)
    assert (record.crop, record.label, record.kind) == (crop, name, "disease")


@pytest.mark.parametrize(
    ("folder", "question", "answer", "reason"),
    [
        (LEAF_MOLD, "Is it ill?", "This leaf is not affected by Leaf Mold.", "contradicts_folder"),
        (LEAF_MOLD, "Is it?", "It doesn't have Leaf Mold", "contradicts_folder"),
        (LEAF_MOLD, "Is it?", "It is free of Leaf Mold.", "contradicts_folder"),
        *((LEAF_MOLD, "What is it?", denied, "contradicts_folder") for denied in (
            "Leaf Mold is absent.", "Leaf Mold is not present on this leaf.",
            "Leaf Mold was not found.", "The leaf has no disease, Leaf Mold is ruled out.",
            "It is unlikely to be Leaf Mold.", "This is anything but Leaf Mold",
            "Leaf mold isn\u2019t seen here.", "It is doubtful that this is Leaf Mold.",
            "Leaf Mold is most unlikely.",
        )),
        (LEAF_MOLD, "What is it?", "It is affected by Late Blight and Leaf Mold.",
         "several_things"),
        ("Apple,Healthy", "What now?", "To keep healthy, water it regularly.", "management"),
        (LEAF_MOLD, "What is it?", "The leaf has Late Blight.", "contradicts_folder"),
        (LEAF_MOLD, "What is it?", "Late Blight", "contradicts_folder"),
        (LEAF_MOLD, "Is it healthy?", "Yes, this tomato leaf is healthy.", "contradicts_folder"),
        ("Apple,Healthy", "Is it ill?", "This apple leaf has Scab.", "contradicts_folder"),
        ("Apple,Blight", "Is it ill?", "It has Late Blight", "contradicts_folder"),
        (LEAF_MOLD, "Is it ill?", "It could be Leaf Mold or Late Blight.", "several_things"),
        (LEAF_MOLD, "Is it Leaf Mold?", "Yes.", "yes_no"),
        (LEAF_MOLD, "Is it healthy?", "No, this tomato leaf is unhealthy.", "yes_no"),
        ("Apple,Healthy", "Is it healthy?", "No, this leaf is abnormal.", "yes_no"),
        (LEAF_MOLD, "Is it from a vine?", "No, this is a tomato leaf.", "plant_id"),
        (LEAF_MOLD, "What crop is this?", "Tomato.", "plant_id"),
        ("Apple,Healthy", "What is this?", "This is an apple leaf.", "plant_id"),
        (LEAF_MOLD, "What measures can be taken to control Leaf Mold?", "(1) Select resistant "
         "varieties (2) spray", "management"),
        (LEAF_MOLD, "Which fungicide works?", "Copper works against Leaf Mold.", "management"),
        (LEAF_MOLD, "Tell me more.", "To control Leaf Mold, spray copper.", "management"),
        (LEAF_MOLD, "What causes Leaf Mold?", "Leaf Mold is caused by a fungus.", "cause"),
        (LEAF_MOLD, "How many leaves?", "3", "measurement"),
        (LEAF_MOLD, "What is it?", "unknown", "vacuous"),
        (LEAF_MOLD, "What is it?", "", "vacuous"),
        (LEAF_MOLD, "What is seen?", "Small yellow spots that turn brown.", "names_nothing"),
        (LEAF_MOLD, "What is seen?", "This is not a healthy leaf.", "names_nothing"),
        *((LEAF_MOLD, "What is it?", answer, "other_language") for answer in OTHERS),
        (LEAF_MOLD, "\u600e\u4e48\u9632\u6cbb?", OTHERS[0], "other_language"),
        (LEAF_MOLD, "What is it?", "5 \u00b0C", "measurement"),
        (LEAF_MOLD, "What is seen?", "Caf\u00e9-brown spots on the leaf edges.", "names_nothing"),
    ],
)  # fmt: skip
def test_what_it_denies_or_leaves_open_is_a_drop(
    folder: str, question: str, answer: str, reason: str
) -> None:
    record = label(folder, question, answer)
    assert isinstance(record, Drop)
    assert record.reason == reason


@pytest.mark.parametrize(
    ("folder", "answer", "crop"),
    [
        ("Apple,Healthy", "Yes, this is a healthy apple leaf.", "apple"),
        ("Corn,Healthy", "This image shows a healthy corn leaf.", "maize"),
        ("Apple,Healthy", "This apple leaf has no disease.", "apple"),
        ("\u5c0f\u9ea6\u5065\u5eb7", "This image shows a healthy wheat leaf.", "wheat"),
    ],
)
def test_healthy_photos_keep_their_crop(folder: str, answer: str, crop: str) -> None:
    record = label(folder, "What is it?", answer)
    assert isinstance(record, Healthy)
    assert record.crop == crop


def test_a_question_for_the_name_and_the_cure_is_one_for_the_name() -> None:
    question = "What is wrong with it, and how do I treat it?"
    assert asks(question) is None
    record = label(LEAF_MOLD, question, "This leaf is affected by Leaf Mold. Remove it.")
    assert isinstance(record, Target)


def test_a_pest_is_a_pest() -> None:
    record = label("Tomato,Spider Mites", "What is it?", "It is infested with spider mites.")
    assert isinstance(record, Target)
    assert (record.kind, record.label) == ("pest", "spider mite")


def test_no_word_within_a_word_is_a_crop_or_a_name() -> None:
    assert read_folder("Tomato,Scab").crop == "tomato"
    record = label("Apple,Scab", "What is it?", "A scabby beetle on an orange spot.")
    assert isinstance(record, Drop)


def test_where_the_authors_kept_the_photos() -> None:
    old = "/home/jovyan/liuxiang/LLaVA/Qwen-VL/image_en_eccv/Apple,Scab/a.jpg"
    assert place_of(old) == place_of("/dataset/images/Apple,Scab/a.jpg")
    assert place_of("./dataset/images/Apple,Scab/a.jpg") == "dataset/images/Apple,Scab/a.jpg"


def test_an_unknown_field_names_file_row_and_field(tmp_path: Path) -> None:
    as_list(tmp_path / "dataset/VQA/a.json", [cddm_row("t1"), cddm_row("t2", colour="red")])
    with pytest.raises(BadRecord, match=r"a\.json: row 2: .* unknown field `colour`"):
        list(SOURCE.samples(tmp_path))


@pytest.mark.parametrize(
    "text", ["{}", "", "[{]", '[{"question_id": "a"', '[{"question_id": NaN}]']
)
def test_a_file_that_is_no_list_is_one_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "dataset/VQA/a.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(BadRecord, match=r"a\.json: .*expected a JSON list of rows"):
        list(SOURCE.samples(tmp_path))


def test_no_questions_is_a_matter_of_usage(tmp_path: Path) -> None:
    with pytest.raises(Usage, match=r"expected dataset/VQA/\*\*/\*\.json, got none"):
        list(SOURCE.samples(tmp_path))


def test_photos_that_lead_out_are_refused(tmp_path: Path) -> None:
    as_list(tmp_path / "root/dataset/VQA/a.json", [cddm_row("t1")])
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "root/dataset/images").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="leads out of it"):
        list(SOURCE.samples(tmp_path / "root"))


def test_the_whole_road_with_its_books(tmp_path: Path) -> None:
    release = cddm(tmp_path / "raw")
    workspace.ingest("cddm", release.root, tmp_path / "out")
    books = workspace.label(tmp_path / "out")
    assert books.counts == {"rows": 21, "samples": 14, "targets": 6, "healthy": 1}
    lines = [
        json.loads(line)
        for name in ("targets", "healthy", "drops")
        for line in (tmp_path / f"out/{name}.jsonl").read_text().splitlines()
    ]
    assert sorted(line["sample"] for line in lines) == sorted(release.rows)
    assert sum(books.drops.values()) == 21 - 7
    splits = {
        line["id"]: line["native"].get("split")
        for line in (
            json.loads(line) for line in (tmp_path / "out/samples.jsonl").read_text().splitlines()
        )
    }
    assert (splits["cddm:t1"], splits["cddm:conv_1"]) == ("test", "train")


def test_all_photos_of_a_conversation_are_kept(tmp_path: Path) -> None:
    places = [f"/dataset/images/{LEAF_MOLD}/{at}.jpg" for at in (1, 2)]
    for place in places:
        photo(tmp_path / place[1:])
    images = "".join(f"Picture {at}: <img>{p}</img>\n" for at, p in enumerate(places, start=1))
    said = turns(f"{images}What is it?", "Leaf Mold.", asker="user", replier="assistant")
    as_list(tmp_path / "dataset/VQA/a.json", [{"id": "c", "conversations": said}])
    (sample,) = SOURCE.samples(tmp_path)
    assert isinstance(sample, Sample)
    assert sample.images == tuple(place[1:] for place in places)
    assert (sample.question, sample.native.get("split")) == ("What is it?", None)


def test_photos_may_be_fetched_later(tmp_path: Path) -> None:
    as_list(tmp_path / "dataset/VQA/a.json", [cddm_row("t1"), cddm_row("t2", image="/etc/passwd")])
    later = list(open_source({"photos": "optional"}).samples(tmp_path))
    assert [type(row) for row in later] == [Sample, Drop]
    assert [row.reason for row in SOURCE.samples(tmp_path) if isinstance(row, Drop)] == [
        "no_photo", "unsafe_path",
    ]  # fmt: skip


def test_rows_are_read_alike_among_common_ones_and_beside_an_odd_one(tmp_path: Path) -> None:
    photo(tmp_path / f"dataset/images/{LEAF_MOLD}/t1.jpg")
    place = f"/dataset/images/{LEAF_MOLD}/t1.jpg"
    common = [
        cddm_row("t1", place, question_id=name, question=question)
        for name, question in (("a", "1"), ("b", "1"), ("a", "1"), ("a", "2"), ("b", "1"))
    ]
    odd = {"question_id": "c", "question": "", "image": place, "answer": ""}
    made = []
    for rows in (common, [*common, odd]):
        as_list(tmp_path / "dataset/VQA/a.json", rows)
        made.append(list(SOURCE.samples(tmp_path)))
    assert [row.id if isinstance(row, Sample) else (row.id, row.reason) for row in made[0]] == [
        "cddm:a", "cddm:b", ("cddm:a#a.json:3:ingest", "listed_twice"), "cddm:a#a.json:4",
        ("cddm:b#a.json:5:ingest", "listed_twice"),
    ]  # fmt: skip
    assert made[1][:-1] == made[0]
    assert made[1][-1].id == "cddm:a.json:6:ingest"


def test_ids_that_come_again_are_told_over_files_turns_and_rows_without_one(
    tmp_path: Path,
) -> None:
    photo(tmp_path / f"dataset/images/{LEAF_MOLD}/t1.jpg")
    place = f"/dataset/images/{LEAF_MOLD}/t1.jpg"
    said = turns("What is it?", "Leaf Mold.") + turns("What else?", "Nothing.")
    files = {
        "a": [*(cddm_row("t1", place, question_id=name) for name in ("a", "b", "", "a"))],
        "b": [
            {"id": "c", "image": place, "conversations": said},
            *(cddm_row("t1", place, question_id=name) for name in ("a", "c:2", "a.json:3", "d")),
        ],
        "c": [cddm_row("t1", place, question_id=name) for name in ("e", "f")],
    }
    for name, rows in files.items():
        as_list(tmp_path / f"dataset/VQA/{name}.json", rows)
    made = [(row.id, isinstance(row, Sample)) for row in SOURCE.samples(tmp_path)]
    assert made == [
        ("cddm:a", True), ("cddm:b", True), ("cddm:a.json:3", True),
        ("cddm:a#a.json:4:ingest", False), ("cddm:c:1", True), ("cddm:c:2", True),
        ("cddm:a#b.json:2:ingest", False), ("cddm:c:2#b.json:3", True),
        ("cddm:a.json:3#b.json:4:ingest", False), ("cddm:d", True), ("cddm:e", True),
        ("cddm:f", True),
    ]  # fmt: skip


def test_an_id_of_nought_is_an_id(tmp_path: Path) -> None:
    photo(tmp_path / "dataset/images/Tomato,Leaf Mold/t1.jpg")
    rows = [
        cddm_row("t1", question_id=number, answer=f"{number} spots of Leaf Mold.")
        for number in range(3)
    ]
    as_list(tmp_path / "dataset/VQA/t.json", rows)
    assert [each.id for each in SOURCE.samples(tmp_path)] == ["cddm:0", "cddm:1", "cddm:2"]
