"""A connection is silent, and the code waits for its answer without a time limit.

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
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import syntax
from unstall.evidence.code import SourceFile
from unstall.evidence.descriptors import Descriptor
from unstall.evidence.imports import Imports
from unstall.evidence.processes import Processes
from unstall.evidence.sample_code import DATASET_WORDS, sample_functions
from unstall.evidence.stall import Kind, Stall, Wait
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Location, Remedy

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
    if descriptor is None or wait.limit_s is not None or not _reads_from_connection(wait, descriptor):
        return
    if descriptor.state == "listening" or stall.thread is None or not stall.thread.still:
        return
    if _between_ranks(stall) or (descriptor.protocol == "unix" and not descriptor.local and _is_own(descriptor)):
        return
    facts = [stall.fact(f"{stall.role} waits for {wait.text}, without a time limit")]
    if descriptor.state:
        unread = "; nothing has arrived" if descriptor.waiting_bytes == 0 else ""
        facts.append(Fact(f"the connection is {descriptor.state}{unread}", "/proc/net/tcp"))
    peer = processes.get(descriptor.peer_pid) if descriptor.peer_pid else None
    if descriptor.peer_pid == wait.pid:
        facts.append(Fact("the other end is in the same process", "open descriptors in /proc/<pid>/fd"))
    elif peer is not None:
        facts.append(
            Fact(f"the other end is process {peer.pid} ({peer.command})", "open descriptors in /proc/<pid>/fd")
        )
    yield cause.finding(
        _confidence(stall),
        title=f"{stall.role} waits for {wait.text}, which is silent, and has no time limit",
        where=stall.where(),
        because=facts,
    )


def _reads_from_connection(wait: Wait, descriptor: Descriptor) -> bool:
    """A plain read; or a message of multiprocessing's that comes over the network."""
    over_network = descriptor.sort == "socket" and descriptor.protocol.startswith("tcp")
    return wait.kind is Kind.SOCKET_READ or (wait.kind is Kind.QUEUE and over_network)


def _is_own(descriptor: Descriptor) -> bool:
    """Nobody else has the other end of a pair of sockets."""
    return descriptor.peer_pid in (None, descriptor.pid)


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


_POSITION_OF_TIMEOUT = {  # how many arguments come before `timeout`
    "urllib.request.urlopen": 2,
    "http.client.HTTPConnection": 2,
    "http.client.HTTPSConnection": 2,
    "socket.create_connection": 1,
    "ftplib.FTP": 4,
    **{f"requests.{name}": 99 for name in ("get", "post", "put", "patch", "delete", "head", "options", "request")},
}
_OF_SESSIONS = {"get", "post", "put", "patch", "delete", "head", "options", "request"}
_SETS_LIMIT = {"setdefaulttimeout", "settimeout"}


@cause.detector
def in_source(source: SourceFile) -> Iterator[Finding]:
    """A call to a server without a time limit, in code that runs for every sample."""
    if not source.mentions(*DATASET_WORDS):
        return
    if any(syntax.called_name(one) in _SETS_LIMIT for one in ast.walk(source.tree) if isinstance(one, ast.Call)):
        return
    imports = Imports(source.tree)
    sessions = _sessions(source.tree, imports)
    for function in sample_functions(source.tree):
        for call in syntax.calls(function.node):
            name = imports.called(call)
            if not name and _is_of_session(call, sessions):
                name = "requests.get"
            if name not in _POSITION_OF_TIMEOUT or _has_time_limit(call, _POSITION_OF_TIMEOUT[name]):
                continue
            text = ast.unparse(call.func)
            yield cause.finding(
                Confidence.LIKELY,
                title=f"{text}() has no time limit, and runs for every sample",
                where=(Location(source.path, call.lineno, function.name),),
                because=(Fact(f"{text}() is called without `timeout` in {function.name}", "the source"),),
            )


def _has_time_limit(call: ast.Call, before: int) -> bool:
    if len(call.args) > before or any(isinstance(one, ast.Starred) for one in call.args):
        return True
    for keyword in call.keywords:
        if keyword.arg is None:
            return True
        if keyword.arg == "timeout":
            return not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None)
    return False


def _sessions(tree: ast.AST, imports: Imports) -> set[str]:
    """The variables that are given nothing but `requests.Session()`."""
    given: dict[str, set[bool]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            plain = imports.called(node.value) in ("requests.Session", "requests.session")
            given.setdefault(ast.unparse(node.targets[0]), set()).add(plain)
    return {name for name, kinds in given.items() if kinds == {True}}


def _is_of_session(call: ast.Call, sessions: set[str]) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in _OF_SESSIONS
        and ast.unparse(call.func.value) in sessions
    )
