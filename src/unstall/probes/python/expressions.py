"""Evaluate simple source expressions in a frame by reading only: nothing is ever called."""

from __future__ import annotations

import ast
import enum
from functools import lru_cache
from typing import Final, TypeAlias

from .frames import Frame
from .memory import Unreadable
from .objects import Ref


class Unresolved(enum.Enum):
    """What `evaluate_value` returns for an expression it can't resolve (None is a value)."""

    UNRESOLVED = "unresolved"


Plain: TypeAlias = int | float | str | bool | None
UNRESOLVED: Final = Unresolved.UNRESOLVED
_MAX_EXPRESSION = 500


def evaluate(frame: Frame, expression: str) -> Ref | None:
    """The object that a name, attribute or subscript stands for in `frame`; None if it can't be resolved.

    Names are looked up in the locals, then in the globals; subscripts may be constants or expressions of the
    same kind (`queues[worker]`, `self._workers[0]._popen.pid`).
    """
    tree = _parse(expression)
    if tree is None:
        return None
    try:
        return _resolve(frame, tree)
    except Unreadable:
        return None


def evaluate_value(frame: Frame, expression: str) -> Plain | Unresolved:
    """The plain value of a constant, name, attribute, subscript or `len(...)` of these."""
    tree = _parse(expression)
    try:
        return UNRESOLVED if tree is None else _value(frame, tree)
    except Unreadable:
        return UNRESOLVED


@lru_cache(maxsize=1024)
def _parse(expression: str) -> ast.expr | None:
    if len(expression) > _MAX_EXPRESSION:
        return None
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _resolve(frame: Frame, tree: ast.expr) -> Ref | None:
    if isinstance(tree, ast.Name):
        is_local = frame.code.has_fast_locals and tree.id in frame.code.local_names
        return frame.local(tree.id) or (None if is_local else frame.globals.item(tree.id))
    if isinstance(tree, ast.Attribute):
        owner = _resolve(frame, tree.value)
        return None if owner is None else owner.attribute(tree.attr)
    if isinstance(tree, ast.Subscript):
        owner = _resolve(frame, tree.value)
        key = None if owner is None else _value(frame, tree.slice)
        if owner is None or not isinstance(key, int | str):
            return None
        return owner.item(key)
    return None


def _value(frame: Frame, tree: ast.expr) -> Plain | Unresolved:
    constant = _constant(tree)
    if constant is not UNRESOLVED:
        return constant
    if isinstance(tree, ast.Call):
        return _length(frame, tree)
    ref = _resolve(frame, tree)
    value = UNRESOLVED if ref is None else ref.value()
    return UNRESOLVED if isinstance(value, bytes) else value


def _constant(tree: ast.expr) -> Plain | Unresolved:
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        value = _constant(tree.operand)
        return -value if isinstance(value, int | float) else UNRESOLVED
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int | float | str | None):
        return tree.value
    return UNRESOLVED


def _length(frame: Frame, call: ast.Call) -> int | Unresolved:
    is_len = isinstance(call.func, ast.Name) and call.func.id == "len" and not call.keywords
    if not is_len or len(call.args) != 1 or _resolve(frame, call.func) is not None:
        return UNRESOLVED  # a `len` found in the frame is the user's own
    ref = _resolve(frame, call.args[0])
    length = None if ref is None else ref.length()
    return UNRESOLVED if length is None else length
