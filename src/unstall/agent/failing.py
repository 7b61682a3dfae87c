"""What was at hand when a batch failed: its samples' shapes, the dataset's code, the open files. Runs only then."""

from __future__ import annotations

import errno
import linecache
import os
import sys

from . import unsendable

MYPY = False
if MYPY:
    from typing import Any

MOST_SAMPLES = 4096
MOST_PARTS = 8
MOST_VARIANTS = 20
MOST_INDICES = 4
MOST_DESCRIPTORS = 65536
MOST_SHARED = 20
DEEPEST = 5
_KCMP = {"x86_64": 312, "aarch64": 272}
_BAD_DATA = {
    "BadZipFile", "BadGzipFile", "ReadError", "UnpicklingError", "EOFError", "LZMAError", "error", "OSError",
    "ValueError", "UnicodeDecodeError", "JSONDecodeError", "RuntimeError", "InvalidHeaderError",
}  # fmt: skip
_latest: list[
    tuple[int, dict[str, object]]
] = []  # the exception's id, and what was at hand: no exception is kept alive


def note(error: BaseException, fetcher: Any, wanted: Any, sample: object) -> None:
    """A batch has just failed with this exception, which is still on its way up."""
    collating, data = _where(error)
    told: dict[str, object] = {
        "sample": None if collating or type(sample) is not int else sample,
        "stage": "collating" if collating else "fetching",
        "makers": _makers(fetcher),
    }
    if collating:
        indices = list(wanted) if isinstance(wanted, list) else [wanted]
        told["batch"] = _variants(data if isinstance(data, list) else [data], indices)
    _latest[:] = [(id(error), told)]


def known(error: BaseException) -> dict[str, object] | None:
    """What was at hand when this exception was raised, if it is the latest one that ended a batch."""
    return next((told for number, told in _latest if number == id(error)), None)


def _where(error: BaseException) -> tuple[bool, object]:
    """Whether all samples had been made, and them: from torch's `fetch`, the frame below our own."""
    trace = error.__traceback__
    below = trace.tb_next if trace is not None else None
    if below is None:
        return False, None
    frame = below.tb_frame
    line = linecache.getline(frame.f_code.co_filename, below.tb_lineno or 0)
    return "collate_fn" in line, frame.f_locals.get("data")


def _variants(samples: list[Any], indices: list[Any]) -> list[dict[str, object]]:
    """The samples of a batch by what they are made of: each kind once, with how many and which."""
    found: dict[tuple[tuple[str, str], ...], list[object]] = {}
    for place, sample in enumerate(samples[:MOST_SAMPLES]):
        parts: dict[str, str] = {}
        _describe(sample, "", parts)
        index = indices[place] if place < len(indices) else None
        found.setdefault(tuple(parts.items()), []).append(index if type(index) in (int, str) else None)
    variants = sorted(found.items(), key=lambda one: -len(one[1]))[:MOST_VARIANTS]
    return [{"parts": dict(parts), "count": len(of), "indices": of[:MOST_INDICES]} for parts, of in variants]


def _describe(value: Any, path: str, parts: dict[str, str]) -> None:
    """Sort and size of a value, and of what is in it. Looks at types, lengths and shapes only."""
    name = type(value).__name__
    if len(parts) >= MOST_PARTS:
        return
    if value is None:
        parts[path] = "None"
    elif isinstance(value, dict):
        parts[path] = f"{name} with {sorted(map(str, value))}"[:200]
        for key, item in list(value.items())[:MOST_PARTS]:
            _describe(item, f"{path}[{str(key)[:40]!r}]", parts)
    elif isinstance(value, list | tuple):
        parts[path] = f"{name} of {len(value)}"
        if len(value) <= MOST_PARTS and path.count("[") < 3:
            for number, item in enumerate(value):
                _describe(item, f"{path}[{number}]", parts)
    elif type(value).__module__.partition(".")[0] in ("torch", "numpy") and hasattr(value, "shape"):
        parts[path] = f"{name}{tuple(map(int, value.shape))}"
    else:
        parts[path] = name


