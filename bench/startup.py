"""What starting costs: CPU time of a fresh Python that imports unstall or shows its help.

    python bench/startup.py [rounds]

Programs run in turns, so that a busy moment of the machine hits all of them alike; medians are shown.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

PROGRAMS = {
    "python, doing nothing": ["-c", ""],
    "import unstall": ["-c", "import unstall"],
    "unstall --help": ["-m", "unstall", "--help"],
    "unstall explain (all causes)": ["-m", "unstall", "explain"],
    "import torch, to compare": ["-c", "import torch"],
}
ROUNDS = 15
COSTLY = "import torch, to compare"
COSTLY_ROUNDS = 3


def cpu_ms(arguments: list[str]) -> float:
    """The CPU time of one run, user and system, in milliseconds."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return (usage.ru_utime + usage.ru_stime) * 1000 if process.returncode == 0 else float("nan")


def main() -> None:
    """Measure all programs in turns and print a table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    for arguments in PROGRAMS.values():  # once for the disk cache and the .pyc files
        cpu_ms(arguments)
    spent: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for number in range(rounds):
        for name, arguments in PROGRAMS.items():
            if name != COSTLY or number < COSTLY_ROUNDS:
                spent[name].append(cpu_ms(arguments))
    bare = statistics.median(spent["python, doing nothing"])
    print(f"{'CPU time, median':32} {'ms':>7} {'over bare':>10}   smallest to largest")
    for name, times in spent.items():
        middle = statistics.median(times)
        print(f"{name:32} {middle:7.1f} {middle - bare:10.1f}   {min(times):.1f} to {max(times):.1f}")


if __name__ == "__main__":
    main()
