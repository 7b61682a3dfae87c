"""The ends of the chains of waits that begin at the training loop."""

from __future__ import annotations

import msgspec

from unstall.engine import collectives
from unstall.engine.links import GraphBuilder, role_of, thread_node
from unstall.engine.waits import WaitReader
from unstall.evidence.loaders import Worker
from unstall.evidence.processes import Process
from unstall.evidence.stacks import Stack
from unstall.evidence.stall import Kind, Stall, Wait
from unstall.model.graph import Path, WaitGraph

_LOCKS = (Kind.SHARED_LOCK, Kind.THREAD_LOCK)


def find_stalls(builder: GraphBuilder, graph: WaitGraph) -> list[Stall]:
    """One stall per root or cycle that the training's main threads lead to, in the order of the graph."""
    stalls: dict[object, Stall] = {}
    for start in collectives.main_threads(builder.reader, builder.waits):
        for path in graph.paths(thread_node(start)):
            stall = _at_the_border(builder, graph, path) or _stall(builder, graph, path)
            if stall is not None:
                stalls.setdefault(_end(stall, path), stall)
    return list(stalls.values())


def _end(stall: Stall, path: Path) -> object:
    """What makes two stalls the same: the thread at their end, or the calls in which ranks wait for each other."""
    calls = frozenset(one for one in path.cycle if one.startswith("call:"))
    if calls:
        return calls
    return path.end if path.end.startswith("rank:") else stall.wait.tid


def _at_the_border(builder: GraphBuilder, graph: WaitGraph, path: Path) -> Stall | None:
    """Where the chain leaves the training's own processes: for a file's lock, an answer over the network, or its log.

    Or where it comes to a worker that has a lock and nothing to do: it will not release it before it gets work.
    """
    threads = list(dict.fromkeys(int(node.split(":")[1]) for node in path.nodes if node.startswith("thread:")))
    loaders = builder.reader.loaders
    own = {
        builder.reader.processes.root,
        *(one.pid for one in builder.reader.ranks.all),
        *(pid for one in loaders.all for pid in one.workers),
    }
    own |= {one.pid for one in loaders.workers} | {one.pid for one in builder.reader.processes.all if one.fetches}
    for place, tid in enumerate(threads[:-1]):
        wait, onward = builder.waits[tid], builder.waits[threads[place + 1]]
        leaves = wait.kind in (Kind.FILE_LOCK, Kind.SOCKET_READ) and wait.pid in own and onward.pid not in own
        before = {builder.waits[one].pid for one in threads[:place]}
        prints = wait.prints and onward.pid not in own | before
        if leaves or prints or (wait.kind in _LOCKS and onward.kind is Kind.INDEX):
            passed = tuple(builder.waits[one] for one in threads[: place + 1])
            stall = _describe(builder, wait, graph.links(path), (), passed)
            return msgspec.structs.replace(stall, beyond=onward)
    return None


def _stall(builder: GraphBuilder, graph: WaitGraph, path: Path) -> Stall | None:
    threads = [int(node.split(":")[1]) for node in path.nodes if node.startswith("thread:")]
    if not threads:
        return None
    cycle = tuple(builder.waits[int(node.split(":")[1])] for node in path.cycle if node.startswith("thread:"))
    tid = threads[-1]
    if cycle:  # the cycle closes at a thread that stands in it twice; a worker says more than the main process
        threads_of_python = [one for one in cycle if builder.reader.stacks.get(one.tid)] or list(cycle)
        tid = next((one.tid for one in threads_of_python if one.kind is not Kind.LOADER), tid)
    wait = builder.waits[tid]
    passed = tuple(builder.waits[one] for one in dict.fromkeys(threads))
    return _describe(builder, wait, graph.links(path), cycle, passed)


def _describe(
    builder: GraphBuilder, wait: Wait, links: tuple[object, ...], cycle: tuple[Wait, ...], passed: tuple[Wait, ...]
) -> Stall:
    reader = builder.reader
    process = reader.processes.get(wait.pid) or Process(wait.pid, 0, "?", "", "?")
    worker = reader.loaders.worker(wait.tid) or (reader.loaders.worker_of(wait.pid) if wait.pid == wait.tid else None)
    waiter, waiting_worker = _behind(reader, wait, passed)
    return Stall(
        wait=wait,
        process=process,
        role=role_of(reader, wait.pid, wait.tid),
        thread=reader.threads.get(wait.tid),
        stack=reader.stacks.get(wait.tid),
        worker=worker,
        chain=links,  # type: ignore[arg-type]
        cycle=cycle,
        main_pid=rank.pid if (rank := reader.rank_of(wait.pid)) else reader.processes.root,
        passed=passed,
        watched_s=reader.threads.span_s,
        missing=collectives.missing_in(reader, wait, builder.waits),
        waiter=waiter,
        waiter_role=role_of(reader, waiter.pid, waiter.tid) if waiter else "",
        waiting_worker=waiting_worker,
    )


def _behind(reader: WaitReader, wait: Wait, passed: tuple[Wait, ...]) -> tuple[Stack | None, Worker | None]:
    """The nearest user code, and the nearest worker at a sample, on the way to a wait that has none itself."""
    stacks = [reader.stacks.get(one.tid) for one in reversed(passed)]
    own = reader.stacks.get(wait.tid)
    waiter = None
    if own is None or not _has_lines(own):
        waiter = next((one for one in stacks if one is not None and _has_lines(one)), None)
    workers = [reader.loaders.worker(one.tid) for one in reversed(passed)]
    return waiter, next((one for one in workers if one is not None and one.stage == "fetching"), None)


def _has_lines(stack: Stack) -> bool:
    """It stands in a file of the user's: not only in the text of a `python -c`."""
    return any(not frame.file.startswith("<") for frame in stack.user_frames())
