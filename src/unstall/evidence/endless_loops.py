"""Loops of a source file that, by their text alone, never end, or retry for ever."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from unstall.evidence import loop_limits, syntax

_ENDS_BY_ERROR = {"next", "pop", "popleft", "popitem", "get_nowait", "remove", "index", "send", "throw", "recv", "exit"}
_PLAIN = (
    *(ast.Name, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Constant),
    *(ast.expr_context, ast.cmpop, ast.boolop, ast.unaryop, ast.operator),
)
_MEANT = {  # errors that a loop expects while it waits for something
    "Empty", "Full", "TimeoutError", "Timeout", "BlockingIOError", "InterruptedError", "FileExistsError",
    "FileNotFoundError", "StopIteration", "KeyboardInterrupt", "ProcessLookupError",
}  # fmt: skip


def frozen_loops(function: ast.AST) -> Iterator[ast.While]:
    """`while` loops whose test looks at local variables only, none of which the loop changes; no other way out."""
    if any(isinstance(one, ast.Global | ast.Nonlocal) for one in ast.walk(function)):
        return
    local = _locals(function)
    for loop in syntax.walk(function):
        if not isinstance(loop, ast.While) or syntax.is_always(loop.test) or isinstance(loop.test, ast.Constant):
            continue
        names = {one.id for one in ast.walk(loop.test) if isinstance(one, ast.Name)}
        plain = all(isinstance(one, _PLAIN) for one in ast.walk(loop.test))
        if plain and names and names <= local and not _may_end(loop, names):
            yield loop


def _locals(function: ast.AST) -> set[str]:
    arguments = getattr(function, "args", None)
    given = {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)} if arguments else set()
    stored = {one.id for one in syntax.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return given | stored


def _may_end(loop: ast.While, names: set[str]) -> bool:
    """Whether something in the loop's body could end it."""
    nodes = [one for part in loop.body for one in (part, *ast.walk(part))]
    if any(
        isinstance(one, ast.Break | ast.Return | ast.Raise | ast.Yield | ast.YieldFrom | ast.Await) for one in nodes
    ):
        return True
    if any(isinstance(one, ast.Name) and one.id in names and not isinstance(one.ctx, ast.Load) for one in nodes):
        return True
    return any(_touches(one, names) for one in nodes)


def _touches(node: ast.AST, names: set[str]) -> bool:
    """Whether a call or assignment may change one of the objects in place, or end the loop by an error."""
    if isinstance(node, ast.Call):
        if syntax.called_name(node) in _ENDS_BY_ERROR:
            return True
        built_in = isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id)
        parts: list[ast.AST] = [node.func]
        parts += [] if built_in else [*node.args, *(one.value for one in node.keywords)]
        return any(isinstance(one, ast.Name) and one.id in names for part in parts for one in ast.walk(part))
    if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(node.value))
    return False


def retry_loops(function: ast.AST) -> Iterator[tuple[ast.While, ast.ExceptHandler]]:
    """`while True:` loops that end only when nothing fails, and catch every failure without counting them."""
    for loop in syntax.walk(function):
        if not isinstance(loop, ast.While) or not syntax.is_always(loop.test) or loop_limits.has_limit(loop):
            continue
        attempts = [one for one in loop.body if isinstance(one, ast.Try)]
        if len(attempts) != 1 or any(isinstance(one, ast.Yield | ast.YieldFrom) for one in syntax.walk(loop)):
            continue
        attempt = attempts[0]
        handler = next((one for one in attempt.handlers if _goes_on(one) and not _is_meant(one)), None)
        before = loop.body[: loop.body.index(attempt)]
        if handler is None or any(_leaves(one) for one in before) or not _ends_by_success(loop, attempt, handler):
            continue
        if not _changes_the_try(handler, attempt, before):
            yield loop, handler


def _goes_on(handler: ast.ExceptHandler) -> bool:
    """The handler has no way out of the loop at all."""
    return not any(_leaves(one) for one in handler.body)


def _leaves(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Break | ast.Return | ast.Raise) for one in (node, *syntax.walk(node)))


def _is_meant(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return False
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in types]
    return any(name in _MEANT for name in names)


def _ends_by_success(loop: ast.While, attempt: ast.Try, handler: ast.ExceptHandler) -> bool:
    """The loop's way out stands where only a success leads."""
    if any(_leaves(one) for one in (*attempt.body, *attempt.orelse)):
        return True
    after = loop.body[loop.body.index(attempt) + 1 :]
    return isinstance(handler.body[-1], ast.Continue) and bool(after) and isinstance(after[-1], ast.Break | ast.Return)


def _changes_the_try(handler: ast.ExceptHandler, attempt: ast.Try, before: list[ast.stmt]) -> bool:
    """The next round tries something else: another index, another server."""
    used = {one.id for part in attempt.body for one in ast.walk(part) if isinstance(one, ast.Name)}
    changed = {
        ast.unparse(one)
        for part in (*handler.body, *before)
        for one in ast.walk(part)
        if isinstance(one, ast.Name | ast.Attribute) and isinstance(one.ctx, ast.Store)
    }
    return bool(changed & used) or any(name.startswith("self.") for name in changed)
