"""Questions about code, answered from its syntax tree alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

LoopNode = ast.While | ast.For | ast.AsyncFor
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_PURE = {
    "len", "min", "max", "abs", "int", "float", "bool", "sum", "any", "all", "round", "isinstance", "tuple", "list",
    "set", "sorted", "str", "map", "zip", "enumerate", "range", "ord",
}  # fmt: skip
_RANDOM = {
    "rand", "randn", "random", "randint", "randrange", "choice", "choices", "uniform", "normal", "gauss", "sample",
    "permutation", "integers", "shuffle", "random_", "getrandbits", "multinomial", "bernoulli", "randperm",
    "standard_normal", "random_sample", "betavariate", "triangular", "exponential", "poisson", "binomial",
}  # fmt: skip


@dataclass(frozen=True)
class Exit:
    """A way out of a loop: the line, the conditions that guard it, and whether a call must succeed first."""

    line: int
    how: str  # test, break, return, raise
    guards: tuple[ast.expr, ...]
    in_try: bool = False


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below, without going into functions defined there."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS):
            continue
        yield child
        yield from walk(child)


def body_of(tree: ast.AST) -> ast.AST:
    """The function in a tree that holds just one; else the tree."""
    body = getattr(tree, "body", None)
    if isinstance(tree, ast.Module) and isinstance(body, list) and len(body) == 1:
        only = body[0]
        if isinstance(only, ast.FunctionDef | ast.AsyncFunctionDef):
            return only
    return tree


def loops_around(tree: ast.AST, line: int) -> list[LoopNode]:
    """The loops that a line is in, innermost first. A line of a loop's header is in the loop."""
    found = [node for node in ast.walk(tree) if isinstance(node, LoopNode) and node.lineno <= line <= _body_end(node)]
    return sorted(found, key=lambda node: (node.lineno, -_body_end(node)), reverse=True)


def _body_end(loop: LoopNode) -> int:
    return max((one.end_lineno or one.lineno for one in loop.body), default=loop.lineno)


def is_always(expression: ast.expr) -> bool:
    """Whether a test is a constant that is true."""
    return isinstance(expression, ast.Constant) and bool(expression.value)


def exits(loop: LoopNode) -> list[Exit]:
    """The ways out of a loop that its source shows."""
    found: list[Exit] = []
    if isinstance(loop, ast.While) and not is_always(loop.test):
        found.append(Exit(loop.lineno, "test", (loop.test,)))
    _exits(loop.body, (), in_try=False, nested=False, found=found)
    return found


def _exits(
    body: list[ast.stmt], guards: tuple[ast.expr, ...], *, in_try: bool, nested: bool, found: list[Exit]
) -> None:
    for node in body:
        if isinstance(node, ast.Break) and not nested:
            found.append(Exit(node.lineno, "break", guards, in_try))
        elif isinstance(node, ast.Return):
            found.append(Exit(node.lineno, "return", guards, in_try))
        elif isinstance(node, ast.Raise) and not in_try:
            found.append(Exit(node.lineno, "raise", guards, in_try))
        elif isinstance(node, ast.If):
            _exits(node.body, (*guards, node.test), in_try=in_try, nested=nested, found=found)
            _exits(node.orelse, (*guards, node.test), in_try=in_try, nested=nested, found=found)
        elif isinstance(node, LoopNode):
            inner = (*guards, node.test) if isinstance(node, ast.While) and not is_always(node.test) else guards
            _exits(node.body, inner, in_try=in_try, nested=True, found=found)
            _exits(node.orelse, guards, in_try=in_try, nested=nested, found=found)
        elif isinstance(node, ast.With | ast.AsyncWith):
            _exits(node.body, guards, in_try=in_try, nested=nested, found=found)
        elif isinstance(node, ast.Try):
            caught = in_try or any(not _leaves(handler.body) for handler in node.handlers)
            _exits(node.body, guards, in_try=caught, nested=nested, found=found)
            _exits(node.orelse, guards, in_try=caught, nested=nested, found=found)
            for handler in node.handlers:
                _exits(handler.body, guards, in_try=in_try, nested=nested, found=found)
            _exits(node.finalbody, guards, in_try=in_try, nested=nested, found=found)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                _exits(case.body, (*guards, node.subject), in_try=in_try, nested=nested, found=found)


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a block always ends in raise, return or break."""
    return bool(body) and isinstance(body[-1], ast.Raise | ast.Return | ast.Break)


def operands(expression: ast.expr) -> list[str]:
    """The variables, attributes, items and lengths that a test looks at, as source."""
    found: dict[str, None] = {}
    _operands(expression, found)
    bound = {
        name.id
        for part in ast.walk(expression)
        if isinstance(part, ast.comprehension)
        for name in ast.walk(part.target)
        if isinstance(name, ast.Name)
    }
    return [text for text in found if not bound & _names(text)]


def _names(text: str) -> set[str]:
    return {one.id for one in ast.walk(ast.parse(text, mode="eval")) if isinstance(one, ast.Name)}


def _operands(node: ast.AST, found: dict[str, None]) -> None:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1 and is_plain(node.args[0]):
            found[ast.unparse(node)] = None
            return
        if isinstance(node.func, ast.Attribute):
            _operands(node.func.value, found)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            _operands(argument, found)
    elif isinstance(node, ast.expr) and is_plain(node):
        if not isinstance(node, ast.Constant):
            found[ast.unparse(node)] = None
    else:
        for child in ast.iter_child_nodes(node):
            _operands(child, found)


def is_plain(node: ast.AST) -> bool:
    """Whether it is a name, or attributes and items of one: what can be read from a frame."""
    if isinstance(node, ast.Name | ast.Constant):
        return True
    if isinstance(node, ast.Attribute):
        return is_plain(node.value)
    return isinstance(node, ast.Subscript) and is_plain(node.value) and isinstance(node.slice, ast.Name | ast.Constant)


def stored(loop: LoopNode) -> set[str]:
    """Names, attributes and containers that the loop's body may change, as source."""
    changed: set[str] = set()
    parts: list[ast.AST] = [*loop.body]
    if not isinstance(loop, ast.While):
        parts.append(loop.target)
    else:
        parts.append(loop.test)
    for part in parts:
        for node in (part, *walk(part)):
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
                changed.add(ast.unparse(node))
                if isinstance(node, ast.Subscript):
                    changed.add(ast.unparse(node.value))
            elif isinstance(node, ast.Call):
                if isinstance(node.func, ast.Attribute):
                    changed.add(ast.unparse(node.func.value))
                changed.update(ast.unparse(one) for one in node.args if isinstance(one, ast.Name | ast.Attribute))
    return changed


