"""Which regular expressions can backtrack without end."""

from __future__ import annotations

import re

import pytest

from unstall.evidence.ambiguity import AMBIGUOUS, BOUNDED, UNKNOWN, judge


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(\w+\s?)*$",
        r"(x+x+)+y",
        r'"(?:[^"\\]+|\\.)*"',
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
        r"(a|aa)+$",
        r"(?:a{1,3})+b",
        r"(\d+,?)+;",
        r"(?=(a+)+b)x",
    ],
)
def test_a_loop_that_reads_one_text_in_two_ways_is_ambiguous(pattern: str) -> None:
    assert judge(pattern) == AMBIGUOUS


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s+$",
        r"(?>\w+\s?)*$",
        r"(?:\w++\s?)*$",
        r"(\w+\s)*\w*$",
        r"\d+(,\d+)*;",
        r"(a{3})+b",
        r'(?:[^"\\]|\\.)*"',
        r"\w+([-+.']\w+)*@\w+([-.]\w+)*\.\w+([-.]\w+)*",
    ],
)
def test_a_loop_that_reads_each_text_in_one_way_is_not(pattern: str) -> None:
    assert judge(pattern) == UNKNOWN


def test_a_loop_that_nothing_follows_never_has_to_go_back() -> None:
    assert judge(r"(\s*\n)+") == UNKNOWN
    assert judge(r"(\s*\n)+", full=True) == AMBIGUOUS


def test_without_endless_repetition_it_is_bounded() -> None:
    assert judge(r"\d{4}-\d\d?") == BOUNDED


def test_flags_count() -> None:
    assert judge(r"( a | b )+ c", re.VERBOSE) == UNKNOWN
    assert judge(r"(\S|\n)+ c") == UNKNOWN
    assert judge(r"(.|\n)+ c") == UNKNOWN
    assert judge(r"(.|\n)+ c", re.DOTALL) == AMBIGUOUS


@pytest.mark.parametrize("pattern", ["(", "a" * 1000, "(a|b){0,5000}" * 9])
def test_what_is_no_pattern_or_too_large_is_unknown(pattern: str) -> None:
    assert judge(pattern) in (UNKNOWN, BOUNDED)
