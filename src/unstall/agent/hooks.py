"""The hooks on torch. Each beat is a store of an integer; clocks are read per batch, never per sample."""

from __future__ import annotations

import functools
from time import perf_counter_ns, thread_time_ns

from ..flight import layout
from . import failing, leaving, words
from .notes import Notes
from .ranks import RankHooks, is_rank

MYPY = False
if MYPY:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    from ..flight.writer import Record


SLOW_PICKLE_S = 0.3
MAP_STYLE = 0  # torch's _DatasetKind.Map


class Hooks:
    """All hooks of one process."""

    def __init__(self, record: Record, folder: str) -> None:
        self.record = record
        self.folder = folder
        self.notes = Notes(folder)

    def by_module(self) -> dict[str, Callable[[ModuleType], None]]:
        """The hook for each module of torch, to be run when that has been imported."""
        return {
            "torch.utils.data._utils.fetch": self.fetch,
            "torch.utils.data._utils.worker": self.worker,
            "torch.utils.data.dataloader": self.loader,
            "torch.optim.optimizer": self.optimizer,
            "torch.serialization": self.checkpoint,
            "torch._utils": self.errors,
            "multiprocessing.queues": self.queues,
            "torch.utils.data._utils.signal_handling": self.faults,
            "multiprocessing.popen_fork": self.children,
            "multiprocessing.reduction": self.pickles,
            "multiprocessing.popen_forkserver": self.children,
            "multiprocessing.forkserver": self.served,
            **RankHooks(self.record, self.folder).by_module(),
        }

    def fetch(self, module: ModuleType) -> None:
        """Note each sample before it is fetched, and when its batch is done."""
        record = self.record
        for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
            fetcher = getattr(module, name)
            fetcher.fetch = _noted_fetch(record, fetcher.fetch)

    def worker(self, module: ModuleType) -> None:
        """A worker has a record of its own."""
        record, folder = self.record, self.folder
        loop = module._worker_loop
        names = loop.__code__.co_varnames[: loop.__code__.co_argcount]
        place = names.index("worker_id")

        @functools.wraps(loop)
        def _worker_loop(*arguments: Any, **options: Any) -> Any:
            try:
                number = options["worker_id"] if "worker_id" in options else arguments[place]
                record.open(folder, layout.WORKER, number)
                leaving.watch_exit(record, folder)
            except Exception:  # noqa: BLE001
                pass
            try:
                loop(*arguments, **options)
            except SystemExit as error:
                try:
                    leaving.left(record, folder, words.frames_of(error.__traceback__), error.code)
                except Exception:  # noqa: BLE001
                    pass
                raise
            finally:
                record.slots[layout.ENDED] = 1

        module._worker_loop = _worker_loop  # type: ignore[attr-defined]

    def loader(self, module: ModuleType) -> None:
        """The training loop starts an epoch, asks for a batch, gets it, and goes on."""
        import torch

        record, notes, is_training = self.record, self.notes, torch.is_grad_enabled
        iterator, start = module._BaseDataLoaderIter, module.DataLoader._get_iterator
        following = iterator.__next__

        @functools.wraps(start)
        def _get_iterator(self: Any) -> Any:
            began = perf_counter_ns()
            made = start(self)
            slots, spent = record.slots, perf_counter_ns() - began
            slots[layout.STARTUP_NS] += spent
            slots[layout.ITERATORS] += 1
            notes.iterator_made(slots[layout.ITERATORS], spent / 1e9)
            return made

        @functools.wraps(following)
        def __next__(self: Any) -> Any:  # noqa: N807
            slots = record.slots
            asked = perf_counter_ns()
            phase = slots[layout.PHASE]
            if slots[layout.SINCE_NS]:
                slots[layout.VALIDATION_NS if phase == layout.VALIDATION else layout.TRAINING_NS] += (
                    asked - slots[layout.SINCE_NS]
                )
            slots[layout.PHASE] = layout.LOADING
            try:
                batch = following(self)
            except BaseException as error:
                if isinstance(error, StopIteration):
                    _note_end(slots, notes, self)
                slots[layout.EPOCHS] += 1
                ended = perf_counter_ns()
                slots[layout.LOADING_NS] += ended - asked  # workers were waited for, until they had ended
                slots[layout.PHASE], slots[layout.SINCE_NS] = layout.TRAINING, ended
                raise
            delivered = perf_counter_ns()
            slots[layout.LOADING_NS] += delivered - asked
            slots[layout.SINCE_NS] = delivered
            slots[layout.DELIVERED] += 1
            yielded = self._num_yielded
            if yielded == 1:
                slots[layout.FIRST_WAIT_NS] += delivered - asked
                slots[layout.WORKERS] = self._num_workers
                self._unstall_expected = _length(self)
            expected = self._unstall_expected
            slots[layout.IN_EPOCH], slots[layout.EXPECTED] = yielded, expected
            if yielded == expected + 1 and self._dataset_kind == MAP_STYLE:
                notes.overrun(self, expected)
            slots[layout.PHASE] = layout.TRAINING if is_training() else layout.VALIDATION
            return batch

        iterator._unstall_expected = layout.NO_LENGTH
        module.DataLoader._get_iterator = _get_iterator
        iterator.__next__ = __next__

    def optimizer(self, module: ModuleType) -> None:
        """Count the optimizer's steps."""
        record = self.record

        def after_step(*_: Any) -> None:
            record.slots[layout.STEPS] += 1

        module.register_optimizer_step_post_hook(after_step)

    def checkpoint(self, module: ModuleType) -> None:
        """Saving may take long, and is no stall."""
        record, save = self.record, module.save

        @functools.wraps(save)
        def noted(*arguments: Any, **options: Any) -> Any:
            slots = record.slots
            before, began = slots[layout.PHASE], perf_counter_ns()
            slots[layout.PHASE] = layout.CHECKPOINT
            try:
                return save(*arguments, **options)
            finally:
                slots[layout.CHECKPOINT_NS] += perf_counter_ns() - began
                slots[layout.PHASE] = before

        module.save = noted  # type: ignore[attr-defined]

    def errors(self, module: ModuleType) -> None:
        """A worker hands an exception over to the training: say at which sample it was."""
        record, folder = self.record, self.folder
        wrapper = module.ExceptionWrapper
        make, reraise = wrapper.__init__, wrapper.reraise

        @functools.wraps(make)
        def __init__(self: Any, exc_info: Any = None, where: str = "in background") -> None:  # noqa: N807
            import sys

            try:
                error = (exc_info or sys.exc_info())[1]
                self.unstall_words = words.say(record, folder, "in a worker", error)
                if error is not None:
                    words.leave_no_trace(error)
            except Exception:  # noqa: BLE001
                pass
            make(self, exc_info, where)

        @functools.wraps(reraise)
        def noted(self: Any) -> Any:
            words.handed_over[0] = getattr(self, "unstall_words", "")
            return reraise(self)

        wrapper.__init__, wrapper.reraise = __init__, noted

    def queues(self, module: ModuleType) -> None:
        """A result that can't be pickled is lost; multiprocessing only prints a traceback."""
        record, folder, report = self.record, self.folder, module.Queue._on_queue_feeder_error

        def noted(error: BaseException, thing: object) -> None:
            try:
                words.say(record, folder, "while sending", error)
            except Exception:  # noqa: BLE001
                pass
            report(error, thing)

        module.Queue._on_queue_feeder_error = staticmethod(noted)

    def pickles(self, module: ModuleType) -> None:
        """A worker that is spawned gets a copy of the dataset, pickled: that may take long."""
        notes, dump = self.notes, module.dump

        @functools.wraps(dump)
        def noted(obj: Any, file: Any, *arguments: Any) -> None:
            began = perf_counter_ns()
            dump(obj, file, *arguments)
            spent = (perf_counter_ns() - began) / 1e9
            if spent > SLOW_PICKLE_S:
                notes.pickled(file.tell(), spent, type(obj).__name__)

        module.dump = noted  # type: ignore[attr-defined]

    def faults(self, module: ModuleType) -> None:
        """A crash in native code: where Python was at that moment."""
        name = "_set_worker_signal_handlers"
        setattr(module, name, leaving.watch_faults(self.folder)(getattr(module, name)))

    def children(self, module: ModuleType) -> None:
        """How each child of multiprocessing ended: only its parent learns that."""
        folder, make, poll = self.folder, module.Popen.__init__, module.Popen.poll

        @functools.wraps(make)
        def __init__(self: Any, process: Any) -> None:  # noqa: N807
            self.unstall_name = process.name
            make(self, process)

        @functools.wraps(poll)
        def noted(self: Any, *arguments: Any, **options: Any) -> Any:
            known = self.returncode is not None
            code = poll(self, *arguments, **options)
            if code is not None and not known:
                try:
                    if code or is_rank(folder, self.pid):
                        words.exited(folder, self.pid, code, self.unstall_name)
                except Exception:  # noqa: BLE001
                    pass
            return code

        if "__init__" in vars(module.Popen):
            module.Popen.__init__ = __init__
        if "poll" in vars(module.Popen):
            module.Popen.poll = noted

    def served(self, module: ModuleType) -> None:
        """A child of the fork server prints its own exception, and leaves."""
        record, folder, serve = self.record, self.folder, module._serve_one

        @functools.wraps(serve)
        def noted(*arguments: Any, **options: Any) -> Any:
            try:
                return serve(*arguments, **options)
            except BaseException as error:
                try:
                    words.say(record, folder, "uncaught", error)
                    words.leave_no_trace(error)
                except Exception:  # noqa: BLE001
                    pass
                raise

        module._serve_one = noted  # type: ignore[attr-defined]


