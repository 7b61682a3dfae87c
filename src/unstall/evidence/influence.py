"""What can still change in a loop: whether a value that stayed the same so far is worked out anew in every round."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unstall.evidence import syntax

_READERS = {
    "get", "keys", "values", "items", "count", "index", "startswith", "endswith", "copy", "strip", "split", "lower",
    "upper", "join", "format", "decode", "encode", "issubset", "issuperset", "isdisjoint", "sum", "mean", "max", "min",
    "debug", "info", "warning", "error", "write", "flush", "sleep", "print",
}  # fmt: skip
_LEAVES = ast.Continue | ast.Break | ast.Return | ast.Raise


@dataclass(frozen=True)
class Effect:
    """Something in a loop that may change a variable, and what decides about the new value."""

    target: str
    sources: tuple[ast.AST, ...]
    by_call: bool = False  # one of its methods is called


def restless(loop: syntax.LoopNode, moving: set[str], known: set[str]) -> set[str]:
    """The variables that may change in a later round: because of what moves, or of a call that gives new answers.

    `moving`: variables that were seen to change. `known`: variables that hold plain values, which no call can alter.
    """
    effects = list(_effects(loop.body, ()))
    if isinstance(loop, ast.While):
        effects += _within(loop.test, ())
    else:
        effects.append(Effect(key(loop.target), (loop.iter,)))
    effects = [one for one in effects if not (one.by_call and one.target in known)]
    found = set(moving)
    grown = True
    while grown:
        grown = False
        for effect in effects:
            if effect.target not in found and any(_stirs(one, found, known) for one in effect.sources):
                found.add(effect.target)
                grown = True
    return found


def is_walk(loop: syntax.LoopNode, names: set[str]) -> bool:
    """Whether the loop gives these variables nothing but what is already there: the next node, an item of a list."""
    given = [
        one.value
        for part in loop.body
        for one in (part, *syntax.walk(part))
        if isinstance(one, ast.Assign) and any(key(target) in names for target in one.targets)
    ]
    return bool(given) and all(_is_lookup(one) for one in given)


def _is_lookup(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "get" and _is_lookup(node.func.value)
    if isinstance(node, ast.Subscript | ast.Attribute):
        return _is_lookup(node.value)
    return isinstance(node, ast.Name)


def key(node: ast.AST) -> str:
    """The variable that an expression belongs to: `x` for `x[3].y`, and `self.x` for `self.x[3]`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"self.{node.attr}" if _is_self(node.value) else key(node.value)
    return key(node.value) if isinstance(node, ast.Subscript | ast.Starred) else ""


def keys(text: str) -> set[str]:
    """The variables that the source of an expression looks at."""
    return _looked_at(ast.parse(text, mode="eval"))


def _looked_at(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Attribute) and _is_self(node.value):
        return {key(node)}
    if isinstance(node, ast.Name):
        return {node.id}
    return {name for child in ast.iter_child_nodes(node) for name in _looked_at(child)}


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _stirs(node: ast.AST, moving: set[str], known: set[str]) -> bool:
    """Whether an expression may have another value in a later round."""
    if _looked_at(node) & moving:
        return True
    return any(isinstance(one, ast.Yield | ast.Await) or _answers_anew(one, known) for one in ast.walk(node))


def _answers_anew(node: ast.AST, known: set[str]) -> bool:
    """Whether this is a call that may answer differently though it is asked the same."""
    if not isinstance(node, ast.Call) or not syntax.is_opaque(node):
        return False
    given = [*node.args, *(one.value for one in node.keywords)]
    of_plain = isinstance(node.func, ast.Attribute) and key(node.func.value) in known
    if syntax.is_random_call(node) or not (given or of_plain):
        return True
    if isinstance(node.func, ast.Attribute) and node.func.attr not in _READERS and not of_plain:
        return True
    return any(isinstance(one, ast.Name | ast.Attribute) and key(one) not in known for one in given)


def _effects(block: Sequence[ast.stmt], guards: tuple[ast.AST, ...]) -> Iterator[Effect]:
    """The effects of the statements of a block, in order."""
    for node in block:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        yield from _effects_of(node, guards)
        if isinstance(node, ast.If) and any(branch and isinstance(branch[-1], _LEAVES) for branch in _branches(node)):
            guards = (*guards, node.test)


def _branches(node: ast.If) -> tuple[list[ast.stmt], list[ast.stmt]]:
    return node.body, node.orelse


def _effects_of(node: ast.stmt, guards: tuple[ast.AST, ...]) -> Iterator[Effect]:
    if isinstance(node, ast.If | ast.While):
        yield from _within(node.test, guards)
        yield from _effects([*node.body], (*guards, node.test))
        yield from _effects([*node.orelse], (*guards, node.test))
    elif isinstance(node, ast.For | ast.AsyncFor):
        for name in ast.walk(node.target):
            if isinstance(name, ast.Name):
                yield Effect(name.id, (node.iter, ast.Yield()))  # it has another value in each of its rounds
        yield from _within(node.iter, guards)
        yield from _effects([*node.body, *node.orelse], (*guards, node.iter))
    elif isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            if item.optional_vars is not None:
                yield Effect(key(item.optional_vars), (item.context_expr, *guards))
        yield from _effects(node.body, guards)
    elif isinstance(node, ast.Try):
        yield from _effects(node.body, guards)
        for handler in node.handlers:
            yield from _effects(handler.body, (*guards, *node.body))
        yield from _effects([*node.orelse, *node.finalbody], (*guards, *node.body))
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield from _effects(case.body, (*guards, node.subject))
    else:
        yield from _assigned(node, guards)
        yield from _within(node, guards)


def _assigned(node: ast.stmt, guards: tuple[ast.AST, ...]) -> Iterator[Effect]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            for one in target.elts if isinstance(target, ast.Tuple | ast.List) else (target,):
                yield Effect(key(one), (node.value, *guards))
    elif isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value is not None:
        yield Effect(key(node.target), (node.value, *guards))


def _within(node: ast.AST, guards: tuple[ast.AST, ...]) -> Iterator[Effect]:
    """What an expression changes: by `:=`, or because it calls a method of an object."""
    for one in ast.walk(node):
        if isinstance(one, ast.NamedExpr):
            yield Effect(one.target.id, (one.value, *guards))
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr not in _READERS:
            yield Effect(key(one.func.value), (*one.args, *guards), by_call=True)
