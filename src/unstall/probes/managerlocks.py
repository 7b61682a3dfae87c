"""Locks that live in a manager process (`Manager().Lock()`): who waits for an answer to acquire(), and who has it."""

from __future__ import annotations

from unstall.evidence.locks import Lock
from unstall.evidence.threads import Thread
from unstall.probes.lockholders import holders_on, manager_identity, name_of
from unstall.probes.samples import SampledFrame, SampledStack

_PROXIES = "multiprocessing/managers.py"


def collect(blocked: list[Thread], stacks: dict[int, SampledStack]) -> list[Lock]:
    """The managers' locks that these threads wait for."""
    waiting: dict[int, list[int]] = {}
    for thread in blocked:
        stack = stacks.get(thread.tid)
        frame = stack.find(_PROXIES, "acquire", "__enter__") if stack else None
        identity = _identity(frame) if frame else None
        if identity is not None:
            waiting.setdefault(identity, []).append(thread.tid)
    return [_examine(identity, tids, stacks) for identity, tids in waiting.items()]


def _identity(frame: SampledFrame) -> int | None:
    if frame.value("timeout") is not None or frame.value("blocking") is False:
        return None
    ref = frame.ref("self")
    return manager_identity(ref) if ref is not None else None


def _examine(identity: int, tids: list[int], stacks: dict[int, SampledStack]) -> Lock:
    text, _ = name_of(stacks[tids[0]], {identity})
    return Lock(
        id=f"manager-lock:{identity:x}",
        sort="process-manager-lock",
        label=f"the manager's lock `{text}`" if text else "a manager's lock",
        waiters=tuple(tids),
        holders=tuple(one for stack in stacks.values() for one in holders_on(stack, {identity})),
    )
