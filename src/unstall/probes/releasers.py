"""The threads whose code may release a lock, though nothing shows that they stand inside it."""

from __future__ import annotations

import ast

import msgspec

from unstall.evidence import syntax
from unstall.evidence.locks import Lock
from unstall.probes.lockholders import functions_named, tree_of
from unstall.probes.samples import SampledStack

_DEPTH = 3
_MOST_FUNCTIONS = 60
_UNNAMED_OWNERS = ("thread-lock", "thread-semaphore", "process-semaphore", "process-manager-lock")


def add(locks: list[Lock], stacks: dict[int, SampledStack]) -> list[Lock]:
    """Locks whose owner nothing names: with the threads that may release them."""
    return [_with_releasers(one, stacks) if one.sort in _UNNAMED_OWNERS else one for one in locks]


def _with_releasers(lock: Lock, stacks: dict[int, SampledStack]) -> Lock:
    shared = lock.sort.startswith("process-")
    if lock.holders and not lock.sort.endswith("semaphore"):
        return lock
    waiter = next((stacks[tid] for tid in lock.waiters if tid in stacks), None)
    if waiter is None:
        return lock
    blocks = set() if lock.sort == "process-semaphore" else {_last_name(lock.label)}
    found = [
        stack.tid
        for stack in stacks.values()
        if stack.tid not in lock.waiters and (stack.pid == waiter.pid or shared) and _may_release(stack, blocks)
    ]
    return msgspec.structs.replace(lock, releasers=tuple(found))


def _last_name(label: str) -> str:
    """`slots` for "the semaphore `self.slots`"."""
    return label.rstrip("`").rpartition("`")[2].rpartition(".")[2]


def _may_release(stack: SampledStack, blocks: set[str]) -> bool:
    """Whether the functions on a stack, or those that they call, release something, or are blocks of such a name."""
    return _leads_to(stack, {"release"}, blocks, _DEPTH)


def may_call(stack: SampledStack, names: set[str]) -> bool:
    """Whether the functions on a stack, or those that they call, call something of these names.

    True where the user's code on it can't be read; a thread that only runs library code is taken to serve others.
    """
    unread = [one for one in stack.frames if one.user and tree_of(stack.pid, one) is None]
    return bool(unread) or _leads_to(stack, names, set(), 2 * _DEPTH)


def _leads_to(stack: SampledStack, names: set[str], blocks: set[str], depth: int) -> bool:
    seen: set[int] = set()
    trees = [tree_of(stack.pid, frame) for frame in stack.frames[:16]]
    return any(_reaches(stack.pid, tree, names, blocks, seen, depth) for tree in trees if tree is not None)


def _reaches(pid: int, tree: ast.AST, wanted: set[str], blocks: set[str], seen: set[int], depth: int) -> bool:
    if id(tree) in seen or len(seen) > _MOST_FUNCTIONS:
        return False
    seen.add(id(tree))
    called = syntax.calls(tree)
    if any(syntax.called_name(one) in wanted for one in called):
        return True
    items = [item.context_expr for node in ast.walk(tree) if isinstance(node, ast.With) for item in node.items]
    if any(ast.unparse(one).rpartition(".")[2] in blocks for one in items):
        return True
    names = {syntax.called_name(one) for one in called} if depth else set()
    return any(
        _reaches(pid, inner, wanted, blocks, seen, depth - 1)
        for name in sorted(names)
        for inner in functions_named(pid, name)
    )
