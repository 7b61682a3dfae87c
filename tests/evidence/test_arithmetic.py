"""Loops that count past their goal: proven, and compared with what really happens."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unstall.evidence.arithmetic import steps_past
from unstall.evidence.stacks import Frame


def judge(code: str, **values: int) -> str | None:
    [loop] = ast.parse(code).body
    assert isinstance(loop, ast.While)
    return steps_past(loop, Frame("a.py", 1, "f", watched={name: (value,) for name, value in values.items()}))


@given(st.integers(-50, 50), st.integers(-9, 9), st.integers(-30, 30), st.integers(0, 5))
def test_never_wrong(number: int, step: int, modulus: int, goal: int) -> None:
    if modulus == 0:
        return
    found = judge("while x % m != k: x += c", x=number, c=step, m=modulus, k=goal)
    ends = any((number + rounds * step) % modulus == goal for rounds in range(abs(modulus)))
    assert (found is None) == ends


@pytest.mark.parametrize(
    ("code", "proven"),
    [
        ("while x % 8: x += 2", True),
        ("while x % 8 > 0: x += 2", True),
        ("while not x % 8 == 0: x -= 2", True),
        ("while x % 8:\n  if y: x += 2", True),
        ("while x != 100: x += 2", True),
        ("while 100 != x: x += 2", True),
        ("while x != 60: x += 1", True),
        ("while x != 100: x += 3", False),
        ("while x != 100:\n  x += 2\n  if x > 100: break", False),
        ("while x != n: x += 2", False),
        ("while x < 100: x += 2", False),
        ("while x % 8: x += 1", False),
        ("while x % 8 < 3: x += 2", False),
        ("while x % 8:\n  x += 2\n  if y: break", False),
        ("while x % 8:\n  x += 2\n  x = next(y)", False),
        ("while x % 8:\n  x += 2\n  x += y", False),
        ("while x % z: x += 2", False),
        ("while x % 8 and y: x += 2", False),
    ],
)
def test_what_is_understood(code: str, proven: bool) -> None:
    assert (judge(code, x=61) is not None) is proven
