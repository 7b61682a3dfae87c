"""How often `unstall run` cries wolf, and how soon it notices: healthy and stuck programs of the zoo, with noise beside them.

    PYTHONPATH=. python bench/alarms.py [healthy-rounds] [stall-rounds] [name-part] [noise,noise…]

Each healthy program runs under supervision for up to 40 s, each stuck one until it is reported. The noise: none, a process
that computes on every core, one that writes and syncs, one that computes in bursts. Prints a row per program and kind of noise.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support.zoo import Program, kill_session, programs

HEALTHY_S = 40.0
STALL_S = 60.0
NOISES = {
    "quiet": "",
    "cpu": "while True: pass",
    "disk": "import os, tempfile\nwith tempfile.TemporaryFile() as f:\n  while True:\n"
    "    f.seek(0); f.write(os.urandom(1 << 22)); f.flush(); os.fsync(f.fileno())",
    "bursts": "import time\nwhile True:\n  end = time.time() + 2\n  while time.time() < end: pass\n  time.sleep(3)",
}


@contextlib.contextmanager
def noise(kind: str) -> Iterator[None]:
    """A process per core that disturbs; ended by its number."""
    code = NOISES[kind]
    disturbers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(os.cpu_count() or 1)] if code else []
    try:
        yield
    finally:
        for one in disturbers:
            one.kill()
            one.wait()


def supervise(program: Program, limit_s: float) -> tuple[float | None, dict[str, object], float | None]:
    """When the program announced its stall, what `unstall run` wrote, and when it first reported something."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ready, result = folder / "ready", folder / "run.json"
        ready.touch()
        process = subprocess.Popen(
            [sys.executable, "-m", "unstall", "run", "--json", str(result), str(program.path)],
            cwd=folder,
            env={**os.environ, "UNSTALL_ZOO_READY": str(ready)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        announced = reported = None
        document: dict[str, object] = {}
        until = time.monotonic() + limit_s
        try:
            while time.monotonic() < until and process.poll() is None:
                time.sleep(0.05)
                if announced is None and ready.stat().st_size:
                    announced = time.monotonic()
                with contextlib.suppress(OSError, ValueError):
                    document = json.loads(result.read_text())
                if document.get("diagnoses") and reported is None:
                    reported = time.monotonic()
                    if program.cause:
                        break
            with contextlib.suppress(OSError, ValueError):
                document = json.loads(result.read_text())
        finally:
            kill_session(process.pid)
            process.wait()
        return announced, document, reported


def sure(document: dict[str, object]) -> list[str]:
    """The causes that were reported as more than possible."""
    found = [one for diagnosis in document.get("diagnoses", ()) for one in diagnosis["findings"]]  # type: ignore[attr-defined]
    return [one["cause"] for one in found if one["confidence"] != "possible"]


def main() -> None:
    """Print the table."""
    healthy_rounds, stall_rounds = (int(sys.argv[one]) if len(sys.argv) > one else 1 for one in (1, 2))
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    kinds = sys.argv[4].split(",") if len(sys.argv) > 4 else list(NOISES)
    runs = alarms = 0
    delays: list[float] = []
    missed: list[str] = []
    for kind in kinds:
        wanted = [one for one in programs() if one.watched != "steps" and part in one.name]
        with noise(kind), ThreadPoolExecutor(2) as pool:
            healthy = [one for one in wanted if one.cause is None] * healthy_rounds
            for program, (_, document, _) in zip(
                healthy, pool.map(lambda one: supervise(one, HEALTHY_S), healthy), strict=True
            ):
                runs += 1
                if found := sure(document):
                    alarms += 1
                    print(f"ALARM {kind:8} {program.name:60} {found}", flush=True)
            stuck = [one for one in wanted if one.cause and not one.watched and _is_main(one)] * stall_rounds
            for program, (announced, document, reported) in zip(
                stuck, pool.map(lambda one: supervise(one, STALL_S), stuck), strict=True
            ):
                if announced is None or reported is None:
                    missed.append(f"{program.name} ({kind})")
                    continue
                delays.append(reported - announced)
                right = sure(document)[:1] == [program.cause]
                print(f"{'right' if right else 'WRONG'} {kind:8} {program.name:60} {delays[-1]:5.1f} s", flush=True)
        print(f"{kind}: {runs} healthy runs so far, {alarms} alarms", flush=True)
    if delays:
        ordered = sorted(delays)
        print(
            f"{len(delays)} stalls reported; from stall to report: median {statistics.median(delays):.1f} s, "
            f"90 % within {ordered[int(0.9 * (len(ordered) - 1))]:.1f} s, longest {ordered[-1]:.1f} s"
        )
    print(f"missed: {missed or 'none'}")


def _is_main(program: Program) -> bool:
    return program.path.stem == (program.cause or "").replace("-", "_")


if __name__ == "__main__":
    main()
