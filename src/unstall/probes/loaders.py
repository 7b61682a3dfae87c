"""Finds the DataLoader iterators and their workers on the stacks, and reads what they owe."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

import msgspec

from unstall.evidence.loaders import Loader, Loaders, Sample, Worker
from unstall.evidence.stacks import Frame, Scalar
from unstall.probes import network
from unstall.probes.batched import at_once
from unstall.probes.code import read_source
from unstall.probes.makers import read_makers
from unstall.probes.manysamples import of_many
from unstall.probes.python.memory import Unreadable
from unstall.probes.python.objects import Ref
from unstall.probes.samples import SampledFrame, SampledStack, scalar

LOADER = "torch/utils/data/dataloader.py"
WORKER = "torch/utils/data/_utils/worker.py"
FETCH = "torch/utils/data/_utils/fetch.py"
MOST_INDICES = 256
UNSETTLED_SAMPLES = 4  # the first ones may have caught it on its way into the stall


@dataclass
class _Seen:
    """What the samples of one worker or loader showed."""

    last: Worker | Loader
    stack: SampledStack
    history: list[object] = field(default_factory=list)


class LoaderWatcher:
    """Follows loaders and workers through the samples."""

    def __init__(self) -> None:
        self._workers: dict[int, _Seen] = {}
        self._loaders: dict[str, _Seen] = {}
        self._collate_lines: dict[str, set[int]] = {}

    def look(self, stacks: list[SampledStack]) -> None:
        """Note what one sample of all stacks shows."""
        for stack in stacks:
            worker = self._worker(stack)
            if worker is not None:
                seen = self._workers.setdefault(stack.tid, _Seen(worker, stack))
                seen.last, seen.stack = worker, stack
                seen.history.append((worker.batch, worker.sample, worker.stage))
            loader = _loader(stack)
            if loader is not None:
                known = self._loaders.setdefault(loader.id, _Seen(loader, stack))
                known.last = loader
                known.history.append((loader.next_batch, loader.sent))

    def finish(self) -> Loaders:
        """What was seen, with whether it moved."""
        workers = []
        for seen in self._workers.values():
            worker = seen.last
            assert isinstance(worker, Worker)
            samples = [entry[1] for entry in seen.history if isinstance(entry, tuple)]
            workers.append(
                msgspec.structs.replace(
                    worker,
                    moved=_moved(seen.history),
                    seen=tuple(dict.fromkeys(samples)),
                    makers=_makers(seen.stack) if worker.stage == "idle" or worker.number is None else (),
                )
            )
        loaders = []
        for seen in self._loaders.values():
            loader = seen.last
            assert isinstance(loader, Loader)
            sender = _sender(seen.stack) if loader.unpacking else None
            loaders.append(msgspec.structs.replace(loader, moved=_moved(seen.history), sender=sender))
        return Loaders(all=tuple(loaders), workers=tuple(workers))

    def _worker(self, stack: SampledStack) -> Worker | None:
        fetch = stack.find(FETCH, "fetch")
        loop = stack.find(WORKER, "_worker_loop")
        if loop is None:
            single = stack.find(LOADER, "_next_data") if fetch else None
            if fetch is None or single is None:
                return None
            indices, sample = _indices(fetch, stack, single.local("index") is not None)
            return Worker(
                pid=stack.pid,
                tid=stack.tid,
                stage=self._stage(stack.pid, fetch),
                indices=indices,
                sample=sample,
                iterable=_is_iterable(fetch),
            )
        number = loop.value("worker_id")
        watched = scalar(loop.ref("watchdog.manager_pid"))
        batch = loop.value("idx")
        iterable = loop.value("dataset_kind")
        indices, sample = _indices(fetch, stack, True) if fetch else ((), None)
        return Worker(
            pid=stack.pid,
            tid=stack.tid,
            number=number if isinstance(number, int) else None,
            stage=self._stage(stack.pid, fetch) if fetch else _idle_stage(stack),
            batch=batch if isinstance(batch, int) else None,
            indices=indices,
            sample=sample,
            iterable=iterable == 1 or (fetch is not None and _is_iterable(fetch)),
            started_by=watched if isinstance(watched, int) else None,
        )

    def _stage(self, pid: int, fetch: SampledFrame) -> str:
        if fetch.file not in self._collate_lines:
            self._collate_lines[fetch.file] = _lines_that_call(read_source(pid, fetch.file), "collate_fn")
        return "collating" if fetch.line in self._collate_lines[fetch.file] else "fetching"


def _makers(stack: SampledStack) -> tuple[Frame, ...]:
    loop, fetch = stack.find(WORKER, "_worker_loop"), stack.find(FETCH, "fetch")
    try:
        if loop is not None:
            return read_makers(stack.pid, loop)
        return read_makers(stack.pid, fetch, "self") if fetch is not None else ()
    except Unreadable:
        return ()


def _moved(history: list[object]) -> bool:
    settled = history[UNSETTLED_SAMPLES:] if len(history) > 2 * UNSETTLED_SAMPLES else history
    return len(set(settled)) > 1


def _lines_that_call(source: str | None, name: str) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)) if source else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _is_iterable(fetch: SampledFrame) -> bool:
    return "Iterable" in fetch.function or "dataset_iter" in _attributes(fetch)


def _attributes(fetch: SampledFrame) -> set[str]:
    ref = fetch.ref("self")
    try:
        return set(ref.attributes()) if ref else set()
    except Unreadable:
        return set()


def _idle_stage(stack: SampledStack) -> str:
    if stack.find("multiprocessing/queues.py", "get"):
        return "idle"
    if stack.find("multiprocessing/queues.py", "put"):
        return "sending"
    loop = stack.find(WORKER, "_worker_loop")
    if loop and stack.frames and stack.frames[0].file.endswith(WORKER):
        return "idle"
    return "starting"


def _indices(fetch: SampledFrame, stack: SampledStack, known: bool) -> tuple[tuple[Sample, ...], Sample | None]:
    """The indices of the batch, and the one that is being fetched."""
    batch = fetch.local("possibly_batched_index")
    if batch is None:
        return (), None
    one = batch.value()
    if isinstance(one, int | str) and not isinstance(one, bool) and not _is_list_text(batch.known):
        return (one,), one
    indices = _sequence(batch.ref)
    inner = next(
        (frame for frame in stack.frames if frame.file.endswith(FETCH) and frame.bare_name == "<listcomp>"),
        fetch,
    )
    sample = inner.value("idx") if inner is not fetch or "idx" in fetch.locals() else of_many(stack, fetch, indices)
    if not isinstance(sample, int | str) or isinstance(sample, bool):
        sample = at_once(stack, fetch, indices)
    return indices, sample


def _is_list_text(known: Scalar) -> bool:
    return isinstance(known, str) and known[:1] in "[("


def _sequence(ref: Ref | None) -> tuple[Sample, ...]:
    if ref is None:
        return ()
    try:
        values = [scalar(one) for one in ref.values()[:MOST_INDICES]]
    except Unreadable:
        return ()
    return tuple(one for one in values if isinstance(one, int | str) and not isinstance(one, bool))


def _loader(stack: SampledStack) -> Loader | None:
    frame = next(
        (
            one
            for one in stack.frames
            if one.file.endswith(LOADER) and one.bare_name in ("_next_data", "_get_data", "_reset", "_try_get_data")
        ),
        None,
    )
    if frame is None:
        return None
    waiting = stack.find(LOADER, "_get_data", "_try_get_data") is not None
    unpacking = stack.find("torch/multiprocessing/reductions.py", "rebuild_storage_fd") is not None
    iterator = frame.ref("self")
    if iterator is None:
        return (
            Loader(
                stack.pid,
                f"loader:{stack.tid}",
                stack.tid,
                waiting=waiting,
                unpacking=unpacking,
                source="stacks",
            )
            if waiting
            else None
        )
    try:
        if iterator.attribute("_workers") is None:
            return None
        workers = _worker_pids(iterator)
        next_batch = _number(iterator, "_rcvd_idx")
        return Loader(
            pid=stack.pid,
            id=f"loader:{stack.pid}/{iterator.address:x}",
            tid=stack.tid,
            workers=workers,
            next_batch=next_batch,
            sent=_number(iterator, "_send_idx"),
            owner=_owner(iterator, next_batch, workers),
            waiting=waiting,
            unpacking=unpacking,
            timeout_s=float(_number(iterator, "_timeout") or 0),
            source="DataLoader iterator",
        )
    except Unreadable:
        return None


def _sender(stack: SampledStack) -> int | None:
    """The worker that is asked to hand over the tensors of a finished batch: who listens on its socket."""
    frame = stack.find("multiprocessing/resource_sharer.py", "get_connection")
    address = frame.value("address") if frame else None
    return network.unix_listener(stack.pid, address) if isinstance(address, str) else None


def _number(ref: Ref, name: str) -> int | None:
    value = scalar(ref.attribute(name))
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _worker_pids(iterator: Ref) -> tuple[int, ...]:
    pids = []
    workers = iterator.attribute("_workers")
    for worker in workers.values() if workers else ():
        popen = worker.attribute("_popen")
        pid = scalar(popen.attribute("pid")) if popen else None
        pids.append(pid if isinstance(pid, int) else 0)
    return tuple(pids)


def _owner(iterator: Ref, batch: int | None, workers: tuple[int, ...]) -> int | None:
    tasks = iterator.attribute("_task_info")
    task = tasks.item(batch) if tasks is not None and batch is not None else None
    number = scalar(task.item(0)) if task else None
    if isinstance(number, int) and 0 <= number < len(workers):
        return workers[number]
    return None
