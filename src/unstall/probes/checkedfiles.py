"""The files that a waiting loop looks at: what does it wait for, how old are they, who has them open?"""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Iterator

import msgspec

from unstall.evidence import syntax
from unstall.evidence.descriptors import CheckedFile
from unstall.probes import procfs
from unstall.probes.calledcode import CalledCode, RunningLoop, code_of, running_loops
from unstall.probes.code import source_path
from unstall.probes.paths import Meanings, path_of, paths_near
from unstall.probes.samples import SampledStack

_EXIST = {"exists", "isfile", "is_file", "lexists", "access", "isdir", "is_dir", "islink", "is_symlink"}
_MAKE = {"mkdir", "makedirs", "touch", "link", "symlink", "symlink_to", "hardlink_to"}
_READ = {"open", "stat", "lstat", "getsize", "getmtime", "read_text", "read_bytes"}
_SOFT_LOCK = ("filelock/_api.py", "SoftFileLock")
MOST_FILES = 6
_OPENED_LIMIT = 4
GONE, THERE = "gone", "there"


def collect(stacks: list[SampledStack]) -> list[CheckedFile]:
    """The files that the loops on these stacks look at."""
    found: list[CheckedFile] = []
    for stack in stacks:
        for loop in running_loops(stack):
            looks = list(_looks(stack, loop))[:MOST_FILES]
            if looks:
                found += looks
                break
    return found


def _looks(stack: SampledStack, loop: RunningLoop) -> Iterator[CheckedFile]:
    """The files that one loop looks at, each once, those first of which it is clear what the loop wants."""
    soft = _soft_lock(stack.pid, loop)
    if soft is not None:
        yield _of_loop(describe(stack, soft), loop, GONE, "create")
        return
    known: dict[str, tuple[str, str, int]] = {}
    for code in code_of(stack.pid, loop):
        for call in syntax.calls(code.node):
            name = syntax.called_name(call)
            if name not in _EXIST | _MAKE | _READ:
                continue
            wanted = _wanted(loop, code, call)
            for node in _arguments(call):
                path = path_of(loop.frame, node, code.meanings)
                if path and (path not in known or (wanted and not known[path][0])):
                    known[path] = wanted, name, call.lineno
    for path, (wanted, name, line) in sorted(known.items(), key=lambda one: not one[1][0]):
        yield _of_loop(describe(stack, path, line, follow=name not in _MAKE), loop, wanted, name)


def _of_loop(checked: CheckedFile, loop: RunningLoop, wanted: str, how: str) -> CheckedFile:
    limit = None if loop.frame.user else loop.frame.value("timeout")
    limited = loop.limited if loop.frame.user else isinstance(limit, int | float) and limit >= 0
    return msgspec.structs.replace(
        checked,
        wanted=wanted,
        how=how,
        limited=limited,
        file=loop.frame.file,
        loop_line=loop.node.lineno,
        user=loop.frame.user,
    )


def _soft_lock(pid: int, loop: RunningLoop) -> str | None:
    """The file of a `filelock.SoftFileLock`, which calls a method of another file to make it."""
    if not loop.frame.file.endswith(_SOFT_LOCK[0]):
        return None
    owner = loop.frame.local("self")
    if owner is None or not owner.type_name().endswith(_SOFT_LOCK[1]):
        return None
    known = path_of(loop.frame, ast.parse("self._context.lock_file", mode="eval").body)
    return known or next((one for one in paths_near(loop.frame) if os.path.isfile(source_path(pid, one))), None)


def _arguments(call: ast.Call) -> list[ast.expr]:
    """What of a call may be the file."""
    found = list(call.args[:1])
    if syntax.called_name(call) in ("link", "symlink"):
        found = list(call.args[1:2])
    if isinstance(call.func, ast.Attribute):
        found.append(call.func.value)
    return found


def _wanted(loop: RunningLoop, code: CalledCode, call: ast.Call) -> str:
    """Whether the loop goes on until the file is gone, or until it is there; "" where that is not clear."""
    if _creates(call, code.meanings):
        return GONE
    name = syntax.called_name(call)
    if name in _EXIST:
        sign = _sign_in_loop(loop.node, code, call)
        if sign:
            return GONE if sign > 0 else THERE
    return _after_not_found(code.node, call)


def _creates(call: ast.Call, meanings: Meanings) -> bool:
    """Whether a call makes the file, and fails where it is there already."""
    name = syntax.called_name(call)
    forgiving = any(
        one.arg == "exist_ok" and isinstance(one.value, ast.Constant) and one.value.value for one in call.keywords
    )
    if name == "touch":
        return any(
            one.arg == "exist_ok" and isinstance(one.value, ast.Constant) and not one.value.value
            for one in call.keywords
        )
    if name in _MAKE:
        return not forgiving
    if name != "open":
        return False
    words = [*call.args, *(one.value for one in call.keywords if one.arg in ("mode", "flags"))]
    for word in words:
        meant = meanings.get(word.id, word) if isinstance(word, ast.Name) else word
        if "O_EXCL" in ast.unparse(meant):
            return True
        if isinstance(meant, ast.Constant) and meant.value in ("x", "xb", "xt", "x+", "xb+", "x+b", "bx"):
            return True
    return False


