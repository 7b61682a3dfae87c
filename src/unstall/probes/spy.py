"""Stacks through py-spy, for interpreters that python/ can't read. Never pauses the target."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unstall.evidence.stacks import Scalar
from unstall.probes.samples import SampledFrame, SampledLocal, SampledStack

TIME_LIMIT_S = 3.0
_OBJECT = re.compile(r"<([\w.]+) at 0x[0-9a-f]+>")


def find() -> str | None:
    """The py-spy that was installed with unstall, or one on the PATH."""
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def dump(pid: int, is_user: Callable[[str], bool]) -> list[SampledStack]:
    """The stacks of one process; none where py-spy can't read it in time."""
    text = _run(pid, "--nonblocking", "--locals")
    return [_stack(pid, thread, is_user) for thread in text]


def native_names(pid: int, tid: int) -> tuple[str, ...]:
    """The native functions at the top of a thread's stack, innermost first.

    This pauses the thread for some milliseconds. So it is only for one that computes: a thread that is blocked in
    the kernel could be woken by it.
    """
    for thread in _run(pid, "--native"):
        if thread.get("os_thread_id") == tid:
            names = []
            for frame in thread.get("frames", [])[:30]:
                if str(frame.get("filename", "")).endswith(".py"):
                    break
                names.append(f"{frame.get('name', '?')} ({Path(str(frame.get('module') or '?')).name})")
            return tuple(names)
    return ()


def _run(pid: int, *options: str) -> list[dict[str, Any]]:
    program = find()
    if program is None:
        return []
    try:
        done = subprocess.run(
            [program, "dump", "--json", *options, "--pid", str(pid)],
            capture_output=True,
            timeout=TIME_LIMIT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        found = json.loads(done.stdout) if done.returncode == 0 else []
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return []
    return found if isinstance(found, list) else []


def _stack(pid: int, thread: dict[str, Any], is_user: Callable[[str], bool]) -> SampledStack:
    frames = tuple(_frame(frame, is_user) for frame in thread.get("frames", []))
    return SampledStack(
        pid=pid,
        tid=int(thread.get("os_thread_id") or 0),
        ident=int(thread.get("thread_id") or 0),
        name=str(thread.get("thread_name") or ""),
        frames=frames,
        holds_gil=bool(thread.get("owns_gil")),
        source="py-spy",
    )


def _frame(frame: dict[str, Any], is_user: Callable[[str], bool]) -> SampledFrame:
    variables = {str(one["name"]): _local(one) for one in frame.get("locals") or []}
    return SampledFrame(
        file=str(frame.get("filename", "")),
        function=str(frame.get("name", "")),
        first_line=0,
        line=int(frame.get("line") or 0),
        instruction=int(frame.get("line") or 0),
        user=is_user(str(frame.get("filename", ""))),
        read_locals=lambda: variables,
    )


def _local(local: dict[str, Any]) -> SampledLocal:
    text = str(local.get("repr") or "")
    found = _OBJECT.fullmatch(text)
    return SampledLocal(int(local.get("addr") or 0), found.group(1) if found else "?", _scalar(text))


def _scalar(text: str) -> Scalar:
    if text in ("True", "False"):
        return text == "True"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d+\.\d+(e[-+]\d+)?", text):
        return float(text)
    return text[1:-1] if text[:1] == text[-1:] == '"' and len(text) > 1 else None
