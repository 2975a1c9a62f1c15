"""Tiny raw releases of question-answer sets, with every trap that their rows are known for."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.sources.releases import Release, photo

Row = Mapping[str, Any]


def as_list(path: Path, rows: Sequence[Row]) -> None:
    """One JSON list."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")


def as_lines(path: Path, rows: Sequence[Row]) -> None:
    """One JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def agromind_row(item: int, place: str | None, answer: object, **more: object) -> dict[str, Any]:
    row = {"question": "What is it?", "answer": answer, "item_id": item, "type_id": 1, **more}
    row |= {"level1_id": 2, "level2_id": 2, "level3_id": 1}
    return row | ({"image_path": place} if place else {})


LEAF_OPTIONS = {
    "A": "No, it has Leaf Mold Fungus", "B": "No, it has zeaemaydis Tehon and Daniels", "C": "Yes",
    "D": "No, it has dwarf mosaic virus", "E": "I cannot say",
}  # fmt: skip


def agromind(root: Path) -> Release:
    """A row for every way that one of AgroMind can go."""
    leaves = [
        agromind_row(1, "./Leaf_diseases/images/a b#1 - \u526f\u672c.jpg", "C"),
        agromind_row(2, "./Leaf_diseases/images/b.jpg", "A"),
        agromind_row(3, "./Leaf_diseases/images/c.jpg", "B"),
        agromind_row(4, "./Leaf_diseases/images/d.jpg", "D"),
        agromind_row(5, "./Leaf_diseases/images/e.jpg", "H"),
        agromind_row(6, "./Leaf_diseases/images/gone.jpg", "A"),
        agromind_row(7, "./../up.jpg", "A"),
        agromind_row(8, "./Leaf_diseases/images/f.jpg", "E"),
        agromind_row(2, "./Leaf_diseases/images/g.jpg", "A"),
        agromind_row(2, "./Leaf_diseases/images/b.jpg", "A"),
        {"question": 5, "answer": "A", "item_id": 9},
    ]
    for row in leaves:
        row["options"] = LEAF_OPTIONS
    tree = {"A": "Dead", "B": "Healthy"}
    pests = [f"./Pest/JPEGImages/{at}.jpg" for at in (2, 3)]
    advice = "Recommended treatment measures:\n1. Prune. 2. Spray."
    corn = "Plant_Disease/Corn_(maize)___Common_rust_/x.JPG"
    tasks: dict[str, list[dict[str, Any]]] = {
        "Object Understanding/PDD_2_2_1": leaves,
        "Object Understanding/PDD_2_2_2": [
            agromind_row(1, "s/1.jpg", "A", options={"A": "healthy", "B": "serious"}),
            agromind_row(2, "s/2.jpg", "B", options={"A": "healthy", "B": "serious"}),
            agromind_row(3, "s/3.jpg", "A", options={"A": "who knows"}),
        ],
        "Object Understanding/GSR_2_3_1": [agromind_row(1, "o/1.jpg", "B", options=tree)],
        "Object Understanding/OC_2_1_2": [agromind_row(1, "f/1.jpg", "A", options={"A": "Mango"})],
        "Object Understanding/OC_2_1_3": [
            agromind_row(1, "p/1.jpg", "A", options={"A": "black cutworm", "B": "thrips"})
        ],
        "Object Understanding/OC_2_1_4": [agromind_row(1, "p/2.jpg", "No")],
        "Scene Reasoning/AR_4_2_2": [
            agromind_row(1, None, "A", options=dict(zip("AB", pests, strict=True)))
        ],
        "Scene Reasoning/CTR_4_3_1": [agromind_row(1, "t/1.jpg", "A", options={"A": "Arctic"})],
        "Scene Reasoning/PL_4_4_4": [agromind_row(1, "w/1.jpg", "A", options={"A": " None"})],
        "Scene Reasoning/VPR_4_1_3": [
            agromind_row(1, corn, f"The Corn_(maize) is affected by Common rust. {advice}"),
            agromind_row(2, "Plant_Disease/Apple___healthy/y.JPG", "The Apple is healthy."),
            agromind_row(3, "Plant_Disease/Apple___scab/z.JPG", advice),
        ],
        "Scene Understanding/AS_3_3_1": [agromind_row(1, "t/2.jpg", "A", options={"A": "0-10%"})],
        "Scene Understanding/CO_3_2_7": [agromind_row(1, "o/2.jpg", "A", options={"A": 71})],
        "Scene Understanding/SC_3_1_5": [
            agromind_row(1, None, 0, image1="./corn/1.jpg", image2="./corn/2.jpg"),
            agromind_row(2, None, 4),
        ],
        "Spatial Perception/BD_1_3_1": [agromind_row(1, "r/1.png", [0.0, 0.0, 1.0, 0.446])],
        "Spatial Perception/SL_1_1_1": [agromind_row(1, "t/3.jpg", "A", options={"A": "Left"})],
        "Spatial Perception/SL_1_1_2": [
            agromind_row(1, "a/1.jpg", "G", options={"G": "No anomaly"}, image_id="1")
        ],
    }
    ids: list[str] = []
    for task, rows in tasks.items():
        as_list(root / f"{task}.json", rows)
        stem = task.rpartition("/")[2]
        ids += [f"{stem}:{row['item_id']}" for row in rows]
        for row in rows:
            options = row.get("options", {}).values() if stem == "AR_4_2_2" else ()
            for place in (row.get("image_path"), row.get("image1"), row.get("image2"), *options):
                if place and "gone" not in place and ".." not in place:
                    photo(root / place)
    first = ids[:8]
    again = ["PDD_2_2_1:2#PDD_2_2_1:9", "PDD_2_2_1:2#PDD_2_2_1:10", "PDD_2_2_1:row 11"]
    return Release(
        root=root,
        rows=frozenset(f"agromind:{name}" for name in (*first, *again, *ids[11:])),
        fates={
            "no_boxes": 6, "healthy": 3, "bad_answer": 1, "no_photo": 2, "unsafe_path": 1,
            "names_nothing": 3, "listed_twice": 1, "bad_row": 1, "grade": 1, "aerial": 2,
            "plant_id": 1, "yes_no": 1, "picks_image": 1, "scene": 1, "action": 1, "measurement": 1,
            "count": 2, "coordinates": 1, "place": 1,
        },
    )  # fmt: skip


def mirage_row(name: str, category: str | None, entity: str | None, ask: str) -> dict[str, Any]:
    return {
        "id": name, "question": ask, "answer": "A long reply.", "category": category,
        "images": [f"../sample_images/{name}_0.jpg"], "entity_name": entity, "entity_type": None,
        "entity_common_names": [],
    }  # fmt: skip


def mirage(root: Path) -> Release:
    """A row for every way that one of MIRAGE can go."""
    disease, pest = "Plant Disease Identification", "Insect and Pest Identification"
    standard = [
        mirage_row("#1", disease, "Dahlia Mosaic Virus", "What ails my dahlias?"),
        mirage_row("#2", pest, "Hibiscus Sawfly", "Beetles on the hibiscus, orange spots too"),
        mirage_row("#3", pest, "Japanese Beetle", "Which beetle? Instead of steam I use oil."),
        mirage_row("#4", disease, None, "What is it?"),
        mirage_row("#5", None, "scab", "What is it?"),
        mirage_row("#6", "Plant Identification", "canada goldenrod", "What is it?"),
        mirage_row("#7", "Plant Disease Management", "powdery mildew", "What can I do?"),
        mirage_row("#8", disease, "scab", "What is it?"),
        mirage_row("#9", disease, "scab", "What is it?") | {"images": ["../.."]},
        mirage_row("#10", disease, "scab", "What is it?") | {"images": None},
        mirage_row("#1", disease, "Dahlia Mosaic Virus", "What ails my dahlias?"),
        {"id": "#11", "images": 5},
    ]
    two = mirage_row("#12", disease, "iron deficiency", "Why yellow?")
    two["images"].append("../sample_images/#12_1.jpg")
    as_list(root / "mmst_standard.json", standard)
    as_lines(root / "mmst_contextual.json", [two | {"location_related": True}])
    talk = {
        "id": "#20", "dialog_context": "user: ...\nexpert: ...", "decision": "<Clarify>",
        "utterance": "Could you?", "images": ["./images/#20_0.jpg"], "dialog_turns": 3,
    }  # fmt: skip
    as_list(root / "mmmt_direct_test.json", [talk, talk | {"dialog_turns": 5}])
    as_list(root / "mmmt_decomp_test.json", [talk | {"known_goal": ["a"], "missing_goal": []}])
    places = [f"sample_images/#{at}_0.jpg" for at in (*range(1, 8), 12)]
    for place in (*places, "sample_images/#12_1.jpg", "images/#20_0.jpg"):
        photo(root / place)
    own = [f"mmst_standard:{at}" for at in range(1, 11)]
    others = (
        "mmst_standard:1#mmst_standard:11", "mmst_standard:row 12", "mmst_contextual:12",
        "mmmt_direct_test:20", "mmmt_direct_test:20#mmmt_direct_test:2", "mmmt_decomp_test:20",
    )  # fmt: skip
    return Release(
        root=root,
        rows=frozenset(f"mirage:{name}" for name in (*own, *others)),
        fates={
            "no_boxes": 4, "names_nothing": 1, "unknown_category": 1, "plant_id": 1, "action": 1,
            "no_photo": 2, "unsafe_path": 1, "listed_twice": 2, "bad_row": 1, "dialogue": 2,
        },
    )  # fmt: skip


def agmmu_row(
    faq: int, qtype: str, answer: str, plant: str = "none", **more: Any
) -> dict[str, Any]:
    """A nested row whose right option is `B`."""
    made = {
        "question": "What is it?", "options": ["leaf rust", answer, "frost", "nothing"],
        "answer": answer, "question_background": "location: X\n", "letter": "B.",
    }  # fmt: skip
    return {
        "faq-id": faq, "title": "Help", "created": "2020", "updated": "2020", "state": "X",
        "county": "Y", "tags": ["a"], "attachments": {"-1": "https://example.org/1"},
        "question": "What ails it?", "answer": [{"expert": "..."}], "species": "", "category": "",
        "qa_information": {
            "disease/issue identification": answer, "insect/pest": [], "species": plant,
            "image description": ["a"], "management instructions": [], "background info": "",
        },
        "agmmu_question": made, "qtype": qtype,
        "llm_answers": {"m-oeq": {"answer": "..."}, "m-mcq": {"answer": "A"}},
    } | more  # fmt: skip


def agmmu(root: Path) -> Release:
    """A row for every way that one of AgMMU can go."""
    disease, pest = "disease/issue identification", "insect/pest"
    look, treat = "symptom/visual description", "management instructions"
    wrong = agmmu_row(12, disease, "black spot")
    wrong["agmmu_question"]["letter"] = "A."
    rows = [
        agmmu_row(1, disease, "black spot", "rose"),
        agmmu_row(2, disease, "drought stress"),
        agmmu_row(3, pest, "bagworms", "arborvitae"),
        agmmu_row(4, "species", "japanese beetle"),
        agmmu_row(5, "species", "red maple"),
        agmmu_row(6, treat, "cut back the canes"),
        agmmu_row(7, look, "brown leaf tips", "fig"),
        agmmu_row(8, look, "leaf tips are brown, new leaves curl and drop"),
        agmmu_row(9, disease, "None"),
        agmmu_row(10, "weather", "rain"),
        agmmu_row(11, disease, "black spot", "rose"),  # its photo is gone
        wrong,
        agmmu_row(13, disease, "scab") | {"agmmu_question": None},
        {"faq-id": 14, "qtype": 3},
        agmmu_row(1, treat, "remove the leaves", "rose"),  # a second question of one talk
        agmmu_row(9, disease, "None"),  # the same row again
    ]
    as_list(root / "agmmu_eval.json", rows)
    for at in (*range(1, 11), 12, 13):
        photo(root / f"images/{at}-1.jpg")
    again = ("1#agmmu_eval:15", "9#agmmu_eval:16")
    return Release(
        root=root,
        rows=frozenset(
            f"agmmu:{name}" for name in (*range(1, 14), "agmmu_eval:row 14", *again)
        ),
        fates={
            "no_boxes": 5, "plant_id": 1, "action": 2, "sentence": 1, "names_nothing": 1,
            "unknown_qtype": 1, "no_photo": 1, "bad_answer": 1, "no_question": 1, "bad_row": 1,
            "listed_twice": 1,
        },
    )  # fmt: skip


VQA_MAPPING = """
files = ["data/*.jsonl", "data/*.csv"]
photos = "photos"
licence = "CC BY 4.0"
list_mark = ";"
ignore = ["created"]

