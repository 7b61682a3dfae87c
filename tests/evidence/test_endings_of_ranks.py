"""Which rank died first, told from exit statuses and last words."""

from __future__ import annotations

import pytest

from unstall.evidence.endings import UNCAUGHT, Ending, Exit, LastBeat, Said
from unstall.evidence.rank_endings import first_dead

LOST = "[../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:4711"


def ending(exits: list[tuple[int, int]], words: dict[int, str]) -> Ending:
    beats = [LastBeat(10), *(LastBeat(one, rank=one - 20, parent=10) for one in (20, 21, 22))]
    helper = LastBeat(30, rank=1, parent=21)  # a program that rank 1 has started has its environment, too
    said = [Said(UNCAUGHT, pid, "RuntimeError", text) for pid, text in words.items()]
    return Ending(10, 1, said=tuple(said), beats=(*beats, helper), exits=tuple(Exit(*one) for one in exits))


@pytest.mark.parametrize(
    ("exits", "words", "first"),
    [
        ([(20, 1), (21, -9), (22, -15)], {20: LOST}, 21),
        ([(21, -9), (20, -15), (22, -15)], {}, 21),
        ([(20, -15), (21, -15)], {}, 20),
        ([(20, 1), (22, 1), (21, 1)], {20: LOST, 22: LOST, 21: "row 7 is cut off"}, 21),
        ([(30, 1), (22, 1)], {22: "out of range"}, 22),
        ([(20, 1), (22, 1)], {20: LOST, 22: LOST}, None),
        ([], {}, None),
    ],
)
def test_who_died_first(exits: list[tuple[int, int]], words: dict[int, str], first: int | None) -> None:
    found = first_dead(ending(exits, words))
    assert (found.pid if found else None) == first


def test_one_process_is_no_rank() -> None:
    assert first_dead(Ending(10, 1, beats=(LastBeat(10, rank=0),), exits=(Exit(10, 1),))) is None
