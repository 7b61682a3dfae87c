"""Finds the training's root process and everything that belongs to it."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable

from unstall.errors import CannotLook, NoSuchProcess, NotPermitted, NotPython
from unstall.evidence.processes import Process, Processes
from unstall.probes import procfs

MOST_PROCESSES = 512
_PYTHON = re.compile(r"(^|/)(python|pypy)[\d.]*[a-z]?$|libpython\d[\d.]*[a-z]*\.so")
_SECRET = re.compile(r"(?i)(pass|token|secret|key|credential|auth)")


def is_python(pid: int) -> bool:
    """Whether a process runs CPython: by its executable, or by the library that it has mapped."""
    executable = procfs.link(f"/proc/{pid}/exe") or ""
    if _PYTHON.search(executable.removesuffix(" (deleted)")):
        return True
    maps = procfs.read(f"/proc/{pid}/maps", 1 << 22)
    if maps is not None:
        return "libpython" in maps or "/python3" in maps.split("\n", 1)[0]
    words = procfs.command(pid)
    return bool(words) and bool(_PYTHON.search(words[0]))


def find_root(pid: int) -> int:
    """The main process of the training that a process belongs to.

    Goes up from workers to the process that made them, and down from a shell or launcher to the one
    Python below it. A Python that was started by another program's Python stays its own root. From a rank of a
    distributed training it goes up to the launcher that has started the other ranks, too.
    """
    from unstall.probes.launchers import launcher_of  # which asks for the processes below one

    _check_exists(pid)
    pid = int(procfs.status_field(pid, "Tgid") or pid)  # tools such as htop show threads with numbers of their own
    if not is_python(pid):
        return _only_python_below(pid)
    while True:
        found = procfs.stat(pid)
        parent = found.ppid if found else 0
        if parent <= 1 or not is_python(parent) or not _made_by_multiprocessing(pid, parent):
            return launcher_of(pid)
        pid = parent


def _check_exists(pid: int) -> None:
    found = procfs.stat(pid) if pid > 0 else None
    if found is None:
        raise NoSuchProcess(
            f"there is no process {pid}",
            hint="`pgrep -af python` lists the Python processes with their numbers",
        )
    if found.state in "ZX":
        raise CannotLook(
            f"process {pid} ({found.name}) has ended; only its exit status is left ({exit_words(found.exit_status)})",
            hint=f"its parent, process {found.ppid}, has not collected it yet: look at that one",
        )
    try:
        owner = os.stat(f"/proc/{pid}").st_uid
    except OSError as error:
        raise NoSuchProcess(f"process {pid} ({found.name}) has just ended") from error
    if os.geteuid() not in (0, owner) and procfs.link(f"/proc/{pid}/exe") is None:
        raise NotPermitted(
            f"process {pid} belongs to another user (uid {owner})",
            hint=f"run it as that user or as root: `sudo unstall why {pid}`",
        )
    if procfs.link(f"/proc/{pid}/exe") is None and not procfs.command(pid):
        raise NotPython(f"process {pid} ({found.name}) is a thread of the kernel")


def _only_python_below(pid: int) -> int:
    from unstall.probes.launchers import starts_ranks

    below = [one for one in descendants(pid) if is_python(one)]
    roots = [one for one in below if (found := procfs.stat(one)) and found.ppid not in below]
    if len(roots) == 1:
        return roots[0]
    if starts_ranks(roots):
        return pid
    name = " ".join(procfs.command(pid)[:2]) or str(pid)
    if roots:
        raise NotPython(
            f"process {pid} ({name}) is not Python, and started {len(roots)} Python processes",
            hint="name one of them: " + ", ".join(f"`unstall why {one}`" for one in roots[:5]),
        )
    parent = found.ppid if (found := procfs.stat(pid)) else 0
    raise NotPython(
        f"process {pid} ({name}) is not Python, and no Python runs below it",
        hint=f"its parent is Python: `unstall why {parent}`"
        if parent > 1 and is_python(parent)
        else "`pgrep -af python` lists the Python processes with their numbers",
    )


def _made_by_multiprocessing(pid: int, parent: int) -> bool:
    """Whether a process is a fork of its parent, or was started by multiprocessing to work for it."""
    words = procfs.command(pid)
    if any(
        "multiprocessing.spawn" in word or "multiprocessing.forkserver" in word or "resource_tracker" in word
        for word in words
    ):
        return True
    return words == procfs.command(parent) and procfs.link(f"/proc/{pid}/exe") == procfs.link(f"/proc/{parent}/exe")


def descendants(pid: int) -> list[int]:
    """All processes below one, nearest first."""
    children: dict[int, list[int]] = {}
    for one in procfs.pids():
        if found := procfs.stat(one):
            children.setdefault(found.ppid, []).append(one)
    below: list[int] = []
    level = [pid]
    while level and len(below) < MOST_PROCESSES:
        level = [child for one in level for child in children.get(one, [])]
        below.extend(level)
    return below[:MOST_PROCESSES]


def collect(root: int, strangers: Iterable[int] = ()) -> Processes:
    """The tree below a root, with strangers that hold something it waits for."""
    tree = [root, *descendants(root)]
    known = set(tree)
    rows = [describe(pid) for pid in tree]
    rows += [describe(pid, stranger=True) for pid in dict.fromkeys(strangers) if pid not in known]
    return Processes(root=root, all=tuple(row for row in rows if row))


def describe(pid: int, *, stranger: bool = False) -> Process | None:
    """One process; None when it is gone."""
    found = procfs.stat(pid)
    if found is None:
        return None
    dead = found.state in "ZX"
    tracer = procfs.status_field(pid, "TracerPid") or "0"
    return Process(
        pid=pid,
        ppid=found.ppid,
        name=found.name,
        command=command_words(pid),
        state=found.state,
        python="yes" if not dead and is_python(pid) else None,
        stranger=stranger,
        age_s=round(max(0.0, procfs.uptime() - found.started / procfs.TICKS), 1),
        exit_code=os.waitstatus_to_exitcode(found.exit_status) if dead and not found.exit_status & 0x7F else None,
        exit_signal=(found.exit_status & 0x7F or None) if dead else None,
        tracer=int(tracer),
        rss_bytes=found.rss_pages * procfs.PAGE,
        threads=found.threads,
    )


def command_words(pid: int) -> str:
    """The command line for people, without what may be a secret."""
    words: list[str] = []
    hide = False
    for word in procfs.command(pid)[:40]:
        name, equals, _ = word.partition("=")
        if hide and not word.startswith("-"):
            words.append("…")
        elif equals and _SECRET.search(name):
            words.append(f"{name}=…")
        else:
            words.append(_short(word))
        hide = word.startswith("-") and not equals and bool(_SECRET.search(word))
    return " ".join(words)


def _short(word: str) -> str:
    """One argument on one line; a program that was given as text is only hinted at."""
    line = " ".join(word.split())
    longest = 100 if "/" in line and " " not in line else 40
    return line if len(line) <= longest else line[: longest - 1] + "…"


def exit_words(status: int) -> str:
    """An exit status in words."""
    if status & 0x7F:
        try:
            return f"killed by {signal.Signals(status & 0x7F).name}"
        except ValueError:
            return f"killed by signal {status & 0x7F}"
    return f"exit code {status >> 8}"
