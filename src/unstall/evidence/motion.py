"""What a thread is busy with: the loop that it goes round in, and whether that loop can end."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass

from unstall.evidence import arithmetic, influence, loop_limits, syntax
from unstall.evidence.code import Code
from unstall.evidence.stacks import Frame, Scalar, Stack
from unstall.model.finding import Confidence, Fact

_PLAIN = ("int", "float", "bool", "str", "bytes", "NoneType", "tuple", "complex", "range")
_FINITE = ("_io.", "numpy.", "torch.", "pandas.", "collections.", "_csv.", "tokenizers.", "array.", "pyarrow.")
BOUNDARY = ("torch/utils/data/_utils/fetch.py", "torch/utils/data/_utils/worker.py", "torch/utils/data/dataloader.py")


@dataclass(frozen=True)
class ActiveLoop:
    """A loop that a thread is inside of. `rounds` says whether it was seen to go round."""

    frame: Frame
    node: syntax.LoopNode
    tree: ast.AST
    code: Code
    rounds: bool
    innermost: bool  # no other user frame stands above it

    @property
    def line(self) -> int:
        """The line of its header."""
        return self.node.lineno

    @property
    def exits(self) -> list[syntax.Exit]:
        """The ways out that its source shows."""
        return syntax.exits(self.node)

    @property
    def endless(self) -> bool:
        """Its source has no limit: no finite iterable, no counter, no clock on a way out."""
        if not isinstance(self.node, ast.While) and self._goes_over_endless(self.node.iter):
            return not any(way.guards and loop_limits.is_clocked(way) for way in self.exits)
        return not loop_limits.has_limit(self.node, self._switched_off)

    @property
    def _switched_off(self) -> set[str]:
        """What a way out asks for, and is None: `timeout` where there is none."""
        kinds = {name: values for name, values in self.frame.watched.items() if name.startswith("type(")}
        return {name[5:-1] for name, values in kinds.items() if values and set(values) == {"NoneType"}}

    @property
    def may_be_endless(self) -> bool:
        """It has no limit, or goes over something whose length nobody knows: a generator, an object of a class."""
        if self.endless or isinstance(self.node, ast.While):
            return self.endless
        kinds = self.frame.watched.get(f"type({ast.unparse(self.node.iter)})", ())
        kind = str(kinds[-1]) if kinds else ""
        if kind.startswith(("generator", "itertools.", "map", "filter")):
            return True
        return "." in kind and not kind.startswith(_FINITE)

    def _goes_over_endless(self, iterable: ast.expr) -> bool:
        """A generator of the same file that never ends, or an object of itertools that does not."""
        kinds = self.frame.watched.get(f"type({ast.unparse(iterable)})", ())
        if kinds and kinds[-1] in ("itertools.count", "itertools.cycle", "itertools.repeat"):
            return True
        if not isinstance(iterable, ast.Call):
            return False
        called = self.code.named(self.frame.file, syntax.called_name(iterable))
        return called is not None and any(
            isinstance(one, ast.While) and syntax.yields(one) and not syntax.exits(one) for one in ast.walk(called.tree)
        )

    @property
    def exit_values(self) -> dict[str, tuple[Scalar, ...]]:
        """What its ways out look at, with the values that were seen."""
        wanted = {text for way in self.exits for guard in way.guards for text in syntax.operands(guard)}
        return {name: values for name, values in self.frame.watched.items() if name in wanted}

    @property
    def frozen(self) -> bool:
        """None of the values that its ways out look at has changed or can change, and all could be read."""
        if any(syntax.is_opaque(guard) for way in self.exits for guard in way.guards) or any(
            not way.guards for way in self.exits
        ):
            return False
        changeable = syntax.stored(self.node)
        values = [known for known in self.exit_values.values() if any(value is not None for value in known)]
        unsure = any(
            name in changeable and any(isinstance(value, str) for value in known)  # an object that may change inside
            for name, known in self.exit_values.items()
        )
        same = bool(values) and not unsure and all(len(set(known)) == 1 for known in values)
        return same and not self._may_change()

    def _may_change(self) -> bool:
        """A way out looks at what is worked out anew from something that moves: a flag, the result of a search."""
        watched = self.frame.watched.items()
        plain = {one.name for one in self.frame.locals if one.type in _PLAIN}
        plain |= {name for name, values in watched if all(isinstance(one, int | float) for one in values)}
        moving = {name for name, values in watched if name.isidentifier() and len(set(values)) > 1}
        restless = influence.restless(self.node, moving | set(self.frame.changed), plain)
        return any(influence.keys(name) & restless for name in self.exit_values)

    @property
    def repeating(self) -> bool:
        """It walks in a circle: a way out looks at a place that came again, and each place leads to the next one."""
        moving = {name: values for name, values in self.exit_values.items() if len(set(values)) > 1}
        return bool(moving) and all(self._came_again(name, values) for name, values in moving.items())

    def _came_again(self, name: str, values: tuple[Scalar, ...]) -> bool:
        places = [one for one, before in zip(values, (None, *values), strict=False) if one != before]
        if len(set(places)) > len(places) - 2 or None in places:
            return False
        others = set(self.frame.changed) - influence.keys(name)
        return influence.is_walk(self.node, influence.keys(name)) and not (
            influence.keys(name) & influence.restless(self.node, others, set())
        )

    @property
    def approaching(self) -> bool:
        """A number that a way out looks at moves steadily, and not away from its goal: the loop may well end."""
        return self.exploring or any(
            self._gap_moves(guard, closer=True) or self._counts_steadily(guard)
            for way in self.exits
            for guard in way.guards
        )

    @property
    def exploring(self) -> bool:
        """What it has seen or done grows, and it asks for that: a search, which ends when all has been seen."""
        for name in syntax.consulted(self.node):
            values = self.frame.watched.get(f"len({name})", ())
            if _is_steady(values) and values[-1] != values[0]:
                return True
        return False

    @property
    def steps_past(self) -> str | None:
        """The remainder of a counter that never becomes what the loop's test wants."""
        return arithmetic.steps_past(self.node, self.frame) if isinstance(self.node, ast.While) else None

    @property
    def receding(self) -> bool:
        """A number that a way out looks at moves steadily away from its goal."""
        return any(self._gap_moves(guard, closer=False) for way in self.exits for guard in way.guards)

    def _gap_moves(self, guard: ast.expr, *, closer: bool) -> bool:
        for gaps in (_gaps(self.frame, one) for one in ast.walk(guard) if isinstance(one, ast.Compare)):
            if _is_steady(gaps) and (gaps[-1] < gaps[0]) is closer:
                return True
        return False

    def _counts_steadily(self, guard: ast.expr) -> bool:
        """What is not compared with a number moves steadily: an index, or a list that becomes shorter."""
        compared = {
            text
            for one in ast.walk(guard)
            if isinstance(one, ast.Compare) and _gaps(self.frame, one)
            for text in syntax.operands(one)
        }
        for name in set(syntax.operands(guard)) - compared:
            values = self.frame.watched.get(name, ())
            lengths = _lengths(values)
            if _is_steady(values) or (_is_steady(lengths) and lengths[-1] < lengths[0]):
                return True
        return False

    @property
    def draws_random(self) -> bool:
        """Whether the loop, or a function of the user's that it calls, draws random numbers."""
        calls = [one for one in ast.walk(self.node) if isinstance(one, ast.Call)]
        if any(syntax.is_random_call(one) for one in calls):
            return True
        called = {syntax.called_name(one) for one in calls}
        own = {one.name for one in self.code.all if one.file == self.frame.file and one.name in called}
        return any(
            syntax.draws_random(syntax.body_of(one.tree))
            for one in self.code.all
            if one.name in called and (one.file == self.frame.file or one.name not in own)
        )

    def never_ends(self, *, long: bool, very_long: bool) -> Confidence | None:
        """How sure it is that the loop never ends; None where it may well end.

        `long`: it was watched for seconds; `very_long`: so long that a loop which ends would probably have ended.
        """
        if not self.exits:
            return Confidence.CERTAIN
        if self.frozen and (self.rounds or long):
            return Confidence.CERTAIN
        if self.steps_past:
            return Confidence.CERTAIN
        if self.repeating:
            return Confidence.LIKELY
        if self.approaching:
            return None
        if (very_long or (long and self.receding)) and (self.rounds or self.frame.moved):
            return Confidence.LIKELY
        return Confidence.POSSIBLE

    def facts(self, stack: Stack, doing: str) -> list[Fact]:
        """What speaks for a loop that never ends."""
        found = [
            Fact(f"its thread {doing}", "CPU time"),
            Fact(f"it was inside the loop at line {self.line} in all {stack.samples} looks", "its Python stack"),
        ]
        if not self.exits:
            found.append(Fact("the loop has no way out: no condition, break, return or raise", "the source"))
        else:
            lines = ", ".join(str(line) for line in sorted({way.line for way in self.exits}))
            found.append(Fact(f"the loop has no limit; its ways out are on line {lines}", "the source"))
        if self.steps_past:
            found.append(Fact(f"counting on, `{self.steps_past}` never becomes what the test wants", "its variables"))
        for name, values in list(self.exit_values.items())[:3]:
            if len(set(values)) == 1 and values[0] is not None:
                found.append(Fact(f"`{name}`, which a way out looks at, never changed", "its variables"))
        return found


