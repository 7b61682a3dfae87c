"""Finds the object that kept a new process from being started, because it can't be pickled."""

from __future__ import annotations

import linecache
import re

MYPY = False
if MYPY:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any

MOST_OBJECTS = 3000
_NAMED = re.compile(r"(?:local object '([^']+)'|<(?:function|class) '?([^ '>]+)|cannot pickle '([^']+)' object)")


def find(error: BaseException) -> dict[str, object] | None:
    """The object that the message speaks of, in what was being sent; and the class that holds it."""
    process = _process(error.__traceback__)
    named = _NAMED.search(str(error))
    if process is None or named is None:
        return None
    name = next(one for one in named.groups() if one)
    for value, owner, attribute in _walk(process):
        if _is_called(value, name):
            return {
                "sort": name,
                "owner": type(owner).__name__ if owner is not process else "",
                "attribute": attribute,
                "maker": _code(value),
                "owner_init": _code(getattr(type(owner), "__init__", None)) if owner is not process else None,
            }
    return None


def _process(trace: TracebackType | None) -> Any:
    """What multiprocessing was pickling."""
    found = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name == "dump" and code.co_filename.endswith("multiprocessing/reduction.py"):
            found = trace.tb_frame.f_locals.get("obj")
        trace = trace.tb_next
    return found


def _walk(process: Any) -> Iterator[tuple[Any, Any, str]]:
    """Everything within it, with the object that holds it and under which name. Looks, and calls nothing."""
    inner = getattr(process, "__dict__", {})
    waiting = [(one, process, "") for one in (inner.get("_target"), inner.get("_args"), inner.get("_kwargs"))]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_OBJECTS:
        value, owner, attribute = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value, owner, attribute
        if isinstance(value, dict):
            waiting += [(one, owner, attribute) for one in list(value.values())[:200]]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += [(one, owner, attribute) for one in list(value)[:200]]
        else:
            held = getattr(value, "__dict__", None)
            if type(held) is dict and not isinstance(value, type):
                waiting += [(one, value, str(key)) for key, one in list(held.items())[:200]]


def _is_called(value: Any, name: str) -> bool:
    kind = type(value)
    own = getattr(value, "__qualname__", None)
    names = {kind.__qualname__, kind.__name__, f"{kind.__module__}.{kind.__name__}"}
    if isinstance(own, str):
        names |= {own, f"{getattr(value, '__module__', '')}.{own}"}
    return name in names


def _code(value: Any) -> list[object] | None:
    """Where a function, or the class of an object, stands in the source."""
    code = getattr(value, "__code__", None)
    if code is not None:
        return [code.co_filename, code.co_firstlineno, code.co_name]
    kind = type(value)
    own = vars(kind).values() if "<locals>" in kind.__qualname__ else ()
    code = next((one.__code__ for one in own if hasattr(one, "__code__")), None)
    if code is None:
        return None
    for line in range(code.co_firstlineno, 0, -1):  # the class begins above its first function
        if linecache.getline(code.co_filename, line).split("(")[0].split(":")[0].split() == ["class", kind.__name__]:
            return [code.co_filename, line, kind.__name__]
    return [code.co_filename, code.co_firstlineno, code.co_name]
