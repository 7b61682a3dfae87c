"""The code that a loop runs: its own lines, and the functions of the same file that it calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from unstall.evidence import loop_limits, syntax
from unstall.probes.code import read_source
from unstall.probes.lockholders import tree_of
from unstall.probes.moment import once_per_look
from unstall.probes.paths import Meanings
from unstall.probes.samples import SampledFrame, SampledStack

BOUNDARY = ("torch/utils/data/_utils/fetch.py", "torch/utils/data/_utils/worker.py", "torch/utils/data/dataloader.py")
_NO_FILES = ("/torch/utils/data/", "/torch/distributed/")  # their loops look at no files of others
MOST_FRAMES = 16
_DEPTH = 2
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class CalledCode:
    """A piece of code, and what its names stand for in the frame that runs it."""

    node: ast.AST
    meanings: Meanings
    via: ast.Call | None = None  # the call that leads here, and the code that it stands in
    caller: CalledCode | None = None


@dataclass(frozen=True)
class RunningLoop:
    """A loop that a frame is inside of."""

    frame: SampledFrame
    node: syntax.LoopNode

    @property
    def limited(self) -> bool:
        """It counts its rounds or looks at a clock; a limit that is switched off, `timeout=None`, is none."""
        asked = {
            text for way in syntax.exits(self.node) for guard in way.guards for text in loop_limits.asked_for(guard)
        }
        return loop_limits.has_limit(self.node, {text for text in asked if self._is_none(text)})

    def _is_none(self, text: str) -> bool:
        ref = self.frame.ref(text)
        return ref is not None and ref.is_none


def running_loops(stack: SampledStack) -> Iterator[RunningLoop]:
    """The loops that a thread is inside of, innermost first, down to torch's loader.

    Loops of installed packages count too, where they stand above the user's code.
    """
    for frame in stack.frames[:MOST_FRAMES]:
        if frame.file.endswith(BOUNDARY):
            return
        tree = tree_of(stack.pid, frame) if frame.user else _package_tree(stack.pid, frame)
        for node in syntax.loops_around(tree, frame.line) if tree is not None else ():
            yield RunningLoop(frame, node)


def _package_tree(pid: int, frame: SampledFrame) -> ast.AST | None:
    if "-packages/" not in frame.file or any(one in frame.file for one in _NO_FILES):
        return None
    return _module(pid, frame.file)


@once_per_look
def _module(pid: int, file: str) -> ast.Module | None:
    try:
        return ast.parse(read_source(pid, file) or "")
    except (SyntaxError, ValueError, RecursionError):
        return None


def code_of(pid: int, loop: RunningLoop) -> list[CalledCode]:
    """The loop itself, and the functions that it calls."""
    around = tree_of(pid, loop.frame) if loop.frame.user else None
    before = _assigned(around) if around is not None else {}
    flags = {name: value for name, value in before.items() if _is_flags(value)}
    found = [CalledCode(loop.node, {**flags, **_assigned(loop.node)})]
    _follow(pid, loop.frame.file, found[0], found, _DEPTH)
    return found


def _is_flags(value: ast.expr) -> bool:
    """`os.O_CREAT | os.O_EXCL`."""
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr)


def _follow(pid: int, file: str, code: CalledCode, found: list[CalledCode], depth: int) -> None:
    module = _module(pid, file)
    if module is None or depth == 0 or len(found) > 20:
        return
    for call in syntax.calls(code.node):
        for definition in _definitions(pid, file).get(syntax.called_name(call), ())[:2]:
            if definition is code.node or any(one.node is definition for one in found):
                continue
            inner = CalledCode(definition, _bound(definition, call, code.meanings), call, code)
            found.append(inner)
            _follow(pid, file, inner, found, depth - 1)


@once_per_look
def _definitions(pid: int, file: str) -> dict[str, list[_Definition]]:
    """The functions and classes of a module, by name: outermost first."""
    found: dict[str, list[_Definition]] = {}
    for one in ast.walk(_module(pid, file) or ast.Module([], [])):
        if isinstance(one, _Definition):
            found.setdefault(one.name, []).append(one)
    return found


def _bound(definition: _Definition, call: ast.Call, outer: Meanings) -> Meanings:
    """What the parameters and simple variables of a called function stand for in the caller."""
    names = [one.arg for one in (*definition.args.posonlyargs, *definition.args.args)]
    meanings: Meanings = {}
    if names[:1] in (["self"], ["cls"]):
        if isinstance(call.func, ast.Attribute):
            meanings[names[0]] = call.func.value
        names = names[1:]
    meanings.update(zip(names, call.args, strict=False))
    meanings.update({one.arg: one.value for one in call.keywords if one.arg})
    resolved = {name: _resolve(value, outer) for name, value in meanings.items()}
    return {**_assigned(definition), **resolved}


def _resolve(node: ast.expr, meanings: Meanings) -> ast.expr:
    if isinstance(node, ast.Name):
        return meanings.get(node.id, node)
    if isinstance(node, ast.Attribute):
        return ast.Attribute(value=_resolve(node.value, meanings), attr=node.attr, ctx=ast.Load())
    return node


def _assigned(node: ast.AST) -> Meanings:
    """The names that are given a value once, by a simple assignment."""
    values: dict[str, list[ast.expr]] = {}
    for one in syntax.walk(node):
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            values.setdefault(one.targets[0].id, []).append(one.value)
    return {name: found[0] for name, found in values.items() if len(found) == 1}