[fields]
id = "question_id"
images = "image"
question = "question"
options = "options"
answer = "answer"
kind = "type"
crop = "meta.crop"
split = "split"

[kinds]
"leaf disease" = "disease"
"well" = "healthy"
"how many" = "count"
"""


def vqa(root: Path) -> Release:
    """Rows told by their kind, in JSON lines and in a table."""

    def row(name: object, kind: str | None, answer: object, **more: object) -> dict[str, Any]:
        return {"question_id": name, "image": f"{name}.jpg", "question": "What?", "answer": answer,
                "type": kind, "created": "2020", "split": "train", **more}  # fmt: skip

    as_lines(
        root / "data/a.jsonl",
        [
            row(1, "leaf disease", "B", options=["rust", "scab"], meta={"crop": "Apple"}),
            row(2, "well", "yes"),
            row(3, "how many", 7),
            row(4, "strange", "rust"),
            row(5, None, "rust"),
            row(6, "leaf disease", "none"),
            row(7, "leaf disease", "Z", options=["rust", "scab"]),
            row(8, "leaf disease", "rust", image="gone.jpg"),
            row(9, "leaf disease", "rust", image="../up.jpg"),
            row(10, "leaf disease", "rust", image=""),
            row(11, "leaf disease", ["a", "b"]),
            row(2, "well", "yes"),
            row(2, "well", "yes", image="12.jpg"),
        ],
    )
    with (root / "data/a.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"question_id": 14, "im')
    (root / "data/b.csv").write_text(
        "question_id,image,question,answer,type,split\n"
        "20,20.jpg;21.jpg,What?,rust,leaf disease,val\n"
        "22,22.jpg,What?\n",
        encoding="utf-8",
    )
    (root / "mapping.toml").write_text(VQA_MAPPING, encoding="utf-8")
    for at in (*range(1, 8), 11, 12, 20, 21):
        photo(root / f"photos/{at}.jpg")
    own = (*range(1, 12), 20)
    others = ("2#data/a.jsonl:12", "2#data/a.jsonl:13", "data/a.jsonl:14", "data/b.csv:2")
    return Release(
        root=root,
        rows=frozenset(f"vqa:{name}" for name in (*own, *others)),
        fates={
            "no_boxes": 2, "healthy": 2, "count": 1, "unknown_kind": 2, "names_nothing": 1,
            "bad_answer": 1, "no_photo": 2, "unsafe_path": 1, "bad_row": 3, "listed_twice": 1,
        },
        licences=frozenset({"CC BY 4.0"}),
    )  # fmt: skip


RELEASES: dict[str, Callable[[Path], Release]] = {
    "agmmu": agmmu,
    "agromind": agromind,
    "mirage": mirage,
    "vqa": vqa,
}
