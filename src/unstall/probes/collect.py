"""Collects all evidence about one training, in order and within a time limit: a bundle."""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Iterator

import msgspec

from unstall.evidence.descriptors import CheckedFile, Descriptors
from unstall.evidence.loaders import Loaders
from unstall.evidence.locks import Lock, Locks
from unstall.evidence.objects import Objects
from unstall.evidence.ranks import Ranks, is_of_training
from unstall.evidence.ranks import unseen as unseen_ranks
from unstall.evidence.stacks import Frame, Stack, Stacks
from unstall.evidence.threads import Thread, Threads
from unstall.model.bundle import Bundle
from unstall.model.diagnosis import Target, Unexamined
from unstall.model.evidence import Evidence
from unstall.probes import (
    checkedfiles,
    code,
    filelocks,
    importedcode,
    managerlocks,
    memory,
    polledlocks,
    processes,
    procfs,
    ranks,
    releasers,
    semaphores,
    spy,
)
from unstall.probes.descriptors import DescriptorProbe
from unstall.probes.loaders import LoaderWatcher
from unstall.probes.moment import begin_look
from unstall.probes.mutexes import Mutexes
from unstall.probes.objects import ObjectProbe
from unstall.probes.python.memory import ProcessMemory, Unreadable
from unstall.probes.samples import SampledStack
from unstall.probes.stacks import StackSampler, is_user_code
from unstall.probes.threads import ThreadWatcher

SPAN_S = 1.8  # how long to watch
PAUSE_S = 0.09  # between two samples
KERNEL_READINGS = 4
MOST_PYTHONS = 96
MOST_BLOCKED = 96
MOST_NEWCOMERS = 32


class Collection:
    """One look at one training."""

    def __init__(self, root: int, *, with_locals: bool = False) -> None:
        begin_look()
        self.root = root
        self.span_s = 0.0
        self.began = time.monotonic()
        self.unexamined: list[Unexamined] = []
        self.tree = [root, *processes.descendants(root)]
        pythons = [pid for pid in self.tree if processes.is_python(pid)]
        if len(pythons) > MOST_PYTHONS:
            self.unexamined.append(
                Unexamined(f"{len(pythons) - MOST_PYTHONS} of {len(pythons)} Python processes", "there are too many")
            )
        self.stacks = StackSampler(pythons[:MOST_PYTHONS], with_locals=with_locals)
        self.threads = ThreadWatcher(self.tree)
        self.loaders = LoaderWatcher()
        self.native: dict[int, tuple[str, ...]] = {}

    def watch(self, span_s: float = SPAN_S) -> None:
        """Take samples for some time; may be called again to watch for longer."""
        self.span_s += span_s
        until = time.monotonic() + span_s
        next_reading = 0.0
        while True:
            last = time.monotonic() >= until
            if last or time.monotonic() >= next_reading:
                self._welcome(processes.descendants(self.root))
                self.threads.look()
                next_reading = time.monotonic() + span_s / (KERNEL_READINGS - 1)
                stacks = self.stacks.look(spy_too=True)
            else:
                stacks = self.stacks.look()
            self.loaders.look(stacks)
            if last:
                return
            time.sleep(max(0.0, min(PAUSE_S, until - time.monotonic())))

    def include_those_behind(self, bundle: Bundle) -> None:
        """Watch from now on, too, who holds or serves what was waited for, and what was started meanwhile."""
        locks, descriptors = bundle.get(Locks) or Locks(), bundle.get(Descriptors) or Descriptors()
        behind = _strangers(list(locks.all), descriptors)
        self._welcome([pid for pid in behind if procfs.stat(pid) is not None])
        for pid in self.threads.pids:
            if pid not in self.stacks.scripts and len(self.stacks.scripts) < MOST_PYTHONS and processes.is_python(pid):
                self.stacks.add(pid)

    def _welcome(self, pids: list[int]) -> None:
        self.threads.pids += [pid for pid in dict.fromkeys(pids) if pid not in self.threads.pids][:MOST_NEWCOMERS]

    def bundle(self) -> Bundle:
        """Look at locks and descriptors, and put everything together."""
        memories = self._memories()
        threads = self.threads.finish(memories)
        blocked = [one for one in threads if one.last.state != "R" and one.last.syscall][:MOST_BLOCKED]
        last_stacks = {tid: track.last for tid, track in self.stacks.tracks.items()}
        probe = DescriptorProbe(memories)
        descriptors = probe.collect(blocked)
        waiting = [last_stacks[one.tid] for one in threads if one.tid in last_stacks]
        descriptors = msgspec.structs.replace(descriptors, checked=tuple(checkedfiles.collect(waiting)))
        hidden = [one for one in threads if one.hidden][:MOST_BLOCKED]
        locks = self._locks(blocked, hidden, last_stacks)
        alive = frozenset(one.tid for one in threads)
        objects = ObjectProbe(self.stacks.interpreters, last_stacks, alive, self._is_user_code).collect(blocked, locks)
        waited_on = Objects(tuple(objects))
        stacks = self.stacks.finish()
        threads = tuple(self._with_native_names(one, stacks) for one in threads)
        loaders = self.loaders.finish()
        living = [pid for pid in self.threads.pids if procfs.stat(pid) is not None]
        found = ranks.collect(living, self.stacks.interpreters, last_stacks, threads)
        frames = [*_user_functions(stacks, loaders), *_functions_of_ranks(stacks, found)]
        functions, unread = code.collect(frames)
        functions = importedcode.with_imported(functions, frames)
        memory_now, unseen = memory.collect()
        unexamined = [*self.unexamined, *self.stacks.unexamined, *probe.unexamined, *unread, *unseen]
        tree = processes.collect(self.root, _strangers(locks, descriptors))
        evidence: list[Evidence] = [
            tree,
            Threads(threads, round(self.span_s, 3)),
            Stacks(stacks, round(self.span_s, 3)),
            Locks(tuple(locks)),
            waited_on,
            descriptors,
            loaders,
            functions,
            memory_now,
        ]
        if found is not None:
            evidence.append(found)
            unexamined += unseen_ranks(found)
        return Bundle(
            target=Target(self.root, processes.command_words(self.root)),
            evidence={one.kind: one for one in evidence},
            unexamined=tuple(dict.fromkeys(unexamined)),
            took_s=round(time.monotonic() - self.began, 3),
            machine={"system": platform.platform(), "python": _version(self.stacks, self.root)},
        )

    def _memories(self) -> dict[int, ProcessMemory]:
        """The memory of every process of the tree that lets itself be read."""
        memories = {pid: one.memory for pid, one in self.stacks.interpreters.items()}
        for pid in self.tree:
            if pid not in memories and len(memories) < MOST_PYTHONS:
                with contextlib.suppress(Unreadable):
                    memories[pid] = ProcessMemory(pid)
        return memories

    def _locks(self, blocked: list[Thread], hidden: list[Thread], stacks: dict[int, SampledStack]) -> list[Lock]:
        known = [one for one in blocked if one.tid in stacks or one.tid == one.pid]  # a Python's end shows no frames
        interpreters = self.stacks.interpreters
        found = semaphores.collect(known, interpreters, stacks)
        shared = {tid for lock in found for tid in lock.waiters}
        found += Mutexes(interpreters, stacks).collect([one for one in known if one.tid not in shared])
        found += managerlocks.collect(known, stacks)
        found = releasers.add(found, stacks)
        found += filelocks.collect(blocked) + filelocks.collect_hidden(hidden)
        found += polledlocks.collect(known, stacks, procfs.file_locks())
        return found

    def _is_user_code(self, pid: int, file: str) -> bool:
        return is_user_code(file, self.stacks.scripts.get(pid, ""))

    def _with_native_names(self, thread: Thread, stacks: tuple[Stack, ...]) -> Thread:
        """The native functions of a thread that computes in one and the same Python instruction.

        To read them pauses the thread for some milliseconds: harmless while it computes, never done while it waits.
        They are read once, however long it is watched.
        """
        stack = next((one for one in stacks if one.tid == thread.tid), None)
        if stack is None or stack.moved or not thread.running or thread.last.state != "R":
            return thread
        if thread.tid not in self.native:
            self.native[thread.tid] = spy.native_names(thread.pid, thread.tid)
        return msgspec.structs.replace(thread, native=self.native[thread.tid])

    def close(self) -> None:
        """Let go of the target's memory."""
        for interpreter in self.stacks.interpreters.values():
            interpreter.close()


