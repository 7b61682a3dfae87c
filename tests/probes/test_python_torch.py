"""The attributes of torch's own loader, and its workers, read from outside."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from python_processes import start, stop

from unstall.probes.python import Frame, Interpreter, evaluate, evaluate_value, open_interpreter

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch"),
]


@pytest.fixture(scope="module")
def trainer() -> Iterator[Interpreter]:
    process = start(sys.executable, "python_torch.py")
    try:
        with open_interpreter(process.pid) as interpreter:
            yield interpreter
    finally:
        stop(process)


def _wait_for(interpreter: Interpreter, function: str, top: str) -> Frame:
    """The frame of `function` once the thread it is in has come to rest in `top`."""
    for _ in range(100_000):
        for thread in interpreter.threads():
            stack = thread.frames()
            found = [frame for frame in stack if frame.function == function]
            if found and stack[0].function == top:
                return found[0]
    raise AssertionError(f"{function} does not come to rest in {top}")


def test_the_loader_and_its_workers(trainer: Interpreter) -> None:
    frame = _wait_for(trainer, "_BaseDataLoaderIter.__next__", "_PollLikeSelector.select")
    assert evaluate_value(frame, "self._rcvd_idx") == 5  # batches 0 to 4 were delivered
    assert evaluate_value(frame, "self._num_workers") == 2
    owner = evaluate_value(frame, "self._task_info[5][0]")
    assert owner in (0, 1)
    pids = [evaluate_value(frame, f"self._workers[{number}]._popen.pid") for number in (0, 1)]
    assert {os.stat(f"/proc/{pid}").st_uid for pid in pids} == {os.getuid()}
    stuck = pids[owner]
    assert isinstance(stuck, int)
    with open_interpreter(stuck) as worker:
        sample = _wait_for(worker, "Samples.__getitem__", "Condition.wait")
        assert sample.locals["index"].value() == 21
        assert {thread.native_id for thread in worker.threads()} == {
            int(name) for name in os.listdir(f"/proc/{stuck}/task")
        }


def test_the_queue_lock_of_the_loader(trainer: Interpreter) -> None:
    frame = _wait_for(trainer, "_BaseDataLoaderIter.__next__", "_PollLikeSelector.select")
    lock = evaluate(frame, "self._worker_result_queue._rlock._semlock")
    assert lock is not None
    state = lock.semlock()
    assert state is not None
    assert state.maxvalue == 1
    assert evaluate_value(frame, "len(self._workers)") == 2
