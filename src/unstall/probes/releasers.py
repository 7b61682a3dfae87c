"""The threads whose code may release a lock, though nothing shows that they stand inside it."""

from __future__ import annotations

import ast
from collections.abc import Container

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
    trees = [tree_of(stack.pid, frame) for frame in stack.frames[:16]]
    return leads_to(stack.pid, [one for one in trees if one is not None], {"release"}, _DEPTH, blocks)


def leads_to(pid: int, trees: list[ast.AST], names: set[str], depth: int, blocks: Container[str] = frozenset()) -> bool:
    """Whether code, or the functions that it calls, calls something of these names, or is a `with` block of one."""
    seen: set[int] = set()
    return any(_reaches(pid, one, names, blocks, seen, depth) for one in trees)


def _reaches(pid: int, tree: ast.AST, wanted: set[str], blocks: Container[str], seen: set[int], depth: int) -> bool:
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
