"""When a training is said to wait for its data, and how surely."""

from __future__ import annotations

import msgspec
import pytest

from tests.support.record import BUNDLES
from unstall.evidence import loading
from unstall.evidence.timings import Line, Times, Timings
from unstall.model.finding import Confidence
from unstall.workflows.why import judge, read


def heavy(**changes: object) -> Timings:
    """A training that waits 90 % of its time for two workers that compute."""
    times = Times(span_s=20.0, waited_s=18.0, delivered=40, iterators=1, fetched=640, batches=40, fetching_s=36.0)
    times = msgspec.structs.replace(times, computing_s=36.0)
    lines = (Line("a.py", 9, "Data.__getitem__", 1.0, 0.1), Line("a.py", 20, "soften", 0.9, 0.9))
    timings = Timings(total=times, recent=times, workers=2, cores=2, lines=lines, samples=50)
    return msgspec.structs.replace(timings, **changes)


def test_it_waits() -> None:
    assert loading.waits(heavy())
    assert loading.is_computed(heavy())
    assert loading.hottest(heavy())[0].line == 20


@pytest.mark.parametrize(
    "changes",
    [
        {"span_s": 5.0, "waited_s": 4.5},  # too early
        {"waited_s": 8.0},  # less than most of the time
        {"delivered": 2},
        {"fetching_s": 0.1},  # samples are cheap: the model is small
    ],
)
def test_it_does_not(changes: dict[str, float]) -> None:
    times = msgspec.structs.replace(heavy().total, **changes)
    assert not loading.waits(heavy(total=times, recent=times))


def test_sleeping_is_not_computing() -> None:
    assert not loading.is_computed(heavy(recent=msgspec.structs.replace(heavy().recent, computing_s=2.0)))
    assert not loading.is_computed(heavy(samples=0))
    assert not loading.is_computed(heavy(lines=()))


def test_starting_workers_is_not_waiting_for_data() -> None:
    times = msgspec.structs.replace(heavy().total, iterators=10, first_wait_s=14.0)
    assert not loading.waits(heavy(total=times, recent=times))


@pytest.mark.parametrize("name", ["input-bound/input_bound", "input-bound-no-workers/input_bound_no_workers"])
def test_only_a_long_training_is_sure(name: str) -> None:
    bundle = read(BUNDLES / f"{name}.json")
    timings = bundle.get(Timings)
    assert timings is not None
    for span, sure in ((20.0, Confidence.POSSIBLE), (90.0, Confidence.CERTAIN)):
        factor = span / timings.total.span_s
        total = msgspec.structs.replace(timings.total, span_s=span, waited_s=timings.total.waited_s * factor)
        found = judge(bundle.having(msgspec.structs.replace(timings, total=total)))
        assert [one.confidence for one in found.findings] == [sure]


@pytest.mark.parametrize(
    "name", ["sampler-never-ends/sampler_never_ends", "empty-loader-in-step-loop/empty_loader_in_step_loop"]
)
def test_without_its_note_nothing_is_said(name: str) -> None:
    bundle = read(BUNDLES / f"{name}.json")
    timings = bundle.get(Timings)
    assert timings is not None
    assert judge(bundle).findings
    assert not judge(bundle.having(msgspec.structs.replace(timings, notes=()))).findings
