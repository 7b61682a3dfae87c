"""Which file an expression in a frame stands for, and which files the objects near a frame name."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator

from unstall.evidence import syntax
from unstall.probes.python.memory import Unreadable
from unstall.probes.python.objects import Ref
from unstall.probes.samples import SampledFrame, scalar

MOST_NAMES = 30
LONGEST_PATH = 1024
Meanings = dict[str, ast.expr]  # what the names of a called function stand for in its caller
_DEPTH = 8


def path_of(frame: SampledFrame, node: ast.expr, meanings: Meanings | None = None, depth: int = _DEPTH) -> str | None:
    """The text or path that an expression stands for, as far as it can be told without calling anything."""
    if depth == 0:
        return None

    def inner(one: ast.expr) -> str | None:
        return path_of(frame, one, meanings, depth - 1)

    if isinstance(node, ast.Constant):
        return str(node.value) if isinstance(node.value, str | int) else None
    if isinstance(node, ast.Name) and meanings and node.id in meanings:
        return path_of(frame, meanings[node.id], {**meanings, node.id: ast.Name(id="")}, depth - 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
        left, right = inner(node.left), inner(node.right)
        if left is None or right is None:
            return None
        return left + right if isinstance(node.op, ast.Add) else os.path.join(left, right)
    if isinstance(node, ast.JoinedStr):
        parts = [inner(one.value if isinstance(one, ast.FormattedValue) else one) for one in node.values]
        return "".join(one for one in parts if one is not None) if None not in parts else None
    if isinstance(node, ast.Call):
        return _of_call(node, inner)
    ref = frame.ref(ast.unparse(_substituted(node, meanings)))
    return text_of(ref) if ref is not None else None


def _of_call(call: ast.Call, inner: Callable[[ast.expr], str | None]) -> str | None:
    name = syntax.called_name(call)
    arguments = [path for one in call.args if (path := inner(one)) is not None]
    owner = inner(call.func.value) if isinstance(call.func, ast.Attribute) else None
    if len(arguments) < len(call.args):
        return None
    if name in ("str", "fspath", "Path", "abspath", "expanduser", "absolute", "resolve"):
        return arguments[0] if arguments else owner
    if name == "joinpath" and owner is not None:
        return os.path.join(owner, *arguments)
    if name == "join" and arguments and not isinstance(call.func, ast.Name):
        return os.path.join(*arguments)
    if name in ("with_suffix", "with_name") and owner is not None and len(arguments) == 1:
        return (
            os.path.splitext(owner)[0] + arguments[0]
            if name == "with_suffix"
            else os.path.join(os.path.dirname(owner), arguments[0])
        )
    return None


def _substituted(node: ast.expr, meanings: Meanings | None) -> ast.expr:
    """`self.path` of a method that was called as `lock.try_it()`: `lock.path`."""
    if isinstance(node, ast.Attribute):
        return ast.Attribute(value=_substituted(node.value, meanings), attr=node.attr, ctx=ast.Load())
    if isinstance(node, ast.Subscript):
        return ast.Subscript(value=_substituted(node.value, meanings), slice=node.slice, ctx=ast.Load())
    if isinstance(node, ast.Name) and meanings and node.id in meanings:
        return meanings[node.id]
    return node


def text_of(ref: Ref) -> str | None:
    """A text, a number, or the path that a pathlib object stands for."""
    value = scalar(ref)
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    try:
        if not ref.type_name.endswith("Path"):
            return None
        cached = scalar(ref.attribute("_str"))
        if isinstance(cached, str):
            return cached
        for name in ("_raw_paths", "_parts"):
            parts = ref.attribute(name)
            words = [scalar(one) for one in parts.values()] if parts else []
            if words:
                return os.path.join(*[str(one) for one in words])
    except Unreadable:
        return None
    return None


def paths_near(frame: SampledFrame) -> Iterator[str]:
    """The texts and paths among a frame's variables and in their attributes, nearest first."""
    refs = [one.ref for one in frame.locals().values() if one.ref is not None][:MOST_NAMES]
    level = [ref for ref in refs if ref is not None]
    seen: set[int] = set()
    for _ in range(3):
        below: list[Ref] = []
        for ref in level:
            if ref.address in seen:
                continue
            seen.add(ref.address)
            text = text_of(ref)
            if text is not None:
                if 0 < len(text) <= LONGEST_PATH and not text.isdigit():
                    yield text
                continue
            try:
                below += list(ref.attributes().values())[:MOST_NAMES]
            except Unreadable:
                continue
        level = below
