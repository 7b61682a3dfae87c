"""Samples Python stacks, and folds the samples into frames that know what moved."""

from __future__ import annotations

import ast
import functools
import os
import re
import sysconfig
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from unstall.evidence import loop_limits, syntax
from unstall.evidence.stacks import Frame, Local, Scalar, Stack, Walk
from unstall.model.diagnosis import Unexamined
from unstall.probes import lengths, patterns, procfs, spy
from unstall.probes.code import command_text, read_source
from unstall.probes.python import open_interpreter
from unstall.probes.python.expressions import evaluate
from unstall.probes.python.frames import Frame as MemoryFrame
from unstall.probes.python.frames import Interpreter
from unstall.probes.python.memory import Unreadable
from unstall.probes.samples import SampledFrame, SampledLocal, SampledStack, scalar

MOST_WATCHED = 12  # expressions of one frame
MOST_LOCALS = 40
UNSETTLED_SAMPLES = 4
_LIBRARY = re.compile(r"/(site|dist)-packages/|/lib/python3\.\d+/|^<|/lib-dynload/")
_COMMAND = re.compile(r"/bin/[^/.]+$")
_OURS = os.path.join(
    os.path.dirname(os.path.dirname(__file__)), "agent"
)  # its hooks stand on the stacks of a supervised training
_STDLIB = sysconfig.get_paths()["stdlib"]


def is_user_code(file: str, script: str) -> bool:
    """Whether a file is the user's own: not Python's, and not of an installed package (or its command, as torchrun)."""
    return file == script or not (_LIBRARY.search(file) or file.startswith((_STDLIB, _OURS)) or _COMMAND.search(file))


@dataclass
class Track:
    """The samples of one thread."""

    last: SampledStack
    shapes: list[tuple[tuple[str, str, int, int, int], ...]] = field(default_factory=list)  # outermost first
    locals: list[list[dict[str, int]]] = field(default_factory=list)
    watched: list[list[dict[str, Scalar]]] = field(default_factory=list)


