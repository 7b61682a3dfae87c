"""Is it stuck at all? Slow is not stuck: what moved while it was watched speaks first."""

from __future__ import annotations

from unstall.engine.collectives import outlook
from unstall.engine.waits import WaitReader
from unstall.evidence.motion import loops_of
from unstall.evidence.stacks import Stack
from unstall.evidence.stall import FINITE, LOADER_FILE, Kind, Stall
from unstall.model.diagnosis import Verdict
from unstall.model.finding import Confidence, Finding


def batches_move(reader: WaitReader) -> bool:
    """Whether batches were delivered, or samples fetched for a main thread, while it was watched."""
    ranks = [one for one in reader.ranks.all if not one.node]
    return any(_moves(reader, pid) for pid in ([one.pid for one in ranks] or [reader.processes.root]))


def moves(reader: WaitReader, stall: Stall) -> bool:
    """Whether the batches move in the very process, or rank, that a stall is in."""
    return _moves(reader, stall.main_pid)


def _moves(reader: WaitReader, pid: int) -> bool:
    return any(loader.moved for loader in reader.loaders.all if loader.pid == pid) or any(
        worker.moved for worker in reader.loaders.workers if worker.pid == pid
    )


def is_passing(reader: WaitReader, stall: Stall) -> bool:
    """Whether somebody on the way only happened to wait in the last look: his own code went on before."""
    writers = [one.tid for one in (*stall.passed, *stall.cycle) if one.kind is Kind.PIPE_WRITE]
    if any(thread is not None and not thread.still for thread in map(reader.threads.get, writers)):
        return True  # somebody reads what it writes
    for wait in stall.passed:
        stack = reader.stacks.get(wait.tid)
        if wait.kind is Kind.COLLECTIVE:
            continue  # it did not move, or it would not be called so
        if stack is not None and wait.kind not in FINITE and any(one.user and one.moved for one in stack.frames):
            return not _goes_in_circles(reader, stack)
    return False


def _goes_in_circles(reader: WaitReader, stack: Stack) -> bool:
    """All that moved is inside one loop without a limit: it tries again and again."""
    around = [one for one in loops_of(stack, reader.code) if one.endless and one.rounds]
    moved = [one for one in stack.frames if one.user and one.moved]
    return bool(around) and stack.frames.index(around[-1].frame) >= stack.frames.index(moved[-1])


def verdict(reader: WaitReader, stalls: list[Stall], findings: list[Finding]) -> tuple[Verdict, str]:
    """The verdict and one sentence that says why."""
    if reader.processes.ended:
        return _ended(reader)
    if any(one.confidence is not Confidence.POSSIBLE for one in findings):
        return Verdict.STALLED, findings[0].title
    if batches_move(reader):
        return Verdict.PROGRESSING, "batches were delivered while it was watched"
    if not stalls:
        return Verdict.UNKNOWN, "the training's main thread could not be read"
    if any(is_passing(reader, stall) or _main_works(stall) for stall in stalls):
        return Verdict.PROGRESSING, "the training loop went on while it was watched"
    if any(stall.wait.kind is Kind.RUNNING and stall.stack is None and stall.process.python for stall in stalls):
        return (
            Verdict.UNKNOWN,
            f"{stalls[0].role} computes, but its code may not be seen: slow and endless look the same",
        )
    for stall in stalls:
        if (word := outlook(reader, stall)) is not None:
            return word
        if ends_by_itself(stall):
            return Verdict.SLOW, f"{stall.role} {_doing(stall)}: slow, but not stuck"
    if all(stall.thread is not None and stall.thread.hidden for stall in stalls):
        return Verdict.UNKNOWN, "nothing ran while it was watched, but what it waits for may not be seen"
    return Verdict.STALLED, "nothing moves, and no known cause fits"


def _main_works(stall: Stall) -> bool:
    """The main process computes, and its own code goes on: the code outside of the loader, where it is in one."""
    if not stall.in_main or stall.wait.kind is not Kind.RUNNING or stall.stack is None:
        return False
    frames = stall.stack.frames
    inside = [place for place, one in enumerate(frames) if one.file.endswith(LOADER_FILE)]
    return any(one.user and one.moved and (inside or one.changed) for one in frames[inside[-1] if inside else 0 :])


def ends_by_itself(stall: Stall) -> bool:
    """Whether the root of the chain computes, sleeps, or waits with a time limit."""
    if stall.awaited is not None:
        return True
    if stall.cycle:
        return any(one.limit_s is not None for one in stall.cycle)
    if stall.wait.kind in FINITE:
        return True
    if stall.beyond is not None and (stall.beyond.kind is Kind.RUNNING or (stall.wait.prints and stall.beyond.ends)):
        return True
    if stall.wait.limit_s is not None:
        return True
    return stall.thread is not None and not stall.thread.still and stall.wait.kind is not Kind.STOPPED


def _doing(stall: Stall) -> str:
    if stall.wait.kind is Kind.RUNNING:
        return "is computing"
    if stall.wait.kind is Kind.SLEEPING:
        limit = stall.wait.limit_s
        return f"sleeps, and wakes up in {limit:.1f} s" if limit is not None else "sleeps"
    return f"waits for {stall.wait.text}" + (f", on which pid {stall.awaited.pid} works" if stall.awaited else "")


def _ended(reader: WaitReader) -> tuple[Verdict, str]:
    root = reader.processes.get(reader.processes.root)
    if root is not None and (root.exit_signal or root.exit_code):
        how = f"signal {root.exit_signal}" if root.exit_signal else f"exit code {root.exit_code}"
        return Verdict.CRASHED, f"the training ended with {how} while it was watched"
    return Verdict.FINISHED, "the training ended while it was watched"
