"""Whether a loop has a limit, as its source shows: it counts its rounds, looks at a clock, or goes over what ends."""

from __future__ import annotations

import ast
from collections.abc import Container

from unstall.evidence.syntax import Exit, LoopNode, called_name, exits, is_plain, walk

_CLOCKS = {"time", "monotonic", "perf_counter", "process_time", "now", "utcnow", "time_ns", "monotonic_ns"}
_ENDLESS = {"count", "cycle", "repeat"}


def is_endless_iterable(expression: ast.expr) -> bool:
    """Whether the source says that an iterable never ends: itertools.count() and its like."""
    if not isinstance(expression, ast.Call):
        return False
    name = called_name(expression)
    if name == "repeat":
        return len(expression.args) == 1
    if name == "iter":
        return len(expression.args) == 2
    if name in ("enumerate", "zip", "map", "filter", "islice", "takewhile"):
        if name in ("islice", "takewhile"):
            return False
        inner = [one for one in expression.args if isinstance(one, ast.Call)]
        return bool(inner) and all(is_endless_iterable(one) for one in inner) and name != "zip"
    return name in _ENDLESS


def has_limit(loop: LoopNode, off: Container[str] = ()) -> bool:
    """Whether the loop counts its rounds, or looks at a clock, on a way out. `off`: what is known to be None."""
    if not isinstance(loop, ast.While):
        if not is_endless_iterable(loop.iter):
            return True
        counters = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    else:
        counters = _counters(loop)
    clocks = {
        target.id
        for node in walk(loop)
        if isinstance(node, ast.Assign) and _reads_clock(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for way in exits(loop):
        if off and any(_needs(guard, off) for guard in way.guards):
            continue
        for guard in way.guards:
            if _reads_clock(guard) or any(isinstance(one, ast.Name) and one.id in clocks for one in ast.walk(guard)):
                return True
            if _compares_counter(guard, counters):
                return True
    return False


def asked_for(guard: ast.expr) -> list[str]:
    """What must not be None for a test to be true: `timeout` in `timeout is not None and time() > timeout`."""
    if isinstance(guard, ast.BoolOp):
        return [text for part in guard.values for text in asked_for(part)] if isinstance(guard.op, ast.And) else []
    if isinstance(guard, ast.Compare) and isinstance(guard.ops[0], ast.IsNot) and is_plain(guard.left):
        other = guard.comparators[0]
        return [ast.unparse(guard.left)] if isinstance(other, ast.Constant) and other.value is None else []
    return [ast.unparse(guard)] if isinstance(guard, ast.Name | ast.Attribute) and is_plain(guard) else []


def _needs(guard: ast.expr, off: Container[str]) -> bool:
    return any(text in off for text in asked_for(guard))


def is_clocked(way: Exit) -> bool:
    """Whether a way out looks at a clock."""
    return any(_reads_clock(guard) for guard in way.guards)


def _counters(loop: ast.While) -> set[str]:
    """The variables that only ever grow, or only ever shrink, by a constant in each round."""
    steps: dict[str, set[type[ast.operator]]] = {}
    assigned: set[str] = set()
    for node in walk(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
            if isinstance(node.value, ast.Constant) and node.value.value:
                steps.setdefault(ast.unparse(node.target), set()).add(type(node.op))
            else:
                assigned.add(ast.unparse(node.target))
        elif isinstance(node, ast.Assign):
            assigned.update(ast.unparse(target) for target in node.targets)
    return {name for name, ways in steps.items() if len(ways) == 1 and name not in assigned}


def _reads_clock(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) and called_name(one) in _CLOCKS for one in ast.walk(node))


def _compares_counter(guard: ast.expr, counters: set[str]) -> bool:
    for node in ast.walk(guard):
        if isinstance(node, ast.Compare) and any(
            isinstance(one, ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Eq) for one in node.ops
        ):
            sides = [ast.unparse(one) for one in (node.left, *node.comparators)]
            if sum(side in counters for side in sides) == 1:
                return True
    return isinstance(guard, ast.Name | ast.Attribute) and ast.unparse(guard) in counters