def _sign_in_loop(loop: syntax.LoopNode, code: CalledCode, call: ast.Call) -> int:
    """+1: the loop goes on while the call is true; -1: while it is false; 0: can't be told."""
    if code.caller is None or code.via is None:
        return _sign_in_body(loop, call)
    for node in syntax.walk(code.node):
        if isinstance(node, ast.Return) and node.value is not None:
            inner = sign(node.value, call)
            if inner:
                return inner * _sign_in_loop(loop, code.caller, code.via)
    return 0


def _sign_in_body(loop: syntax.LoopNode, call: ast.Call) -> int:
    if isinstance(loop, ast.While) and (found := sign(loop.test, call)):
        return found
    for node in syntax.walk(loop):
        if isinstance(node, ast.If) and (found := sign(node.test, call)):
            if _leaves(node.body):
                return -found
            if _leaves(node.orelse) or any(isinstance(one, ast.Continue) for one in node.body):
                return found
            return found if any(syntax.sleeps(one) for one in node.body) else -found if node.orelse else 0
    return 0


def _leaves(body: list[ast.stmt]) -> bool:
    return any(isinstance(one, ast.Break | ast.Return | ast.Raise) for one in body)


def sign(expression: ast.expr, call: ast.Call) -> int:
    """+1 where an expression is true with the call, -1 where it is true against it, 0 where it is not in it."""
    if expression is call:
        return 1
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.Not):
        return -sign(expression.operand, call)
    if isinstance(expression, ast.BoolOp):
        return next((found for one in expression.values if (found := sign(one, call))), 0)
    if isinstance(expression, ast.NamedExpr):
        return sign(expression.value, call)
    if isinstance(expression, ast.Compare) and len(expression.ops) == 1:
        other = expression.comparators[0]
        if isinstance(other, ast.Constant) and isinstance(other.value, bool):
            agrees = isinstance(expression.ops[0], ast.Is | ast.Eq) == other.value
            return sign(expression.left, call) * (1 if agrees else -1)
    if isinstance(expression, ast.Call) and syntax.called_name(expression) in ("any", "all", "bool"):
        for argument in expression.args:
            inner = argument.elt if isinstance(argument, ast.GeneratorExp | ast.ListComp) else argument
            if found := sign(inner, call):
                return found
    return 0


def _after_not_found(node: ast.AST, call: ast.Call) -> str:
    """`try: os.stat(path) except FileNotFoundError: break` waits until the file is gone."""
    for one in syntax.walk(node):
        if not isinstance(one, ast.Try) or not any(call in syntax.calls(part) for part in one.body):
            continue
        for handler in one.handlers:
            if handler.type is not None and "FileNotFoundError" in ast.unparse(handler.type):
                return GONE if _leaves(handler.body) else THERE
    return ""


def describe(stack: SampledStack, path: str, line: int = 0, *, follow: bool = True) -> CheckedFile:
    """What there is to know about one such file. A link that leads nowhere is there for those who make links."""
    full = path if path.startswith("/") else os.path.join(procfs.link(f"/proc/{stack.pid}/cwd") or "", path)
    here = source_path(stack.pid, full)
    try:
        found = os.stat(here) if follow else os.lstat(here)
    except (OSError, ValueError):
        return CheckedFile(stack.tid, full, exists=False, line=line)
    number = _number_inside(here, found.st_size) if os.path.isfile(here) else None
    return CheckedFile(
        tid=stack.tid,
        path=full,
        exists=True,
        line=line,
        age_s=round(max(0.0, time.time() - found.st_mtime), 1),
        pid_inside=number,
        pid_alive=number is not None and procfs.stat(number) is not None,
        opened_by=_opened_by(full),
    )


def _number_inside(path: str, size: int) -> int | None:
    if not 0 < size <= 64:
        return None
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            words = file.read(64).split()
    except OSError:
        return None
    if any(not one.isdigit() and one != os.uname().nodename for one in words[1:]):
        return None  # the number may be that of a process of another machine
    return int(words[0]) if words and words[0].isdigit() and len(words[0]) < 8 else None


def _opened_by(path: str) -> tuple[int, ...]:
    pids = []
    for pid in procfs.pids():
        for fd in procfs.numbers(f"/proc/{pid}/fd"):
            if procfs.link(f"/proc/{pid}/fd/{fd}") == path:
                pids.append(pid)
                break
        if len(pids) >= _OPENED_LIMIT:
            break
    return tuple(pids)