class StackSampler:
    """Samples the stacks of some processes."""

    def __init__(self, pids: list[int], *, with_locals: bool = False) -> None:
        self.with_locals = with_locals
        self.tracks: dict[int, Track] = {}
        self.interpreters: dict[int, Interpreter] = {}
        self.spied: set[int] = set()
        self.unexamined: list[Unexamined] = []
        self.scripts: dict[int, str] = {}
        self._watchlists: dict[tuple[str, int, int], list[str]] = {}
        self._files: dict[tuple[int, str], tuple[str, bool]] = {}
        self._trees: dict[str, ast.AST | None] = {}
        self.started = time.monotonic()
        self.refused: list[int] = []
        for pid in pids:
            self.add(pid)
        if self.refused:
            what = f"the Python stacks of {', '.join(f'process {pid}' for pid in self.refused)}"
            hint = f"look as root (`sudo unstall why {pids[0]}`), or as the user who started the training"
            self.unexamined.append(Unexamined(what, "the kernel does not let you read another program's memory", hint))

    def add(self, pid: int) -> None:
        """Sample one more process from now on."""
        self.scripts[pid] = script_of(pid)
        try:
            self.interpreters[pid] = open_interpreter(pid)
        except Unreadable as error:
            if error.reason == "permission":
                self.refused.append(pid)
            elif error.reason != "gone":
                self.spied.add(pid)
                self.unexamined.append(
                    Unexamined(f"the objects of process {pid}", str(error), "stacks come from py-spy instead")
                )

    def look(self, *, spy_too: bool = False) -> list[SampledStack]:
        """Take one sample of every thread."""
        stacks: list[SampledStack] = []
        for pid in list(self.interpreters):
            try:
                stacks.extend(self.read(pid))
            except Unreadable:
                continue
        if spy_too:
            for pid in self.spied:
                stacks.extend(spy.dump(pid, functools.partial(is_user_code, script=self.scripts[pid])))
        for stack in stacks:
            self._add(stack)
        return stacks

    def read(self, pid: int) -> list[SampledStack]:
        """The stacks of one process now."""
        stacks = []
        for thread in self.interpreters[pid].threads():
            try:
                frames = [self._frame(pid, frame) for frame in thread.frames()]
            except Unreadable:
                continue
            stacks.append(SampledStack(pid, thread.native_id, thread.ident, "", _own_frames(frames)))
        return stacks

    def _frame(self, pid: int, frame: MemoryFrame) -> SampledFrame:
        key = (pid, frame.file)
        if key not in self._files:
            user = is_user_code(frame.file, self.scripts[pid])
            self._files[key] = absolute(pid, frame.file), user
        suspended = functools.partial(self._suspended, pid, frame)
        return _sampled(frame, *self._files[key], suspended)

    def _suspended(self, pid: int, frame: MemoryFrame) -> list[SampledFrame]:
        found = []
        for manager in frame.contexts():
            generator = manager.attribute("gen") if "GeneratorContextManager" in manager.type_name else None
            inner = self.interpreters[pid].suspended_frame(generator) if generator else None
            if inner is not None:
                found.append(self._frame(pid, inner))
        return found

    def _add(self, stack: SampledStack) -> None:
        if not stack.frames:
            return
        track = self.tracks.setdefault(stack.tid, Track(stack))
        track.last = stack
        outermost_first = stack.frames[::-1]
        track.shapes.append(
            tuple((one.file, one.function, one.first_line, one.line, one.instruction) for one in outermost_first)
        )
        track.locals.append(
            [
                {name: local.address for name, local in one.locals().items()} if one.user else {}
                for one in outermost_first
            ]
        )
        track.watched.append([self._watch(stack.pid, one) if one.user else {} for one in outermost_first])

    def _watch(self, pid: int, frame: SampledFrame) -> dict[str, Scalar]:
        """The values that the ways out of the loops around this line look at."""
        if frame.evaluate is None:
            return {}
        key = (frame.file, frame.first_line, frame.line)
        if key not in self._watchlists:
            self._watchlists[key] = self._watchlist(pid, frame)
        return {_public(text): _measure(frame, text) for text in self._watchlists[key]}

    def _watchlist(self, pid: int, frame: SampledFrame) -> list[str]:
        if frame.file not in self._trees:
            source = read_source(pid, frame.file)
            try:
                self._trees[frame.file] = ast.parse(source) if source else None
            except (SyntaxError, ValueError, RecursionError):
                self._trees[frame.file] = None
        tree = self._trees[frame.file]
        texts: dict[str, None] = {}
        asked: dict[str, None] = {}
        for loop in syntax.loops_around(tree, frame.line) if tree else []:
            if isinstance(loop, ast.For):
                texts.update(dict.fromkeys(one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)))
            for way in syntax.exits(loop):
                for guard in way.guards:
                    texts.update(dict.fromkeys(syntax.operands(guard)))
                    asked.update(dict.fromkeys(loop_limits.asked_for(guard)))
        for loop in syntax.loops_around(tree, frame.line) if tree else []:
            texts.update(dict.fromkeys(f"len({text})" for text in syntax.consulted(loop)))
        types = syntax.receivers_on_line(tree, frame.line) if tree else []
        return [*list(texts)[:MOST_WATCHED], *(f"type({text})" for text in dict.fromkeys([*types, *asked]))]

    def finish(self) -> tuple[Stack, ...]:
        """The stacks, with what moved in them."""
        return tuple(self._with_pattern(track, fold(track, self.with_locals)) for track in self.tracks.values())

    def _with_pattern(self, track: Track, stack: Stack) -> Stack:
        """Where nothing moved it may be busy with one regular expression."""
        if stack.moved or not track.last.frames or track.last.source != "memory":
            return stack
        found = patterns.judge(track.last.frames, self._trees.get(track.last.frames[0].file))
        return msgspec.structs.replace(stack, pattern=found) if found else stack


def absolute(pid: int, file: str) -> str:
    """A source file's full path: Python keeps it as it was given on the command line."""
    if file.startswith(("/", "<")):
        return file
    return os.path.normpath(os.path.join(procfs.link(f"/proc/{pid}/cwd") or "/", file))


def script_of(pid: int) -> str:
    """The script that a Python process was started with, as its frames name it."""
    for word in procfs.command(pid)[1:]:
        if word.endswith(".py"):
            return word
        if word == "-c" and command_text(pid):
            return "<string>"
        if word in ("-m", "-c"):
            break
    return ""


def _own_frames(frames: list[SampledFrame]) -> tuple[SampledFrame, ...]:
    """Without the frames of the parent at which a worker was forked: they will never go on."""
    for depth, frame in enumerate(frames):
        if frame.bare_name == "_bootstrap" and frame.file.endswith("multiprocessing/process.py"):
            return tuple(frames[: depth + 1])
    return tuple(frames)


def _sampled(
    frame: MemoryFrame, file: str, user: bool, read_suspended: Callable[[], list[SampledFrame]]
) -> SampledFrame:
    return SampledFrame(
        file=file,
        function=frame.function,
        first_line=frame.first_line,
        line=frame.line or 0,
        instruction=frame.instruction,
        user=user,
        read_locals=lambda: {name: SampledLocal(address=ref.address, ref=ref) for name, ref in frame.locals.items()},
        evaluate=lambda expression: evaluate(frame, expression),
        read_contexts=frame.contexts,
        read_suspended=read_suspended,
        read_walks=frame.walks,
    )