def _length(iterator: Any) -> int:
    """How many batches an iterator promises."""
    try:
        return len(iterator)
    except Exception:  # noqa: BLE001  most iterable datasets have no length
        return layout.NO_LENGTH


def _note_end(slots: memoryview, notes: Notes, iterator: Any) -> None:
    """An epoch is over: was there anything in it, and is this news?"""
    if getattr(iterator, "_unstall_ended", -1) == iterator._num_yielded:
        slots[layout.ASKED_AFTER_END] += 1
        notes.happened("asked-after-end", slots[layout.ASKED_AFTER_END])
    elif not iterator._num_yielded:
        slots[layout.EMPTY_EPOCHS] += 1
        notes.happened("empty-epochs", slots[layout.EMPTY_EPOCHS])
    iterator._unstall_ended = iterator._num_yielded


def _noted_fetch(record: Record, fetch: Any) -> Any:
    def noted(self: Any, possibly_batched_index: Any) -> Any:
        slots = record.slots
        began, computed = perf_counter_ns(), thread_time_ns()
        slots[layout.STAGE] = layout.FETCHING
        if type(possibly_batched_index) is list:
            possibly_batched_index = _Noted(possibly_batched_index)
            possibly_batched_index.slots = slots
            possibly_batched_index.whole = hasattr(self.dataset, "__getitems__")
            slots[layout.SAMPLE] = layout.NO_SAMPLE
        else:
            _note(slots, possibly_batched_index)
        try:
            data = fetch(self, possibly_batched_index)
        except Exception as error:
            if type(error) is not StopIteration:
                try:
                    sample = slots[layout.SAMPLE]
                    failing.note(error, self, possibly_batched_index, None if sample == layout.NO_SAMPLE else sample)
                except Exception:  # noqa: BLE001
                    pass
            slots[layout.STAGE] = layout.IDLE
            raise
        slots[layout.BATCHES] += 1
        slots[layout.FETCHING_NS] += perf_counter_ns() - began
        slots[layout.FETCHING_CPU_NS] += thread_time_ns() - computed
        slots[layout.STAGE] = layout.IDLE
        return data

    return functools.wraps(fetch)(noted)


class _Noted(list):  # type: ignore[type-arg]
    """The indices of a batch: each is noted as it is taken."""

    slots: memoryview
    whole = False  # a dataset takes all of them, and makes the samples afterwards

    def __iter__(self) -> Iterator[Any]:
        slots = self.slots
        for index in list.__iter__(self):
            _note(slots, index)
            yield index
        if self.whole:
            slots[layout.SAMPLE] = layout.NO_SAMPLE  # the samples may be made only now
        else:
            slots[layout.STAGE] = layout.COLLATING

    def __reduce_ex__(self, _: Any) -> Any:
        """A dataset may hand its indices on to another process: as the list that they are."""
        return list, (list(list.__iter__(self)),)


def _note(slots: memoryview, index: Any) -> None:
    slots[layout.SAMPLES] += 1
    try:
        slots[layout.SAMPLE] = index
    except (TypeError, ValueError):  # a text, a tuple: no whole number
        slots[layout.SAMPLE] = layout.NO_SAMPLE
