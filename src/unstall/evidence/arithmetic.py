"""Loops that count in equal steps past their goal.

`while size % 8: size += 2` never ends once size is odd, nor does `while seen != total: seen += 3` unless 3 divides total.
"""

from __future__ import annotations

import ast

from unstall.evidence import syntax
from unstall.evidence.stacks import Frame

LARGEST_MODULUS = 100_000


def steps_past(loop: ast.While, frame: Frame) -> str | None:
    """What never becomes what the test wants, as source; None where it may, or that is not known."""
    return _remainder_missed(loop, frame) or _goal_missed(loop, frame)


def _goal_missed(loop: ast.While, frame: Frame) -> str | None:
    """`x != n`, where steps lead past n, or away from it."""
    test = loop.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.NotEq):
        return None
    for counter, goal in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        if not isinstance(counter, ast.Name) or _changes(loop, goal):
            continue
        number, wanted = _value(counter, frame), _value(goal, frame)
        step = _only_step(loop, counter.id, frame)
        if number is None or wanted is None or not step or number == wanted:
            continue
        if (wanted - number) % step or (wanted - number) // step < 0:
            return ast.unparse(counter)
    return None


def _changes(loop: ast.While, goal: ast.expr) -> bool:
    names = {one.id for one in ast.walk(goal) if isinstance(one, ast.Name)} - {"len", "self"}
    stored = syntax.stored(loop)
    return bool(names & stored) or any(ast.unparse(one) in stored for one in ast.walk(goal) if syntax.is_plain(one))


def _remainder_missed(loop: ast.While, frame: Frame) -> str | None:
    for remainder in ast.walk(loop.test):
        if not isinstance(remainder, ast.BinOp) or not isinstance(remainder.op, ast.Mod):
            continue
        if not isinstance(remainder.left, ast.Name):
            continue
        number, modulus = _value(remainder.left, frame), _value(remainder.right, frame)
        step = _only_step(loop, remainder.left.id, frame)
        if number is None or modulus is None or step is None or not 0 < abs(modulus) <= LARGEST_MODULUS:
            continue
        wanted = _wanted(loop.test, remainder, frame)
        if wanted is not None and wanted not in {(number + k * step) % modulus for k in range(abs(modulus))}:
            return ast.unparse(remainder)
    return None


def _wanted(test: ast.expr, remainder: ast.BinOp, frame: Frame) -> int | None:
    """The remainder at which the loop would end: of `x % m`, `x % m != k`, `not x % m == k`."""
    if test is remainder:
        return 0
    if isinstance(test, ast.Compare) and test.left is remainder and len(test.ops) == 1:
        value = _value(test.comparators[0], frame)
        if isinstance(test.ops[0], ast.NotEq):
            return value
        return 0 if isinstance(test.ops[0], ast.Gt) and value == 0 else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Compare):
        inner = test.operand
        if inner.left is remainder and len(inner.ops) == 1 and isinstance(inner.ops[0], ast.Eq):
            return _value(inner.comparators[0], frame)
    return None


def _only_step(loop: ast.While, name: str, frame: Frame) -> int | None:
    """By how much each round changes a variable, where nothing else does and nothing else leaves the loop."""
    steps: list[int] = []
    counting = {one.target for one in ast.walk(loop) if isinstance(one, ast.AugAssign)}
    for node in (one for part in loop.body for one in ast.walk(part)):
        if isinstance(node, ast.Break | ast.Return | ast.Raise | ast.Await | ast.Delete):
            return None
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            amount = _value(node.value, frame)
            if amount is None or not isinstance(node.op, ast.Add | ast.Sub):
                return None
            steps.append(amount if isinstance(node.op, ast.Add) else -amount)
        elif (
            isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) and node not in counting
        ):
            return None
    return steps[0] if len(steps) == 1 else None


def _value(node: ast.expr, frame: Frame) -> int | None:
    found: object = None
    if isinstance(node, ast.Constant):
        found = node.value
    else:
        values = frame.watched.get(ast.unparse(node), ())
        found = values[-1] if values else None
        if found is None and isinstance(node, ast.Name):
            found = frame.value(node.id)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