def _makers(fetcher: Any) -> list[list[object]]:
    """Where the code is that makes samples and batches: file, first line, name."""
    functions = [getattr(fetcher, "collate_fn", None)]
    for dataset in _datasets(getattr(fetcher, "dataset", None), 0):
        functions += [getattr(type(dataset), name, None) for name in ("__getitem__", "__getitems__", "__iter__")]
    found = []
    for one in functions:
        while hasattr(one, "__wrapped__"):
            one = one.__wrapped__  # type: ignore[union-attr]
        code = getattr(one, "__code__", None)
        if code is not None:
            found.append([code.co_filename, code.co_firstlineno, code.co_name])
    return found


def _datasets(dataset: Any, depth: int) -> list[Any]:
    """A dataset, and those that it wraps, as Subset and ConcatDataset do."""
    inner = getattr(dataset, "__dict__", {})
    more = inner.get("datasets")
    within = [inner.get("dataset"), *(more[:8] if isinstance(more, list | tuple) else ())]
    found = [dataset]
    if depth < DEEPEST:
        for one in within:
            if one is not None:
                found += _datasets(one, depth + 1)
    return found[:16]


def circumstances(error: BaseException, kind: str) -> dict[str, object]:
    """What may have to do with an exception of this kind: open files, shared handles, objects that can't be sent."""
    found = _handles(error)
    if kind == "in a worker":
        found["unpicklable"] = not _can_be_made_again(error)
    elif kind == "uncaught":
        found["culprit"] = unsendable.find(error)
    return found


def _can_be_made_again(error: BaseException) -> bool:
    """Whether a pickle of it can be read: that calls the class with `args`. Runs no code of the user."""
    import inspect

    kind = type(error)
    if kind.__reduce__ is not BaseException.__reduce__ or kind.__reduce_ex__ is not object.__reduce_ex__:
        return True
    if "__init__" not in vars(kind) or kind.__module__ == "builtins":
        return True
    try:
        inspect.signature(kind).bind(*error.args)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def _handles(error: BaseException) -> dict[str, object]:
    if getattr(error, "errno", None) == errno.EMFILE or "Too many open files" in str(error):
        return {"open_files": _open_files()}
    process = sys.modules.get("multiprocessing.process")
    is_child = process is not None and process.parent_process() is not None
    if is_child and type(error).__name__ in _BAD_DATA:
        return {"shared": _shared_with_parent(error)}
    return {}


def _open_files() -> dict[str, object]:
    """How many descriptors are open, and of what. Needs none itself."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    kinds: dict[str, int] = {}
    for number in range(min(limit, MOST_DESCRIPTORS)):
        try:
            name = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        name = "/dev/shm/torch_*" if name.startswith("/dev/shm/torch_") else name.split(":[")[0]
        kinds[name] = kinds.get(name, 0) + 1
    most = sorted(kinds.items(), key=lambda one: -one[1])[:3]
    return {"count": sum(kinds.values()), "limit": limit, "most": [list(one) for one in most]}


def _shared_with_parent(error: BaseException) -> list[str]:
    """The files that the failing code reads through the very handle that its parent process has, too."""
    trace, found = error.__traceback__, []
    while trace is not None:
        for value in list(trace.tb_frame.f_locals.values())[:20]:
            found += _files_in(value, 3)
        trace = trace.tb_next
    shared = [one for one in dict.fromkeys(found) if _is_same_as_parents(one)]
    return [os.readlink(f"/proc/self/fd/{one}") for one in shared[:MOST_SHARED]]


def _files_in(value: Any, depth: int) -> list[int]:
    """Descriptors of open files within a value."""
    import io

    if isinstance(value, io.BufferedReader | io.FileIO | io.TextIOWrapper | io.BufferedRandom):
        return [] if value.closed else [value.fileno()]
    inner = getattr(value, "__dict__", None)
    if depth == 0 or type(inner) is not dict:
        return []
    return [one for item in list(inner.values())[:30] for one in _files_in(item, depth - 1)]


def _is_same_as_parents(descriptor: int) -> bool:
    """Whether the parent's descriptor of that number is the same open file, with one position for both."""
    import ctypes
    import platform
    import stat

    call = _KCMP.get(platform.machine())
    if call is None or descriptor < 3 or not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return False
    same: int = ctypes.CDLL(None).syscall(call, os.getpid(), os.getppid(), 0, descriptor, descriptor)
    return same == 0
