"""When `unstall run` looks: the beats of one process, and those of several ranks."""

from __future__ import annotations

from unstall.flight import layout
from unstall.flight.reader import Beats
from unstall.workflows.run.watch import Watch


def beats(pid: int, parent: int = 1, *, rank: int | None = None, delivered: int = 0, samples: int = 0) -> Beats:
    words = [0] * layout.SLOTS
    words[layout.PID], words[layout.PARENT] = pid, parent
    words[layout.RANK] = 0 if rank is None else rank + 1
    words[layout.DELIVERED], words[layout.SAMPLES] = delivered, samples
    return Beats(tuple(words))


def records(*all_of_them: Beats) -> dict[int, Beats]:
    return {one.pid: one for one in all_of_them}


def test_a_worker_that_moves_keeps_its_training_going() -> None:
    watch = Watch(0.0)
    assert watch.note(records(beats(10, delivered=1), beats(11, 10, samples=1)), 1.0)
    assert watch.note(records(beats(10, delivered=1), beats(11, 10, samples=2)), 5.0)
    assert watch.quiet(6.0) == 1.0


def test_a_rank_that_stands_still_counts_though_the_others_move() -> None:
    watch = Watch(0.0)
    for at in range(1, 9):
        watch.note(
            records(beats(5), beats(10, 5, rank=0, delivered=at), beats(20, 5, rank=1, delivered=min(at, 2))), at
        )
    assert watch.quiet(9.0) == 7.0
    assert watch.is_due(9.0)
    assert not watch.note(records(beats(10, 5, rank=0, delivered=99), beats(20, 5, rank=1, delivered=2)), 9.0)


def test_a_rank_that_has_ended_does_not_count() -> None:
    watch = Watch(0.0)
    watch.note(records(beats(10, rank=0, delivered=1), beats(20, rank=1, delivered=1)), 1.0)
    watch.note(records(beats(10, rank=0, delivered=2)), 8.0)
    assert watch.quiet(9.0) == 1.0


def test_workers_move_for_the_rank_that_made_them() -> None:
    watch = Watch(0.0)
    spawned = beats(21, 20, samples=1)  # it has no number of its own
    watch.note(records(beats(10, rank=0, delivered=1), beats(20, rank=1, delivered=1), spawned), 1.0)
    watch.note(records(beats(10, rank=0, delivered=2), beats(20, rank=1, delivered=1), beats(21, 20, samples=2)), 6.0)
    assert watch.quiet(7.0) == 1.0
