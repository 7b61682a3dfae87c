'''A connection is silent, and the code waits for its answer without a time limit.

## What happens
The server took the request and does not answer: it is overloaded, a machine in between dropped the connection, or
it lost the request. Neither `urlopen` nor `requests.get` nor a plain socket has a time limit by itself, so the
call waits for ever.

## How to recognise it
The thread stands in `recv` or `read` on a socket. The connection is open, nothing has arrived, and the call has
no time limit (with one, Python waits in `poll` instead).

## Example
```python
with urllib.request.urlopen(url) as response:        # no timeout
    return response.read()
```

## Use instead
```python
with urllib.request.urlopen(url, timeout=20) as response:
    return response.read()
```
then try again a few times. `socket.setdefaulttimeout(20)` sets the limit for a whole process.
'''

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.processes import Processes
from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

_VERY_LONG_S = 60.0
_RANKS = "/torch/distributed/"  # the ranks of a training talk to each other: another matter

cause = Cause(
    slug="network-read-no-timeout",
    title="A connection is silent, and the code waits for its answer without a time limit",
    remedies=(
        Remedy(
            "Give the call a time limit, and try again when it is over",
            "a server that does not answer then costs seconds",
            "urllib.request.urlopen(url, timeout=20)",
        ),
        Remedy("Or set one for the whole process", "", "socket.setdefaulttimeout(20)"),
    ),
)


@cause.detector
def from_waits(stall: Stall, processes: Processes) -> Iterator[Finding]:
    """It reads from a connection without a time limit, and nothing comes."""
    wait, descriptor = stall.wait, stall.wait.descriptor
    if wait.kind is not Kind.SOCKET_READ or descriptor is None or wait.limit_s is not None:
        return
    if descriptor.state == "listening" or stall.thread is None or not stall.thread.still:
        return
    if _between_ranks(stall) or (descriptor.protocol == "unix" and not descriptor.peer_pid and not descriptor.local):
        return
    facts = [stall.fact(f"{stall.role} waits for {wait.text}, without a time limit")]
    if descriptor.state:
        unread = "; nothing has arrived" if descriptor.waiting_bytes == 0 else ""
        facts.append(Fact(f"the connection is {descriptor.state}{unread}", "/proc/net/tcp"))
    peer = processes.get(descriptor.peer_pid) if descriptor.peer_pid else None
    if descriptor.peer_pid == wait.pid:
        facts.append(Fact("the other end is in the same process", "open descriptors in /proc/<pid>/fd"))
    elif peer is not None:
        facts.append(Fact(f"the other end is process {peer.pid} ({peer.command})", "open descriptors in /proc/<pid>/fd"))
    yield cause.finding(
        _confidence(stall),
        title=f"{stall.role} waits for {wait.text}, which is silent, and has no time limit",
        where=stall.where(),
        because=facts,
    )


def _confidence(stall: Stall) -> Confidence:
    if stall.beyond is not None and stall.beyond.kind is Kind.RUNNING:
        return Confidence.POSSIBLE
    blocked = stall.thread.blocked_s if stall.thread else None
    if blocked is not None and blocked >= _VERY_LONG_S:
        return Confidence.CERTAIN
    return Confidence.LIKELY if stall.long else Confidence.POSSIBLE


def _between_ranks(stall: Stall) -> bool:
    for frame in stall.stack.frames if stall.stack else ():
        if frame.user:
            return False
        if _RANKS in frame.file:
            return True
    return False
