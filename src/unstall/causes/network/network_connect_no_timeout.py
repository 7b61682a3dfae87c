"""A server does not answer the attempt to connect, and there is no time limit.

## What happens
The machine is away, a firewall drops the packets, or the server's queue of new connections is full. The kernel
tries the handshake again for two minutes and more before it gives up, and then the code may try once more.

## How to recognise it
The thread stands in the system call `connect`, and the socket is in the state SYN_SENT.

## Example
```python
connection = socket.create_connection(address)      # no timeout
```

## Use instead
```python
connection = socket.create_connection(address, timeout=10)
```
`urlopen(url, timeout=10)` and `requests.get(url, timeout=10)` limit the attempt to connect, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.stall import Kind, Stall
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="network-connect-no-timeout",
    title="A server does not answer the attempt to connect, and there is no time limit",
    remedies=(
        Remedy(
            "Give the call a time limit",
            "the kernel alone gives up only after minutes",
            "socket.create_connection(address, timeout=10)",
        ),
        Remedy("Find out whether the server is up, and can be reached from here"),
    ),
)


@cause.detector
def from_waits(stall: Stall) -> Iterator[Finding]:
    """It is inside connect(), and the handshake is not answered."""
    descriptor = stall.wait.descriptor
    if stall.wait.kind is not Kind.SOCKET_CONNECT or descriptor is None or descriptor.state == "established":
        return
    yield cause.finding(
        Confidence.LIKELY if stall.long else Confidence.POSSIBLE,
        title=f"{stall.role} waits for {descriptor.label} to be made, without a time limit",
        where=stall.where(),
        because=(
            stall.fact(f"{stall.role} is inside connect(), without a time limit"),
            Fact(
                f"the socket is {descriptor.state or 'not connected'}: the other side does not answer", "/proc/net/tcp"
            ),
        ),
    )
