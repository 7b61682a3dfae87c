"""Builds the wait graph: from each thread to what it waits for, and from there to whoever has it."""

from __future__ import annotations

from unstall.engine import collectives
from unstall.engine.waits import WaitReader
from unstall.evidence.loaders import Loader
from unstall.evidence.locks import Holder, Lock
from unstall.evidence.objects import Object, exits
from unstall.evidence.processes import Process
from unstall.evidence.stacks import Stack
from unstall.evidence.stall import FINITE, Kind, Wait
from unstall.evidence.threads import Thread
from unstall.model.finding import Grade
from unstall.model.graph import Edge, Node, WaitGraph

_IDLE_STACKS = (  # threads of the standard library and of torch that only serve others
    ("multiprocessing/queues.py", "_feed"),
    ("multiprocessing/resource_sharer.py", "_serve"),
    ("torch/utils/data/_utils/pin_memory.py", "_pin_memory_loop"),
    ("tqdm/_monitor.py", "run"),
    ("multiprocessing/pool.py", "_handle_workers"),
    ("multiprocessing/pool.py", "_handle_tasks"),
)
_JOB_LOOPS = (  # where the threads of a pool wait for their next job
    ("concurrent/futures/thread.py", "_worker"),
    ("multiprocessing/pool.py", "worker"),
)
_POOL_LOOPS = (("multiprocessing/pool.py", "worker"), ("concurrent/futures/process.py", "_process_worker"))
_MESSAGES = ("multiprocessing/queues.py", "multiprocessing/connection.py", "multiprocessing/synchronize.py")


def thread_node(tid: int) -> str:
    """The name of a thread's node."""
    return f"thread:{tid}"


def role_of(reader: WaitReader, pid: int, tid: int | None = None) -> str:
    """What a thread is in the training: "main", "worker 2", "thread 'prefetch' of main", or a program's name."""
    worker = reader.loaders.worker_of(pid)
    process = reader.processes.get(pid)
    rank = reader.rank_of(pid)
    if rank is not None and rank.pid == pid:
        role = f"rank {rank.number}"
    elif pid == reader.processes.root and not (process and process.fetches):
        role = "the launcher" if reader.ranks.all else "main"
    elif worker is not None and worker.number is not None:
        role = f"worker {worker.number}"
    elif any(pid in loader.workers for loader in reader.loaders.all):
        role = next(f"worker {one.workers.index(pid)}" for one in reader.loaders.all if pid in one.workers)
    elif process is not None and process.fetches:
        role = "a loader worker"
    else:
        role = process.name if process else "process"
    if rank is not None and rank.pid != pid:
        role = f"{role} of rank {rank.number}"
    if tid is not None and tid != pid:
        stack = reader.stacks.get(tid)
        name = stack.name if stack and stack.name else ""
        return f"thread {name!r} of {role}" if name else f"a thread of {role}"
    return role


