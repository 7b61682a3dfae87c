"""Reads the source of the user's functions that stand on a stack."""

from __future__ import annotations

import os
from collections.abc import Iterable

from unstall.evidence.code import Code, functions_in
from unstall.evidence.stacks import Frame
from unstall.model.diagnosis import Unexamined
from unstall.probes import procfs

LARGEST_FILE = 1 << 20


def source_path(pid: int, file: str) -> str:
    """Where a file of that process can be read from here: it may have another root or working directory."""
    if os.path.isabs(file):
        inside = f"/proc/{pid}/root{file}"
        return inside if os.path.exists(inside) else file
    return f"/proc/{pid}/cwd/{file}"


def read_source(pid: int, file: str) -> str | None:
    """The text of a source file of that process."""
    if file == "<string>":
        return command_text(pid)
    try:
        path = source_path(pid, file)
        if os.path.getsize(path) > LARGEST_FILE:
            return None
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return None


def command_text(pid: int) -> str | None:
    """The program that was given to Python as text, with `-c`; not the one by which multiprocessing starts."""
    words = procfs.command(pid)
    text = words[words.index("-c") + 1] if "-c" in words[:-1] else None
    return text if text and "multiprocessing" not in text else None


def collect(frames: Iterable[tuple[int, Frame]]) -> tuple[Code, list[Unexamined]]:
    """The functions of these frames (pid, frame). Files are read once."""
    wanted: dict[tuple[int, str], set[tuple[str, int]]] = {}
    seen: set[tuple[str, str, int]] = set()
    for pid, frame in frames:
        key = (frame.file, frame.bare_name, frame.first_line)
        if key not in seen:
            seen.add(key)
            wanted.setdefault((pid, frame.file), set()).add((frame.bare_name, frame.line))
    functions = []
    missing = []
    for (pid, file), names in wanted.items():
        source = read_source(pid, file)
        if source is None:
            missing.append(Unexamined(f"the source of {file}", "the file can't be read from here"))
        else:
            functions.extend(functions_in(file, source, names))
    return Code(tuple(dict.fromkeys(functions))), missing
