"""The README's commands do what it says, in its order, in one folder; what it names is there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import plain

from fieldtruth import models, protocols, rooms, sources
from fieldtruth.cli import ORDER

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {
    name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")
}

# What is not run here, by its first words, and why. Each has to stand in the README.
NOT_RUN = {
    "make demo": "installs from a registry",
    "make test": "would run this test again",
    "python3 -m venv": "installs from a registry",
    ".venv/bin/pip install": "installs from a registry",
    ".venv/bin/fieldtruth demo": "minutes; tests/run/test_demo.py runs it on fewer leaves",
    ".venv/bin/pytest": "would run this test again",
    "fieldtruth demo --photos DIR": "the reader's photos",
    "fieldtruth annotate asked-work --model grounding_dino": "weights from a network",
    "fieldtruth review import exported.json": "what people did on a server",
    "fieldtruth predict BENCH --model openai": "a server",
}


def commands() -> list[str]:
    """Every command of the `sh` blocks, a here-document with its lines."""
    found, lines = [], iter("\n".join(re.findall(r"```sh\n(.*?)```", README, re.S)).splitlines())
    for line in lines:
        if here := re.search(r"<<'(\w+)'", line):
            body = [line]
            while body[-1] != here[1]:
                body.append(next(lines))
            line = "\n".join(body)
        if line.strip():
            found.append(line)
    return found


def left_out(command: str) -> bool:
    return any(command.startswith(words) for words in NOT_RUN)


def test_every_block_is_one_that_is_run() -> None:
    assert README.count("```") == 2 * README.count("```sh\n") > 0


@pytest.mark.parametrize("words", NOT_RUN)
def test_what_is_not_run_stands_in_the_readme(words: str) -> None:
    assert any(command.startswith(words) for command in commands())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_commands_do_what_they_say(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "recipes", tmp_path / "recipes")  # links become files
    plain(tmp_path / "photos" / "a.jpg", 1, (640, 480))
    plain(tmp_path / "photos" / "b.jpg", 2, (640, 480))
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    said: dict[str, list[str]] = {}
    for command in commands():
        if left_out(command):
            continue
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
        said.setdefault(command, []).append(ran.stdout)
    recipe = next(command for command in said if "recipes/demo.toml" in command)
    last = next(command for command in said if "# nothing to do" in command)
    assert said[recipe][0].splitlines()[-1] == "out/demo-run/report.html"
    assert said[last][0].splitlines()[-2].startswith("nothing to do")
    assert {"CARD.md", "items.jsonl", "images", "manifest.json"} <= {
        path.name for path in (tmp_path / "my-leaves").iterdir()
    }
    for page in ("result/report.html", "out/demo-run/report.html"):
        assert (tmp_path / page).is_file()
    assert (tmp_path / "work" / "drops.jsonl").is_file()
    for file, first in (
        ("replies", "leaf-2 [known_target] prose"),
        ("answers", "ask_extension:700001:disease:mcq [choice] letter: decision"),
    ):
        [reading] = next(
            words
            for command, words in said.items()
            if command.startswith(f"fieldtruth read {file}")
        )
        assert reading.splitlines()[0] == first


def test_its_commands_are_commands() -> None:
    named = re.findall(r"\bfieldtruth (?!demo\b)([a-z]+)\b", "\n".join(commands()))
    assert len(named) > 10
    assert set(named) <= set(ORDER)


def test_the_names_it_gives_are_files_of_their_rooms() -> None:
    tables = re.findall(r"^\| (`.*?) \|", README, re.M)
    named = {name for cell in tables for name in re.findall(r"`([a-z_]+)`", cell)}
    assert named <= {*rooms.names(sources), *rooms.names(protocols)}
    assert len(named) > 5
    asked = set(re.findall(r"--model ([a-z_]+)", README))
    assert asked <= set(rooms.names(models))


@pytest.mark.parametrize("page", PAGES)
def test_the_files_it_names_are_there(page: str) -> None:
    places = [ROOT, ROOT / "src" / "fieldtruth", ROOT / "tests"]
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:md|py|toml))`", PAGES[page])
    made = (
        "result/",
        "my-result",
        "out/",
        "work/",
        "photos/",
        "Tomato___",
        ".venv/",
        "CARD.md",
        "mapping.toml",
    )
    looked = [name for name in named if "NAME" not in name and not name.startswith(made)]
    assert len(looked) > 5
    rooms_of_tests = [path for path in (ROOT / "tests").iterdir() if path.is_dir()]
    for name in looked:
        assert any((place / name).exists() for place in (*places, *rooms_of_tests)), name