def _user_functions(stacks: tuple[Stack, ...], loaders: Loaders) -> Iterator[tuple[int, Frame]]:
    for stack in stacks:
        yield from ((stack.pid, frame) for frame in stack.user_frames())
    for worker in loaders.workers:
        yield from ((worker.pid, frame) for frame in worker.makers)


def _functions_of_ranks(stacks: tuple[Stack, ...], found: Ranks | None) -> Iterator[tuple[int, Frame]]:
    """The functions of packages that run the training of a rank: the loop over the batches may be theirs."""
    numbers = {one.thread for one in found.all} if found is not None else set()
    for stack in stacks:
        if stack.tid in numbers:
            yield from ((stack.pid, frame) for frame in stack.frames if is_of_training(frame) and not frame.user)


def _owners(file: CheckedFile) -> tuple[int, ...]:
    """The processes that a lock file seems to belong to."""
    return (*file.opened_by, *((file.pid_inside,) if file.pid_inside and file.pid_alive else ()))


def _strangers(locks: list[Lock], descriptors: Descriptors) -> list[int]:
    pids = [holder.pid for lock in locks for holder in lock.holders]
    for one in descriptors.all:
        pids += [end.pid for end in (*one.readers, *one.writers)] + ([one.peer_pid] if one.peer_pid else [])
    pids += [pid for one in descriptors.openings for pid in one.others]
    pids += [pid for one in descriptors.checked for pid in _owners(one)]
    return [pid for pid in pids if pid != os.getpid()]


def _version(stacks: StackSampler, root: int) -> str:
    interpreter = stacks.interpreters.get(root)
    return ".".join(str(part) for part in interpreter.version) if interpreter else "unknown"
