"""The commands: exit codes, what goes to stdout and what to stderr, errors without tracebacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.reports.examples import STALLED
from unstall.cli.app import COMMANDS, run
from unstall.cli.why import exit_code
from unstall.evidence.memory import Memory
from unstall.model.bundle import Bundle
from unstall.model.diagnosis import Diagnosis, Target, Verdict
from unstall.workflows import why


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle with nothing in it."""
    path = tmp_path / "empty.json"
    path.write_bytes(Bundle(Target(7, "python train.py"), {}).encode())
    return path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["why", "--help"], 0),
        (["explain"], 0),
        (["explain", "lock-self-deadlock"], 0),
        (["explain", "no-such-cause"], 2),
        (["demo", "no-such-cause"], 2),
        (["why"], 2),
        (["why", "nonsense"], 2),
        (["why", "1", "--nonsense"], 2),
        (["why", "1", "--watch", "-3"], 2),
        (["nonsense"], 2),
        (["check", "/no/such/file.py"], 2),
        (["why", "4194305"], 3),
    ],
)
def test_exit_codes(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == code
    out, err = capsys.readouterr()
    assert bool(out) == (code == 0)
    assert err.startswith("unstall: ") == (code != 0)
    assert ("\n\nhint: " in err) == (code != 0)
    assert "Traceback" not in err


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--help"])
    out = capsys.readouterr().out
    assert all(f"\n  {name} " in out for name in COMMANDS)
    for name in COMMANDS:
        assert run([name, "--help"]) == 0


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["explain", "lock_self_deadlok"], "unstall explain lock-self-deadlock"),
        (["demo", "lock-self-dedlock"], "unstall demo lock-self-deadlock"),
        (["wyh"], "unstall why"),
    ],
)
def test_near_matches(arguments: list[str], near: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(arguments)
    assert f"`{near}`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("diagnosis", "code"),
    [
        (STALLED, 1),
        (Diagnosis(Target(1, ""), Verdict.STALLED), 1),
        (Diagnosis(Target(1, ""), Verdict.CRASHED), 1),
        (Diagnosis(Target(1, ""), Verdict.SLOW), 0),
        (Diagnosis(Target(1, ""), Verdict.PROGRESSING), 0),
        (Diagnosis(Target(1, ""), Verdict.FINISHED), 0),
        (Diagnosis(Target(1, ""), Verdict.UNKNOWN), 3),
    ],
)
def test_the_verdict_decides_the_exit_code(diagnosis: Diagnosis, code: int) -> None:
    assert exit_code(diagnosis) == code


def test_why_reads_a_bundle(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", str(bundle)]) == 3
    assert capsys.readouterr().out.startswith("UNKNOWN: ")
    assert run(["why", str(bundle), "--json"]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["schema"] == "unstall.diagnosis/1"
    assert err == ""


@pytest.mark.parametrize("more", [["--watch", "1"], ["--save", "x.json"], ["--with-locals"]])
def test_a_bundle_is_one_moment(bundle: Path, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", str(bundle), *more]) == 2
    assert more[0] in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"schema": "other/1", "target": 1}'])
def test_damaged_bundles(tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    assert run(["why", str(path)]) == 3
    err = capsys.readouterr().err
    assert err.startswith("unstall: ")
    assert "broke" not in err


def test_a_folder_without_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", str(tmp_path)]) == 3
    assert "holds no evidence of a run" in capsys.readouterr().err


def test_save_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "stall.json"
    path.write_text("the old one")

    def broken(self: Bundle) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Bundle, "encode", broken)
    with pytest.raises(why.UnstallError, match="No space left"):
        why.save(Bundle(Target(1, ""), {}), path)
    assert path.read_text() == "the old one"
    assert os.listdir(tmp_path) == ["stall.json"]


def test_names_that_are_no_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "stall.json"
    why.save(Bundle(Target(1, "caf\udce9.py"), {"memory": Memory()}), path)
    assert why.read(path).target.command == "caf?.py"


def test_save_leaves_devices_alone() -> None:
    why.save(Bundle(Target(1, ""), {}), Path("/dev/null"))
    assert not Path("/dev/null").is_file()


def test_saving_where_one_may_not(tmp_path: Path) -> None:
    with pytest.raises(why.UnstallError, match="No such file"):
        why.save(Bundle(Target(1, ""), {}), tmp_path / "no" / "folder.json")


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_other_systems(
    system: str, bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    for arguments in (["why", "1"], ["why", "1", "--watch", "1"], ["demo"]):
        assert run(arguments) == 3
        assert "can't look into a running process on" in capsys.readouterr().err
    assert run(["why", str(bundle)]) == 3
    assert "UNKNOWN" in capsys.readouterr().out


def test_a_demo_needs_torch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert run(["demo"]) == 3
    assert "needs torch" in capsys.readouterr().err


def test_our_own_bugs_are_no_traceback(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(data: Bundle) -> Any:
        raise KeyError("surprise")

    monkeypatch.setattr(why, "judge", broken)
    assert run(["why", str(bundle)]) == 3
    assert capsys.readouterr().err.startswith("unstall: it broke: KeyError: 'surprise'\n\nhint: ")


def test_nobody_reads() -> None:
    read, write = os.pipe()
    os.close(read)
    for arguments in (["explain"], ["explain", "lock-self-deadlock"], ["--help"]):
        done = subprocess.run(
            [sys.executable, "-m", "unstall", *arguments], stdout=write, stderr=subprocess.PIPE, check=False
        )
        assert done.stderr == b""
        assert done.returncode in (1, 141)
    os.close(write)


def test_a_full_disk() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "unstall", "explain"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 3
    assert done.stderr == b"unstall: can't write the output: No space left on device\n"


def test_a_terminal_that_knows_ascii_only(bundle: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "unstall", "explain", "lock-self-deadlock"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.isascii()
