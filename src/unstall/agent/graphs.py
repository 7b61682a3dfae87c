"""Graphs of autograd that are kept from step to step: looked for only while memory, or the time of a step, grows."""

from __future__ import annotations

import collections
import gc
import os
import sys
from time import perf_counter_ns, thread_time_ns

from ..flight import layout
from .notes import is_users

MYPY = False
if MYPY:
    from types import FrameType
    from typing import Any

    from .notes import Notes

EVERY = 16  # batches
MUCH_BYTES = 24 << 20  # more memory than at the last look
LONGER = 1.4  # times the first steps
MOST_LOOKS = 24
PAUSE_NS = 500_000_000  # after the first look; it doubles
CHEAP = 20  # between two looks passes this many times what one costs
MOST_NODES = 10_000  # that are counted of one graph
MOST_TENSORS = 12
NO_OPERATION = 1 << 62  # the end of a graph, at a parameter, has a number beyond all others
MOST_NAMES = 8
LEAST_KEPT = 16
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Graphs:
    """Looks for what keeps graphs in the process that trains."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.batches = 0
        self.looks = 0
        self.not_before, self.pause = 0, PAUSE_NS
        self.first_bytes = self.last_bytes = 0
        self.spent = self.first_step = self.factor = 0.0
        self.steps: list[float] = []
        self.before: _Look | None = None
        self.following = False
        self.names: dict[int | str, list[list[object]]] = {}

    def tick(self, slots: memoryview) -> None:
        """Once for each batch. Costs next to nothing as long as nothing grows."""
        self.batches += 1
        if self.batches % EVERY or self.looks >= MOST_LOOKS:
            return
        try:
            self._consider(slots)
        except Exception:  # noqa: BLE001  nothing here is worth an error in the training
            self.looks = MOST_LOOKS

    def _consider(self, slots: memoryview) -> None:
        used = _memory()
        spent = slots[layout.TRAINING_NS] / EVERY
        step, self.spent = spent - self.spent, spent
        if self.batches <= 2 * EVERY:  # the first steps allocate what is needed for all
            self.first_bytes = self.last_bytes = used
            self.first_step = step
            return
        self.first_step = min(self.first_step, step) if step > 0 else self.first_step
        self.steps = [*self.steps[-2:], step]  # the shortest of three: one alone may have been disturbed
        self.factor = min(self.steps) / self.first_step if self.first_step > 0 else 0.0
        now = perf_counter_ns()
        grows = used - self.last_bytes > MUCH_BYTES or self.factor > LONGER
        if now < self.not_before or not (grows or self.following):
            return
        self.looks += 1
        began = thread_time_ns()
        self.last_bytes = used
        self._look(slots[layout.STEPS], used)
        if not self.following:
            self.pause *= 2
        pause = PAUSE_NS if self.following else self.pause
        self.not_before = perf_counter_ns() + max(pause, CHEAP * (thread_time_ns() - began))

    def _look(self, steps: int, used: int) -> None:
        before, seen = self.before, _Look(self.batches, steps)
        self.following = before is None and seen.is_suspicious
        self.before = seen
        if before is not None:
            self._compare(before, seen, used)
        seen.forget()

    def _compare(self, before: _Look, seen: _Look, used: int) -> None:
        batches = seen.batches - before.batches
        told = {
            "batches": batches,
            "sure": seen.steps > before.steps,
            "grown": used - self.first_bytes,
            "factor": self.factor,
        }
        for key, (kept, count) in seen.kept.items():
            more = count - before.kept.get(key, (None, count))[1]
            if more >= batches / 2 and count >= LEAST_KEPT:
                names = self.names.get(key) or _names_of(kept)
                self.names[key] = names
                self.notes.graph("container", names, count=count, more=more, **told)
                break
        else:
            nodes, oldest, tensors = seen.largest
            grew = nodes - before.largest[0] >= batches / 2 or nodes >= MOST_NODES
            if grew and oldest <= before.newest:  # operations of the last look's steps are still part of it
                names = self.names.get("graph") or [one for tensor in tensors for one in _names_of(tensor)]
                self.names["graph"] = names[:MOST_NAMES]
                self.notes.graph("variable", names[:MOST_NAMES], count=nodes, more=nodes - before.largest[0], **told)


class _Look:
    """What keeps graphs now."""

    def __init__(self, batches: int, steps: int) -> None:
        self.batches, self.steps = batches, steps
        self.newest = 0  # the number of the newest operation of all graphs
        tensor: Any = sys.modules["torch"].Tensor
        kinds = {tensor, list, dict, collections.deque}
        found: list[Any] = [one for one in gc.get_objects() if type(one) in kinds]
        tensors: list[Any] = [one for one in found if type(one) is tensor and one.grad_fn is not None]
        self.kept: dict[int, tuple[Any, int]] = {
            id(one): (one, len(one))
            for one in found
            if type(one) is not tensor and len(one) >= LEAST_KEPT // 2 and _has_graph(_last(one), tensor)
        }
        del found
        tensors = [one for one in tensors if one.grad_fn._sequence_nr() < NO_OPERATION]
        tensors.sort(key=lambda one: -one.grad_fn._sequence_nr())  # the newest first: they reach farthest
        self.newest = tensors[0].grad_fn._sequence_nr() if tensors else 0
        sizes: list[tuple[int, int, Any]] = []
        budget = 2 * MOST_NODES
        for one in tensors[:MOST_TENSORS]:
            nodes, oldest = _extent(one.grad_fn, min(budget, MOST_NODES))
            budget -= nodes
            sizes.append((nodes, oldest, one))
            if budget <= 0:
                break
        most = max((nodes for nodes, _, _ in sizes), default=0)
        near = [one for one in sizes if one[0] >= 0.8 * most]
        self.largest = (most, min((oldest for _, oldest, _ in near), default=NO_OPERATION), [one for *_, one in near])
        self.is_suspicious = bool(self.kept or sizes)

    def forget(self) -> None:
        """Hold nothing of the training's until the next look."""
        self.kept = {key: (None, count) for key, (_, count) in self.kept.items()}
        self.largest = (*self.largest[:2], [])


