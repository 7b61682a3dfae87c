"""A process that is on its way out, and what its threads still do: will they end?"""

from __future__ import annotations

import ast

from unstall.evidence import syntax
from unstall.evidence.code import Code
from unstall.evidence.enders import calls_any
from unstall.evidence.motion import ActiveLoop, loops_of
from unstall.evidence.objects import exits
from unstall.evidence.stacks import Stack, Stacks
from unstall.evidence.stall import Kind, Stall, Wait
from unstall.model.finding import Confidence

_FOR_EVER = (Kind.QUEUE, Kind.CONDITION, Kind.FUTURE)
_LISTENS = ("accept", "accept4")
_WAKES = {"put", "put_nowait", "set", "notify", "notify_all", "set_result", "set_exception", "call_soon_threadsafe"}
_ASKS = {"is_set", "wait"}


def leaver(stall: Stall, stacks: Stacks) -> Wait | None:
    """The wait of the main thread of the same process, which has nothing left to do but to wait for this one."""
    return next((wait for wait in _mains(stall) if exits(stacks.get(wait.tid))), None)


def frameless(stall: Stall, stacks: Stacks) -> Wait | None:
    """The wait of the main thread of the same process, if that runs no Python code any more, while this one does."""
    if stall.stack is None or not stall.stack.frames:
        return None
    return next((wait for wait in _mains(stall) if stacks.get(wait.tid) is None), None)


def _mains(stall: Stall) -> list[Wait]:
    """The waits on the way of the main thread of the stall's process; none where the stall is in that thread."""
    if stall.wait.tid == stall.wait.pid:
        return []
    return [wait for wait in stall.passed if wait.pid == stall.wait.pid and wait.tid == wait.pid]


def goes_on_for_ever(stall: Stall, stacks: Stacks, code: Code) -> tuple[Confidence, str] | None:
    """How sure it is that a thread does not end by itself, and why; None where it may be about to finish."""
    stack, wait = stall.stack, stall.wait
    if stack is None or not any(stack.user_frames()):
        return None
    others = [one for one in stacks.of(wait.pid) if not one.main and one.tid != wait.tid]
    accepts = stall.thread is not None and stall.thread.last.syscall in _LISTENS
    if wait.limit_s is None and (wait.kind in _FOR_EVER or accepts):
        mine = wait.descriptor is None or {end.pid for end in wait.descriptor.writers} <= {wait.pid}
        if not mine or any(calls_any(one, code, _WAKES) for one in others):
            return None
        return Confidence.CERTAIN, f"it waits for {wait.text}, and the program that would give it that has ended"
    loop = next((one for one in loops_of(stack, code) if one.endless), None)
    if loop is None:
        return None
    if not loop.exits:
        return Confidence.CERTAIN, f"its loop on line {loop.line} has no way out"
    if not _is_ended_from_outside(loop, code) or any(_changes(one, code, _flags(loop)) for one in others):
        return None
    sure = loop.rounds or _stays_true(loop)  # else it may just not have looked at its flag yet
    return (
        Confidence.LIKELY if sure else Confidence.POSSIBLE,
        f"its loop on line {loop.line} goes on until the program tells it to stop, and that has ended",
    )


def _stays_true(loop: ActiveLoop) -> bool:
    """A `while` whose test is a flag that was read, and that says: go on."""
    test = loop.node.test if isinstance(loop.node, ast.While) else None
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    flag = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    values = loop.frame.watched.get(ast.unparse(flag), ()) if flag is not None else ()
    return bool(values) and all(isinstance(one, bool) and one is not negated for one in values)


def _flags(loop: ActiveLoop) -> set[str]:
    """The last names of what the loop's ways out look at: `stopped` for `self.stopped`."""
    texts = {text for way in loop.exits for guard in way.guards for text in syntax.operands(guard)}
    return {text.rpartition(".")[2] for text in texts}


def _is_ended_from_outside(loop: ActiveLoop, code: Code) -> bool:
    """Its ways out look at flags and events alone, which nothing that the loop does changes."""
    if any(not way.guards for way in loop.exits):
        return False
    called = {
        syntax.called_name(one)
        for way in loop.exits
        for guard in way.guards
        for one in ast.walk(guard)
        if isinstance(one, ast.Call)
    }
    return called <= _ASKS and not _tree_changes(loop.node, code, _flags(loop))


def _tree_changes(tree: ast.AST, code: Code, names: set[str]) -> bool:
    """Whether code, or what it calls, gives one of these names a value, or sets an event of such a name."""
    trees = [tree]
    for call in syntax.calls(tree):
        trees += [one.tree for one in code.all if one.name == syntax.called_name(call)]
    return any(_stores(one, names) for one in trees)


def _stores(tree: ast.AST, names: set[str]) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            last = node.attr if isinstance(node, ast.Attribute) else node.id
            if last in names:
                return True
        if isinstance(node, ast.Call) and syntax.called_name(node) in ("set", "clear"):
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if owner is not None and ast.unparse(owner).rpartition(".")[2] in names:
                return True
    return False


def _changes(stack: Stack, code: Code, names: set[str]) -> bool:
    trees = [code.tree(frame) for frame in stack.user_frames()]
    return any(tree is None or _tree_changes(tree, code, names) for tree in trees)
