"""How two ranks have come apart: by a loop that one of them has left, or by a condition that only one of them met."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass

from unstall.evidence import syntax
from unstall.evidence.code import Code
from unstall.evidence.ranks import JOINING, Call, Rank, Ranks, is_of_training
from unstall.evidence.stacks import Frame, Stacks
from unstall.evidence.stall import Stall
from unstall.model.finding import Confidence, Location

_OF_RANK = re.compile(
    r"(^|_)rank(_|$|\d)|rank_?zero|is_(main|master|chief|leader|primary|root|zero)|main_process|global_zero|coordinator",
    re.IGNORECASE,
)
_NOT_BATCHES = {"parameters", "named_parameters", "buffers", "named_buffers", "state_dict", "modules", "param_groups"}


_SIMPLE = (
    ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.Constant, ast.List, ast.Tuple, ast.Set,
    ast.expr_context, ast.BinOp, ast.Mod, ast.Add, ast.Sub,
)  # fmt: skip


@dataclass(frozen=True)
class Standing:
    """A rank in a call of torch.distributed, and its own code: outermost frame first."""

    rank: Rank
    call: Call
    frames: tuple[Frame, ...]

    @property
    def role(self) -> str:
        """What it is called."""
        return f"rank {self.rank.number}"

    @property
    def where(self) -> tuple[Location, ...]:
        """Its place, and what called it."""
        return tuple(
            Location(one.file, one.line, one.function, self.rank.pid or None, self.role)
            for one in self.frames[::-1]
            if one.user
        )

    @property
    def place(self) -> str:
        """Its place in words."""
        return (
            f"{self.frames[-1].file.rsplit('/', 1)[-1]}:{self.frames[-1].line}" if self.frames else "an unknown place"
        )


@dataclass(frozen=True)
class Pair:
    """Two ranks that wait for each other, seen from the first one: its frames from where they part, inwards."""

    mine: Standing
    theirs: Standing
    inner: tuple[Frame, ...]
    other: Frame | None  # the other rank's frame of the function in which they part


def in_circle(stall: Stall, ranks: Ranks, stacks: Stacks) -> list[Standing]:
    """The ranks that wait for each other in a circle; none where something else is part of it."""
    if not stall.cycle or any(one.call is None or one.call.name == JOINING for one in stall.cycle):
        return []
    found = [ranks.get(one.pid) for one in stall.cycle] + [one for one in ranks.all if one.node and one.call]
    return [_standing(one, stacks) for one in found if one is not None and one.call is not None]


def _standing(rank: Rank, stacks: Stacks) -> Standing:
    stack = None if rank.node else stacks.get(rank.thread)
    frames = tuple(one for one in stack.frames if is_of_training(one))[::-1] if stack else ()
    if rank.node:
        frames = tuple(Frame(one.file, one.line, one.function, user=True) for one in rank.where[::-1])
    assert rank.call is not None
    return Standing(rank, rank.call, frames)


def pairs(standing: list[Standing], code: Code) -> Iterator[Pair]:
    """Every two ranks in calls that don't meet, from both sides; whoever is behind comes first."""
    both = [
        (one, two)
        for one in standing
        for two in standing
        if one.rank.number != two.rank.number and not one.call.meets(two.call, me=one.rank.number, them=two.rank.number)
    ]
    yield from sorted((_pair(*one) for one in both), key=lambda one: not is_behind(one, code))


def _pair(mine: Standing, theirs: Standing) -> Pair:
    depth = 0
    for depth, (one, two) in enumerate(zip(mine.frames, theirs.frames, strict=False)):
        if (one.file, one.function) != (two.file, two.function):
            return Pair(mine, theirs, mine.frames[depth:], None)
        if one.line != two.line:
            return Pair(mine, theirs, mine.frames[depth:], two)
    return Pair(mine, theirs, mine.frames[depth + 1 :], None)


def is_behind(pair: Pair, code: Code) -> bool:
    """Whether the first rank has not come as far as the second: an earlier round of a loop, or an earlier line."""
    if not pair.inner or pair.other is None:
        return False
    mine, theirs = pair.inner[0], pair.other
    tree = code.tree(mine)
    for loop in reversed(syntax.loops_around(tree, mine.line)) if tree else ():
        targets = [] if isinstance(loop, ast.While) or not _holds(loop, theirs.line) else ast.walk(loop.target)
        for name in (one.id for one in targets if isinstance(one, ast.Name)):
            one, two = mine.value(name), theirs.value(name)
            if isinstance(one, int) and isinstance(two, int) and one != two:
                return one < two
    return mine.line < theirs.line


def left_loop(pair: Pair, code: Code) -> tuple[Frame, syntax.LoopNode] | None:
    """The outermost loop that the first rank is in and the second one is not in any more."""
    for depth, frame in enumerate(pair.inner):
        tree = code.tree(frame)
        for loop in reversed(syntax.loops_around(tree, frame.line)) if tree else ():
            shared = depth == 0 and pair.other is not None and _holds(loop, pair.other.line)
            if not shared and not _over_parts(loop):
                return frame, loop
    return None


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _over_parts(loop: syntax.LoopNode) -> bool:
    """A loop over the parts of a model, not over batches or steps."""
    return not isinstance(loop, ast.While) and bool(_words(loop.iter) & _NOT_BATCHES)


