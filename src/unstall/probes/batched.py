"""The sample that a `__getitems__` is at: that of torch's Subset, or one of the user's own."""

from __future__ import annotations

import ast

from unstall.evidence import syntax
from unstall.evidence.loaders import Sample
from unstall.probes.lockholders import tree_of
from unstall.probes.python.memory import Unreadable
from unstall.probes.samples import SampledFrame, SampledStack, scalar

_COMPREHENSIONS = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")


def at_once(stack: SampledStack, fetch: SampledFrame, indices: tuple[Sample, ...]) -> Sample | None:
    """The loader's number of the sample, where the variable of exactly one loop over the batch tells.

    Datasets within datasets have other numbers: the loader's is the one at the same place of the batch.
    """
    depth = next(depth for depth, one in enumerate(stack.frames) if one is fetch)
    for place in reversed(range(depth)):
        frame = stack.frames[place]
        if frame.bare_name != "__getitems__":
            continue
        batch = _batch(frame, len(indices))
        inner = stack.frames[place - 1] if place else frame
        looping = inner if inner.bare_name in _COMPREHENSIONS and inner.file == frame.file else frame
        found = {one for one in _loop_values(stack.pid, looping) if batch.count(one) == 1}
        if len(found) == 1:
            return indices[batch.index(found.pop())]
    return None


def _batch(frame: SampledFrame, length: int) -> list[Sample]:
    """The numbers that a `__getitems__` was called with."""
    for name, local in frame.locals().items():
        if name == "self" or local.ref is None or local.size() != length:
            continue
        try:
            values = [scalar(one) for one in local.ref.values()]
        except Unreadable:
            continue
        return [one for one in values if isinstance(one, int | str)] if len(values) == length else []
    return []


def _loop_values(pid: int, frame: SampledFrame) -> list[Sample]:
    """The values of the variables of the loops that a frame is inside of now."""
    tree = tree_of(pid, frame) if frame.bare_name not in _COMPREHENSIONS else None
    names = None
    if tree is not None:
        loops: list[ast.For | ast.comprehension] = [
            one for one in syntax.loops_around(tree, frame.line) if isinstance(one, ast.For)
        ]
        for node in ast.walk(tree):
            if isinstance(node, ast.ListComp) and node.lineno <= frame.line <= (node.end_lineno or 0):
                loops += node.generators
        targets = [one for loop in loops for one in _items_of(loop)]
        names = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    values = [frame.value(name) for name in frame.locals() if names is None or name in names]
    return [one for one in values if isinstance(one, int | str) and not isinstance(one, bool)]


def _items_of(loop: ast.For | ast.comprehension) -> list[ast.expr]:
    """The variables of a loop that stand for items of what it goes over, not for their places in it."""
    called = syntax.called_name(loop.iter) if isinstance(loop.iter, ast.Call) else ""
    if called == "range":
        return []
    if called == "enumerate" and isinstance(loop.target, ast.Tuple):
        return loop.target.elts[1:]
    return [loop.target]
