"""What each thread waits for: from its system call, its Python stack, and what was found behind them."""

from __future__ import annotations

import msgspec

from unstall.evidence.code import Code
from unstall.evidence.descriptors import Descriptor, Descriptors
from unstall.evidence.loaders import Loaders
from unstall.evidence.locks import Locks
from unstall.evidence.motion import waits_again
from unstall.evidence.objects import Objects
from unstall.evidence.processes import Processes
from unstall.evidence.ranks import BACKWARD, SOMETHING, Rank, Ranks
from unstall.evidence.ranks import names as rank_names
from unstall.evidence.stacks import Stack, Stacks
from unstall.evidence.stall import Kind, Wait
from unstall.evidence.threads import Thread, Threads
from unstall.model.bundle import Bundle

_READS = {"read", "readv", "pread64", "recvfrom", "recvmsg", "recvmmsg", "accept", "accept4"}
_WRITES = {"write", "writev", "pwrite64", "sendto", "sendmsg"}
_POLLS = {"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"}
_SLEEPS = {"clock_nanosleep", "nanosleep", "rt_sigtimedwait"}
_CHILDREN = {"wait4", "waitid"}
_IN_KERNEL = (  # a piece of wchan's text; the only hint where the system call itself is hidden
    ("nanosleep", Kind.SLEEPING, "the end of its sleep"),
    ("pipe_read", Kind.UNKNOWN, "data from a pipe"),
    ("pipe_write", Kind.UNKNOWN, "room in a pipe, which is full"),
    ("do_wait", Kind.UNKNOWN, "a child process to end"),
    ("futex", Kind.UNKNOWN, "a lock or condition of its program"),
    ("poll", Kind.UNKNOWN, "events on its descriptors"),
    ("unix_stream", Kind.UNKNOWN, "data from another process of this machine"),
    ("wait_woken", Kind.UNKNOWN, "data from a socket"),
)
_RENEWABLE = {Kind.SHARED_LOCK, Kind.THREAD_LOCK, Kind.CONDITION, Kind.FUTURE, Kind.QUEUE, Kind.JOIN}
_OF_OBJECTS = {  # what the objects of Python's own modules make of a wait on them
    "thread": Kind.JOIN,
    "threads-at-exit": Kind.JOIN,
    "process": Kind.CHILD,
    "import": Kind.THREAD_LOCK,
    "future": Kind.FUTURE,
    "event": Kind.CONDITION,
    "condition": Kind.CONDITION,
    "barrier": Kind.CONDITION,
    "queue-join": Kind.CONDITION,
}
_HELD_BY_NOBODY = {"process-condition": Kind.CONDITION, "simple-queue": Kind.QUEUE}