class GraphBuilder:
    """Makes nodes and edges out of all evidence."""

    def __init__(self, reader: WaitReader) -> None:
        self.reader = reader
        self.graph = WaitGraph()
        self.waits: dict[int, Wait] = {}

    def build(self) -> WaitGraph:
        """The whole graph."""
        for thread in self.reader.threads.all:
            self.waits[thread.tid] = self.reader.of(thread)
            self._add_thread(thread)
        for thread in self.reader.threads.all:
            self._connect(thread, self.waits[thread.tid])
        collectives.connect_other_nodes(self.reader, self.graph, self.waits)
        return self.graph

    def _add_thread(self, thread: Thread) -> None:
        stack = self.reader.stacks.get(thread.tid)
        role = role_of(self.reader, thread.pid, thread.tid)
        self.graph.add(
            Node(
                thread_node(thread.tid), "thread", f"{role} (pid {thread.pid}){_place(stack)}{self._at_sample(thread)}"
            )
        )

    def _at_sample(self, thread: Thread) -> str:
        worker = self.reader.loaders.worker(thread.tid)
        if worker is None or worker.stage not in ("fetching", "collating"):
            return ""
        if worker.stage == "collating":
            return f", collating batch {worker.batch}" if worker.batch is not None else ", collating"
        return f", at sample {worker.sample}" if worker.sample is not None else ""

    def _edge(self, source: str, target: str, relation: str, evidence: str, grade: Grade = Grade.EXACT) -> None:
        self.graph.connect(Edge(source, target, relation, grade, evidence))

    def _connect(self, thread: Thread, wait: Wait) -> None:
        me = thread_node(thread.tid)
        if wait.kind is Kind.LOADER or wait.kind is Kind.HANDOVER:
            self._connect_loader(me, wait)
        elif wait.kind is Kind.COLLECTIVE:
            collectives.connect(self.reader, self.graph, thread, self.waits)
        elif wait.kind is Kind.CONDITION and wait.lock is not None:
            self._connect_condition(me, wait, wait.lock)
        elif wait.lock is not None and wait.kind is not Kind.QUEUE:
            self._connect_lock(me, wait, wait.lock)
        elif wait.kind in (Kind.PIPE_READ, Kind.PIPE_WRITE) and wait.descriptor is not None:
            ends = wait.descriptor.writers if wait.kind is Kind.PIPE_READ else wait.descriptor.readers
            pipe = self.graph.add(Node(f"pipe:{wait.descriptor.label}", "pipe", wait.text))
            self._edge(me, pipe, "", wait.source)
            relation = "written by" if wait.kind is Kind.PIPE_READ else "read by"
            for pid in dict.fromkeys(end.pid for end in ends if end.pid != thread.pid):
                self._edge(pipe, self._process_node(pid), relation, "open descriptors in /proc/<pid>/fd")
        elif wait.kind is Kind.CHILD:
            for child in self.children_waited_for(wait):
                grade = Grade.EXACT if wait.child else Grade.INFERRED
                self._edge(me, self._process_node(child), "the end of", wait.source, grade)
        elif wait.kind is Kind.SOCKET_READ and wait.descriptor and wait.descriptor.peer_pid:
            socket = self.graph.add(Node(f"socket:{wait.descriptor.local}", "socket", wait.text))
            self._edge(me, socket, "", wait.source)
            if wait.descriptor.peer_pid != thread.pid:
                peer = self._server_node(wait.descriptor.peer_pid)
                self._edge(socket, peer, "served by", "/proc/net/tcp and open descriptors")
        elif wait.kind is Kind.SLEEPING:
            self._connect_polled_child(me, thread)
        elif thread.hidden and wait.kind is Kind.UNKNOWN:
            self._connect_suspects(me, thread, wait)
        elif wait.kind in (Kind.QUEUE, Kind.CONDITION, Kind.FUTURE, Kind.JOIN) or wait.object is not None:
            self._connect_inner(me, thread, wait)

    def _connect_loader(self, me: str, wait: Wait) -> None:
        loader = wait.loader
        if loader is None:
            return
        batch = self.graph.add(Node(f"{loader.id}/batch", "batch", wait.text))
        self._edge(me, batch, "", wait.source)
        owner = loader.sender or loader.owner or self._likely_owner(loader)
        if owner is not None:
            grade = Grade.EXACT if loader.owner else Grade.INFERRED
            self._edge(batch, self._process_node(owner), "owed by", loader.source, grade)

    def _likely_owner(self, loader: Loader) -> int | None:
        """The worker with the oldest batch, where the iterator itself could not be read."""
        busy = [one for one in self.reader.loaders.workers if one.batch is not None and one.pid != loader.pid]
        return min(busy, key=lambda one: one.batch or 0).pid if busy else None

    def _connect_lock(self, me: str, wait: Wait, lock: Lock) -> None:
        node = self.graph.add(Node(lock.id, "lock", lock.label))
        self._edge(me, node, "", wait.source)
        waits = [(tid, self.waits.get(tid)) for tid in lock.releasers]
        releasers = [tid for tid, one in waits if one and (one.kind in FINITE or one.limit_s is not None)]
        for holder in lock.holders:
            if releasers and "semaphore" in lock.sort and not holder.file:
                continue  # it took a permit, and somebody else may give one back
            grade = Grade.EXACT if holder.exact else Grade.INFERRED
            target = self._holder_node(holder)
            self._edge(node, target, "held by", holder.source, grade)
        for tid in releasers:
            source = "its code, which releases locks"
            self._edge(node, thread_node(tid), "perhaps released by", source, Grade.INFERRED)

    def _holder_node(self, holder: Holder) -> str:
        if holder.tid is not None and self.reader.threads.get(holder.tid):
            return thread_node(holder.tid)
        return self._process_node(holder.pid)

    def _process_node(self, pid: int) -> str:
        """A process's main thread where it was watched; else the process."""
        if self.reader.threads.get(pid):
            return thread_node(pid)
        process = self.reader.processes.get(pid)
        command = f": {process.command}" if process and process.command else ""
        return self.graph.add(Node(f"process:{pid}", "process", f"pid {pid}{command}"))

    def _server_node(self, pid: int) -> str:
        """Of a Python process with several busy threads it is not known which one serves: then the process."""
        busy = [one for one in self.reader.stacks.of(pid) if one.frames and not is_servant(one)]
        if len(busy) < 2:
            return self._process_node(pid)
        return self.graph.add(Node(f"process:{pid}", "process", f"{role_of(self.reader, pid)} (pid {pid})"))

    def children_waited_for(self, wait: Wait) -> list[int]:
        """The child that a thread waits for; a program that is no Python may wait for any of its children."""
        if wait.child:
            return [wait.child]
        if self.reader.stacks.get(wait.tid) is not None:
            return []
        return [one.pid for one in self.reader.processes.children(wait.pid) if not one.dead]

    def _connect_polled_child(self, me: str, thread: Thread) -> None:
        """A sleep between two looks at a child that can't go on before this process reads its output."""
        for child in self.reader.processes.children(thread.pid):
            wait = self.waits.get(child.pid)
            if wait is None or wait.kind is not Kind.PIPE_WRITE or wait.descriptor is None:
                continue
            if any(end.pid == thread.pid for end in wait.descriptor.readers):
                source = "a child that only this process can free"
                self._edge(me, thread_node(child.pid), "the end of", source, Grade.INFERRED)

    def _connect_suspects(self, me: str, thread: Thread, wait: Wait) -> None:
        """What it waits for is hidden. A child that is busy, stopped or at a lock stands out among the others."""
        for child in self.reader.processes.children(thread.pid) if thread.tid == thread.pid else ():
            inner = self.waits.get(child.pid)
            if inner is not None and inner.kind not in (Kind.UNKNOWN, Kind.ENDED):
                self._edge(me, thread_node(child.pid), "something, perhaps for", wait.source, Grade.UNKNOWN)

    def _connect_inner(self, me: str, thread: Thread, wait: Wait) -> None:
        """A wait on an object of the process itself: whoever can end it is one of its other threads."""
        target = self.graph.add(Node(f"inner:{thread.tid}", "object", wait.text))
        self._edge(me, target, "", wait.source)
        if wait.object is not None and wait.object.threads:
            for tid in wait.object.threads:
                if self.reader.threads.get(tid):
                    self._edge(target, thread_node(tid), "the end of", "the thread's own object")
            return
        for other in self.feeders(thread, wait):
            self._edge(
                target, thread_node(other.tid), "perhaps ended by", "the only threads that could", Grade.INFERRED
            )
        if wait.kind is Kind.EVENTS:  # an event loop that watches pipes: those of the programs that it has started
            for child in self.reader.processes.children(thread.pid):
                if not child.dead and not child.fetches and not self.reader.stacks.of(child.pid):
                    source = "the programs that it has started"
                    self._edge(target, self._process_node(child.pid), "perhaps ended by", source, Grade.INFERRED)
        if wait.kind in (Kind.FUTURE, Kind.CONDITION):
            for child in self.reader.processes.children(thread.pid):
                stack = self.reader.stacks.get(child.pid)
                if stack is not None and _has_pool_job(stack):
                    source = "the processes of its pool that have a job"
                    self._edge(target, thread_node(child.pid), "perhaps ended by", source, Grade.INFERRED)

    def _connect_condition(self, me: str, wait: Wait, condition: Lock) -> None:
        """A wait for an event or condition between processes: whoever shares it, and has something to do, may end it."""
        target = self.graph.add(Node(condition.id, "object", wait.text))
        self._edge(me, target, "", wait.source)
        for thread in self.reader.threads.all:
            stack = self.reader.stacks.get(thread.tid)
            if thread.tid in condition.waiters or stack is None or not stack.frames or is_servant(stack):
                continue
            if self.waits[thread.tid].kind is Kind.INDEX:
                continue
            known = wait.object is not None and wait.object.searched
            able = wait.object.enders if wait.object is not None and known else ()
            if thread.tid not in able if known else thread.pid not in condition.sharers:
                continue
            source = "the processes that share it"
            self._edge(target, thread_node(thread.tid), "perhaps ended by", source, Grade.INFERRED)

    def feeders(self, thread: Thread, wait: Wait) -> list[Thread]:
        """The other Python threads of a process that do work of their own, and may end a wait."""
        found = []
        for other in self.reader.threads.of(thread.pid):
            stack = self.reader.stacks.get(other.tid)
            if other.tid == thread.tid or stack is None or not stack.frames or is_servant(stack) or exits(stack):
                continue
            if wait.object is None or self._may_end(wait.object, stack):
                found.append(other)
        return sorted(found, key=lambda one: self.waits[one.tid].kind not in FINITE)

    def _may_end(self, one: Object, stack: Stack) -> bool:
        """Whether a thread may end the wait on an object: its code does such things, or it is a pool's."""
        if not one.searched:
            return True
        if stack.tid in self.reader.objects.waiting_with(one):
            return False
        return stack.tid in one.enders


def is_servant(stack: Stack) -> bool:
    """A thread that serves others, or one of a pool that has no job; not one that runs the user's code for them."""
    if any(stack.user_frames()):
        return False
    has_no_job = any(stack.frames[0].calls(*one) for one in _JOB_LOOPS)
    return has_no_job or any(stack.find(file_end, name) for file_end, name in _IDLE_STACKS)


def _has_pool_job(stack: Stack) -> bool:
    """A process of a pool that runs a job, instead of waiting for one."""
    depth = next((depth for depth, one in enumerate(stack.frames) if any(one.calls(*loop) for loop in _POOL_LOOPS)), 0)
    return any(not one.file.endswith(_MESSAGES) for one in stack.frames[:depth])


def _place(stack: Stack | None) -> str:
    frame = next(stack.user_frames(), None) if stack else None
    return f" at {frame.file.rsplit('/', 1)[-1]}:{frame.line}" if frame else ""


def describe(process: Process | None, pid: int) -> str:
    """A process in words."""
    return f"pid {pid} ({process.command})" if process and process.command else f"pid {pid}"
