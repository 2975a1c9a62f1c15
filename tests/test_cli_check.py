"""`check` and `export` of examples as they are called: what is printed, and the exit code."""

import json
from pathlib import Path
from typing import Any

from tests.builders import conversation, example, examples_folder, frozen, plain, row
from typer.testing import CliRunner

from fieldtruth.cli import app


def ran(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


def chat(folder: Path, *rows: dict[str, Any]) -> Path:
    plain(folder / "a.png", 1, (64, 48))
    path = folder / "chat.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def test_nothing_wrong_is_0(tmp_path: Path) -> None:
    code, out, _ = ran("check", chat(tmp_path, conversation("c")), "--json")
    assert (code, json.loads(out)) == (0, {"kind": "chat", "rows": 1, "problems": []})


def test_a_problem_is_3_and_names_its_row(tmp_path: Path) -> None:
    path = chat(tmp_path, conversation("c"), conversation("d", prompt="Where?"))
    code, out, _ = ran("check", path, "--json")
    told = {"row": 2, "id": "d", "problem": "placeholders", "detail": "0 placeholders, 1 photos"}
    assert (code, json.loads(out)) == (3, {"kind": "chat", "rows": 2, "problems": [told]})
    code, out, _ = ran("check", path)
    assert code == 3
    assert out.endswith("chat.jsonl: 2 rows of chat: 1 problems in 1 of them\n")


def test_no_such_file_is_2(tmp_path: Path) -> None:
    code, out, err = ran("check", tmp_path / "none.jsonl", "--json")
    assert (code, out) == (2, "")
    assert "expected a file, got nothing there" in err
    assert err.count("\n") == 1


def test_every_flag(tmp_path: Path) -> None:
    bench = frozen(tmp_path / "bench", [row("p")])
    (tmp_path / "in").mkdir()
    answer = '[{"bbox_2d": [1, 2, 3, 4], "label": "rust"}]'
    path = chat(tmp_path / "in", conversation("c", answer=answer, images=["a.png"]))
    words = ("--images", tmp_path / "photos", "--space", "yx1000", "--budget", 5, "--test", bench)
    code, out, _ = ran("check", path, *words, "--json")
    assert code == 3
    assert sorted(each["problem"] for each in json.loads(out)["problems"]) == [
        "answer_too_long", "image_too_small", "test_image",
    ]  # fmt: skip


def test_examples_are_exported_and_checked(tmp_path: Path) -> None:
    folder = examples_folder(tmp_path, [example("e"), example("h", role="healthy")])
    for name in ("trl", "llama-factory", "ms-swift"):
        code, out, _ = ran("export", name, folder, "--out", tmp_path / name, "--space", "pixel")
        assert code == 0, out
        assert out.startswith("2 rows with 1 photos: ")
        (path,) = (tmp_path / name).glob("train.json*")
        assert ran("check", path)[0] == 0
    code, out, _ = ran("export", "verl", folder, "--out", tmp_path / "v", "--by-licence", "--json")
    assert (code, json.loads(out)["licences"]) == (0, {"CC0-1.0": 2})
