"""`unstall check`, with its findings given."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.reports.examples import SELF_DEADLOCK
from unstall.cli.app import run
from unstall.model.finding import Finding


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """What the check finds."""
    findings: list[Finding] = []
    module = ModuleType("unstall.workflows.check")
    module.check = lambda paths: findings  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return findings


def test_nothing_found(found: list[Finding], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(tmp_path)]) == 0
    assert capsys.readouterr() == ("", "nothing found\n")


def test_findings_as_text(found: list[Finding], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found.append(SELF_DEADLOCK)
    assert run(["check", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("/home/ann/data.py:30: lock-self-deadlock: ")
    assert err == "1 finding\n"


@pytest.mark.parametrize("count", [0, 2])
def test_findings_as_json(count: int, found: list[Finding], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found += [SELF_DEADLOCK] * count
    assert run(["check", "--format", "json", str(tmp_path)]) == bool(count)
    out, err = capsys.readouterr()
    assert len(json.loads(out)["findings"]) == count
    assert err == ""