class WaitReader:
    """Answers, for every thread, what it waits for."""

    def __init__(self, bundle: Bundle) -> None:
        self.processes = bundle.get(Processes) or Processes(root=0)
        self.threads = bundle.get(Threads) or Threads()
        self.stacks = bundle.get(Stacks) or Stacks()
        self.locks = bundle.get(Locks) or Locks()
        self.descriptors = bundle.get(Descriptors) or Descriptors()
        self.loaders = bundle.get(Loaders) or Loaders()
        self.objects = bundle.get(Objects) or Objects()
        self.code = bundle.get(Code) or Code()
        self.ranks = bundle.get(Ranks) or Ranks(world=1)
        self.rank_numbers = {one.number: one for one in reversed(self.ranks.all)}
        self._ranks = {one.pid: one for one in self.ranks.all if not one.node}

    def of(self, thread: Thread) -> Wait:
        """What a thread waits for, or does."""
        stack = self.stacks.get(thread.tid)
        wait = self._with_object(self._of(thread, stack))
        if wait.limit_s is None or stack is None or wait.kind not in _RENEWABLE:
            return wait
        return msgspec.structs.replace(wait, renewed=waits_again(stack, self.code))

    def _with_object(self, wait: Wait) -> Wait:
        """A wait on an object of Python's own modules, with that object."""
        one = self.objects.of(wait.tid)
        if one is None or _OF_OBJECTS.get(one.sort) is not wait.kind:
            return wait
        child = one.child if one.child is not None and self.processes.get(one.child) else wait.child
        return msgspec.structs.replace(wait, object=one, text=one.label, child=child)

    def _of(self, thread: Thread, stack: Stack | None) -> Wait:
        process = self.processes.get(thread.pid)
        if process is not None and process.dead:
            return self._wait(thread, Kind.ENDED, "nothing: it has ended", f"/proc/{thread.pid}/stat")
        if thread.last.state in "Tt":
            return self._wait(thread, Kind.STOPPED, "a signal to go on: it was stopped", f"state {thread.last.state}")
        return (
            self._loader(thread, stack)
            or self._collective(thread, stack, named=True)
            or self._lock(thread, stack)
            or self._busy(thread)
            or self._event_loop(thread)
            or self._standard_library(thread, stack)
            or self._collective(thread, stack, named=False)
            or self._kernel(thread, stack)
        )

    def _wait(self, thread: Thread, kind: Kind, text: str, source: str, **more: object) -> Wait:
        return Wait(kind, thread.pid, thread.tid, text, source, **more)  # type: ignore[arg-type]

    def _loader(self, thread: Thread, stack: Stack | None) -> Wait | None:
        """The training loop waits for a batch of torch's loader; a worker waits for work."""
        loader = next((one for one in self.loaders.all if one.tid == thread.tid), None)
        if loader is not None and (loader.unpacking or loader.waiting):
            batch = "the next batch" if loader.next_batch is None else f"batch {loader.next_batch}"
            kind = Kind.HANDOVER if loader.unpacking else Kind.LOADER
            text = f"the tensors of {batch}" if loader.unpacking else batch
            return self._wait(thread, kind, text, loader.source, loader=loader)
        worker = self.loaders.worker(thread.tid)
        if worker is not None and worker.stage == "idle":
            return self._wait(thread, Kind.INDEX, "the next batch to work on", "its stack: index_queue.get")
        return None

    def _collective(self, thread: Thread, stack: Stack | None, *, named: bool) -> Wait | None:
        """A rank waits for others: its stack names the call, or a thread that serves it waits for their data."""
        rank = self._ranks.get(thread.pid)
        call = rank.call if rank is not None and thread.tid == rank.thread else None
        if rank is None or call is None or stack is None or (stack.moved and not thread.still):
            return None
        if thread.running and not rank.pending:
            return None  # it makes what it will send
        if named == (call.name in (BACKWARD, SOMETHING)) or (not named and not thread.still):
            return None
        group = f" of {rank_names(call.group)}" if call.group else ""
        source = "its stack, and its gloo thread waits for data" if rank.pending else "its stack"
        return self._wait(thread, Kind.COLLECTIVE, f"{call.text}{group}", source, call=call)

    def rank_of(self, pid: int) -> Rank | None:
        """The rank that a process is, or works for."""
        if not self._ranks:
            return None
        for _ in range(16):
            found, process = self._ranks.get(pid), self.processes.get(pid)
            if found is not None or process is None:
                return found
            pid = process.ppid
        return None

    def _lock(self, thread: Thread, stack: Stack | None) -> Wait | None:
        lock = self.locks.waited_by(thread.tid)
        if lock is None:
            return None
        source = f"system call {thread.last.syscall}, {lock.id.split(':')[0]}"
        if thread.hidden:
            source = "/proc/locks"
        if lock.sort in ("file-lock", "record-lock", "database-lock"):
            return self._wait(thread, Kind.FILE_LOCK, lock.label, source, lock=lock)
        if lock.sort in _HELD_BY_NOBODY:
            kind = _HELD_BY_NOBODY[lock.sort]
            return self._wait(thread, kind, lock.label, source, lock=lock, limit_s=thread.wakes_in_s)
        kind = Kind.SHARED_LOCK if lock.sort.startswith("process-") else Kind.THREAD_LOCK
        limit = thread.wakes_in_s
        return self._wait(thread, kind, lock.label, source, lock=lock, limit_s=limit)

    def _busy(self, thread: Thread) -> Wait | None:
        if thread.last.state == "D" and all(one.state == "D" for one in thread.readings):
            where = f" ({thread.last.wchan})" if thread.last.wchan else ""
            return self._wait(thread, Kind.DISK, f"the kernel, in a call that can't be interrupted{where}", "state D")
        if thread.running:
            share = f"{thread.cpu_share:.0%} of a core"
            return self._wait(thread, Kind.RUNNING, f"nothing: it computes ({share})", "CPU time")
        return None

    def _event_loop(self, thread: Thread) -> Wait | None:
        """An event loop that only another thread of its own process could wake: it watches nothing else."""
        one = self.objects.of(thread.tid)
        if one is None or one.sort != "coroutine" or thread.last.syscall not in _POLLS:
            return None
        on = self.descriptors.of_thread(thread.pid, thread.tid)
        if one.watches is None or (one.watches and on is not None and on.sort == "socket"):
            return None
        source = "its stack, and the descriptors that its event loop watches"
        kind = Kind.EVENTS if one.watches else Kind.FUTURE
        return self._wait(thread, kind, one.label, source, limit_s=thread.wakes_in_s, object=one)

    def _standard_library(self, thread: Thread, stack: Stack | None) -> Wait | None:
        """Waits that Python's own modules express with private locks."""
        if stack is None or not stack.frames:
            return None
        limit = thread.wakes_in_s
        for kind, text, file_end, names in _PYTHON_WAITS:
            frame = next((one for one in stack.frames[:6] if one.calls(file_end, *names)), None)
            if frame is not None and not any(one.user for one in stack.frames[: stack.frames.index(frame)]):
                descriptor = self.descriptors.of_thread(thread.pid, thread.tid)
                child = self._child(thread) if kind is Kind.CHILD else None
                return self._wait(
                    thread,
                    kind,
                    text,
                    f"its stack: {frame.function}",
                    limit_s=limit,
                    descriptor=descriptor,
                    child=child,
                )
        return None

    def _kernel(self, thread: Thread, stack: Stack | None) -> Wait:
        call = thread.last.syscall
        source = f"system call {call}" if call else f"state {thread.last.state}"
        limit = thread.wakes_in_s
        descriptor = self.descriptors.of_thread(thread.pid, thread.tid)
        if call in _SLEEPS:
            return self._wait(thread, Kind.SLEEPING, "the end of its sleep", source, limit_s=limit)
        if call == "connect" and descriptor:
            return self._wait(thread, Kind.SOCKET_CONNECT, descriptor.label, source, descriptor=descriptor)
        if call in ("open", "openat", "openat2"):
            opening = self.descriptors.opening(thread.tid)
            text = f"open() of {opening.path}" if opening else "open()"
            return self._wait(thread, Kind.OPEN, text, source, opening=opening)
        if call == "pause":
            return self._wait(thread, Kind.UNKNOWN, "a signal", source)
        if call in _CHILDREN:
            child = self._child(thread)
            return self._wait(thread, Kind.CHILD, "a child process to end", source, child=child)
        if call in _READS | _WRITES | _POLLS and descriptor is not None:
            return self._descriptor_wait(thread, call, descriptor, source, limit)
        if call in _POLLS:
            return self._wait(thread, Kind.EVENTS, "events on its descriptors", source, limit_s=limit)
        if call == "futex":
            library = thread.library or "C code"
            kind = Kind.SLEEPING if limit is not None and stack and stack.frames else Kind.NATIVE
            return self._wait(thread, kind, f"a lock inside {library}", source, limit_s=limit)
        if thread.hidden:
            return self._hidden(thread)
        if thread.last.state == "R":
            return self._wait(thread, Kind.RUNNING, "nothing: it computes", "state R")
        return self._wait(thread, Kind.UNKNOWN, "something that was not recognised", source)

    def _hidden(self, thread: Thread) -> Wait:
        where = thread.last.wchan
        for part, kind, text in _IN_KERNEL:
            if part in where:
                return self._wait(thread, kind, text, f"/proc/{thread.pid}/wchan: {where}")
        return self._wait(thread, Kind.UNKNOWN, "something that may not be seen", f"state {thread.last.state}")

    def _descriptor_wait(
        self, thread: Thread, call: str, descriptor: Descriptor, source: str, limit: float | None
    ) -> Wait:
        if descriptor.sort == "closed":
            return self._wait(thread, Kind.RUNNING, "nothing: it went on while it was looked at", source)
        reads = call in _READS or call in _POLLS
        if descriptor.sort == "socket":
            kind = Kind.SOCKET_READ
            text = f"data from {descriptor.label}" if reads else f"room to send on {descriptor.label}"
        elif descriptor.sort == "terminal":
            kind, text = Kind.TERMINAL, f"input from {descriptor.label}"
        elif descriptor.sort in ("pipe", "fifo"):
            kind = Kind.PIPE_READ if reads else Kind.PIPE_WRITE
            text = f"data from {descriptor.label}" if reads else f"room in {descriptor.label}, which is full"
        else:
            kind, text = Kind.UNKNOWN, descriptor.label
        return self._wait(thread, kind, text, source, descriptor=descriptor, limit_s=limit)

    def _child(self, thread: Thread) -> int | None:
        """The child that a thread waits for: the one it names, or its only one that is no loader worker."""
        if thread.last.syscall in _CHILDREN and thread.last.arguments:
            named = thread.last.arguments[0 if thread.last.syscall == "wait4" else 1] & 0xFFFFFFFF
            if 0 < named < 0x80000000 and self.processes.get(named):
                return named
        workers = {worker.pid for worker in self.loaders.workers}
        children = [one.pid for one in self.processes.children(thread.pid) if one.pid not in workers]
        return children[0] if len(children) == 1 else None


