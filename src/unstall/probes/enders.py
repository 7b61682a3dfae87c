"""The threads that may still end a wait on an event, a barrier or a future. In doubt a thread may.

What is asked is whether nobody is left who could, so every thread counts whose future can't be seen: one that still
imports, one of a library, one that calls a function which it was given.
"""

from __future__ import annotations

import ast
import builtins

from unstall.evidence import syntax
from unstall.probes import importedcode, lockholders
from unstall.probes.code import read_source
from unstall.probes.lockholders import functions_named, tree_of
from unstall.probes.releasers import leads_to
from unstall.probes.samples import SampledFrame, SampledStack

_DEPTH = 6
_IDLE = (  # threads that only serve others, by the function that they stand in when they have nothing to do
    ("multiprocessing/queues.py", "_feed"),
    ("multiprocessing/resource_sharer.py", "_serve"),
    ("torch/utils/data/_utils/pin_memory.py", "_pin_memory_loop"),
    ("tqdm/_monitor.py", "run"),
    ("multiprocessing/pool.py", "_handle_workers", "_handle_tasks"),
    ("multiprocessing/resource_tracker.py", "main"),
    ("multiprocessing/forkserver.py", "main"),
    ("multiprocessing/managers.py", "serve_forever", "accepter"),
)
_WITHOUT_JOB = (("concurrent/futures/thread.py", "_worker"), ("multiprocessing/pool.py", "worker"))
_KNOWN = set(dir(builtins))


def may_end(stack: SampledStack, names: set[str]) -> bool:
    """Whether a thread may call something of these names, as far as its stack and source tell."""
    if not stack.frames or any(stack.find(*one) for one in _IDLE):
        return False
    own = _own_frames(stack)
    user = [one for one in own if one.user]
    if stack.find("importlib._bootstrap>", "_load_unlocked", "_find_and_load"):
        return True
    if not user:  # a timer, a pool's helper, a library's thread: it may call back
        top = stack.frames[0]
        return not any(top.file.endswith(end) and top.bare_name == name for end, name in _WITHOUT_JOB)
    if any(stack.find(*one) for one in _WITHOUT_JOB):
        return True  # a job, at whose end somebody may be called
    _learn_imports(stack.pid, user)
    trees = [tree_of(stack.pid, one) for one in user]
    if any(tree is None or _calls_what_it_was_given(stack.pid, tree) for tree in trees):
        return True
    return leads_to(stack.pid, [one for one in trees if one is not None], names, _DEPTH)


def is_starting(stack: SampledStack) -> bool:
    """A process of multiprocessing that has not begun its work: what it will share is not mapped yet."""
    started = stack.find("multiprocessing/spawn.py", "spawn_main") is not None
    return started and stack.find("multiprocessing/process.py", "_bootstrap") is None


def _own_frames(stack: SampledStack) -> list[SampledFrame]:
    """The frames of the thread's own work: a fork has its parent's frames below, to which it never comes back."""
    frames: list[SampledFrame] = []
    for frame in stack.frames:
        if frame.file.endswith("multiprocessing/process.py") and frame.bare_name == "_bootstrap":
            break
        frames.append(frame)
    return frames


def _learn_imports(pid: int, frames: list[SampledFrame]) -> None:
    """Read the user's modules that the files of these frames import, so that their functions are known by name."""
    for file in dict.fromkeys(one.file for one in frames):
        source = read_source(pid, file)
        for path in dict(importedcode.imports(pid, file, source)).values() if source else ():
            lockholders.learn(pid, path)


def _calls_what_it_was_given(pid: int, tree: ast.AST) -> bool:
    """It calls a parameter or variable, or something of its own object that no known function is named like."""
    body = syntax.body_of(tree)
    given = _parameters(body) | {
        one.id for one in ast.walk(body) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    for call in syntax.calls(body):
        function = call.func
        if isinstance(function, ast.Name) and function.id in given and function.id not in _KNOWN:
            return True
        own = (
            isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self"
        )
        if own and not any(functions_named(pid, syntax.called_name(call))):
            return True
    return False


def _parameters(body: ast.AST) -> set[str]:
    if not isinstance(body, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return set()
    return {one.arg for one in (*body.args.posonlyargs, *body.args.args, *body.args.kwonlyargs)}
