"""Tiny releases of talks, with a row for every drop reason, and what becomes of each row."""

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

LONG = "x" * 100_001


@dataclass(frozen=True)
class Talks:
    """A release: where it lies, how many rows it has, and how many end in what."""

    root: Path
    rows: int
    fates: Mapping[str, int]  # a drop reason, or `dialogue`
    there: int  # photos that dialogues name and that are there
    missing: int
    secret: tuple[str, ...]  # words that no dialogue may hold


def _photo(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (40, 30), (20, 120, 20)).save(path)


def mirage_dialogues(root: Path) -> Talks:
    """A talk in both files that grew, one that Clarifies, one of each reason, two questions."""
    talk = "user: Is it rust?\nexpert: Send a photo.\n"
    grown = talk + "user: Here.\nOn Mon, Jun 17, 2024, 6:15 PM Ask Extension <<mail>> wrote:\n"

    def row(native: str, context: str, reply: str | None, *images: str) -> dict[str, Any]:
        return {"id": f"#{native}", "dialog_context": context, "decision": "<Respond>",
                "utterance": reply, "images": list(images), "dialog_turns": 1}  # fmt: skip

    direct = [
        row("1", talk, "It is rust.", "./images/#1_0.jpg", "./images/#1_1.jpg"),
        row("1", grown, "It is rust, cut it.", "./images/#1_0.jpg", "./images/#1_1.jpg"),
        row("2", "user: What is it?\n", None),
        row("3", "", ""),
        row("4", f"user: {LONG}", "Too long."),
        row("5", "user: A photo?", "No.", ".."),
        {"id": "#6", "dialog_context": 5},
    ]
    decomp = [{**direct[1], "known_goal": [], "missing_goal": []}]
    single = [
        {"id": "#7", "question": "Please answer the following user question. Think. \nUser: Mold?"
         " (asked at 2022-09-01 11:17:15, Guilford County, North Carolina)", "answer": "Yes.",
         "images": ["../sample_images/#7_0.jpg"], "category": "Plant Disease Identification",
         "meta_data_state": "North Carolina", "meta_data_county": "Guilford County",
         "meta_data_asked_time": "2022-09-01 07:17:00"},
    ]  # fmt: skip
    root.mkdir(parents=True)
    (root / "mmmt_direct_test.json").write_text(json.dumps(direct))
    (root / "mmmt_decomp_test.json").write_text(json.dumps(decomp))
    lines = "\n".join(map(json.dumps, single))
    (root / "mmst_standard.json").write_text(lines)
    _photo(root / "images" / "#1_0.jpg")
    _photo(root / "sample_images" / "#7_0.jpg")
    fates = {
        "same_conversation": 2, "no_answer": 1, "no_words": 1, "too_long": 1, "unsafe_path": 1,
        "bad_row": 1, "dialogue": 2,
    }  # fmt: skip
    return Talks(root, 9, fates, 2, 1, ("Guilford", "wrote:", "Please answer"))


def ask_extension(root: Path) -> Talks:
    """Answers as a list and as an object, a talk in two files, broken JSON, one of each reason."""

    def row(native: int, answer: object, **more: object) -> dict[str, Any]:
        return {"faq-id": native, "title": f"Rust? #{native}", "created": "2018-07-12 11:00:10",
                "state": "Maryland", "county": "Calvert County", "tags": ["shrubs"],
                "attachments": {"-1": "https://ask2.extension.org/file.php?key=k&signature=s"},
                "question": "It has spots.<br>Thank you!<br>Ann Poe",
                "answer": answer} | more  # fmt: skip

    expert = {"response": "It is <b>rust</b>.<br><br>ckc", "author": "Barbara Harlan"}
    later = {"attachments": ["https://ask2.extension.org/file.php?key=2"]}
    asker = {"response": "Cut it?", "author": "The Question Asker"}
    first = [
        row(11, [later, expert]),
        row(12, {"2": asker, "1": expert, "10": {"response": "Yes.", "author": "B H"}}),
        row(13, json.dumps([expert])),
        row(14, [asker]),
        row(15, [], question="<p></p>"),
        row(16, [{"response": LONG, "author": "B"}]),
        row(17, [5]),
        {"title": "no number"},
        row(18, "It is rust."),
    ]
    second = [row(11, [expert]), row(19, [expert])]
    root.mkdir(parents=True)
    (root / "a.json").write_text(json.dumps(first))
    broken = json.dumps(second).replace('"shrubs"]', '"shrubs",]')
    (root / "b.json").write_text(broken[:-1] + ', {"faq-id": 20, "question": "cut o')
    _photo(root / "photos" / "11-1.jpg")
    fates = {
        "same_conversation": 1, "no_answer": 1, "no_words": 1, "too_long": 1, "bad_row": 3,
        "dialogue": 5,
    }  # fmt: skip
    return Talks(root, 12, fates, 1, 5, ("Calvert", "Barbara", "Poe", "signature=", "<b>"))


def kcc(root: Path) -> Talks:
    """A table, a list, an object a line and `records`, one row of each reason."""

    def row(asked: str, told: str, **more: str) -> dict[str, Any]:
        return {"StateName": "UTTAR PRADESH", "DistrictName": "MATHURA", "BlockName": "RAYA",
                "Season": "RABI", "Sector": "AGRICULTURE", "Category": "Others", "Crop": "Wheat",
                "QueryType": "Plant Protection", "QueryText": asked, "KccAns": told,
                "CreatedOn": "2016-02-07T11:23:50.77"} | more  # fmt: skip

    table = [
        row("Rust in wheat?", "Spray PROPICONAZOLE 25 EC 200 ml per acre."),
        row("rust in wheat?", "SPRAY propiconazole 25 ec 200 ml per acre."),
        row("Weather?", "?? ????????? ????? ??? ?????? ????"),
        row("Weather?", "NA"),
        row("", " "),
        row("Rust?", 2 * LONG),  # more than python's csv takes by itself
    ]
    root.mkdir(parents=True)
    with (root / "a.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(table[0]))
        writer.writeheader()
        writer.writerows(table)
        file.write("too,few\n")
    (root / "b.json").write_text(json.dumps([row("पीला रतुआ?", "छिड़काव करें", year="2016")]))
    (root / "c.jsonl").write_text(json.dumps(row("Aphids?", "Neem oil.")) + "\n{broken\n")
    whole = {"index_name": "kcc", "total": 1, "records": [row("Termites?", "Chlorpyriphos.")]}
    (root / "d.json").write_text(json.dumps(whole))
    fates = {
        "same_words": 1, "garbled": 1, "no_answer": 1, "no_words": 1, "too_long": 1, "bad_row": 2,
        "dialogue": 4,
    }  # fmt: skip
    return Talks(root, 11, fates, 0, 0, ("MATHURA", "RAYA", "Others"))


RELEASES: Mapping[str, Callable[[Path], Talks]] = {
    "ask_extension": ask_extension, "kcc": kcc, "mirage_dialogues": mirage_dialogues,
}  # fmt: skip
