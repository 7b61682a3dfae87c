"""The files that a waiting loop looks at: do they exist, how old are they, does anybody have them open?"""

from __future__ import annotations

import ast
import os
import time

from unstall.evidence import syntax
from unstall.evidence.descriptors import CheckedFile
from unstall.probes import procfs
from unstall.probes.code import source_path
from unstall.probes.lockholders import tree_of
from unstall.probes.python.memory import Unreadable
from unstall.probes.python.objects import Ref
from unstall.probes.samples import SampledFrame, SampledStack, scalar

_LOOKS = {
    "exists", "isfile", "is_file", "lexists", "open", "mkdir", "makedirs", "link", "symlink", "stat", "access",
    "isdir", "is_dir", "getsize", "touch", "open_file",
}  # fmt: skip
MOST_FILES = 6
_OPENED_LIMIT = 4


def collect(stacks: list[SampledStack]) -> list[CheckedFile]:
    """The files that the loops on these stacks look at."""
    found = []
    for stack in stacks:
        for frame in stack.frames[:12]:
            tree = tree_of(stack.pid, frame)
            loops = syntax.loops_around(tree, frame.line) if tree else []
            if loops:
                for path, line in _paths(frame, loops[-1]).items():
                    found.append(describe(stack, path, line))
                if found:
                    break
    return found


def _paths(frame: SampledFrame, loop: syntax.LoopNode) -> dict[str, int]:
    """The paths that the loop's calls look at, with the line of the call."""
    found: dict[str, int] = {}
    for call in syntax.calls(loop):
        if syntax.called_name(call) not in _LOOKS:
            continue
        candidates: list[ast.expr] = [*call.args[:1]]
        if isinstance(call.func, ast.Attribute):
            candidates.append(call.func.value)
        for one in candidates:
            path = _path_of(frame, one)
            if path and len(found) < MOST_FILES:
                found.setdefault(path, call.lineno)
    return found


def _path_of(frame: SampledFrame, node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _path_of(frame, node.left), _path_of(frame, node.right)
        return left + right if left is not None and right is not None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        left, right = _path_of(frame, node.left), _path_of(frame, node.right)
        return os.path.join(left, right) if left is not None and right is not None else None
    if isinstance(node, ast.JoinedStr):
        parts = [
            _path_of(frame, one.value if isinstance(one, ast.FormattedValue) else one) for one in node.values
        ]
        return "".join(one for one in parts if one is not None) if None not in parts else None
    if isinstance(node, ast.Call) and syntax.called_name(node) in ("str", "fspath", "Path") and node.args:
        return _path_of(frame, node.args[0])
    if isinstance(node, ast.Call) and syntax.called_name(node) == "join" and node.args:
        parts = [_path_of(frame, one) for one in node.args]
        return os.path.join(*[one for one in parts if one]) if None not in parts else None
    ref = frame.ref(ast.unparse(node))
    return _text(ref) if ref is not None else None


def _text(ref: Ref) -> str | None:
    value = scalar(ref)
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    try:
        if "Path" not in ref.type_name:
            return None
        cached = scalar(ref.attribute("_str"))
        if isinstance(cached, str):
            return cached
        parts = ref.attribute("_parts") or ref.attribute("_raw_paths")
        words = [scalar(one) for one in parts.values()] if parts else []
    except Unreadable:
        return None
    return os.path.join(*[str(one) for one in words]) if words else None


def describe(stack: SampledStack, path: str, line: int = 0) -> CheckedFile:
    """What there is to know about one such file."""
    full = path if path.startswith("/") else os.path.join(procfs.link(f"/proc/{stack.pid}/cwd") or "", path)
    here = source_path(stack.pid, full)
    try:
        found = os.stat(here)
    except OSError:
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
