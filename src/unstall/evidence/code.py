"""The user's functions that stand on a stack, without comments and without what their strings say.

The text keeps its lines and columns, so places in it are places in the file.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import textwrap
import tokenize
from typing import ClassVar

import msgspec

from unstall.evidence.stacks import Frame
from unstall.model.evidence import Evidence

_KEEP = re.compile(r"[\w./{}-]{0,40}(lock|lck)[\w.]{0,8}|[rwaxbt+]{1,3}|__main__", re.IGNORECASE)
_TEXT = re.compile(r"(\\\n)|[^\n]")  # a backslash at the end of a line lets the string go on
_QUOTED = re.compile(r"(?s)^([a-zA-Z]*)('''|\"\"\"|'|\")(.*)\2$")


class Function(msgspec.Struct, frozen=True, omit_defaults=True):
    """One function: `first_line` is where its text begins in the file."""

    file: str
    name: str
    first_line: int
    text: str
    doc: bool = False

    @property
    def tree(self) -> ast.AST:
        """The function's syntax tree, with the file's line numbers."""
        return _parse(self.text, self.first_line)


class Code(Evidence, frozen=True):
    """Functions on the stacks, and functions of the same files that those call."""

    kind: ClassVar[str] = "code"

    all: tuple[Function, ...] = ()

    def of(self, frame: Frame) -> Function | None:
        """The function that a frame runs."""
        candidates = [
            one
            for one in self.all
            if one.file == frame.file
            and (one.name == frame.bare_name or (one.name == "<module>" and frame.function == "<module>"))
        ]
        around = [one for one in candidates if one.first_line <= frame.line <= _last_line(one)]
        return max(around, key=lambda one: one.first_line, default=None)

    def tree(self, frame: Frame) -> ast.AST | None:
        """The syntax tree of the function that a frame runs."""
        function = self.of(frame)
        return function.tree if function else None

    def named(self, file: str, name: str) -> Function | None:
        """A function of that name in a file."""
        return next((one for one in self.all if one.file == file and one.name == name), None)


def _last_line(function: Function) -> int:
    return function.first_line + function.text.count("\n")


@functools.lru_cache(maxsize=1024)
def _parse(text: str, first_line: int) -> ast.AST:
    try:
        tree: ast.AST = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])
    return ast.increment_lineno(tree, first_line - 1)


def redact(source: str) -> str:
    """The source without comments and with strings blanked; every other character stays where it was."""
    lines = source.split("\n")  # not splitlines(): to Python a form feed ends no line
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return ""
    hidden = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.COMMENT)}
    for token in reversed(tokens):
        if token.type in hidden:
            _blank(lines, token.start, token.end, _replacement(token))
    return "\n".join(lines)


def _replacement(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.COMMENT:
        return " " * len(token.string)
    if token.type != tokenize.STRING:
        return re.sub(r"[^\n]", "x", token.string)
    quoted = _QUOTED.match(token.string)
    if quoted is None:
        return token.string
    prefix, quote, body = quoted.groups()
    if _KEEP.fullmatch(body):
        return token.string
    return prefix + quote + _TEXT.sub(lambda found: found[1] or "x", body) + quote


def _blank(lines: list[str], start: tuple[int, int], end: tuple[int, int], text: str) -> None:
    pieces = text.split("\n")
    for number, piece in enumerate(pieces):
        row = start[0] - 1 + number
        left = start[1] if number == 0 else 0
        right = end[1] if number == len(pieces) - 1 else len(lines[row])
        lines[row] = lines[row][:left] + piece + lines[row][right:]


def functions_in(file: str, source: str, wanted: set[tuple[str, int]]) -> list[Function]:
    """The wanted functions, as (name, any line within), and those that they call in the same file.

    `<module>` stands for the statements of the file outside of functions and classes.
    """
    clean = redact(source)
    try:
        tree = ast.parse(clean)
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = clean.split("\n")
    definitions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    chosen: dict[int, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    for name, line in wanted:
        around = [one for one in definitions if _start(one) <= line <= (one.end_lineno or 0) and one.name == name]
        if not around and name.startswith("<") and name != "<module>":  # a lambda or comprehension
            around = [one for one in definitions if _start(one) <= line <= (one.end_lineno or 0)]
        for one in around[-1:]:
            chosen[_start(one)] = one
    called = {
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for one in chosen.values()
        for node in ast.walk(one)
        if isinstance(node, ast.Call)
    }
    for one in definitions:
        if one.name in called:
            chosen.setdefault(_start(one), one)
    found = [
        Function(file, one.name, _start(one), "\n".join(lines[_start(one) - 1 : one.end_lineno]))
        for one in chosen.values()
    ]
    if any(name == "<module>" for name, _ in wanted):
        found.append(Function(file, "<module>", 1, "\n".join(_top_level(tree, lines))))
    return found


def _start(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _top_level(tree: ast.Module, lines: list[str]) -> list[str]:
    kept = list(lines)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            for row in range(first - 1, node.end_lineno or first):
                kept[row] = ""
    return kept


class SourceFile(Evidence, frozen=True):
    """A whole source file, for the checks that need no run."""

    kind: ClassVar[str] = "source"

    path: str
    text: str

    def mentions(self, *words: str) -> bool:
        """Whether one of these words stands in the file: cheaper than its syntax tree."""
        return any(word in self.text for word in words)

    @property
    def tree(self) -> ast.AST:
        """The file's syntax tree; empty where it can't be parsed."""
        return _parse(self.text, 1)
