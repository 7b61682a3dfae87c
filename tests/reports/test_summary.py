"""The summary of a run's time, as people see it."""

from __future__ import annotations

import msgspec

from unstall.evidence.timings import Line, Times, Timings
from unstall.reports import summary

TIMES = Times(
    span_s=100.0,
    waited_s=60.0,
    trained_s=25.0,
    saved_s=5.0,
    delivered=400,
    steps=400,
    fetching_s=60.0,
    computing_s=55.0,
)
TIMINGS = Timings(
    total=TIMES, recent=TIMES, cores=8, lines=(Line("/a/data.py", 33, "Data.__getitem__", 0.9, 0.9),), samples=40
)


def test_shares_gain_and_the_costliest_line() -> None:
    text = summary.render(TIMINGS)
    assert text.splitlines()[0] == "unstall: 100 s of training, 400 batches, 400 steps"
    assert "waited for data     60%" in text
    assert "other things        15%" in text
    assert "90% at data.py:33 Data.__getitem__" in text
    assert "change first: num_workers=8 (now 0); at most 2.5 times as fast" in text
    assert max(map(len, text.splitlines())) <= 80


def test_no_advice_where_it_was_stuck_or_waited_once() -> None:
    assert "change first" not in summary.render(TIMINGS, advice=False)
    once = msgspec.structs.replace(TIMES, waited_s=1.0)
    assert "change first" not in summary.render(msgspec.structs.replace(TIMINGS, recent=once))
    few = msgspec.structs.replace(TIMES, delivered=3)
    assert "change first" not in summary.render(msgspec.structs.replace(TIMINGS, total=few))


def test_short_runs_get_none() -> None:
    assert summary.is_worth_saying(TIMINGS)
    assert not summary.is_worth_saying(Timings(total=Times(span_s=2.0, delivered=9)))
    assert not summary.is_worth_saying(Timings(total=Times(span_s=60.0)))


def test_the_status_is_one_line() -> None:
    assert summary.status(TIMINGS) == "400 batches, 4/s, waits for data 60% (starting)"