_PYTHON_WAITS: tuple[tuple[Kind, str, str, tuple[str, ...]], ...] = (
    (Kind.FUTURE, "the result of a future", "concurrent/futures/_base.py", ("result", "exception", "wait")),
    (Kind.FUTURE, "a pool of processes", "multiprocessing/pool.py", ("wait", "get", "next")),
    (Kind.QUEUE, "an item from a queue", "/queue.py", ("get",)),
    (Kind.QUEUE, "room in a queue", "/queue.py", ("put",)),
    (Kind.QUEUE, "an item from a queue between processes", "multiprocessing/queues.py", ("get",)),
    (Kind.QUEUE, "a message from another process", "multiprocessing/connection.py", ("recv", "recv_bytes")),
    (Kind.CHILD, "a child process to end", "subprocess.py", ("wait", "_wait", "communicate", "_communicate")),
    (Kind.CHILD, "a child process to end", "multiprocessing/popen_fork.py", ("wait", "poll")),
    (Kind.JOIN, "a thread to end", "/threading.py", ("join", "_wait_for_tstate_lock", "_shutdown")),
    (Kind.CONDITION, "an event or condition", "/threading.py", ("wait", "wait_for")),
    (Kind.CONDITION, "an event or condition", "multiprocessing/synchronize.py", ("wait", "wait_for")),
)
