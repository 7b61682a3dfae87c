"""A lock file was left behind, and the training waits until it goes away.

## What happens
The code uses the mere existence of a file or folder as a lock: it waits while the file is there, or tries again
and again to create it. The process that made the file was killed before it could remove it. Nobody else will, so
the loop goes on for ever. torch does this too: `FileBaton.wait()` guards the building of C++ extensions, and has
no time limit.

## How to recognise it
A loop looks at one file again and again. The file is there, nobody has it open, and the process whose number is
written in it does not exist any more; or it is older than everything that could still remove it.

## Example
```python
while os.path.exists(lock):      # the run that made it was killed last night
    time.sleep(0.2)
```

## Use instead
```python
with filelock.FileLock(path + ".lock", timeout=600):    # the kernel frees it when its holder ends
    ...
```
A lock that the kernel keeps (`flock`) can't be left behind: it ends with the process.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.descriptors import CheckedFile, Descriptors
from unstall.evidence.holding import place_of_loop
from unstall.evidence.loaders import Loaders
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stack, Stacks
from unstall.evidence.stall import Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="stale-lockfile",
    title="A lock file was left behind, and the training waits until it goes away",
    remedies=(
        Remedy("Remove the lock file, after making sure that its owner is gone"),
        Remedy(
            "Use a lock that the kernel frees when its holder ends",
            "a killed process can't leave it behind",
            'with filelock.FileLock(path + ".lock", timeout=600): ...',
        ),
    ),
)


@cause.detector
def from_the_file(
    stall: Stall, descriptors: Descriptors, loaders: Loaders, stacks: Stacks, processes: Processes
) -> Iterator[Finding]:
    """The file that a loop wants gone is there, and nobody is left to remove it."""
    if stall.wait.lock is not None:
        return
    for file in descriptors.checked_by(stall.wait.tid):
        if not (file.exists and file.wanted == "gone") or file.limited:
            continue
        if file.pid_alive or any(pid != stall.wait.pid for pid in file.opened_by):
            continue
        busy = _busy(stall, file, descriptors, loaders, stacks)
        yield cause.finding(
            _confidence(stall, file, busy),
            title=f"{stall.role} waits until the lock file {file.path} is gone, and nobody is left to remove it",
            where=stall.where(*place_of_loop(stall, file.file, file.loop_line)),
            because=_facts(file, busy, processes),
            remedies=(
                Remedy("Remove it, after making sure that its owner is gone", snippet=f"rm -r {file.path}"),
                *cause.remedies[1:],
            ),
        )
        return


def _confidence(stall: Stall, file: CheckedFile, busy: list[Stack]) -> Confidence:
    if file.pid_inside is not None:
        return Confidence.CERTAIN
    return Confidence.LIKELY if stall.long and not busy else Confidence.POSSIBLE


def _busy(stall: Stall, file: CheckedFile, descriptors: Descriptors, loaders: Loaders, stacks: Stacks) -> list[Stack]:
    """Other processes of the training that do something: one of them may be the file's owner."""
    waiting = {one.tid for one in descriptors.checked if one.path == file.path}
    found = []
    for stack in stacks.all:
        if not stack.main or stack.tid in waiting or stack.pid in (stall.wait.pid, stall.main_pid):
            continue
        worker = loaders.worker_of(stack.pid)
        if worker.stage in ("fetching", "collating") if worker else any(stack.user_frames()):
            found.append(stack)
    return found


def _facts(file: CheckedFile, busy: list[Stack], processes: Processes) -> Iterator[Fact]:
    yield Fact(f"a loop goes on for as long as {file.path} is there, and it is there", "its source")
    if file.pid_inside is not None:
        yield Fact(f"it belongs to process {file.pid_inside}, which does not exist", "the number inside the file")
    if file.age_s is not None:
        root = processes.get(processes.root)
        older = root is not None and root.age_s is not None and file.age_s > root.age_s
        yield Fact(
            f"it is {_duration(file.age_s)} old{': older than this training' if older else ''}", "its time stamp"
        )
    if file.pid_inside is None:
        yield Fact("no process has it open", "open descriptors in /proc/<pid>/fd")
    if busy:
        yield Fact(f"process {busy[0].pid} of the training is at work, and may be its owner", "its Python stack")


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
