"""Compare unstall's reader of live CPython processes with py-spy: first look-up, and each sample after it.

    .venv/bin/python bench/python_reader.py [--rounds N] [PYTHON …]

Reads tests/probes/python_target.py (11 threads at rest, one 900 calls deep) and python_busy.py (2 threads at
full speed). The two tools take turns; the table shows medians in milliseconds. py-spy is a new process per
dump, as unstall would use it; its own start-up is part of what it costs.
"py-spy failed %" counts its dumps that ended in an error.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "probes")]

from python_processes import VERSIONS, find_python, start, stop  # noqa: E402

from unstall.probes.python import Interpreter, Unreadable, evaluate_value, open_interpreter  # noqa: E402

spy_runs: list[bool] = []  # whether each dump succeeded


def measure(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - begin)


def read_stacks(interpreter: Interpreter) -> list[list[tuple[str, str, int | None]]]:
    stacks = []
    for thread in interpreter.threads():
        try:
            stacks.append([(frame.function, frame.file, frame.line) for frame in thread.frames()])
        except Unreadable:
            continue
    return stacks


def read_locals(interpreter: Interpreter) -> int:
    count = 0
    for thread in interpreter.threads():
        try:
            for frame in thread.frames():
                count += sum(ref.address > 0 for ref in frame.locals.values())
        except Unreadable:
            continue
    return count


def read_innermost(interpreter: Interpreter) -> list[object]:
    """What a sampler needs: the main thread's stack and one expression in it."""
    main = next(thread for thread in interpreter.threads() if thread.native_id == interpreter.pid)
    try:
        return [evaluate_value(frame, "worker.step") for frame in main.frames()[:1]]
    except Unreadable:
        return []


def first_lookup(pid: int) -> None:
    with open_interpreter(pid) as interpreter:
        read_stacks(interpreter)


def py_spy(program: str, pid: int, *options: str) -> None:
    command = [program, "dump", "--nonblocking", "--json", *options, "--pid", str(pid)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    spy_runs.append(done.returncode == 0)
    if done.returncode == 0:
        json.loads(done.stdout)


def bench(python: str, script: str, rounds: int) -> dict[str, float]:
    spy = shutil.which("py-spy", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    spy_runs.clear()
    process = start(python, script)
    try:
        with open_interpreter(process.pid) as interpreter:
            actions: dict[str, Callable[[], object]] = {
                "first look-up": lambda: first_lookup(process.pid),
                "all stacks": lambda: read_stacks(interpreter),
                "with locals": lambda: read_locals(interpreter),
                "main + 1 value": lambda: read_innermost(interpreter),
            }
            if spy:
                actions["py-spy"] = lambda: py_spy(spy, process.pid)
                actions["py-spy --locals"] = lambda: py_spy(spy, process.pid, "--locals")
            times: dict[str, list[float]] = {name: [] for name in actions}
            for _ in range(rounds):
                for name, action in actions.items():
                    times[name].append(measure(action))
            medians = {name: statistics.median(values) for name, values in times.items()}
            if spy_runs:
                medians["py-spy failed %"] = 100 * spy_runs.count(False) / len(spy_runs)
            begin = time.process_time()
            for _ in range(200):
                read_stacks(interpreter)
            medians["CPU % at 50/s"] = (time.process_time() - begin) / 200 * 50 * 100
            return medians
    finally:
        stop(process)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("pythons", nargs="*", help="interpreters to read (default: 3.11 to 3.13, as found)")
    options = parser.parse_args()
    pythons = options.pythons or [path for path in map(find_python, VERSIONS) if path]
    rows = []
    for python in pythons:
        for script in ("python_target.py", "python_busy.py"):
            rows.append((f"{Path(python).name} {script[7:-3]}", bench(python, script, options.rounds)))
    names = list(dict.fromkeys(name for _, medians in rows for name in medians))
    print(f"{'milliseconds':24}" + "".join(f"{name:>17}" for name in names))
    for label, medians in rows:
        print(f"{label:24}" + "".join(f"{medians.get(name, float('nan')):17.3f}" for name in names))


if __name__ == "__main__":
    main()
