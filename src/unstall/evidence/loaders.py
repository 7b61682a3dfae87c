"""torch's DataLoader: who owes which batch, and which sample each worker is at."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from unstall.evidence.stacks import Frame
from unstall.model.evidence import Evidence

Sample = int | str


class Worker(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place where samples are fetched: a worker process, or the main thread with num_workers=0.

    `stage` is one of starting, idle, fetching, collating, sending, ending.
    """

    pid: int
    tid: int
    number: int | None = None
    stage: str = "starting"
    batch: int | None = None
    indices: tuple[Sample, ...] = ()
    sample: Sample | None = None
    iterable: bool = False
    seen: tuple[Sample | None, ...] = ()  # the sample at each reading, where it changed
    moved: bool = False  # its batch or sample changed while it was watched
    # Of an idle worker, and of a training without workers: the user's functions that make its batches and samples.
    makers: tuple[Frame, ...] = ()
    started_by: int | None = None  # the main process, as the worker's watchdog knows it

    def is_at_start(self, workers: int) -> bool:
        """Nothing was fetched here before: it is at the first sample of its first batch."""
        if self.batch is None or self.batch >= max(workers, 1):
            return self.stage == "starting"
        return not self.indices or self.sample in (None, self.indices[0])


class Loader(msgspec.Struct, frozen=True, omit_defaults=True):
    """One iterator over a DataLoader with workers."""

    pid: int
    id: str
    tid: int = 0  # the thread that iterates
    workers: tuple[int, ...] = ()  # pids, by worker number
    next_batch: int | None = None  # the batch that is to be delivered next
    sent: int | None = None  # how many batches were asked for
    owner: int | None = None  # pid of the worker that owes the next batch
    waiting: bool = False  # the main process stands in `next(iterator)` and waits
    unpacking: bool = False  # it has the message, and waits for the worker to hand over the tensors
    sender: int | None = None  # pid of the worker that is asked for those tensors, where that is known
    moved: bool = False  # batches were delivered while it was watched
    timeout_s: float = 0.0
    source: str = ""


class Loaders(Evidence, frozen=True):
    """All loaders and their workers."""

    kind: ClassVar[str] = "loaders"

    all: tuple[Loader, ...] = ()
    workers: tuple[Worker, ...] = ()

    def worker(self, tid: int) -> Worker | None:
        """The fetching place in that thread."""
        return next((one for one in self.workers if one.tid == tid), None)

    def worker_of(self, pid: int) -> Worker | None:
        """The fetching place in that process."""
        return next((one for one in self.workers if one.pid == pid), None)
