"""The commands on a training that is stuck for real."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

import unstall
import unstall.reports
from tests.support.zoo import ZOO, running
from unstall.cli.app import run

pytestmark = pytest.mark.live

PROGRAM = ZOO / "locks" / "lock_self_deadlock.py"
SCHEMA = Path(unstall.reports.__file__).parent / "schema" / "diagnosis-1.json"


@pytest.fixture
def training() -> Iterator[subprocess.Popen[bytes]]:
    """A training whose worker takes a lock twice."""
    with running(PROGRAM) as process:
        yield process


def test_why_and_its_bundle_say_the_same(
    training: subprocess.Popen[bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "stall.json"
    assert run(["why", str(training.pid), "--json", "--save", str(saved)]) == 1
    out, err = capsys.readouterr()
    live = json.loads(out)
    assert err == f"saved the evidence: {saved}\n"
    jsonschema.validate(live, json.loads(SCHEMA.read_text()))
    assert live["findings"][0]["cause"] == "lock-self-deadlock"

    assert run(["why", str(saved), "--json"]) == 1
    again = json.loads(capsys.readouterr().out)
    assert {**again, "took_s": 0} == {**live, "took_s": 0}
    assert unstall.diagnose(saved).findings[0].sample == 20

    assert run(["why", str(saved)]) == 1
    report = capsys.readouterr().out
    assert report.startswith("STALLED: worker ")
    assert len(report.splitlines()) <= 28

    with _unstall("why", str(saved)) as fresh:  # another Python, which has never looked at a process
        assert fresh.communicate(timeout=30)[0].decode() == report


def test_watching_until_the_training_ends(training: subprocess.Popen[bytes]) -> None:
    with _unstall("why", str(training.pid), "--watch", "0.1", "--json") as watcher:
        assert watcher.stderr is not None
        assert watcher.stdout is not None
        assert b"still stalled" in watcher.stderr.readline()
        training.kill()
        out, err = watcher.communicate(timeout=30)
    assert err.splitlines()[-1].endswith(b"the training has ended")
    first = json.loads(out.splitlines()[0])
    assert first["verdict"] == "stalled"


def test_watching_until_ctrl_c(training: subprocess.Popen[bytes]) -> None:
    with _unstall("why", str(training.pid), "--watch", "60") as watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline().startswith(b"STALLED: ")
        watcher.send_signal(signal.SIGINT)
        err = watcher.communicate(timeout=30)[1]
    assert watcher.returncode == 1
    assert err == b"stopped watching; the training runs on\n"
    assert training.poll() is None


def test_ctrl_c_while_looking(training: subprocess.Popen[bytes]) -> None:
    with _unstall("demo") as demo:
        assert demo.stderr is not None
        while b"it is stuck" not in demo.stderr.readline():
            assert demo.poll() is None
        demo.send_signal(signal.SIGINT)
        err = demo.communicate(timeout=30)[1]
    assert demo.returncode == 130
    assert err.strip() == b"unstall: interrupted"


@pytest.mark.parametrize("ending", [None, signal.SIGTERM])
def test_the_demo_finds_its_cause_and_leaves_nothing(ending: signal.Signals | None, tmp_path: Path) -> None:
    with _unstall("demo", "--heal", folder=tmp_path) as demo:
        assert demo.stderr is not None
        assert b"not there yet" in demo.stderr.readline()
        if ending is not None:
            while b"it is stuck" not in demo.stderr.readline():
                assert demo.poll() is None
            demo.send_signal(ending)
        out = demo.communicate(timeout=60)[0]
    assert demo.returncode == (130 if ending else 0)
    if ending is None:
        assert out.startswith(b"STALLED: ")
    assert [name for name in os.listdir(tmp_path) if name.startswith("unstall-demo")] == []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            assert str(tmp_path) not in (entry / "cmdline").read_text()
        except OSError:
            continue


def _unstall(*arguments: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "unstall", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder or tempfile.gettempdir())},
    )
