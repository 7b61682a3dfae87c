"""What can still change in a loop."""

from __future__ import annotations

import ast
import textwrap

import pytest

from unstall.evidence import influence


def loop(source: str) -> ast.While:
    found = ast.parse(textwrap.dedent(source)).body[0]
    assert isinstance(found, ast.While)
    return found


def test_a_flag_changes_with_what_decides_about_it() -> None:
    search = loop(
        """
        while not found:
            digest = work(number)
            if digest < goal:
                found = True
            number += 1
        """
    )
    assert "found" in influence.restless(search, {"number"}, {"number", "goal"})
    assert "found" not in influence.restless(search, set(), {"number", "goal"})


def test_a_result_changes_with_its_arguments() -> None:
    search = loop("while d == 1:\n    x = (x * x + 1) % n\n    d = gcd(x, n)")
    assert "d" in influence.restless(search, {"x"}, {"x", "d", "n"})


def test_an_index_that_is_passed_over_stays() -> None:
    stuck = loop("while i < n:\n    if tokens[i] == PAD:\n        continue\n    i += 1")
    assert "i" not in influence.restless(stuck, set(), {"i", "n", "PAD"})


@pytest.mark.parametrize("call", ["random.random()", "next(rows)", "self.step(k)", "stream.read()"])
def test_some_calls_answer_anew_each_time(call: str) -> None:
    assert "x" in influence.restless(loop(f"while x:\n    x = {call}"), set(), {"x", "k"})


def test_methods_of_plain_values_do_not() -> None:
    assert "cut" not in influence.restless(loop("while cut < 3:\n    cut = text.rfind(' ', 0, 9)"), set(), {"text"})


def test_a_walk_goes_from_place_to_place() -> None:
    assert influence.is_walk(loop("while node:\n    node = node.next"), {"node"})
    assert influence.is_walk(loop("while p[n] != n:\n    n = p.get(n)"), {"n"})
    assert not influence.is_walk(loop("while node:\n    node = make(node)"), {"node"})