def _is_steady(values: Sequence[Scalar]) -> bool:
    """Numbers that only ever rise, or only ever fall."""
    numbers = [_real(one) for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(numbers) != len(values) or len(set(numbers)) < 3:
        return False
    steps = [after - before for before, after in zip(numbers, numbers[1:], strict=False)]
    return all(step >= 0 for step in steps) or all(step <= 0 for step in steps)


def _real(number: float) -> float:
    """A number to calculate with: Python's whole numbers can be larger than any float."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _gaps(frame: Frame, compare: ast.Compare) -> tuple[float, ...]:
    """How far apart the two sides of a comparison were; nothing where they are not both known numbers."""
    if len(compare.comparators) != 1:
        return ()
    left, right = _series(frame, compare.left), _series(frame, compare.comparators[0])
    return tuple(abs(one - other) for one, other in zip(left, right, strict=False))


def _lengths(values: tuple[Scalar, ...]) -> tuple[int, ...]:
    """The lengths of one and the same object, over the samples."""
    words = [one.split() for one in values if isinstance(one, str) and one.startswith("object ")]
    if len(words) != len(values) or len({one[1] for one in words}) != 1:
        return ()
    return tuple(int(one[2]) if len(one) > 2 else 0 for one in words)


def _series(frame: Frame, node: ast.expr) -> tuple[float, ...]:
    """The numbers that an expression had over the samples; nothing where they are not known."""
    values = frame.watched.get(ast.unparse(node), ())
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return (_real(node.value),) * 1000
    if not values or not all(isinstance(one, int | float) for one in values):
        return ()
    return tuple(_real(one) for one in values if isinstance(one, int | float))


def reach(stack: Stack) -> list[Frame]:
    """The user's frames, innermost first, down to torch's loader code: what runs for one sample."""
    frames: list[Frame] = []
    for frame in stack.frames:
        if frame.file.endswith(BOUNDARY):
            break
        if frame.user:
            frames.append(frame)
    return frames


def loops_of(stack: Stack, code: Code) -> list[ActiveLoop]:
    """The loops around the thread's present place, innermost first, in the frames of `reach`."""
    found: list[ActiveLoop] = []
    depth = {id(frame): number for number, frame in enumerate(stack.frames)}
    called_again = False
    for position, frame in enumerate(reach(stack)):
        tree = code.tree(frame)
        if tree is None:
            continue
        inside_pivot = depth[id(frame)] < stack.pivot
        for node in syntax.loops_around(tree, frame.line):
            seen_outside = any(not node.lineno <= line <= (node.end_lineno or line) for line in frame.lines)
            rounds = not inside_pivot and (frame.turns > 0 or called_again or _restarted(frame, node))
            if inside_pivot or seen_outside:
                continue
            found.append(ActiveLoop(frame, node, tree, code, rounds, innermost=position == 0))
        loops = syntax.loops_around(tree, frame.line)
        if (frame.turns > 0 and not loops) or (loops and any(_restarted(frame, one) for one in loops)):
            called_again = True
    return found


def _restarted(frame: Frame, loop: syntax.LoopNode) -> bool:
    """Whether a for loop's variable was seen to go back: it ended, and was begun again."""
    if isinstance(loop, ast.While):
        return False
    for node in ast.walk(loop.target):
        values = frame.watched.get(node.id, ()) if isinstance(node, ast.Name) else ()
        numbers = [one for one in values if isinstance(one, int) and not isinstance(one, bool)]
        if any(after < before for before, after in zip(numbers, numbers[1:], strict=False)):
            return True
    return False


def spinning_loop(stack: Stack, code: Code) -> ActiveLoop | None:
    """The innermost loop without a limit that a computing thread goes round in.

    A limited loop inside it is passed over only if it was seen to end and begin again.
    """
    loops = loops_of(stack, code)
    for position, loop in enumerate(loops):
        if loop.endless:
            return loop
        onward = loops[position + 1 :]
        if not any(one.rounds for one in onward):
            return None
    return None


def waiting_loop(stack: Stack, code: Code) -> ActiveLoop | None:
    """The innermost loop around a sleep, if it has no limit."""
    for loop in loops_of(stack, code):
        return loop if loop.endless else None
    return None


def waits_again(stack: Stack, code: Code) -> bool:
    """Whether a wait with a time limit is begun again and again, until it succeeds: that is the way out."""
    loop = waiting_loop(stack, code)
    if loop is None or not loop.innermost or _lets_go(loop.node, loop.frame.line):
        return False
    results = {
        target.id
        for node in syntax.walk(loop.node)
        if isinstance(node, ast.Assign) and node.lineno <= loop.frame.line <= (node.end_lineno or node.lineno)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    if any(way.in_try and way.line >= loop.frame.line for way in loop.exits):
        return True  # it leaves the `try` when the wait has succeeded; its failure is caught
    return any(
        guard.lineno <= loop.frame.line <= (guard.end_lineno or guard.lineno)
        or any(isinstance(one, ast.Name) and one.id in results for one in ast.walk(guard))
        for way in loop.exits
        for guard in way.guards
    )


def _lets_go(loop: syntax.LoopNode, line: int) -> bool:
    """Whether each round gives something back, so that others can go on before the next try."""
    for node in syntax.walk(loop):
        if isinstance(node, ast.With) and node.lineno < line <= (node.end_lineno or 0):
            return True
        if isinstance(node, ast.Call) and syntax.called_name(node) in ("release", "notify", "notify_all", "set"):
            return True
    return False