def consulted(loop: LoopNode) -> list[str]:
    """The collections that the loop asks whether they hold something, as source."""
    found: dict[str, None] = {}
    for node in walk(loop):
        if isinstance(node, ast.Compare):
            for asked, place in zip(node.ops, node.comparators, strict=True):
                if isinstance(asked, ast.In | ast.NotIn) and is_plain(place) and not isinstance(place, ast.Constant):
                    found[ast.unparse(place)] = None
    return list(found)


def calls(node: ast.AST) -> list[ast.Call]:
    """The calls in a piece of code."""
    return [one for one in (node, *walk(node)) if isinstance(one, ast.Call)]


def called_name(call: ast.Call) -> str:
    """The last part of what is called: `sleep` for `time.sleep(1)`."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def calls_on_line(tree: ast.AST, line: int) -> list[ast.Call]:
    """The calls whose text includes a line."""
    found = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    return [one for one in found if one.lineno <= line <= (one.end_lineno or one.lineno)]


def receivers_on_line(tree: ast.AST, line: int) -> list[str]:
    """The objects whose methods are called on a line, and what the `for` loops around it go over, as source."""
    found: dict[str, None] = {}
    for call in calls_on_line(tree, line):
        if isinstance(call.func, ast.Attribute) and is_plain(call.func.value):
            found[ast.unparse(call.func.value)] = None
    for loop in loops_around(tree, line):
        if isinstance(loop, ast.For) and is_plain(loop.iter):
            found[ast.unparse(loop.iter)] = None
    return list(found)


def is_opaque(expression: ast.expr) -> bool:
    """Whether a test depends on a call whose result can't be seen from outside."""
    return any(
        isinstance(one, ast.Call) and not (isinstance(one.func, ast.Name) and one.func.id in _PURE)
        for one in ast.walk(expression)
    )


def is_random_call(call: ast.Call) -> bool:
    """Whether a call draws random numbers."""
    return called_name(call) in _RANDOM


def draws_random(node: ast.AST) -> bool:
    """Whether code calls something that draws random numbers."""
    return any(is_random_call(one) for one in calls(node))


def sleeps(node: ast.AST) -> bool:
    """Whether code calls something named sleep or wait."""
    return any(called_name(one) in ("sleep", "wait") for one in calls(node))


def swallows_errors(loop: LoopNode) -> ast.ExceptHandler | None:
    """The handler in a loop that catches an error and lets the loop go on."""
    for node in walk(loop):
        if isinstance(node, ast.ExceptHandler) and not _leaves(node.body):
            return node
    return None


def yields(node: ast.AST) -> bool:
    """Whether code yields."""
    return any(isinstance(one, ast.Yield | ast.YieldFrom) for one in walk(node))


def calls_before(tree: ast.AST, line: int) -> list[ast.Call]:
    """The calls that a function has made by the time it is at a line, as far as its blocks tell, in order.

    Blocks that leave (return, raise, break) before the line are not counted, nor is a `try` body whose handler the
    line is in: it may have failed anywhere.
    """
    found: list[ast.Call] = []
    body = getattr(body_of(tree), "body", [])
    _before(body if isinstance(body, list) else [], line, found)  # a lambda has no statements
    return found


def _before(block: list[ast.stmt], line: int, found: list[ast.Call]) -> None:
    for number, node in enumerate(block):
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            for earlier in block[:number]:
                _made(earlier, found)
            for inner in _blocks_to(node, line, found):
                _before(inner, line, found)
            return


def _blocks_to(node: ast.stmt, line: int, found: list[ast.Call]) -> Iterator[list[ast.stmt]]:
    """The block of a compound statement that a line is in; adds the calls that come before that block."""
    if isinstance(node, ast.Try) and _holds(node.finalbody, line):
        _made_block(node.body, found)
    if isinstance(node, ast.Try) and _holds(node.orelse, line):
        _made_block(node.body, found)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list) and _holds(block, line):
            yield block
    for handler in getattr(node, "handlers", []):
        if _holds(handler.body, line):
            yield handler.body


def _holds(block: list[ast.stmt], line: int) -> bool:
    return bool(block) and block[0].lineno <= line <= (block[-1].end_lineno or block[-1].lineno)


def _made_block(block: list[ast.stmt], found: list[ast.Call]) -> None:
    for node in block:
        _made(node, found)


def _made(node: ast.stmt, found: list[ast.Call]) -> None:
    """The calls of a statement that is over, without those of branches that would have left."""
    if isinstance(node, _FUNCTIONS):
        return
    blocks = [getattr(node, field, None) for field in ("body", "orelse", "finalbody")]
    inner = [block for block in blocks if isinstance(block, list)]
    if not inner:
        found.extend(calls(node))
        return
    for block in inner:
        if not _leaves(block):
            _made_block(block, found)
