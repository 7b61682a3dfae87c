"""Signs in an exception that name a narrower cause than "this code raises"."""

from __future__ import annotations

import re

from unstall.evidence.endings import Ending, Said

_SHM = re.compile(
    r"unable to (allocate|write|mmap|open|resize).{0,80}(shared memory|/torch_).*No space left|"
    r"unable to (write to|mmap \d+ bytes from|resize) file <[^>]*torch_[^>]*>",
    re.DOTALL,
)
_FILES = re.compile(r"Too many open files|received 0 items of ancdata|unable to open shared memory.*\(24\)", re.DOTALL)
_CUT_OFF = {
    "ConnectionResetError", "ConnectionRefusedError", "EOFError", "BrokenPipeError", "FileNotFoundError",
    "ConnectionAbortedError",
}  # fmt: skip
_MANAGER = ("_callmethod", "_connect", "_incref", "_create", "_decref")


def is_out_of_shm(said: Said) -> bool:
    """No space for a batch in /dev/shm."""
    return _SHM.search(said.texts) is not None


def is_shm_full(ending: Ending) -> bool:
    """/dev/shm was seen to be full, or nearly so."""
    size, free = ending.resources.shm_size_bytes, ending.resources.shm_least_free_bytes
    return size is not None and free is not None and free < size // 20


def is_out_of_files(said: Said) -> bool:
    """No descriptor left in this process."""
    return _FILES.search(said.texts) is not None


def is_child_of_daemon(said: Said) -> bool:
    """multiprocessing refuses children to a worker."""
    return "daemonic processes are not allowed to have children" in said.texts


def is_cut_off(said: Said) -> bool:
    """The main process was receiving a batch, and the worker's end of the connection was closed."""
    return said.type in _CUT_OFF and said.passes("torch/utils/data/dataloader.py", "_try_get_data")


def is_manager_gone(said: Said) -> bool:
    """A proxy of multiprocessing.Manager gets no answer."""
    kinds = {said.type, *(one.type for one in said.earlier)}
    return bool(kinds & _CUT_OFF) and said.passes("multiprocessing/managers.py", *_MANAGER)


def is_endless_recursion(said: Said) -> bool:
    """`__getitem__` calls itself until the stack is full."""
    kinds = {said.type, *(one.type for one in said.earlier)}
    again = [one for one in said.places if one.user and one.function in ("__getitem__", "__getitems__")]
    return "RecursionError" in kinds and said.repeated is not None and len(again) > 2 and said.in_fetch


def has_narrower_cause(said: Said) -> bool:
    """Another cause than the code of one sample explains it."""
    signs = (is_out_of_shm, is_out_of_files, is_child_of_daemon, is_manager_gone, is_endless_recursion)
    return said.unpicklable or bool(said.intact) or any(sign(said) for sign in signs)
