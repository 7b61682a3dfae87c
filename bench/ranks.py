"""How long a diagnosis of many ranks takes: one of them is stuck in its data, or half of them are elsewhere.

python bench/ranks.py [RANKS]
"""

from __future__ import annotations

import sys
import time

from unstall.causes import catalogue
from unstall.engine import diagnose
from unstall.evidence.code import Code
from unstall.evidence.processes import Process, Processes
from unstall.evidence.ranks import Call, Rank, Ranks, grouped, outlier
from unstall.evidence.stacks import Frame, Stack, Stacks
from unstall.evidence.threads import Reading, Thread, Threads
from unstall.model.bundle import Bundle
from unstall.model.diagnosis import Target

LAUNCHER = 10


def training(ranks: int, odd: set[int], odd_call: Call | None) -> Bundle:
    """Ranks in a collective; the odd ones are in another one, or wait at a line of their own."""
    rows, threads, stacks = [], [], []
    processes = [Process(LAUNCHER, 1, "torchrun", "torchrun train.py", "S", python="yes")]
    for number in range(ranks):
        pid = 1000 + number
        call = odd_call if number in odd else Call("all_reduce")
        rows.append(Rank(number, pid, local=number, world=ranks, master="node:29500", call=call, pending=True))
        readings = tuple(Reading(at, "S", "futex", (pid,), cpu_s=1.0, switches=5) for at in (0.0, 0.9, 1.8))
        threads.append(Thread(pid, pid, "python", readings))
        line = 90 if number in odd else 40
        frames = (Frame("/job/train.py", line, "step", user=True), Frame("/job/train.py", 120, "main", user=True))
        stacks.append(Stack(pid, pid, main=True, frames=frames, samples=10))
        processes.append(Process(pid, LAUNCHER, "python", "python train.py", "S", python="yes"))
    evidence = [
        Processes(LAUNCHER, tuple(processes)),
        Threads(tuple(threads), 1.8),
        Stacks(tuple(stacks), 1.8),
        Ranks(ranks, tuple(rows)),
        Code(),
    ]
    return Bundle(Target(LAUNCHER, "torchrun train.py"), {one.kind: one for one in evidence})


def main() -> None:
    """Print the times."""
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    causes = catalogue()
    for name, bundle in (
        ("one rank elsewhere", training(ranks, {ranks // 2}, None)),
        ("half of them at a barrier", training(ranks, set(range(ranks // 2)), Call("barrier"))),
    ):
        began = time.perf_counter()
        groups = grouped(bundle.get(Ranks), bundle.get(Stacks))
        merged = time.perf_counter() - began
        found = diagnose(bundle, causes)
        took = time.perf_counter() - began - merged
        odd = outlier(groups)
        print(f"{name}, {ranks} ranks: merged in {merged:.3f} s, diagnosed in {took:.3f} s")
        print(f"  {' | '.join(one.text for one in groups)}; odd: {odd.text if odd else 'none'}")
        print(f"  {found.verdict}: {found.findings[0].title if found.findings else found.summary}")


if __name__ == "__main__":
    main()
