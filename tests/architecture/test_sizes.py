"""The largest file and the largest function stay small."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
FILES = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("bench/**/*.py")])


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_sizes(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE
    long = {one.name: one.end_lineno - one.lineno + 1 for one in functions(path) if one.end_lineno}
    assert {name: lines for name, lines in long.items() if lines > LONGEST_FUNCTION} == {}


def test_no_drawers_for_everything() -> None:
    banned = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert [str(path.relative_to(ROOT)) for path in FILES if path.stem.strip("_") in banned] == []


@pytest.mark.parametrize("path", [one for one in FILES if "tests" in one.parts], ids=lambda path: path.name)
def test_tests_wait_for_events(path: Path) -> None:
    text = path.read_text()
    lines = text.splitlines()
    asleep = [
        lines[node.lineno - 1].strip()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("time.sleep", "sleep")
    ]
    assert [line for line in asleep if "# allow-sleep: " not in line] == []