def _memory() -> int:
    """The memory of this process."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * _PAGE


def _last(container: Any) -> Any:
    return next(reversed(container.values())) if type(container) is dict else container[-1]


def _has_graph(item: Any, tensor: Any) -> bool:
    if isinstance(item, tuple | list) and item and len(item) <= 8:
        return any(type(one) is tensor and one.grad_fn is not None for one in item)
    if type(item) is dict and len(item) <= 8:
        return any(type(one) is tensor and one.grad_fn is not None for one in item.values())
    return type(item) is tensor and item.grad_fn is not None


def _extent(root: Any, most: int) -> tuple[int, int]:
    """How many operations a graph has, and the number of the oldest of them."""
    seen: set[Any] = {root}
    ahead, oldest = [root], root._sequence_nr()
    while ahead and len(seen) < most:
        for one, _ in ahead.pop().next_functions:
            if one is not None and one not in seen:
                seen.add(one)
                ahead.append(one)
                oldest = min(oldest, one._sequence_nr())
    return len(seen), oldest


def _names_of(target: Any) -> list[list[object]]:
    """Where the user's code has an object: name, file, first line and name of a function; attributes: of a class."""
    found: list[list[object]] = []
    frame: FrameType | None = sys._getframe()
    while frame is not None and len(found) < MOST_NAMES:
        code = frame.f_code
        if is_users(code):
            here = code.co_filename, code.co_firstlineno, code.co_qualname
            for name, one in list(frame.f_locals.items()):
                if one is target or (type(one) in (tuple, list) and len(one) <= 4 and any(x is target for x in one)):
                    found.append([name, *here])
        frame = frame.f_back
    return found or _attributes(target)


def _attributes(target: Any) -> list[list[object]]:
    """The objects that have it as an attribute, or in a dictionary."""
    found: list[list[object]] = []
    for one in gc.get_referrers(target):
        owners = [one] if type(one) is not dict else [one, *gc.get_referrers(one)]
        for owner in owners:
            inside = owner if type(owner) is dict else getattr(owner, "__dict__", None)
            module = sys.modules.get(type(owner).__module__)
            file = getattr(module, "__file__", None) or ""
            if type(inside) is dict:
                names = [name for name, value in list(inside.items()) if value is target and isinstance(name, str)]
                found += [[name, file if type(owner) is not dict else "", 0, ""] for name in names]
        if len(found) >= MOST_NAMES:
            break
    return found[:MOST_NAMES]
