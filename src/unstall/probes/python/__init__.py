"""Read a live CPython's state through /proc/<pid>/mem: no ptrace, no pause, no code run in the target.

The way in is `open_interpreter(pid)`; from there:

    Interpreter  → threads() → ThreadState → frames() → Frame → locals, globals, contexts() → Ref
                 → modules(), module_of(file), gil_holder()
    Ref          → attribute("x"), item(0), value(), length(), rlock(), semlock(), socket() …
    evaluate(frame, "self._workers[0]._popen.pid") → Ref

A map, from the bottom up (each file imports only those above it):

    memory       bytes, words and regions of a process; `Unreadable`, the only error raised here
    elf          symbols of the program and its libraries
    layouts      where each CPython version keeps things; which version runs
    classes      type objects, remembered
    values       int, float, str, bytes
    containers   list, tuple, dict, set, deque
    attributes   instance, slot and class attributes
    locks        thread locks, semaphores, sockets
    objects      Ref: all of these for one object
    bytecode     code objects: lines, exception handlers
    stacks       Frame, and how to read a stack that changes meanwhile
    frames       Interpreter, ThreadState
    expressions  source expressions, evaluated by reading

CPython 3.11, 3.12 and 3.13 on 64-bit Linux, with the GIL. The target runs on while it is read: a stack is
read again if it changed meanwhile, every walk is bounded, and what makes no sense is `Unreadable`.
"""

from .expressions import UNRESOLVED, Unresolved, evaluate, evaluate_value
from .frames import Frame, Interpreter, ThreadState
from .locks import RLockState, SemLockState, SocketState
from .memory import ProcessMemory, Region, Unreadable
from .objects import Ref

__all__ = [
    "UNRESOLVED",
    "Frame",
    "Interpreter",
    "ProcessMemory",
    "RLockState",
    "Ref",
    "Region",
    "SemLockState",
    "SocketState",
    "ThreadState",
    "Unreadable",
    "Unresolved",
    "evaluate",
    "evaluate_value",
    "open_interpreter",
]


def open_interpreter(pid: int) -> Interpreter:
    """Open the Python interpreter of process `pid` for reading; raises `Unreadable` with the reason."""
    return Interpreter(pid)
