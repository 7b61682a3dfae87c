"""Prints what `unstall why` says of every zoo program: `python -m tests.support.table [name-part…]`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.support.zoo import Program, left_over, programs, running, supervised
from unstall.model.bundle import Bundle
from unstall.model.diagnosis import Diagnosis, Verdict
from unstall.model.finding import Confidence
from unstall.workflows.why import judge, look, read

LIMIT_S = 120


def problems(program: Program, diagnosis: Diagnosis) -> list[str]:
    """What is wrong with a diagnosis of a program."""
    wrong = []
    if program.cause is None:
        if diagnosis.verdict not in program.verdicts:
            wrong.append(f"verdict {diagnosis.verdict}")
        wrong += [f"alarm {one.cause}" for one in diagnosis.findings if one.confidence is not Confidence.POSSIBLE]
        return wrong
    if diagnosis.verdict not in (program.verdicts or (Verdict.STALLED,)):
        wrong.append(f"verdict {diagnosis.verdict}")
    if not diagnosis.findings:
        return [*wrong, "no finding"]
    first = diagnosis.findings[0]
    if first.cause != program.cause:
        wrong.append(f"cause {first.cause}")
    if program.guilty and (not first.where or (first.where[0].file, first.where[0].line) not in program.guilty):
        wrong.append(
            f"line {[f'{w.file.rsplit(chr(47), 1)[-1]}:{w.line}' for w in first.where][:3]} not {[g[1] for g in program.guilty]}"
        )
    if program.sample is not None and first.sample != program.sample:
        wrong.append(f"sample {first.sample} not {program.sample}")
    return wrong


def observe(program: Program) -> Bundle:
    """What is seen of a program: of the running one, or of the training steps that it makes."""
    if program.watched == "steps":
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [sys.executable, "-m", "tests.support.steps", str(program.path), file.name]
            subprocess.run(command, check=True, timeout=LIMIT_S, capture_output=True)
            return read(Path(file.name))
    if program.watched == "run":
        return _supervise(program)
    with running(program.path) as process:
        return look(left_over(process) if program.watched == "left over" else process.pid)


def _supervise(program: Program) -> Bundle:
    """The evidence that `unstall run` leaves: of the stall that it reports, or of the end."""
    folder_of_run = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # what was killed may just have made a file
    with folder_of_run as name, supervised(program.path, Path(name)) as process:
        result = Path(name) / "run.json"
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until and process.poll() is None:
            if result.exists() and json.loads(result.read_text())["diagnoses"]:
                break
            time.sleep(0.1)  # allow-sleep: the file is replaced, which tells nobody
        folder = Path(json.loads(result.read_text())["folder"])
        return read(next(iter([*sorted(folder.glob("bundle-*.json")), folder / "ending.json"])))


def examine(program: Program) -> tuple[str, list[str], float, str]:
    """Run one program and diagnose it."""
    try:
        bundle = observe(program)
        diagnosis = judge(bundle)
    except AssertionError as error:
        return program.name, [f"not started: {str(error)[-300:]}"], 0.0, ""
    except Exception as error:  # noqa: BLE001
        import traceback

        return program.name, [f"broken: {traceback.format_exc()[-900:]}"], 0.0, repr(error)
    first = diagnosis.findings[0] if diagnosis.findings else None
    text = f"{first.cause} ({first.confidence})" if first else ""
    return (
        program.name,
        problems(program, diagnosis),
        bundle.took_s,
        f"{diagnosis.verdict} {text} | {diagnosis.summary}",
    )


def main() -> None:
    """Run the wanted programs, two at a time."""
    wanted = [one for one in programs() if not sys.argv[1:] or any(part in one.name for part in sys.argv[1:])]
    good = 0
    with ProcessPoolExecutor(2) as pool:
        for name, wrong, took, text in pool.map(examine, wanted):
            good += not wrong
            print(f"{'ok ' if not wrong else 'BAD'} {name:60} {took:5.1f}s  {'; '.join(wrong)}   [{text}]", flush=True)
    print(f"{good} of {len(wanted)}")


if __name__ == "__main__":
    main()
