"""The functions that make a worker's samples and batches, also when the worker is not in them."""

from __future__ import annotations

from collections.abc import Iterator

from unstall.evidence.stacks import Frame
from unstall.probes.python.memory import Unreadable
from unstall.probes.python.objects import Ref
from unstall.probes.samples import SampledFrame
from unstall.probes.stacks import absolute, is_user_code, script_of

_WRAPPERS = 5  # datasets within datasets: Subset(ConcatDataset([...]))


def read_makers(pid: int, frame: SampledFrame, owner: str = "") -> tuple[Frame, ...]:
    """The user's own functions that run here: what makes a batch, then what makes a sample.

    `owner` is the variable that has the dataset and the collate function as attributes; else they are variables.
    """
    prefix = f"{owner}." if owner else ""
    found = dict.fromkeys((*_collate(frame.ref(f"{prefix}collate_fn")), *_getters(frame.ref(f"{prefix}dataset"))))
    script = script_of(pid)
    return tuple(
        Frame(absolute(pid, file), line, name, line, user=True)
        for file, name, line in found
        if is_user_code(file, script)
    )


def _collate(collate: Ref | None) -> Iterator[tuple[str, str, int]]:
    for _ in range(_WRAPPERS):  # functools.partial of a partial
        if collate is None or collate.type_name != "functools.partial":
            break
        collate = collate.attribute("func")
    if collate is not None:
        yield from _place(collate)
        yield from _method(collate, "__init__" if collate.is_type else "__call__")


def _getters(dataset: Ref | None) -> Iterator[tuple[str, str, int]]:
    for _ in range(_WRAPPERS):
        if dataset is None:
            return
        for name in ("__getitems__", "__getitem__", "__iter__", "__next__"):
            yield from _method(dataset, name)
        several = dataset.attribute("datasets")
        dataset = dataset.attribute("dataset") or (several.item(0) if several else None)


def _method(owner: Ref, name: str) -> Iterator[tuple[str, str, int]]:
    try:
        found = owner.attribute(name)
    except Unreadable:
        return
    if found is not None:
        yield from _place(found)


def _place(function: Ref) -> Iterator[tuple[str, str, int]]:
    try:
        place = function.function_place
    except Unreadable:
        return
    if place is not None:
        yield place
