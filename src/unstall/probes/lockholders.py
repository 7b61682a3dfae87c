"""Which object on a stack is which lock, and which frames stand inside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unstall.evidence import syntax
from unstall.evidence.locks import Holder
from unstall.probes.code import read_source
from unstall.probes.moment import kept_for_one_look
from unstall.probes.python.memory import Unreadable
from unstall.probes.python.objects import Ref
from unstall.probes.samples import SampledFrame, SampledStack

MOST_ATTRIBUTES = 40
_DEEPEST_MANAGER = 4
_MANAGED = 1 << 80  # above all addresses
_TAKES, _RELEASES = {"acquire", "__enter__"}, {"release", "__exit__"}
Definition = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_functions: dict[tuple[int, str], list[Definition]] = kept_for_one_look({})


def identities(ref: Ref) -> set[int]:
    """The addresses by which the lock behind an object can be recognised; empty if it is no lock."""
    found = _own_identities(ref)
    if found:
        return found | {ref.address}
    try:
        attributes = list(ref.attributes().values())[:MOST_ATTRIBUTES]
    except Unreadable:
        return set()
    for one in attributes:
        found |= _own_identities(one)
    return found


def manager_identity(ref: Ref) -> int | None:
    """What identifies a manager's lock in every process: the manager's own name for it. None for other objects."""
    if not ref.type_name.endswith(("managers.AcquirerProxy", "managers.ConditionProxy")):
        return None
    name = ref.attribute("_id")
    text = name.value() if name is not None else None
    try:
        return int(text, 16) | _MANAGED if isinstance(text, str) else None
    except ValueError:
        return None


def _own_identities(ref: Ref) -> set[int]:
    try:
        managed = manager_identity(ref)
        if managed is not None:
            return {managed, ref.address}
        address = ref.thread_lock_address()
        if address is not None:
            return {address, ref.address}
        state = ref.semlock()
        if state is not None:
            return {state.handle, ref.address}
        for name in ("_semlock", "_lock", "_cond"):
            inner = ref.attribute(name) if _is_primitive(ref) else None
            if inner is not None:
                return _own_identities(inner) | {ref.address}
    except Unreadable:
        return set()
    return set()


def _is_primitive(ref: Ref) -> bool:
    """Whether an object is one of the standard library's own locks."""
    return ref.type_name.startswith(("threading.", "multiprocessing.", "_thread."))


def tree_of(pid: int, frame: SampledFrame) -> ast.AST | None:
    """The syntax tree of the function that a frame of user code runs."""
    if not frame.user:
        return None
    learn(pid, frame.file)
    around = [one for one in _functions[pid, frame.file] if _runs(one, frame)]
    return around[-1] if around else None


def learn(pid: int, file: str) -> None:
    """Read the functions of one more file of a process's own code."""
    if (pid, file) not in _functions:
        _functions[pid, file] = _definitions(read_source(pid, file) or "")


def _runs(node: Definition, frame: SampledFrame) -> bool:
    """Whether a frame runs this definition's code."""
    if isinstance(node, ast.Module) or frame.function == "<module>":
        return isinstance(node, ast.Module) and frame.function == "<module>"
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    return frame.first_line in (0, first) and first <= frame.line <= (node.end_lineno or 0)


def _definitions(source: str) -> list[Definition]:
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    return [module, *(node for node in ast.walk(module) if isinstance(node, kinds))]


def acquired_here(tree: ast.AST, line: int) -> list[str]:
    """The expressions that the statement on a line takes as locks."""
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                last = item.context_expr.end_lineno or item.context_expr.lineno
                if min(node.lineno, item.context_expr.lineno) <= line <= last:
                    found[ast.unparse(item.context_expr)] = None
    for call in syntax.calls_on_line(tree, line):
        if syntax.called_name(call) in ("acquire", "__enter__", "get_lock") and isinstance(call.func, ast.Attribute):
            found[ast.unparse(call.func.value)] = None
        if syntax.called_name(call) == "enter_context" and call.args:
            found[ast.unparse(call.args[0])] = None
    return list(found)


def name_of(stack: SampledStack, lock: set[int]) -> tuple[str, SampledFrame | None]:
    """What the waiting code calls the lock, and the frame that does."""
    for frame in stack.frames[:6]:
        tree = tree_of(stack.pid, frame)
        for text in acquired_here(tree, frame.line) if tree else ():
            ref = frame.ref(text)
            if ref is not None and identities(ref) & lock:
                return text, frame
    return "", None


def holders_on(stack: SampledStack, lock: set[int]) -> Iterator[Holder]:
    """The frames of a stack that stand inside a lock: innermost first."""
    for frame in stack.frames:
        source = _stands_inside(stack, frame, lock)
        if source:
            exact = not source.startswith("acquire")
            yield Holder(
                stack.pid,
                stack.tid,
                source=source,
                exact=exact,
                file=frame.file,
                line=frame.line,
                function=frame.function,
            )


def _stands_inside(stack: SampledStack, frame: SampledFrame, lock: set[int], depth: int = 0) -> str:
    """What shows that a frame is between taking a lock and releasing it; empty if nothing does."""
    if any(identities(ref) & lock for ref in frame.contexts()):
        return "a `with` block on its stack"
    line = _acquired_before(stack, frame, lock)
    if line:
        return f"acquire() on line {line}, with no release() since"
    if depth < _DEEPEST_MANAGER:
        for inner in frame.suspended():
            if _stands_inside(stack, inner, lock, depth + 1):
                return f"a `with` block on its stack: {inner.bare_name}() took it"
    return ""


def _acquired_before(stack: SampledStack, frame: SampledFrame, lock: set[int]) -> int:
    """The line where a frame called acquire() on the lock earlier, if it has not released it since."""
    tree = tree_of(stack.pid, frame)
    if tree is None or isinstance(tree, ast.Module):
        return 0
    line = 0
    for call in syntax.calls_before(tree, frame.line):
        for target, takes in _effects(stack.pid, call):
            ref = frame.ref(target)
            if ref is not None and identities(ref) & lock:
                line = call.lineno if takes else 0
    return line


def _effects(pid: int, call: ast.Call) -> Iterator[tuple[str, bool]]:
    """The expressions that a call takes (true) or releases (false) as locks."""
    name = syntax.called_name(call)
    if name == "enter_context" and call.args:
        yield ast.unparse(call.args[0]), True
    if not isinstance(call.func, ast.Attribute):
        return
    if name in _TAKES | _RELEASES:
        yield ast.unparse(call.func.value), name in _TAKES
    elif name:
        for definition in functions_named(pid, name):
            yield from _effects_of_method(definition, ast.unparse(call.func.value))


def _effects_of_method(definition: Definition, owner: str) -> Iterator[tuple[str, bool]]:
    """What a method leaves taken, or releases, of its owner's locks: `begin()` and `end()` around some work."""
    known: dict[str, set[bool]] = {}
    for call in syntax.calls(definition):
        if isinstance(call.func, ast.Attribute) and syntax.called_name(call) in _TAKES | _RELEASES:
            known.setdefault(ast.unparse(call.func.value), set()).add(syntax.called_name(call) in _TAKES)
    for text, ways in known.items():
        if len(ways) == 1 and text.startswith("self."):
            yield f"{owner}.{text.removeprefix('self.')}", ways == {True}


def functions_named(pid: int, name: str) -> Iterator[Definition]:
    """The functions of that name in the files of a process's own code that have been read."""
    for (owner, _), known in _functions.items():
        if owner == pid:
            yield from (one for one in known if getattr(one, "name", "") == name)