@dataclass(frozen=True)
class Guard:
    """A condition that only the first rank met."""

    frame: Frame
    line: int
    of_rank: bool  # it asks which rank this is
    both: bool = False  # the other rank is in its other branch


def guards(pair: Pair, code: Code) -> Iterator[Guard]:
    """The conditions around the first rank's place that the second one did not meet."""
    for depth, frame in enumerate(pair.inner):
        tree = code.tree(frame)
        if tree is None:
            continue
        other = pair.other if depth == 0 else None
        for node in ast.walk(tree):
            if not isinstance(node, ast.If):
                continue
            inside, after = _holds_block(node.body, frame.line), _follows_leaving(tree, node, frame.line)
            opposite = _holds_block(node.orelse, frame.line)
            if not (inside or opposite or after):
                continue
            if other is not None and _same_side(node, frame.line, other.line, after=after):
                continue
            if _same_answer(node.test, pair):
                continue
            both = other is not None and not after and _holds(node, other.line)
            yield Guard(frame, node.lineno, _of_rank(node.test, tree, frame, other), both)


def _holds_block(block: list[ast.stmt], line: int) -> bool:
    return any(_holds(one, line) for one in block)


def _same_side(node: ast.If, mine: int, theirs: int, *, after: bool) -> bool:
    if after:
        return not _holds_block(node.body, theirs) and theirs > node.lineno
    return any(_holds_block(block, mine) and _holds_block(block, theirs) for block in (node.body, node.orelse))


def _follows_leaving(tree: ast.AST, node: ast.If, line: int) -> bool:
    """The line comes after `if …: return`, in the same block."""
    if node.orelse or not isinstance(node.body[-1], ast.Return | ast.Continue):
        return False
    for parent in ast.walk(tree):
        for block in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
            if isinstance(block, list) and node in block:
                return _holds_block(block[block.index(node) + 1 :], line)
    return False


def _of_rank(test: ast.expr, tree: ast.AST, frame: Frame, other: Frame | None) -> bool:
    """It speaks of the rank, by its own words or by the words of what was assigned to a name in it."""
    words = _words(test)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id in words for one in targets):
                words |= _words(node.value)
    if any(_OF_RANK.search(one) for one in words):
        return True
    names = [one.id for one in ast.walk(test) if isinstance(one, ast.Name)]
    values = [(frame.value(one), other.value(one)) for one in names if other is not None]
    return any(isinstance(one, bool) and isinstance(two, bool) and one != two for one, two in values)


def _same_answer(test: ast.expr, pair: Pair) -> bool:
    """A question about the rank that both of them answer alike: `if rank != -1`."""
    answers = {_answer(test, one.rank.number) for one in (pair.mine, pair.theirs)}
    return len(answers) == 1 and None not in answers


def _answer(test: ast.expr, number: int) -> bool | None:
    """What a simple condition says of a rank; None where it asks for something else, too."""
    known: ast.expr = _Known(number).visit(copy.deepcopy(test))  # type: ignore[assignment]
    if any(not isinstance(one, _SIMPLE) for one in ast.walk(known)):
        return None
    if any(isinstance(one, ast.Constant) and not isinstance(one.value, int) for one in ast.walk(known)):
        return None
    try:
        return bool(eval(compile(ast.Expression(known), "condition", "eval"), {"__builtins__": {}}))
    except (ArithmeticError, TypeError, ValueError):
        return None


class _Known(ast.NodeTransformer):
    """Puts a rank's number where its name stands: `args.local_rank`, `dist.get_rank()`."""

    def __init__(self, number: int) -> None:
        self.number = number

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace the name, attribute or call that stands for a rank."""
        inner = node.func if isinstance(node, ast.Call) and not node.args else node
        name = inner.id if isinstance(inner, ast.Name) else inner.attr if isinstance(inner, ast.Attribute) else ""
        if re.search(r"(^|_)rank$", name):
            return ast.copy_location(ast.Constant(self.number), node)
        self.generic_visit(node)
        return node


def _words(node: ast.AST) -> set[str]:
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return found | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


@dataclass(frozen=True)
class Parting:
    """In which way two ranks have come apart: `count`, `subset` or `order`."""

    how: str
    pair: Pair
    line: int = 0  # of the loop that was left, or of the condition
    of_rank: bool = False

    @property
    def confidence(self) -> Confidence:
        """Certain where a thread of each rank waits for the other's data, in groups that are known."""
        both = (self.pair.mine, self.pair.theirs)
        if any(one.call.vague for one in both):
            return Confidence.POSSIBLE
        supposed = self.how == "subset" and not self.of_rank
        seen = all(one.rank.pending or one.rank.node for one in both)
        return Confidence.CERTAIN if seen and not supposed else Confidence.LIKELY


def parting(stall: Stall, ranks: Ranks, stacks: Stacks, code: Code) -> Parting | None:
    """How the ranks that wait for each other in a circle have come apart; None where it is another kind of stall."""
    found = list(pairs(in_circle(stall, ranks, stacks), code))
    asked = [(one, guard) for one in found for guard in guards(one, code)]
    for pair, guard in asked:
        if guard.of_rank:
            return Parting("order" if guard.both else "subset", pair, guard.line, True)
    for pair in found:
        loop = left_loop(pair, code) if is_behind(pair, code) else None
        if loop is not None:
            return Parting("count", pair, loop[1].lineno)
    for pair, guard in asked:
        return Parting("order" if guard.both else "subset", pair, guard.line)
    return Parting("order", found[0]) if found else None
