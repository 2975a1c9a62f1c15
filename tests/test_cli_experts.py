"""From questions to gold, silver and a trainer's folder, from the command line."""

import json
from pathlib import Path

from tests.builders import frozen, plain, question, replies
from tests.stages.test_blind import export, letter, ticked
from tests.test_cli import asked, out_of

PHOTOS = [f"f{at}.png" for at in range(4)]


def questions(folder: Path) -> Path:
    """Two questions of each of four figures, of two papers."""
    for at, name in enumerate(PHOTOS):
        plain(folder / "photos" / name, at)
    rows = [
        question(
            f"f{at}q{n}", images=[name], group=f"p{at // 2}", crop="cotton", evidence=["KEY spots"]
        )
        for at, name in enumerate(PHOTOS)
        for n in range(2)
    ]
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def test_from_questions_to_a_trainers_folder(tmp_path: Path) -> None:
    rows, photos = questions(tmp_path), ("--images", tmp_path / "photos")
    sent, back, gold = tmp_path / "sent", tmp_path / "back", tmp_path / "gold"
    words = ("review", "blind", rows, *photos, "--want", 4, "--out", sent)
    handed = out_of(0, *words)
    assert (handed["questions"], handed["tasks"], handed["groups"]) == (8, 4, 1)
    tasks = [
        json.loads(each)["question"] for each in (sent / "sent.jsonl").read_text().splitlines()
    ]
    first, second, third, last = sorted(tasks)
    said = export(sent, {
        first: [(1, letter("B")), (2, letter("B"))], second: [(1, letter("A")), (2, letter("C"))],
        third: [(1, letter("B")), (2, letter("C"))],
        last: [(1, [ticked("flag", "irrelevant")]), (2, letter("A"))],
    })  # fmt: skip
    got = out_of(0, "review", "answers", said, "--sent", sent, "--questions", rows, *photos,
                 "--out", back)  # fmt: skip
    assert (got["answered"], got["flagged"], got["flags"]) == (4, 1, {"irrelevant": 1})
    three = (back / "A.jsonl", back / "B.jsonl", "--generated", back / "key.jsonl")
    made = out_of(0, "adjudicate", *three, "--questions", rows, "--out", gold)
    assert {each["id"]: each["answer"] for each in made["gold"]} == {first: "B", second: "A"}
    leak = json.loads((gold / "leak.json").read_text())
    here, published = leak["leak"], leak["published"]
    assert (here["figure"], here["group"], here["not_settled"]) == (0, 0, 0)
    assert (published["figure"], published["group"], published["not_settled"]) == (0, 2, 2)
    assert "| cotton | 4 | 1 | 3 |" in (gold / "funnel.md").read_text()
    told = asked(0, "adjudicate", *three, "--questions", rows, "--silver", "published").stdout
    assert "gold questions with a figure in silver 0, with a group 2" in told
    assert asked(2, "adjudicate", *three, "--rule", "vote").exit_code == 2
    bench, train = tmp_path / "bench", tmp_path / "train"
    frozen_as = ("--version", "1", *photos)
    asked(0, "freeze", gold / "gold-questions.jsonl", "--name", "gold", *frozen_as, "--out", bench)
    asked(0, "freeze", gold / "silver-questions.jsonl", "--name", "silver", *frozen_as, "--split",
          "train", "--out", train)  # fmt: skip
    model = ("--model", "Qwen/Qwen3-VL-2B-Instruct", "--template", "qwen3_vl_nothink")
    out = out_of(0, "export", "llama_factory", train, *model, "--out", tmp_path / "lf")
    assert (out["rows"], out["photos"]) == (4, 2)
    assert (tmp_path / "lf" / "lora.yaml").is_file()
    asked(4, "export", "trl", bench, "--out", tmp_path / "trl")  # a test split
    given = ("--split", "train", *photos, "--protocol", "reasoned_choice")
    out_of(0, "export", "trl", gold / "silver-questions.jsonl", *given, "--out", tmp_path / "trl")
    assert "KEY" not in (tmp_path / "trl" / "train.jsonl").read_text()


def test_a_figure_that_two_papers_print_is_not_in_silver(tmp_path: Path) -> None:
    """Beside a set that says where its photos lie, they are told apart by what they hold."""
    for at, name in enumerate("aab"):
        plain(tmp_path / "photos" / f"{at}.png", ord(name))
    folder = tmp_path / "set"
    folder.mkdir()
    rows = [question(f"q{at}", images=[f"{at}.png"], group=f"p{at}") for at in range(3)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    (folder / "manifest.json").write_text('{"root": "../photos"}')
    said = tmp_path / "said.jsonl"
    said.write_text('{"id": "q0", "answer": "A"}\n')
    words = ("adjudicate", said, said, "--generated", said, "--questions", folder)
    out_of(0, *words, "--out", tmp_path / "gold")
    silver = (tmp_path / "gold" / "silver-questions.jsonl").read_text().splitlines()
    assert [json.loads(each)["id"] for each in silver] == ["q2"]
    assert json.loads((tmp_path / "gold" / "leak.json").read_text())["published"]["figure"] == 1


def test_runs_pairs_and_guesses(tmp_path: Path) -> None:
    names = [f"q{at}" for at in range(4)]
    rows = [question(name, images=["a.png"], crop="cotton") for name in names]
    bench = frozen(tmp_path / "bench", rows)
    paths = [
        replies(tmp_path / f"{at}.jsonl", model, dict.fromkeys(names, text), **more)
        for at, (model, text, more) in enumerate(
            [
                ("base@run1", "A", {"protocol": "choice", "space": None}),
                ("base@run2", "B", {"protocol": "choice", "space": None}),
                ("tuned", "A", {"protocol": "choice", "space": None}),
                ("tuned", "A", {"protocol": "choice+textonly", "space": None}),
            ]
        )
    ]
    pair = ("--pair", "base=tuned")
    told = out_of(0, "score", bench, *paths[:3], *pair, "--out", tmp_path / "results")
    runs = told["runs"]["base"]["choice"]["all"]
    assert (runs["value"], round(runs["sd"], 4)) == (0.5, 0.7071)
    assert {(row["cut"], row["part"]): row["difference"] for row in told["paired_parts"]} == {
        ("all", "all"): 0.5, ("types", "unknown"): 0.5, ("crops", "cotton"): 0.5,
    }  # fmt: skip
    lines = asked(0, "score", bench, *paths[:3], *pair).stdout
    assert "mean over runs" in lines
    assert "crop: cotton (under 20)" in lines
    page = tmp_path / "results" / "report.html"
    asked(0, "report", tmp_path / "results")
    assert "Mean over runs" in page.read_text()
    assert "part by part" in page.read_text()
    found = out_of(0, "guessable", bench, paths[3])
    assert [each["model"] for each in found["models"]] == ["tuned"]
    assert found["above"] == []  # one model proves nothing of one question
    assert found["models"][0]["p"] == 0.25**4
    seen = asked(2, "guessable", bench, paths[0]).output
    assert "expected replies to questions asked without their photos" in seen
