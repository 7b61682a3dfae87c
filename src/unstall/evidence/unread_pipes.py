"""Where a source file waits for a child process whose output goes into a pipe that nobody reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from unstall.evidence import syntax
from unstall.evidence.imports import Imports

_STREAMS = ("stdout", "stderr")
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


@dataclass(frozen=True)
class UnreadPipe:
    """The lines where the child is started, and where it is waited for."""

    started: int
    waited: int
    stream: str
    function: str


def unread_pipes(tree: ast.AST) -> Iterator[UnreadPipe]:
    """`Popen(…, stdout=PIPE)` followed by `wait()` without a time limit, and nothing that could read in between."""
    imports = Imports(tree)
    if "subprocess" not in {name.split(".")[0] for name in imports.known.values()}:
        return
    for scope in ast.walk(tree):
        if isinstance(scope, _Scope):
            yield from _in_scope(scope, imports)


def _in_scope(scope: _Scope, imports: Imports) -> Iterator[UnreadPipe]:
    name = getattr(scope, "name", "<module>")
    for call in syntax.calls(scope):
        stream = _piped(call.func.value, imports) if _is_wait(call) and isinstance(call.func, ast.Attribute) else ""
        if stream:  # Popen(…).wait()
            yield UnreadPipe(call.lineno, call.lineno, stream, name)
    for variable, start in _children(scope):
        stream = _piped(start, imports)
        waits = [
            one
            for one in syntax.calls(scope)
            if _is_wait(one) and isinstance(one.func, ast.Attribute) and ast.unparse(one.func.value) == variable
        ]
        first = min(waits, key=lambda one: one.lineno, default=None)
        if not stream or first is None or first.lineno <= start.lineno:
            continue
        if not _is_used_between(scope, variable, start.end_lineno or start.lineno, first.lineno):
            yield UnreadPipe(start.lineno, first.lineno, stream, name)


def _children(scope: _Scope) -> Iterator[tuple[str, ast.expr]]:
    for node in syntax.walk(scope):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            yield ast.unparse(node.targets[0]), node.value
        elif isinstance(node, ast.With):
            for item in node.items:
                if item.optional_vars is not None:
                    yield ast.unparse(item.optional_vars), item.context_expr


def _is_wait(call: ast.Call) -> bool:
    return syntax.called_name(call) == "wait" and not call.args and not call.keywords


def _piped(node: ast.expr, imports: Imports) -> str:
    """Which output of a child that is started here goes into a pipe of its own; "" where none does."""
    if not isinstance(node, ast.Call) or imports.called(node) != "subprocess.Popen":
        return ""
    for keyword in node.keywords:
        if keyword.arg in _STREAMS and imports.dotted(keyword.value) == "subprocess.PIPE":
            return keyword.arg
    return ""


def _is_used_between(scope: _Scope, variable: str, after: int, before: int) -> bool:
    """Whether the child's output may be read before it is waited for: by this code, or by whoever got the child."""
    for node in ast.walk(scope):
        if not isinstance(node, ast.Name | ast.Attribute) or ast.unparse(node) != variable:
            continue
        if after < node.lineno < before and not _is_only_asked(scope, node):
            return True
    return False


def _is_only_asked(scope: _Scope, node: ast.expr) -> bool:
    """`child.poll()`, `child.pid`, `child.returncode`: nothing is read."""
    return any(
        isinstance(one, ast.Attribute) and one.value is node and one.attr in ("poll", "pid", "returncode", "args")
        for one in ast.walk(scope)
    )
