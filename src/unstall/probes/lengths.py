"""What an object's own `__len__` would say, worked out from its source and its attributes. Nothing is run."""

from __future__ import annotations

import ast
import operator

from unstall.evidence import syntax
from unstall.probes.code import read_source
from unstall.probes.python.memory import Unreadable
from unstall.probes.python.objects import Ref

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}


def promised(pid: int, owner: Ref) -> int | None:
    """`len(owner)`, where its `__len__` is a single expression that can be followed; else None."""
    method = owner.attribute("__len__")
    place = method.function_place if method is not None else None
    if place is None:
        return owner.length()
    source = read_source(pid, place[0])
    if source is None:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__len__" and syntax.begins_at(node, place[2]):
            body = [one for one in node.body if not isinstance(one, ast.Expr)]
            if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None and node.args.args:
                return _whole(_follow(body[0].value, node.args.args[0].arg, owner))
    return None


def _follow(expression: ast.expr, name: str, owner: Ref) -> Ref | int | None:
    """The object or number that an expression about `self` stands for."""
    if isinstance(expression, ast.Constant):
        return expression.value if isinstance(expression.value, int) else None
    if isinstance(expression, ast.Name):
        return owner if expression.id == name else None
    if isinstance(expression, ast.Attribute):
        base = _follow(expression.value, name, owner)
        return base.attribute(expression.attr) if isinstance(base, Ref) else None
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and len(expression.args) == 1:
        inner = _follow(expression.args[0], name, owner)
        if expression.func.id == "int":
            return inner
        return inner.length() if expression.func.id == "len" and isinstance(inner, Ref) else None
    if isinstance(expression, ast.BinOp) and type(expression.op) in _OPERATORS:
        left, right = _whole(_follow(expression.left, name, owner)), _whole(_follow(expression.right, name, owner))
        if left is None or right is None or (isinstance(expression.op, ast.FloorDiv) and not right):
            return None
        return int(_OPERATORS[type(expression.op)](left, right))
    return None


def _whole(found: Ref | int | None) -> int | None:
    try:
        value = found.value() if isinstance(found, Ref) else found
    except Unreadable:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
