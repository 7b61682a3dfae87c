"""What a thread is busy with: the loop that it goes round in, and whether that loop can end."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from unstall.evidence import syntax
from unstall.evidence.code import Code
from unstall.evidence.stacks import Frame, Scalar, Stack

BOUNDARY = ("torch/utils/data/_utils/fetch.py", "torch/utils/data/_utils/worker.py", "torch/utils/data/dataloader.py")


@dataclass(frozen=True)
class ActiveLoop:
    """A loop that a thread is inside of. `rounds` says whether it was seen to go round."""

    frame: Frame
    node: syntax.LoopNode
    tree: ast.AST
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
        return not syntax.has_limit(self.node)

    @property
    def exit_values(self) -> dict[str, tuple[Scalar, ...]]:
        """What its ways out look at, with the values that were seen."""
        wanted = {text for way in self.exits for guard in way.guards for text in syntax.operands(guard)}
        return {name: values for name, values in self.frame.watched.items() if name in wanted}

    @property
    def frozen(self) -> bool:
        """None of the values that its ways out look at has changed, and some could be read."""
        values = [known for known in self.exit_values.values() if any(value is not None for value in known)]
        return bool(values) and all(len(set(known)) == 1 for known in values)

    @property
    def approaching(self) -> bool:
        """A number that a way out looks at moves steadily in one direction: the loop may well end."""
        return any(_is_steady(values) for values in self.exit_values.values())


def _is_steady(values: tuple[Scalar, ...]) -> bool:
    numbers = [float(one) for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(numbers) != len(values) or len(set(numbers)) < 3:
        return False
    steps = [after - before for before, after in zip(numbers, numbers[1:], strict=False)]
    return all(step >= 0 for step in steps) or all(step <= 0 for step in steps)


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
            found.append(ActiveLoop(frame, node, tree, rounds, innermost=position == 0))
        loops = syntax.loops_around(tree, frame.line)
        if frame.turns > 0 and not loops:
            called_again = True
        elif loops and any(_restarted(frame, one) for one in loops):
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
