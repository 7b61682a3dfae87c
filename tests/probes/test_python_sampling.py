"""Reading a process that runs at full speed, and memory that makes no sense."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from python_processes import HERE, VERSIONS, find_python, start, stop

from unstall.probes.python import Frame, Interpreter, ProcessMemory, Ref, Unreadable, open_interpreter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
SOURCE = HERE / "python_busy.py"
SAMPLES = 3000

# Who may call whom in python_busy.py.
CALLERS = {
    "leaf": {"middle", "Worker.descend"},
    "middle": {"numbers"},
    "numbers": {"Worker.run_once"},
    "Worker.descend": {"Worker.descend", "Worker.run_once"},
    "Worker.run_once": {"loop"},
    "created": {"loop"},
    "fresh": {"created"},
    "loop": {"<module>", "Thread.run"},
    "Thread.run": {"Thread._bootstrap_inner"},
    "Thread._bootstrap_inner": {"Thread._bootstrap"},
}


@pytest.fixture(scope="module", params=VERSIONS)
def busy(request: pytest.FixtureRequest) -> Iterator[Interpreter]:
    python = find_python(request.param)
    if python is None:
        pytest.skip(f"no Python {request.param}")
    process = start(python, SOURCE)
    try:
        with open_interpreter(process.pid) as interpreter:
            yield interpreter
    finally:
        stop(process)


def _lines(code: CodeType) -> dict[str, set[int]]:
    found = {code.co_qualname: {line for *_, line in code.co_lines() if line}}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _lines(constant)
    return found


def _sample(interpreter: Interpreter) -> Iterator[list[Frame]]:
    for _ in range(SAMPLES // 2):
        for thread in interpreter.threads():
            try:
                yield thread.frames()
            except Unreadable as error:
                reasons = ("changing", "not mapped", "not an object", "not a code object")
                assert error.reason in reasons  # noqa: PT017
                yield []


def test_lines_belong_to_their_functions(busy: Interpreter) -> None:
    lines = _lines(compile(SOURCE.read_text(), SOURCE, "exec"))
    seen = set()
    for stack in _sample(busy):
        for frame in stack:
            if frame.file == str(SOURCE) and frame.line is not None:
                assert frame.line in lines[frame.function], frame
                seen.add(frame.function)
    assert {"leaf", "middle", "numbers", "Worker.descend", "Worker.run_once", "loop"} <= seen


def test_stacks_are_not_mixtures(busy: Interpreter) -> None:
    mixed = unread = 0
    for stack in _sample(busy):
        unread += not stack
        functions = [frame.function for frame in stack]
        pairs = itertools.pairwise(functions)
        mixed += any(caller not in CALLERS.get(function, {caller}) for function, caller in pairs)
    assert mixed <= SAMPLES / 200
    assert unread <= SAMPLES / 100


def test_locals_of_a_running_frame_are_values_or_unreadable(busy: Interpreter) -> None:
    read = 0
    for stack in _sample(busy):
        for frame in stack[:2]:
            if frame.file != str(SOURCE) or not frame.code.has_fast_locals:
                continue
            frame.contexts()
            for ref in frame.locals.values():
                try:
                    ref.value()
                    read += 1
                except Unreadable:
                    continue
    assert read > SAMPLES / 10


def test_the_gil_holder_is_a_thread(busy: Interpreter) -> None:
    tasks = {int(name) for name in os.listdir(f"/proc/{busy.pid}/task")}
    holders = {busy.gil_holder() for _ in range(2000)}
    assert holders - {None} == tasks


def test_any_address_is_read_or_unreadable(busy: Interpreter) -> None:
    """Every method, on thousands of addresses that hold no or another object."""
    chance = random.Random(0)
    regions = [region for region in busy.memory.regions() if "rw" in region.perms]
    for _ in range(1500):
        region = chance.choice(regions)
        address = chance.randrange(region.start, region.end, chance.choice((1, 8, 8, 8)))
        _exercise(Ref(address, busy.heap))
    for address in (0, 1, 7, 2**47, 2**63 - 1, 2**63, 2**64 - 8, 2**64):
        _exercise(Ref(address, busy.heap))


def _exercise(ref: Ref) -> None:
    methods = (
        lambda: ref.value(), lambda: ref.length(), lambda: ref.attribute("name"), lambda: ref.attributes(),
        lambda: ref.item(3), lambda: ref.item("key"), lambda: ref.items(), lambda: ref.values(),
        lambda: ref.type_name, lambda: ref.contents, lambda: ref.function_globals, lambda: ref.method_self,
        lambda: ref.function_name, lambda: ref.locked, lambda: ref.rlock(), lambda: ref.semlock(),
        lambda: ref.socket(), lambda: ref.pattern_length(),
        lambda: ref.heap.class_at(ref.address),
    )  # fmt: skip
    for method in methods:
        try:
            method()
        except Unreadable:
            continue


def test_any_thread_state_is_read_or_unreadable(busy: Interpreter) -> None:
    chance = random.Random(1)
    regions = [region for region in busy.memory.regions() if "rw" in region.perms]
    for _ in range(500):
        region = chance.choice(regions)
        try:
            busy.read_stack(chance.randrange(region.start, region.end, 8))
        except Unreadable:
            continue


def test_memory_finds_a_pattern_and_reads_it_back(busy: Interpreter) -> None:
    regions = [region for region in busy.memory.regions() if "rw" in region.perms]
    found = list(busy.memory.find(b"_bootstrap_inner\0", regions, 64 << 20))
    assert found
    assert busy.memory.cstring(found[0], 100) == "_bootstrap_inner"
    assert list(busy.memory.find(b"_bootstrap_inner\0", regions, 0)) == []


def test_a_process_that_ends_is_gone() -> None:
    process = start(sys.executable, SOURCE)
    try:
        interpreter = open_interpreter(process.pid)
        threads = interpreter.threads()
    finally:
        stop(process)
    for read in (interpreter.threads, threads[0].frames, interpreter.memory.regions):
        with pytest.raises(Unreadable, match="gone"):
            read()
    with pytest.raises(Unreadable, match="gone"):
        open_interpreter(process.pid)
    interpreter.close()
    with pytest.raises(Unreadable, match="closed"):
        interpreter.threads()


def test_another_program_is_not_python() -> None:
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("running\n")
        process.stdin.flush()
        process.stdout.readline()
        with pytest.raises(Unreadable, match="not Python"):
            open_interpreter(process.pid)
    finally:
        stop(process)


def test_kernel_threads_and_unmapped_addresses() -> None:
    with ProcessMemory(os.getpid()) as memory:
        with pytest.raises(Unreadable, match="not mapped"):
            memory.u64(8)
        with pytest.raises(Unreadable, match="not mapped"):
            memory.read(memory.regions()[0].start, 1 << 40)


def test_a_loop_of_entry_frames_ends(busy: Interpreter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames that point at each other, as corrupt memory may hold them; from 3.12 each an entry from C."""
    reads = 0

    def read_some(address: int, size: int) -> bytes:
        nonlocal reads
        reads += 1
        word = 0x0003_0000_0000_1000 + (address + 64) % 0x1000  # 3 stands where the owner is read
        return word.to_bytes(8, "little") * (size // 8) + bytes(size % 8)

    monkeypatch.setattr(busy.memory, "read_some", read_some)
    try:
        assert busy.read_stack(0x1000) == []
    except Unreadable:
        pass
    assert 0 < reads < 50_000
