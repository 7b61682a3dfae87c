"""How two ranks have come apart, told from their source alone."""

from __future__ import annotations

import textwrap

import pytest

from unstall.evidence.apart import parting
from unstall.evidence.code import Code, Function
from unstall.evidence.processes import Process
from unstall.evidence.ranks import Call, Rank, Ranks
from unstall.evidence.stacks import Frame, Local, Stack, Stacks
from unstall.evidence.stall import Kind, Stall, Wait

FILE = "/job/train.py"
MANUAL, AFTER = Call("all_reduce"), Call("barrier")


def told(source: str, **more: dict[str, int]) -> tuple[str, bool]:
    """The way in which two ranks part that stand at the lines `# one` and `# two` of a function."""
    text = textwrap.dedent(source).strip("\n")
    lines = text.splitlines()
    code = Code((Function(FILE, "main", 1, text),))
    ranks, stacks, waits = [], [], []
    for number, (mark, call) in enumerate((("# one", MANUAL), ("# two", AFTER))):
        line = next(place for place, words in enumerate(lines, 1) if words.endswith(mark))
        known = tuple(Local(name, "int", value) for name, value in more.get(mark[2:], {}).items())
        frame = Frame(FILE, line, "main", 1, user=True, locals=known)
        pid = 100 + number
        ranks.append(Rank(number, pid, world=2, call=call, pending=True))
        stacks.append(Stack(pid, pid, main=True, frames=(frame,)))
        waits.append(Wait(Kind.COLLECTIVE, pid, pid, call.text, "its stack", call=call))
    stall = Stall(waits[0], Process(100, 1, "python", "", "S"), "rank 0", cycle=tuple(waits))
    found = parting(stall, Ranks(2, tuple(ranks)), Stacks(tuple(stacks)), code)
    assert found is not None
    return found.how, found.of_rank


@pytest.mark.parametrize(
    ("source", "how", "of_rank"),
    [
        ("def main():\n for batch in loader:\n  all_reduce() # one\n barrier() # two", "count", False),
        ("def main():\n while step < steps:\n  all_reduce() # one\n barrier() # two", "count", False),
        ("def main():\n if rank == 0:\n  all_reduce() # one\n barrier() # two", "subset", True),
        ("def main():\n if dist.get_rank() != 0:\n  all_reduce() # one\n barrier() # two", "subset", True),
        ("def main():\n if rank != 0:\n  return\n all_reduce() # one\n barrier() # two", "order", False),
        ("def main():\n if rank == 0:\n  all_reduce() # one\n else:\n  barrier() # two", "order", True),
        ("def main():\n chief = rank == 0\n if chief:\n  all_reduce() # one\n barrier() # two", "subset", True),
        ("def main():\n if bad:\n  all_reduce() # one\n barrier() # two", "subset", False),
        ("def main():\n if local_rank != -1:\n  all_reduce() # one\n barrier() # two", "order", False),
        ("def main():\n for p in model.parameters():\n  all_reduce() # one\n barrier() # two", "order", False),
        ("def main():\n all_reduce() # one\n barrier() # two", "order", False),
        ("def main():\n for b in loader:\n  barrier() # two\n  all_reduce() # one", "order", False),
        (
            "def main():\n for b in loader:\n  if rank == 0:\n   all_reduce() # one\n  barrier() # two",
            "subset",
            True,
        ),
    ],
)
def test_ways_to_part(source: str, how: str, of_rank: bool) -> None:
    assert told(source) == (how, of_rank)


def test_who_is_behind_is_told_by_the_epoch() -> None:
    source = "def main():\n for epoch in range(9):\n  barrier() # two\n  for b in loader:\n   all_reduce() # one"
    assert told(source, one={"epoch": 0}, two={"epoch": 1}) == ("count", False)
    assert told(source, one={"epoch": 1}, two={"epoch": 1}) == ("order", False)
