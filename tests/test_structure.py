"""The shape of the code is a promise too."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fieldtruth

ROOT = Path(fieldtruth.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
HEAVY = {
    "torch", "transformers", "trl", "peft", "ray", "gradio", "vllm", "pandas", "matplotlib",
    "scipy", "aiohttp", "PIL", "jinja2", "sklearn",
}  # fmt: skip


def test_no_module_over_400_lines() -> None:
    size = {str(p.relative_to(ROOT)): len(p.read_text().splitlines()) for p in MODULES}
    assert {name: n for name, n in size.items() if n > 400} == {}


def test_no_function_over_60_lines() -> None:
    long = {
        f"{p.relative_to(ROOT)}:{node.name}"
        for p in MODULES
        for node in ast.walk(ast.parse(p.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno > 60
    }
    assert long == set()


def test_no_drawer() -> None:
    drawers = {"util", "utils", "common", "helper", "helpers", "misc"}
    assert [p for p in MODULES if drawers & {p.stem, p.parent.name}] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        p
        for p in MODULES
        if p.read_text().strip() and not ast.get_docstring(ast.parse(p.read_text()))
    ]
    assert silent == []


def test_every_public_function_says_what_it_does() -> None:
    silent = {
        f"{p.relative_to(ROOT)}:{node.name}"
        for p in MODULES
        if p.stem != "contract"
        for node in ast.parse(p.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    }
    assert silent == set()


def test_importing_the_cli_loads_nothing_heavy() -> None:
    code = f"import sys, fieldtruth.cli; print(sorted({HEAVY!r} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "room",
    ["sources", "checks", "protocols", "controls", "metrics", "models", "grading", "rewards"],
)
def test_every_file_of_a_room_has_a_test_beside_its_siblings(room: str) -> None:
    names = {p.stem for p in (ROOT / room).glob("*.py")} - {"__init__", "contract"}
    tests = "".join(p.read_text() for p in Path(__file__).parent.joinpath(room).glob("*.py"))
    assert {name for name in names if name not in tests and "names(" not in tests} == set()
