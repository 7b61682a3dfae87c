"""Whether a regular expression can match one text in exponentially many ways. From its text alone; nothing is matched.

The pattern becomes an automaton whose places are the characters that it names. It is ambiguous if a loop of the
automaton can read the same text along two different ways, and something that may fail comes after the loop.
"""

from __future__ import annotations

import collections
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

AMBIGUOUS, BOUNDED, UNKNOWN = "ambiguous", "bounded", ""
SHORT = "ambiguous, on a short text"  # which takes seconds or minutes, not for ever
_MOST_PLACES = 240
_MOST_COPIES = 12
_LETTERS = frozenset(map(chr, range(128))) | frozenset("éßÀ中😀\u00a0²\u2028١")
_SETS = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}


class _TooLarge(Exception):
    """The automaton would have too many places."""


@dataclass
class _Part:
    """A piece of the automaton: the ways to read nothing, to enter, and to leave."""

    empty: int = 1
    first: collections.Counter[int] = field(default_factory=collections.Counter)
    last: collections.Counter[int] = field(default_factory=collections.Counter)


def judge(pattern: str, flags: int = 0, *, full: bool = False) -> str:
    """AMBIGUOUS, BOUNDED (without any repetition that has no end), or UNKNOWN. `full`: the whole text must match."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _parser.parse(pattern, flags & ~op.SRE_FLAG_DEBUG)
        automaton = _Automaton(tree.state.flags)
        whole = automaton.sequence(tree)
        if not automaton.unbounded:
            return BOUNDED
        ends = set() if full else set(whole.last)
        return AMBIGUOUS if automaton.is_ambiguous(ends) else UNKNOWN
    except (re.error, RecursionError, OverflowError, ValueError, _TooLarge):
        return UNKNOWN


class _Automaton:
    """The places of a pattern, and in how many ways each can follow each."""

    def __init__(self, flags: int) -> None:
        self.flags = flags
        self.letters: list[frozenset[str]] = []
        self.follow: dict[int, collections.Counter[int]] = collections.defaultdict(collections.Counter)
        self.unbounded = False

    def place(self, letters: Iterable[str]) -> _Part:
        """One character."""
        if len(self.letters) >= _MOST_PLACES:
            raise _TooLarge
        self.letters.append(frozenset(letters))
        here = len(self.letters) - 1
        return _Part(0, collections.Counter([here]), collections.Counter([here]))

    def sequence(self, items: Iterable[Any]) -> _Part:
        """One after the other."""
        whole = _Part()
        for item in items:
            whole = self.join(whole, self.item(*item))
        return whole

    def join(self, left: _Part, right: _Part) -> _Part:
        """Two parts in a row."""
        self.link(left.last, right.first)
        return _Part(
            min(left.empty * right.empty, 2),
            left.first + _times(right.first, left.empty),
            right.last + _times(left.last, right.empty),
        )

    def link(self, before: collections.Counter[int], after: collections.Counter[int]) -> None:
        """Whatever leaves one part may enter the other."""
        for here, ways in before.items():
            for there, more in after.items():
                self.follow[here][there] = min(self.follow[here][there] + ways * more, 9)

    def item(self, kind: Any, value: Any) -> _Part:
        """One element of the parsed pattern."""
        if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            return self.place(_characters(kind, value, self.flags))
        if kind is op.BRANCH:
            return self.either(self.sequence(one) for one in value[1])
        if kind is op.SUBPATTERN:
            return self.sequence(value[3])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self.repeat(*value)
        if kind is op.POSSESSIVE_REPEAT:
            self.unbounded |= value[1] == op.MAXREPEAT
            inner = self.place(self.within(value[2]))  # never entered again: as if it were one character
            return _Part(1, inner.first, inner.last) if value[0] == 0 else inner
        if kind is op.ATOMIC_GROUP:
            return self.place(self.within(value))
        if kind is op.GROUPREF_EXISTS:
            return self.either(self.sequence(one or ()) for one in value[1:])
        if kind in (op.ASSERT, op.ASSERT_NOT):
            self.sequence(value[1])
            return self.place(())
        if kind is op.AT and value is not op.AT_BEGINNING and value is not op.AT_BEGINNING_STRING:
            return self.place(())  # it may fail, and lets no two ways through
        return _Part()

    def within(self, items: Iterable[Any]) -> frozenset[str]:
        """All characters that a part may read."""
        before = len(self.letters)
        self.sequence(items)
        return frozenset().union(*self.letters[before:])

    def either(self, parts: Iterable[_Part]) -> _Part:
        """One of several."""
        whole = _Part(0)
        for one in parts:
            whole = _Part(min(whole.empty + one.empty, 2), whole.first + one.first, whole.last + one.last)
        return whole

    def repeat(self, least: int, most: int, items: Any) -> _Part:
        """Again and again."""
        if most == op.MAXREPEAT or (most > _MOST_COPIES and most != least):
            self.unbounded |= most == op.MAXREPEAT
            inner = self.sequence(items)
            self.link(inner.last, inner.first)
            return _Part(1 if least == 0 else inner.empty, inner.first, inner.last)
        whole = _Part()
        for number in range(min(int(most), _MOST_COPIES), 0, -1):  # x{1,3} is x(x(x)?)?
            whole = self.join(self.sequence(items), whole)
            if number > least:
                whole = _Part(1, whole.first, whole.last)
        return whole

    def is_ambiguous(self, ends: set[int]) -> bool:
        """Whether a loop, from which the match may not just end, can read one text in two ways."""
        for loop in _circles(range(len(self.letters)), lambda one: self.follow[one]):
            inside = set(loop)
            if inside & ends:
                continue
            if any(ways > 1 and there in inside for here in loop for there, ways in self.follow[here].items()):
                return True
            if len(loop) > 1 and self._two_ways(inside):
                return True
        return False

    def _two_ways(self, inside: set[int]) -> bool:
        """Two readers start at one place of the loop, go different ways, and meet there again."""
        onward = {here: [one for one in self.follow[here] if one in inside] for here in inside}

        def pairs(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
            for left in onward[pair[0]]:
                for right in onward[pair[1]]:
                    if self.letters[left] & self.letters[right]:
                        yield left, right

        starts = [(one, one) for one in inside]
        return any(
            any(left == right for left, right in circle) and any(left != right for left, right in circle)
            for circle in _circles(starts, pairs)
        )


def _times(ways: collections.Counter[int], number: int) -> collections.Counter[int]:
    return collections.Counter({place: min(count * number, 9) for place, count in ways.items() if number})


def _circles(starts: Iterable[Any], onward: Any) -> Iterator[list[Any]]:
    """The strongly connected parts of a graph (Tarjan, without recursion); single nodes only with a way back."""
    order: dict[Any, int] = {}
    low: dict[Any, int] = {}
    path: list[Any] = []
    open_nodes: set[Any] = set()
    for start in starts:
        work = [] if start in order else [(start, iter(list(onward(start))))]
        while work:
            node, rest = work[-1]
            if node not in order:
                order[node] = low[node] = len(order)
                path.append(node)
                open_nodes.add(node)
            for other in rest:
                if other not in order:
                    work.append((other, iter(list(onward(other)))))
                    break
                if other in open_nodes:
                    low[node] = min(low[node], order[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    circle = path[path.index(node) :]
                    del path[path.index(node) :]
                    open_nodes -= set(circle)
                    if len(circle) > 1 or node in list(onward(node)):
                        yield circle


def _characters(kind: Any, value: Any, flags: int) -> frozenset[str]:
    """The characters that one place reads, among some that stand for all."""
    if kind is op.ANY:
        return _LETTERS if flags & op.SRE_FLAG_DOTALL else _LETTERS - {"\n"}
    if kind in (op.LITERAL, op.NOT_LITERAL):
        one = _either_case(frozenset([chr(value)]), flags)
        return one if kind is op.LITERAL else _LETTERS - one
    found: frozenset[str] = frozenset()
    negated = False
    for what, inner in value:
        if what is op.NEGATE:
            negated = True
        elif what is op.LITERAL:
            found |= {chr(inner)}
        elif what is op.RANGE:
            found |= {one for one in _LETTERS if inner[0] <= ord(one) <= inner[1]} | {chr(inner[0])}
        elif what is op.CATEGORY:
            found |= _category(str(inner), flags)
    found = _either_case(found, flags)
    return _LETTERS - found if negated else found


def _either_case(letters: frozenset[str], flags: int) -> frozenset[str]:
    if not flags & op.SRE_FLAG_IGNORECASE:
        return letters
    return letters | {one.lower() for one in letters} | {one.upper() for one in letters}


def _category(name: str, flags: int) -> frozenset[str]:
    """`CATEGORY_NOT_SPACE` and its like."""
    matches = re.compile(_SETS[name.rsplit("_", 1)[-1]], re.ASCII if flags & op.SRE_FLAG_ASCII else 0).match
    found = frozenset(one for one in _LETTERS if matches(one))
    return _LETTERS - found if "NOT" in name else found
