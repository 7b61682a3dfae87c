"""Somebody waits for an item of a queue that nobody will ever put.

## What happens
`queue.get()` or `connection.recv()` waits for ever when the thread or process that should put items has ended (an
exception in it is easily overlooked), was never started, or waits for the reader itself.

## How to recognise it
The queue is empty, and no living thread or process could put something into it: those that have its writing end
open are waiting for the reader, or for the same queue.

## Example
```python
batch = self.queue.get()          # the producer thread died of an exception an hour ago
```

## Use instead
```python
while True:
    try:
        batch = self.queue.get(timeout=5)
        break
    except queue.Empty:
        if not self.producer.is_alive():
            raise RuntimeError("the producer has died")
```
and let the producer put a final `None`, also when it fails (`finally`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import syntax
from unstall.evidence.code import Code
from unstall.evidence.descriptors import Descriptor
from unstall.evidence.leaving import frameless, leaver
from unstall.evidence.loaders import Loaders
from unstall.evidence.processes import Processes
from unstall.evidence.stacks import Stack, Stacks
from unstall.evidence.stall import Kind, Stall
from unstall.evidence.threads import Threads
from unstall.model.cause import Cause
from unstall.model.finding import Confidence, Fact, Finding, Remedy

cause = Cause(
    slug="queue-get-no-producer",
    title="A queue is waited for, and nobody can put anything into it",
    remedies=(
        Remedy("Look for the producer's end", "an exception in a thread prints a traceback, and the rest goes on"),
        Remedy("Wait with a time limit", "and look whether the producer lives", "queue.get(timeout=5)"),
        Remedy("Let the producer always say goodbye", "", "finally:\n    queue.put(None)"),
    ),
)
_OWN = ("multiprocessing/queues.py", "multiprocessing/resource_sharer.py", "torch/utils/data/_utils/pin_memory.py")


@cause.detector
def inside_one_process(stall: Stall, stacks: Stacks, code: Code, processes: Processes) -> Iterator[Finding]:
    """queue.Queue.get(), and no other thread of the process puts anything."""
    if stall.wait.kind is not Kind.QUEUE or stall.wait.descriptor is not None or stall.wait.ends:
        return
    if (
        stall.stack is None
        or not stall.stack.find("queue.py", "get")
        or leaver(stall, stacks)
        or frameless(stall, stacks)
    ):
        return
    others = [one for one in stacks.of(stall.process.pid) if one.tid != stall.wait.tid]
    if any(_puts(one, code) for one in others):
        return
    parent = processes.forked_from(stall.process.pid)
    if parent is not None and any(_puts(one, code) for one in stacks.of(parent.pid)):
        return  # the producer was lost in the fork: another cause
    unknown = [one for one in others if not _is_own(one)]
    yield cause.finding(
        Confidence.LIKELY,
        title=f"{stall.role} waits for an item of a queue, and no living thread puts one",
        because=(
            stall.fact(f"{stall.role} is inside get(){_limit(stall)}"),
            Fact(
                f"none of the other {len(unknown)} threads puts anything into a queue"
                if unknown
                else "the process has no other thread that could put something",
                "the Python stacks and the source",
            ),
        ),
    )


@cause.detector
def between_processes(
    stall: Stall, stacks: Stacks, code: Code, processes: Processes, threads: Threads, loaders: Loaders
) -> Iterator[Finding]:
    """A read from a pipe that nobody is going to write to."""
    pipe = stall.wait.descriptor
    if stall.wait.kind not in (Kind.QUEUE, Kind.PIPE_READ) or pipe is None or pipe.sort not in ("pipe", "socket"):
        return
    if stall.wait.ends or not _reads_message(stall) or pipe.waiting_bytes:
        return
    writers = dict.fromkeys(end.pid for end in pipe.writers)
    if pipe.sort == "socket" and (pipe.protocol != "unix" or not writers):
        return
    if any(_is_manager(one) for pid in writers for one in stacks.of(pid)):
        return
    able = [pid for pid in writers if _can_write(pid, stall, stacks, code, processes, threads, loaders, pipe)]
    if able:
        return
    who = ", ".join(str(pid) for pid in list(writers)[:6]) or "no process"
    yield cause.finding(
        Confidence.CERTAIN if set(writers) <= {stall.process.pid} else Confidence.LIKELY,
        title=f"{stall.role} waits for a message, and nobody who could send one is going to",
        because=(
            stall.fact(f"{stall.role} reads from {pipe.label}, which is empty"),
            Fact(f"its writing end is open only in: {who}", "open descriptors in /proc/<pid>/fd"),
            Fact("each of these waits for the reader, or for the same message", "their stacks"),
        ),
    )


@cause.detector
def in_a_manager(stall: Stall, stacks: Stacks, code: Code) -> Iterator[Finding]:
    """get() of a queue that a manager process keeps: that process waits, too, and nobody puts."""
    socket = stall.wait.descriptor
    if stall.wait.kind is not Kind.QUEUE or socket is None or not _reads_message(stall):
        return
    serving = [one for end in socket.writers for one in stacks.of(end.pid) if _is_manager(one)]
    if stall.wait.ends or not any(one.find("/queue.py", "get") for one in serving):
        return
    chain = {wait.tid for wait in stall.passed}
    others = [one for one in stacks.all if one.tid not in chain and not _is_manager(one) and not _is_own(one)]
    if any(_puts(one, code) for one in others if not _gets_from_manager(one)):
        return
    yield cause.finding(
        Confidence.LIKELY,
        title=f"{stall.role} waits for an item of a manager's queue, and nobody puts one",
        because=(
            stall.fact(f"{stall.role} waits for the answer of the manager process, without a time limit"),
            Fact("a thread of the manager waits in get() of an empty queue", "its Python stack"),
            Fact("no other thread of the training is about to put anything", "the Python stacks and the source"),
        ),
    )


def _limit(stall: Stall) -> str:
    return ", again and again" if stall.wait.renewed else " without a time limit"


def _is_manager(stack: Stack) -> bool:
    return stack.find("multiprocessing/managers.py", "serve_client", "serve_forever", "accepter") is not None


def _gets_from_manager(stack: Stack) -> bool:
    return stack.find("multiprocessing/managers.py", "_callmethod") is not None


def _reads_message(stall: Stall) -> bool:
    stack = stall.stack
    return stack is not None and bool(
        stack.find("multiprocessing/queues.py", "get")
        or stack.find("multiprocessing/connection.py", "recv", "recv_bytes")
    )


def _can_write(
    pid: int,
    stall: Stall,
    stacks: Stacks,
    code: Code,
    processes: Processes,
    threads: Threads,
    loaders: Loaders,
    pipe: Descriptor,
) -> bool:
    """Whether a process that has the writing end may still write: it does something, or its code puts."""
    process = processes.get(pid)
    if process is None or process.dead:
        return False
    for thread in threads.of(pid):
        stack = stacks.get(thread.tid)
        if thread.tid == stall.wait.tid or (stack is not None and _is_own(stack)):
            continue
        if stack is None or not stack.frames:
            if pid != stall.process.pid and not thread.still:
                return True
            continue
        if _puts(stack, code):
            return True
        worker = loaders.worker(thread.tid)
        waits_for_us = stack.find("torch/utils/data/dataloader.py", "_next_data") or (worker and worker.stage == "idle")
        gets_too = stack.find("multiprocessing/queues.py", "get") or stack.find("multiprocessing/connection.py", "recv")
        if pid != stall.process.pid and not waits_for_us and not gets_too and worker is None:
            return True
    return False


def _puts(stack: Stack, code: Code) -> bool:
    """A function on this stack, or one that it calls in its file, puts or sends something."""
    for frame in stack.user_frames():
        function = code.of(frame)
        if function is None:
            return True  # its source is not known: it may
        names = {syntax.called_name(one) for one in ast.walk(function.tree) if isinstance(one, ast.Call)}
        called = [code.named(frame.file, name) for name in names]
        for one in called:
            if one is not None:
                names |= {syntax.called_name(call) for call in ast.walk(one.tree) if isinstance(call, ast.Call)}
        if names & {"put", "put_nowait", "send", "send_bytes", "_put"}:
            return True
    return False


def _is_own(stack: Stack) -> bool:
    return any(frame.file.endswith(_OWN) for frame in stack.frames)
