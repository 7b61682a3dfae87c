"""A process waits for a file lock that it holds itself.

## What happens
A lock taken with `flock` belongs to one opening of the file, not to the process. When the code opens the same
file a second time and locks it again, the second lock waits for the first. Both are in one thread, so the first
is never released, and the call waits for ever.

## How to recognise it
The process that waits in `flock` is the one that `/proc/locks` names as the holder: it has the file open twice.

## Example
```python
with open(report, "r+") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    append_line(report, "negative value")     # opens and locks the same file again
```

## Use instead
```python
with open(report, "r+") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write("negative value\\n")            # use the file that is already locked
```
or take the lock in one place only. `filelock.FileLock` may be taken again if it is the same object.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.descriptors import Descriptors
from unstall.evidence.holding import place_of_loop
from unstall.evidence.stacks import Stacks
from unstall.evidence.stall import Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="file-lock-self-deadlock",
    title="A process waits for a file lock that it holds itself",
    remedies=(
        Remedy("Take the lock in one place only", "let the inner function expect that the file is locked"),
        Remedy("Hand on the open file instead of its path", "a second opening has a lock of its own"),
        Remedy("Close the file as soon as it is not needed", "the lock ends with it"),
    ),
)


@cause.detector
def from_waits(stall: Stall, stacks: Stacks) -> Iterator[Finding]:
    """The kernel names the waiting process itself as the only holder."""
    lock = stall.wait.lock
    if lock is None or lock.sort not in ("file-lock", "record-lock") or not lock.holders:
        return
    if any(one.pid != stall.wait.pid for one in lock.holders):
        return
    descriptor = next((one.fd for one in lock.holders if one.fd is not None), None)
    another = f" through an earlier opening (descriptor {descriptor})" if descriptor is not None else ""
    yield cause.finding(
        _certainty(stall, stacks),
        title=f"{stall.role} waits for {lock.label}, which it holds itself",
        where=stall.where(*place_of_loop(stall, lock.tried_in, lock.tried_at)),
        because=(
            stall.fact(f"{stall.role} waits for {lock.label}"),
            Fact(f"the same process holds that lock{another}", lock.holders[0].source),
        ),
    )


def _certainty(stall: Stall, stacks: Stacks) -> Confidence:
    """Another thread of the process may have the lock, and may still release it."""
    others = [one for one in stacks.of(stall.wait.pid) if one.tid != stall.wait.tid and any(one.user_frames())]
    if not others:
        return Confidence.CERTAIN
    return Confidence.LIKELY if stall.long else Confidence.POSSIBLE


@cause.detector
def in_a_lock_file(stall: Stall, descriptors: Descriptors) -> Iterator[Finding]:
    """The lock file that it waits for has its own process number inside."""
    for file in descriptors.checked_by(stall.wait.tid):
        mine = file.exists and file.wanted == "gone" and file.pid_inside == stall.wait.pid
        if not mine or file.limited or stall.wait.lock is not None:
            continue
        yield cause.finding(
            Confidence.LIKELY if stall.long else Confidence.POSSIBLE,
            title=f"{stall.role} waits until the lock file {file.path} is gone, which it made itself",
            where=stall.where(*place_of_loop(stall, file.file, file.loop_line)),
            because=(
                Fact(f"a loop goes on for as long as {file.path} is there", "its source"),
                Fact("the number inside the file is that of the waiting process", file.path),
            ),
        )
        return
