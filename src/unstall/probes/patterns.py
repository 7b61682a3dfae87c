"""The regular expression that a thread is busy with: only whether it is ambiguous is kept, never its text."""

from __future__ import annotations

import ast

from unstall.evidence import ambiguity, syntax
from unstall.probes.python.memory import Unreadable
from unstall.probes.python.objects import Ref
from unstall.probes.samples import SampledFrame

_MODULES = ("/re/__init__.py", "/re.py")
_LONGEST = 4000
_SHORT = 28  # characters: with each more, an ambiguous pattern takes twice as long; 28 take half a minute
_FLAGS_AFTER_PATTERN = 8  # in a compiled pattern, the flags stand behind the pointer to its text


def judge(frames: tuple[SampledFrame, ...], tree: ast.AST | None) -> str:
    """Of the pattern that the innermost frame matches; "" where it is not known."""
    judged, texts = _pattern(frames[0], tree)
    lengths = [_length(one) for one in texts if one is not None and _type(one) in ("str", "bytes")]
    short = bool(lengths) and all(one is not None and one <= _SHORT for one in lengths)
    return ambiguity.SHORT if judged == ambiguity.AMBIGUOUS and short else judged


def _pattern(top: SampledFrame, tree: ast.AST | None) -> tuple[str, list[Ref | None]]:
    """What is known about the pattern, and the texts that it may be matched with."""
    if top.file.endswith(_MODULES):
        flags = top.value("flags")
        full = top.bare_name == "fullmatch"
        return _judged(top.ref("pattern"), flags if isinstance(flags, int) else 0, full=full), [top.ref("string")]
    for call in syntax.calls_on_line(tree, top.line) if tree is not None else ():
        if isinstance(call.func, ast.Attribute):
            found = top.ref(ast.unparse(call.func.value))
            if found is not None and _type(found) == "re.Pattern":
                texts = [top.ref(ast.unparse(one)) for one in call.args if syntax.is_plain(one)]
                return _judged(found, 0, full=call.func.attr == "fullmatch"), texts
    return ambiguity.UNKNOWN, []


def _length(ref: Ref) -> int | None:
    try:
        return ref.length()
    except Unreadable:
        return None


def _type(ref: Ref) -> str:
    try:
        return ref.type_name
    except Unreadable:
        return ""


def _judged(pattern: Ref | None, flags: int, *, full: bool) -> str:
    try:
        if pattern is not None and pattern.type_name == "re.Pattern":
            text = pattern.attribute("pattern")
            if text is None:
                return ambiguity.UNKNOWN
            flags = _flags(pattern, text)
            pattern = text
        value = pattern.value(_LONGEST + 1) if pattern is not None else None
    except Unreadable:
        return ambiguity.UNKNOWN
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if not isinstance(value, str) or len(value) > _LONGEST:
        return ambiguity.UNKNOWN
    return ambiguity.judge(value, flags, full=full)


def _flags(pattern: Ref, text: Ref) -> int:
    """The flags of a compiled pattern, found by the pointer before them."""
    for offset in range(24, 96, 8):
        if pattern.memory.u64(pattern.address + offset) == text.address:
            found = pattern.memory.i32(pattern.address + offset + _FLAGS_AFTER_PATTERN)
            return found if 0 <= found < 512 else 0
    return 0
