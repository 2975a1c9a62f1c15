"""Tiny raw releases of CDDM, LeafNet, LeafBench, AgroCoT and AgroBench, with each known trap."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.sources.asked_releases import as_lines, as_list
from tests.sources.releases import Release, photo

ANSWERS = {  # question_id -> folder, question, answer
    "t1": ("Tomato,Leaf Mold", "What is this?", "This tomato leaf is affected by Leaf Mold."),
    "t2": ("Apple,Cedar-Apple Rust", "What?", "The leaf is infected with Cedar-Apple Rust."),
    "h1": ("Apple,Healthy", "What is shown?", "This image shows a healthy apple leaf."),
    "p1": ("Apple,Healthy", "Is this leaf from a grapevine?", "No, this is an apple leaf."),
    "m1": ("Tomato,Leaf Mold", "What measures control Leaf Mold?", "(1) Air. (2) Remove leaves."),
    "y1": ("Tomato,Leaf Mold", "Is this Leaf Mold?", "Yes."),
    "n1": ("Tomato,Leaf Mold", "Is it ill?", "Small yellow spots."),
    "c1": ("Tomato,Leaf Mold", "What is it?", "This leaf is affected by Late Blight."),
    "z1": (
        "Tomato,Leaf Mold",
        "What is it?",
        "\u8fd9\u662f\u53f6\u9709\u75c5\u3002",
    ),  # this is leaf mold
}


def cddm_row(name: str, place: str | None = None, **more: object) -> dict[str, Any]:
    folder, question, answer = ANSWERS[name]
    image = place or f"/dataset/images/{folder}/{name}.jpg"
    return {
        "question_id": name, "question": question, "image": image, "answer": answer, **more
    }  # fmt: skip


def turns(*said: str, asker: str = "human", replier: str = "gpt") -> list[dict[str, str]]:
    return [{"from": (asker, replier)[at % 2], "value": text} for at, text in enumerate(said)]


def cddm(root: Path) -> Release:
    """The two test files, and the training file in both of its forms."""
    for name, (folder, _, _) in ANSWERS.items():
        photo(root / f"dataset/images/{folder}/{name}.jpg")
    old = "/home/jovyan/liuxiang/LLaVA/Qwen-VL/image_en_eccv/Tomato,Leaf Mold/t1.jpg"
    rows = [cddm_row(name) for name in ANSWERS]
    rows += [
        cddm_row("t1", question_id="t9", image=old),
        cddm_row("t1", question_id="gone", image="/dataset/images/Tomato,Leaf Mold/gone.jpg"),
        cddm_row("t1", question_id="up", image="/dataset/../../etc/passwd"),
        cddm_row("t1", question_id="null", answer=None),
        cddm_row("t1"),  # again, word for word
        cddm_row("t1", question="And this?"),  # another question under the same id
        {"question_id": 7, "image": "/dataset/images/Tomato,Leaf Mold/t1.jpg", "answer": "x"},
    ]
    as_list(root / "dataset/VQA/test/disease_diagnosis.json", rows)
    image = "/dataset/images/Tomato,Leaf Mold/t1.jpg"
    ask, reply = "What is wrong here?", "The leaf has Leaf Mold."
    llava = [
        {"id": "conv_1", "image": image, "conversations": turns(f"<image>\n{ask}", reply)},
        {"id": "conv_2", "image": image,
         "conversations": turns(f"<image>\n{ask}", reply, "Is it healthy?", "No.")},
        {"id": "conv_3", "image": image, "conversations": turns("<image>\nWhat?")},
    ]  # fmt: skip
    qwen = [
        {"id": "conv_1", "conversations": turns(f"Picture 1: <img>{image}</img>\n{ask}", reply,
                                                asker="user", replier="assistant")},
    ]  # fmt: skip
    as_list(root / "dataset/VQA/train_llava.json", llava)
    as_list(root / "dataset/VQA/train_qwenvl.json", qwen)
    own = (*ANSWERS, "t9", "gone", "up", "conv_1", "conv_2:1", "conv_2:2")
    test = "test/disease_diagnosis.json"
    lost = (f"t1#{test}:14", f"t1#{test}:15", f"{test}:13", f"{test}:16", "train_llava.json:3",
            "conv_1#train_qwenvl.json:1")  # fmt: skip
    return Release(
        root=root,
        rows=frozenset(f"cddm:{name}" for name in (*own, *lost)),
        fates={
            "no_boxes": 6, "healthy": 1, "plant_id": 1, "management": 1, "yes_no": 2,
            "names_nothing": 1, "contradicts_folder": 1, "no_photo": 1, "unsafe_path": 1,
            "bad_row": 3, "listed_twice": 2, "other_language": 1,
        },
    )  # fmt: skip


CAPTIONS = {
    1: "a image of Cassava leaves diseased by Green Mite with symptoms of pale specks",
    2: "a image of Apple leaves, diseased by Healthy Leaves, with symptoms of green tissue",
    3: "a image of Corn (maize) leaves, diseased by Cedar-Apple Rust 2, with symptoms of\nspots",
    4: "a image of healthy Grape leaves",
    5: "a image of Apple leaves, diseased by Scab, with symptoms of spots on healthy tissue",
    6: "a photograph in the field",
    7: "a image of unhealthy Grape leaves",
}


def leafnet(root: Path) -> Release:
    """A caption for every way that one can go."""
    rows: list[dict[str, Any]] = [
        {"image": f"images/{at}.jpg", "text": text} for at, text in CAPTIONS.items()
    ]
    rows += [
        {"image": "images/gone.jpg", "text": CAPTIONS[1]},
        {"image": "../up.jpg", "text": CAPTIONS[1]},
        {"image": None, "text": CAPTIONS[1]},
        {"image": "images/1.jpg", "text": 5},
        {"image": "images/1.jpg", "text": CAPTIONS[1]},
    ]
    as_lines(root / "metadata.jsonl", rows)
    for at in CAPTIONS:
        photo(root / f"images/{at}.jpg")
    own = [f"images/{at}.jpg" for at in (*CAPTIONS, "gone")]
    return Release(
        root=root,
        rows=frozenset(
            f"leafnet:{name}"
            for name in (*own, "../up.jpg", "row:10", "row 11", "images/1.jpg#row:12")
        ),
        fates={
            "no_boxes": 3, "healthy": 2, "names_nothing": 2, "no_photo": 2, "unsafe_path": 1,
            "bad_row": 1, "listed_twice": 1,
        },
    )  # fmt: skip


BENCH_ROWS: tuple[tuple[str, str, str, tuple[str, ...], str], ...] = (
    ("DC", "dc_1.jpg", "Which disease is it?", ("Black Pepper Footrot", "Apple Scab"), "A"),
    ("DC", "dc_2.jpg", "Which disease is it?", ("Anthracnose", "Apple Scab"), "A"),
    ("DC", "dc_3.jpg", "Which disease is it?", ("Apple", "Apple Scab"), "A"),
    ("DC", "dc_4.jpg", "Which disease is it?", ("Apple healthy", "Apple Scab"), "A"),
    ("DC", "val/Apple___Black_rot/5.jpg", "Which disease is it?", ("Rust", "Black rot"), "(B)"),
    ("SI", "si_6.jpg", "What is seen?", ("pale rings, small spots", "rot"), "A"),
    ("SI", "si_7.jpg", "What is seen?", ("pale rings", "rot"), "A"),
    ("CSI", "csi_8.jpg", "Which crop is it?", ("Tomato", "Apple"), "A"),
    ("HDC", "hdc_9.jpg", "Is the apple leaf healthy?", ("Healthy", "Diseased"), "A"),
    ("HDC", "hdc_10.jpg", "Is it healthy?", ("Healthy", "Diseased"), "B"),
    ("PC", "pc_11.jpg", "What causes it?", ("Fungus", "Virus"), "A"),
    ("SNC", "snc_12.jpg", "What is its name?", ("Venturia inaequalis", "Puccinia"), "A"),
    ("DC", "dc_13.jpg", "Which disease is it?", ("Apple Scab", "Apple Rust"), "D"),
    ("DC", "gone.jpg", "Which disease is it?", ("Apple Scab", "Apple Rust"), "A"),
    ("DC", "/etc/passwd", "Which disease is it?", ("Apple Scab", "Apple Rust"), "A"),
)


def leafbench(root: Path) -> Release:
    """A question for every way that one can go."""
    root.mkdir(parents=True)
    with (root / "leafbench.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ["image_path", "question", "A", "B", "C", "D", "answer", "question_type"]
        )  # fmt: skip
        for kind, place, question, options, answer in BENCH_ROWS:
            table.writerow([place, question, *options, "", "", answer, kind])
            if place[0] != "/" and place != "gone.jpg":
                photo(root / place)
        table.writerow(["dc_1.jpg", "cut off"])
    return Release(
        root=root,
        rows=frozenset(f"leafbench:leafbench.csv:{at}" for at in range(1, 17)),
        fates={
            "no_boxes": 4, "healthy": 2, "plant_id": 2, "several_things": 1, "names_nothing": 1,
            "cause": 1, "unsupported_subset": 1, "bad_answer": 1, "no_photo": 1, "unsafe_path": 1,
            "bad_row": 1,
        },
    )  # fmt: skip


LEAF = "Is the leaf healthy? If not, what disease does it have?"
COT_ROWS: tuple[tuple[object, object, object, str, str], ...] = (
    (1, 4, 3, LEAF, "No, it has YLCV Virus"),
    (1, 4, 3, LEAF, "Yes"),
    ("1", "4", "3", LEAF, "No, it has Leaf Mold"),
    ("2", 3, 3, "How many plants are ill?", "12"),
    (3, 1, 1, "Is it wheat?", "Yes"),
    (8, 3, 3, "Where is it?", "(12, 40)"),
    (1, 4, 2, "Which pest is it?", "Cutworm"),
    (1, 4, 2, "What does this do?", "Handpick the caterpillars' eggs, then spray the leaves"),
    (1, 3, 1, "What is this?", "Tomato"),
    (1, 3, 3, "What is the condition?", "unhealthy"),
    (1, 3, 3, "What is the condition?", "Unknown"),
    (1, 3, 3, "What is the condition?", "It is because of the drought that came in July."),
    (1, 5, 2, "What is advised?", "Remove the fallen leaves"),
    (1, 2, 1, "How large is the field?", "3.5 ha"),
    (1, 9, 9, "What now?", "Something else"),
    ("many", 3, 3, "What?", "Rust"),
    (1, 4, 3, LEAF, "No, it has Scarab Fungus"),
)


def agrocot(root: Path) -> Release:
    """A row for every way that one can go."""
    rows: list[dict[str, Any]] = []
    for at, (kind, dimension, sub, question, answer) in enumerate(COT_ROWS):
        numbers = {"type_id": kind, "dimension_id": dimension, "sub_dimension_id": sub}
        where = {"metadata": numbers} if at % 2 else numbers
        options = {"A": "some other answer", "B": answer}
        rows.append({"id": at, "image": f"images/{at}.jpg", "question": question,
                     "options": options, "answer": "B", **where})  # fmt: skip
        photo(root / f"images/{at}.jpg")
    rows += [
        dict(rows[0], id=17, image="images/gone.jpg"), dict(rows[0], id=18, answer="E"),
        dict(rows[0], id=19, image="../up.jpg"), dict(rows[0], id=20, question=None), rows[0],
    ]  # fmt: skip
    as_list(root / "agrocot.json", rows)
    own = [str(at) for at in range(20)]
    return Release(
        root=root,
        rows=frozenset(
            f"agrocot:{name}" for name in (*own, "agrocot.json:21", "0#agrocot.json:22")
        ),
        fates={
            "no_boxes": 5, "healthy": 1, "count": 1, "yes_no": 1, "coordinates": 1, "action": 2,
            "plant_id": 1, "vacuous": 1, "cause": 1, "measurement": 1, "unsupported_subset": 1,
            "bad_row": 2, "no_photo": 1, "bad_answer": 1, "unsafe_path": 1, "listed_twice": 1,
        },
    )  # fmt: skip


AGROBENCH_ROWS: tuple[tuple[str, str, str, str | None, str | None], ...] = (
    ("did_1", "Which disease is visible?", "Powdery scab", "Fungal", "potato"),
    ("did_2", "Which disease is visible?", "Blossom end rot", "Nutritional", "tomato"),
    ("did_3", "Which disease is visible?", "Grain rot", None, None),
    ("pid_4", "Which pest is it?", "Popillia japonica (Japanese beetle)", None, "soybean"),
    ("wid_5", "Which weed is it?", "Amaranthus retroflexus (redroot pigweed)", None, None),
    ("dmn_6", "What is seen on the leaves?", "yellow spots", None, "rice"),
    ("dmn_7", "What is seen on the leaves?", "They turn yellow, then they curl.", None, "rice"),
    ("dmn_8", "What should be done?", "Spray copper", None, "rice"),
    ("dmn_9", "What is the cause?", "Poor drainage", None, "rice"),
    ("cmn_10", "How much water?", "20 mm", None, "rice"),
    ("cmn_11", "What is to be done now?", "Prune the vines", None, "grape"),
    ("mqa_12", "Which machine is it?", "A combine harvester", None, None),
    ("tm_13", "What is this way called?", "Terracing", None, None),
    ("did_14", "Which disease is visible?", "None", None, "potato"),
)


def agrobench_row(name: str, question: str, answer: str, category: str | None,
                  crop: str | None) -> dict[str, Any]:  # fmt: skip
    return {
        "id": name, "file_name": f"images/{name}.jpg", "question": question,
        "options": ["something else", answer], "answer": answer, "category": category,
        "crop": crop, "source": "own photo",
    }  # fmt: skip


def agrobench(root: Path) -> Release:
    """A row for every way that one can go."""
    rows = [agrobench_row(*each) for each in AGROBENCH_ROWS]
    for row in rows:
        photo(root / row["file_name"])
    rows += [
        dict(rows[0], id="did_15", file_name="images/gone.jpg"),
        dict(rows[0], id="did_16", file_name="/etc/passwd"),
        dict(rows[0], id="did_17", answer="Z"),
        dict(rows[0], id="did_18", question=7),
        dict(rows[0], id="xyz_19"),
        rows[0],
    ]
    as_lines(root / "metadata.jsonl", rows)
    own = [name for name, *_ in AGROBENCH_ROWS]
    own += [f"did_{at}" for at in (15, 16, 17)]
    lost = ("row 18", "xyz_19", "did_1#row:20")
    return Release(
        root=root,
        rows=frozenset(f"agrobench:{name}" for name in (*own, *lost)),
        fates={
            "no_boxes": 6, "sentence": 1, "action": 2, "cause": 1, "measurement": 1,
            "unsupported_subset": 3, "names_nothing": 1, "no_photo": 1, "unsafe_path": 1,
            "bad_answer": 1, "bad_row": 1, "listed_twice": 1,
        },
    )  # fmt: skip


RELEASES: dict[str, Callable[[Path], Release]] = {
    "agrobench": agrobench,
    "agrocot": agrocot,
    "cddm": cddm,
    "leafbench": leafbench,
    "leafnet": leafnet,
}


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows with photos inside, as hubs give them out."""
    import pyarrow
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def plain(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