def _public(text: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", text)


def _measure(frame: SampledFrame, text: str) -> Scalar:
    """A value to compare between samples: a number, or a stand-in for a text or an object."""
    if text.startswith("len(") and text.endswith(")"):
        ref = frame.ref(text[4:-1])
        try:
            return ref.length() if ref else None
        except Unreadable:
            return None
    if text.startswith("type("):
        ref = frame.ref(text[5:-1])
        return SampledLocal(0, ref=ref).type_name() if ref else None
    ref = frame.ref(text)
    if ref is None:
        return None
    value = scalar(ref)
    if isinstance(value, str):
        return f"text {zlib.crc32(value.encode('utf-8', 'replace')):08x}"
    if value is None:
        try:
            return None if ref.is_none else f"object {ref.address:x} {ref.length() or ''}".strip()
        except Unreadable:
            return None
    return value


def fold(track: Track, with_locals: bool) -> Stack:
    """One stack out of all samples of a thread."""
    settle(track)
    shapes = track.shapes
    shared = _shared_depth(shapes)
    pivot = next(
        (depth for depth in range(shared) if len({shape[depth][4] for shape in shapes}) > 1),
        shared - 1 if shared else 0,
    )
    frames = []
    total = len(track.last.frames)
    for depth, frame in enumerate(reversed(track.last.frames)):
        frames.append(_fold_frame(track, depth, frame, with_locals, history=depth <= pivot and shared > 0))
    moved = any(shape != shapes[0] for shape in shapes)
    above = [shape[pivot + 1 :] for shape in shapes]
    return Stack(
        pid=track.last.pid,
        tid=track.last.tid,
        name=track.last.name,
        ident=track.last.ident,
        main=track.last.pid == track.last.tid,
        frames=tuple(reversed(frames)),
        samples=len(shapes),
        pivot=total - 1 - pivot if moved else 0,
        moved=moved,
        calls_seen=sum(one != other for one, other in zip(above, above[1:], strict=False)),
        holds_gil=track.last.holds_gil,
        source=track.last.source,
    )


def settle(track: Track) -> None:
    """Forget the first samples, which may have caught the thread on its way into the stall."""
    if len(track.shapes) > 2 * UNSETTLED_SAMPLES:
        for history in (track.shapes, track.locals, track.watched):
            del history[:UNSETTLED_SAMPLES]


def _shared_depth(shapes: list[tuple[tuple[str, str, int, int, int], ...]]) -> int:
    """How many outermost frames are the same functions in all samples, up to the first one that moved."""
    depth = 0
    while all(depth < len(shape) for shape in shapes) and len({shape[depth][:3] for shape in shapes}) == 1:
        depth += 1
        if len({shape[depth - 1][4] for shape in shapes}) > 1:
            break
    return depth


def _fold_frame(track: Track, depth: int, frame: SampledFrame, with_locals: bool, *, history: bool) -> Frame:
    lines: tuple[int, ...] = (frame.line,)
    changed: tuple[str, ...] = ()
    watched: dict[str, tuple[Scalar, ...]] = {}
    moved, turns = False, 0
    if history:
        steps = [shape[depth] for shape in track.shapes]
        lines = tuple(sorted({step[3] for step in steps if step[3]}))
        moved = len({step[4] for step in steps}) > 1
        turns = sum(after[4] < before[4] for before, after in zip(steps, steps[1:], strict=False))
        first = track.locals[0][depth]
        changed = tuple(name for name in first if any(one[depth].get(name) != first[name] for one in track.locals))
        names = dict.fromkeys(name for one in track.watched for name in one[depth])
        for name in names:
            values = tuple(one[depth].get(name) for one in track.watched if name in one[depth])
            watched[name] = tuple(dict.fromkeys(values)) if name.startswith("type(") else values
    return Frame(
        file=frame.file,
        line=frame.line or (lines[-1] if lines else 0),
        function=frame.function,
        first_line=frame.first_line,
        user=frame.user,
        locals=_locals(frame, with_locals) if frame.user or "torch/utils/data" in frame.file else (),
        lines=lines,
        changed=changed,
        watched=watched,
        moved=moved,
        turns=turns,
        walks=_walks(track.last.pid, frame) if frame.user else (),
    )


def _walks(pid: int, frame: SampledFrame) -> tuple[Walk, ...]:
    try:
        return tuple(Walk(one.type_name, index, lengths.promised(pid, one)) for one, index in frame.walks())
    except Unreadable:
        return ()


def _locals(frame: SampledFrame, with_locals: bool) -> tuple[Local, ...]:
    found = []
    for name, local in list(frame.locals().items())[:MOST_LOCALS]:
        value = local.value()
        if isinstance(value, str) and not with_locals:
            value = None
        found.append(Local(name, local.type_name(), value, local.size(), local.address))
    return tuple(found)
