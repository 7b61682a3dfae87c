"""Another process holds the lock of a file, and does not let go.

## What happens
The code takes a lock on a file with `fcntl.flock`, `fcntl.lockf` or a library such as `filelock`. Another
process has that lock: a backup, a second training, a forgotten notebook. The call waits until the lock is
released, without a time limit and without a word. The training waits for the sample.

## How to recognise it
The thread stands in the system call `flock` or `fcntl`, and `/proc/locks` names the process that has the lock.
Where a loop tries again and again instead of waiting, the file that it tries is locked by another process. A
lock can outlive the process that took it: a child that inherited the open file keeps it.

## Example
```python
with open(self.index_path) as file:
    fcntl.flock(file, fcntl.LOCK_SH)      # waits for as long as a backup holds the file
    return json.load(file)
```

## Use instead
```python
lock = filelock.FileLock(self.index_path + ".lock", timeout=30)   # gives up, and says which file
```
and hold such a lock for moments only. Readers of files that are replaced with `os.replace` need no lock at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.descriptors import CheckedFile, Descriptors
from unstall.evidence.holding import certainty, holdings, place_of_loop
from unstall.evidence.processes import Processes
from unstall.evidence.stall import Kind, Stall
from unstall.evidence.threads import Threads
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="file-lock-held",
    title="Another process holds the lock of a file",
    remedies=(
        Remedy("Find out what the other process does, and end it if nobody needs it", "the lock is free once it ends"),
        Remedy(
            "Give the lock a time limit",
            "then the sample fails with an error that names the file, instead of waiting for ever",
            'lock = filelock.FileLock(path + ".lock", timeout=30)',
        ),
    ),
)

_RELEASE_FIRST = Remedy(
    "Release the lock before the loop over the loader", "its workers need it, and the training waits for them meanwhile"
)


@cause.detector
def from_waits(stall: Stall, processes: Processes, threads: Threads) -> Iterator[Finding]:
    """The kernel names the process that has the lock."""
    lock = stall.wait.lock
    if lock is None or lock.sort not in ("file-lock", "record-lock"):
        return
    held = holdings(stall, lock, processes, threads)
    if not held and lock.holders:
        return  # only by itself: that is another cause
    if len({one.lock.id for one in stall.cycle if one.lock is not None}) > 1:
        return  # several locks in a circle: so is that
    facts = [stall.fact(f"{stall.role} {'tries again and again to take' if lock.polled else 'waits for'} {lock.label}")]
    for one in held:
        facts += one.facts(lock.label)
        if one.holder.source.endswith(f"/fdinfo/{one.holder.fd}"):
            facts.append(Fact("the process that took the lock has ended; this one inherited it", one.holder.source))
    if not held:
        facts.append(Fact("who holds it can't be seen from here", "/proc/locks"))
    if any(one.pid == other.holder.pid for one in stall.cycle for other in held):
        facts.append(Fact("the holder itself waits for this process: neither can go on", "the chain of waits"))
    by = held[0].name if held else "a process that can't be seen from here"
    yield cause.finding(
        certainty(stall, held),
        title=f"{stall.role} waits for {lock.label}, which is held by {by}",
        where=stall.where(*place_of_loop(stall, lock.tried_in, lock.tried_at)),
        because=facts,
        remedies=(_RELEASE_FIRST, *cause.remedies[1:]) if any(one.is_main for one in held) else None,
    )


@cause.detector
def by_its_own_child(stall: Stall, processes: Processes) -> Iterator[Finding]:
    """A program was started, and waits for a lock that the process has which waits for the program's end."""
    if stall.wait.kind not in (Kind.CHILD, Kind.PIPE_READ) or stall.wait.limit_s is not None:
        return
    for one in stall.cycle:
        if one.lock is None or one.lock.sort not in ("file-lock", "record-lock") or one.pid == stall.wait.pid:
            continue
        mine = [holder for holder in one.lock.holders if holder.pid == stall.wait.pid]
        child = processes.get(one.pid)
        if not mine or child is None:
            continue
        yield cause.finding(
            Confidence.CERTAIN,
            title=f"`{child.command or child.name}` waits for {one.lock.label}, which {stall.role} holds that started it",
            where=stall.where(),
            because=(
                Fact(f"process {one.pid} ({child.command or child.name}) waits for {one.lock.label}", one.source),
                Fact(f"{one.lock.label} is held by process {stall.wait.pid}, which is {stall.role}", mine[0].source),
                stall.fact(f"{stall.role} waits for {stall.wait.text}"),
            ),
        )
        return


@cause.detector
def in_a_lock_file(stall: Stall, descriptors: Descriptors, processes: Processes) -> Iterator[Finding]:
    """The lock is the mere existence of a file, and the process that made it is alive."""
    if stall.wait.lock is not None:
        return
    for file in descriptors.checked_by(stall.wait.tid):
        if not (file.exists and file.wanted == "gone") or file.limited:
            continue
        owner, source = _owner(file, stall.wait.pid)
        if owner is None:
            continue
        process = processes.get(owner)
        name = f"process {owner} ({process.command})" if process and process.command else f"process {owner}"
        yield cause.finding(
            Confidence.LIKELY if stall.long else Confidence.POSSIBLE,
            title=f"{stall.role} waits until the lock file {file.path} is gone; it belongs to {name}",
            where=stall.where(*place_of_loop(stall, file.file, file.loop_line)),
            because=(
                Fact(f"a loop goes on for as long as {file.path} is there", "its source"),
                Fact(f"the file belongs to {name}, which is alive", source),
            ),
        )
        return


def _owner(file: CheckedFile, waiter: int) -> tuple[int | None, str]:
    """The living process that a lock file belongs to, and what says so."""
    if file.pid_inside is not None:
        known = file.pid_alive and file.pid_inside != waiter
        return (file.pid_inside, "the number inside the file") if known else (None, "")
    others = [pid for pid in file.opened_by if pid != waiter]
    return (others[0], "it has the file open") if others else (None, "")
