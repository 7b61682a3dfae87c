"""What an import costs, which names are public, and which way imports go."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import unstall

ROOT = Path(__file__).parents[2]
HEAVY = {"torch", "numpy", "rich", "msgspec", "click", "psutil", "jinja2", "cloudpickle", "markdown_it", "pygments"}
PUBLIC = ["Bundle", "Confidence", "Diagnosis", "Finding", "UnstallError", "diagnose"]


def imported_by(code: str) -> set[str]:
    """The top-level packages that a fresh Python has imported after running some code."""
    show = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{show}"], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_import_unstall_costs_nothing() -> None:
    assert imported_by("import unstall") & HEAVY == set()


def test_help_imports_click_only() -> None:
    assert imported_by("from unstall.cli.app import run; run(['--help'])") & HEAVY == {"click"}


def test_why_needs_neither_torch_nor_numpy() -> None:
    code = "from unstall.cli.app import run; run(['why', '4194305'])"
    assert imported_by(code) & {"torch", "numpy", "rich"} == set()


def test_public_names() -> None:
    assert unstall.__all__ == PUBLIC
    assert set(PUBLIC) <= set(dir(unstall))
    for name in PUBLIC:
        found = getattr(unstall, name)
        assert found is getattr(importlib.import_module(found.__module__), name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        getattr(unstall, "nonsense")  # noqa: B009


def test_public_names_are_given_by_a_star_import() -> None:
    names: dict[str, object] = {}
    exec("from unstall import *", names)
    assert set(PUBLIC) <= set(names)


def test_imports_go_one_way() -> None:
    script = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [str(script), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout[-3000:]
