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


def test_no_error_is_swallowed() -> None:
    """What catches everything puts something away and raises it again."""
    swallowed = [
        f"{p.relative_to(ROOT)}:{node.lineno}"
        for p in MODULES
        for node in ast.walk(ast.parse(p.read_text("utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or {"Exception", "BaseException"} & names_in(node.type))
        and not any(isinstance(part, ast.Raise) for part in ast.walk(node))
    ]
    assert swallowed == []


def names_in(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def test_every_text_file_has_its_encoding_and_not_the_machines() -> None:
    left = [
        f"{p.relative_to(ROOT)}:{node.lineno}"
        for p in MODULES
        for node in ast.walk(ast.parse(p.read_text("utf-8")))
        if isinstance(node, ast.Call) and left_to_locale(node)
    ]
    assert left == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("path.read_text()", True),
        ('(folder / "a").write_text(text)', True),
        ("path.open()", True),
        ('path.open("w")', True),
        ('open(path, "a")', True),
        ("open(path)", True),
        ("run(words, text=True)", True),
        ("io.TextIOWrapper(stream)", True),
        ('path.read_text(encoding="utf-8")', False),
        ('path.read_text("utf-8")', False),
        ('path.write_text(text, "utf-8")', False),
        ('path.open("rb")', False),
        ('open(path, "xb")', False),
        ('io.TextIOWrapper(stream, encoding="utf-8")', False),
        ("Image.open(stream)", False),
    ],
)
def test_what_would_be_left_to_the_locale(call: str, expected: object) -> None:
    (node,) = (part for part in ast.walk(ast.parse(call)) if isinstance(part, ast.Call))
    assert left_to_locale(node) == expected


def left_to_locale(call: ast.Call) -> bool:
    """Whether a file is read or written as text in whatever encoding the machine is set to."""
    given = {word.arg for word in call.keywords}
    method = isinstance(call.func, ast.Attribute)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    if {"encoding", "fileobj"} & given:
        return False
    if name in ("run", "Popen"):
        return "text" in given
    if name == "TextIOWrapper" or (method and name in ("read_text", "write_text")):
        return len(call.args) < 1 + (name != "read_text")
    modes = [each.value for each in call.args if isinstance(each, ast.Constant)]
    opens = name == "open" and (not method or len(modes) == len(call.args))
    return opens and "b" not in "".join(map(str, modes))


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
