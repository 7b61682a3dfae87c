"""Ranks: when two calls meet, and how ranks at the same place become groups."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unstall.evidence.ranks import Call, Rank, Ranks, grouped, merge, names, outlier, unseen
from unstall.evidence.stacks import Frame, Stack, Stacks


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((3,), "rank 3"),
        ((0, 1), "ranks 0 and 1"),
        ((5, 0, 1), "ranks 0, 1 and 5"),
        ((0, 1, 2, 3, 7), "ranks 0–3 and 7"),
        (tuple(range(512)), "ranks 0–511"),
    ],
)
def test_ranks_in_words(numbers: tuple[int, ...], text: str) -> None:
    assert names(numbers) == text


@pytest.mark.parametrize(
    ("mine", "theirs", "together"),
    [
        (Call("all_reduce"), Call("all_reduce"), True),
        (Call("all_reduce"), Call("barrier"), False),
        (Call("all_reduce", (0, 1)), Call("all_reduce"), False),
        (Call("broadcast", other=0), Call("broadcast", other=1), False),
        (Call("recv", other=1), Call("recv", other=0), False),
        (Call("recv", other=1), Call("send", other=0), True),
        (Call("recv", other=1), Call("send", other=2), False),
        (Call("recv", other=1), Call("barrier"), False),
        (Call("backward"), Call("Join"), True),
    ],
)
def test_calls_that_meet(mine: Call, theirs: Call, together: bool) -> None:
    assert mine.meets(theirs, me=0, them=1) is together
    assert theirs.meets(mine, me=1, them=0) is together


def test_whom_a_call_needs() -> None:
    everybody = (0, 1, 2, 3)
    assert Call("barrier").needs(1, everybody) == (0, 2, 3)
    assert Call("barrier", (1, 3)).needs(1, everybody) == (3,)
    assert Call("recv", other=2).needs(1, everybody) == (2,)
    assert Call("broadcast", other=2).needs(1, everybody) == (2,)
    assert Call("broadcast", other=2).needs(2, everybody) == (0, 1, 3)


@given(st.dictionaries(st.integers(0, 511), st.tuples(st.sampled_from("abc"), st.booleans()), max_size=512))
def test_groups_hold_each_rank_once(places: dict[int, tuple[str, bool]]) -> None:
    groups = merge(places)
    assert sorted(one for group in groups for one in group.ranks) == sorted(places)
    assert all(places[one] == (group.place, group.waits) for group in groups for one in group.ranks)
    assert [len(group.ranks) for group in groups] == sorted((len(group.ranks) for group in groups), reverse=True)


def test_the_odd_rank_is_the_one_that_does_not_wait() -> None:
    rows = [Rank(one, 100 + one, world=4, call=None if one == 2 else Call("all_reduce")) for one in range(4)]
    stacks = [
        Stack(100 + one, 100 + one, main=True, frames=(Frame("/job/train.py", 50 if one == 2 else 40, "f", user=True),))
        for one in range(4)
    ]
    odd = outlier(grouped(Ranks(4, tuple(rows)), Stacks(tuple(stacks))))
    assert odd is not None
    assert odd.text == "rank 2 is at train.py:50"
    assert outlier(merge({0: ("a", False), 1: ("b", False)})) is None


def test_ranks_of_other_machines_are_said_to_be_unseen() -> None:
    far = Ranks(4, (Rank(0, 1, master="10.0.0.1:29500"), Rank(1, 2, master="10.0.0.1:29500")))
    assert [one.what for one in unseen(far)] == ["ranks 2 and 3"]
    assert unseen(far.with_others([Rank(2, 9, node="b"), Rank(3, 9, node="b")])) == ()
    assert unseen(Ranks(4, (Rank(0, 1, master="127.0.0.1:29500"),))) == ()
