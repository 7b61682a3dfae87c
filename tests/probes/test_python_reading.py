"""Values, attributes, locks and stacks of a process that stands still, for each Python version."""

from __future__ import annotations

import ast
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from python_processes import HERE, VERSIONS, find_python, start, stop

from unstall.probes.python import (
    UNRESOLVED,
    Frame,
    Interpreter,
    Ref,
    ThreadState,
    Unreadable,
    evaluate,
    evaluate_value,
    open_interpreter,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
SOURCE = HERE / "python_target.py"


@pytest.fixture(scope="module", params=VERSIONS)
def interpreter(request: pytest.FixtureRequest) -> Iterator[Interpreter]:
    python = find_python(request.param)
    if python is None:
        pytest.skip(f"no Python {request.param}")
    process = start(python, SOURCE)
    try:
        with open_interpreter(process.pid) as opened:
            _wait_until_still(opened)
            yield opened
    finally:
        stop(process)


def _wait_until_still(interpreter: Interpreter) -> None:
    """Until every thread is in its last lock: "ready" is said a moment before the last of them is."""
    line = _line_of("blocker.acquire()", nth=2)
    for _ in range(100_000):
        stacks = [thread.frames() for thread in interpreter.threads()]
        waiting = [stack for stack in stacks if stack and stack[0].line == line]
        if len(waiting) == len(stacks) - 1:
            return
    raise AssertionError("the threads do not come to rest")


def _line_of(text: str, nth: int = 1) -> int:
    lines = [number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line]
    return lines[nth - 1]


def _stack_with(interpreter: Interpreter, function: str) -> list[Frame]:
    for thread in interpreter.threads():
        stack = thread.frames()
        if any(frame.function == function for frame in stack):
            return stack
    raise AssertionError(f"no thread runs {function}")


def _frame(interpreter: Interpreter, function: str) -> Frame:
    return next(frame for frame in _stack_with(interpreter, function) if frame.function == function)


def _values(interpreter: Interpreter) -> dict[str, Ref]:
    return _frame(interpreter, "values").locals


def test_version_and_threads(interpreter: Interpreter) -> None:
    threads = interpreter.threads()
    assert interpreter.version[:2] == interpreter.layout.version
    tasks = {int(name) for name in os.listdir(f"/proc/{interpreter.pid}/task")}
    assert {thread.native_id for thread in threads} == tasks
    assert len({thread.ident for thread in threads}) == len(threads) == 11
    main = next(thread for thread in threads if thread.native_id == interpreter.pid)
    assert main.ident == interpreter.main_thread_ident
    assert [frame.function for frame in main.frames()] == ["main", "<module>"]
    assert interpreter.gil_holder() is None  # all wait


@pytest.mark.parametrize(
    ("function", "line"),
    [
        ("make_closure.<locals>.closure", "ready_and_wait(seen)"),
        ("generator", "ready_and_wait(inside)"),
        ("run_generator", "for _ in generator()"),
        ("nested_with", "ready_and_wait(item)"),
        ("after_with", "ready_and_wait(inside)"),
        ("Plain.wait", "block(local)"),
        ("block", "ready_and_wait(local)"),
        ("class_body.<locals>.Body", "ready_and_wait(member)"),
        ("class_body", "class Body"),
        ("comprehension", "return [ready_and_wait"),
        ("multi_line", "ready_and_wait(\n"),
    ],
)
def test_lines(interpreter: Interpreter, function: str, line: str) -> None:
    frame = _frame(interpreter, function)
    assert frame.file == str(SOURCE)
    nth = {"ready_and_wait(inside)": 2 if function == "after_with" else 1}.get(line, 1)
    if line.endswith("\n"):
        assert frame.line == _line_of("        ready_and_wait(", nth=_count("        ready_and_wait("))
        assert frame.end_line == (frame.line or 0) + 2
    else:
        assert frame.line == _line_of(line, nth)


def _count(text: str) -> int:
    number = _line_of("def multi_line")
    lines = [at for at, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line]
    return next(index for index, at in enumerate(lines, 1) if at > number)


def test_columns_mark_the_running_call(interpreter: Interpreter) -> None:
    frame = _frame(interpreter, "Plain.wait")
    text = SOURCE.read_text().splitlines()[(frame.line or 0) - 1]
    assert text[frame.column : frame.end_column] == "block(local)"
    assert frame.first_line == _line_of("def wait(self")


def test_deep_recursion_has_every_frame(interpreter: Interpreter) -> None:
    stack = _stack_with(interpreter, "recurse")
    depths = [frame.locals["depth"].value() for frame in stack if frame.function == "recurse"]
    assert depths == list(range(901))


def test_locals_of_every_kind_of_frame(interpreter: Interpreter) -> None:
    wait = _frame(interpreter, "Plain.wait").locals
    assert (wait["argument"].value(), wait["local"].value()) == (41, 42)
    assert wait["self"].type_name == "__main__.Plain"
    closure = _frame(interpreter, "make_closure.<locals>.closure").locals
    assert {name: ref.value() for name, ref in closure.items()} == dict.fromkeys(("captured", "seen"), "captured value")
    body = _frame(interpreter, "class_body.<locals>.Body")
    assert body.locals["member"].value() == "class member"
    generator = _frame(interpreter, "generator")
    assert generator.is_generator
    assert generator.locals["inside"].value() == "in generator"
    module = _frame(interpreter, "<module>")
    assert module.locals["GLOBAL_NUMBER"].value() == 12345
    assert module.globals.address == module.locals_address


def test_plain_values(interpreter: Interpreter) -> None:
    expected = {
        "small": 5, "negative": -3, "large": 2**200 + 1, "minus_large": -(2**64), "zero": 0, "sixty": 2**60,
        "yes": True, "no": False, "nothing": None, "real": 1.5, "infinite": math.inf, "ascii_text": "plain",
        "latin": "café", "wide": "日本語", "astral": "a🎉b", "empty": "", "subclass_text": "sub日",
        "data": b"by\0tes", "int_child": 2**100,
    }  # fmt: skip
    names = _values(interpreter)
    read = {name: names[name].value() for name in expected}
    assert read == expected
    assert [type(value) for value in read.values()] == [type(value) for value in expected.values()]
    assert names["nothing"].is_none
    assert not names["zero"].is_none
    assert names["long_text"].value(limit=10) == "x" * 10
    assert names["long_text"].length() == 100_000
    assert names["long_data"].value(limit=10) == b"y" * 10
    with pytest.raises(Unreadable, match="not a plain value"):
        names["items"].value()


def test_containers(interpreter: Interpreter) -> None:
    names = _values(interpreter)
    items = names["items"]
    assert [_item(items, index) for index in (0, 1, 2, -1, -3)] == [1, "two", None, None, 1]
    assert items.item(3) is None
    assert items.item(-4) is None
    assert names["pair"].length() == names["names"].length() == 2
    assert _item(names["pair"], -1) == 2
    assert [_item(names["queue"], index) for index in (0, 100, -1)] == [1, 101, 199]
    assert [ref.value() for ref in names["queue"].values()] == list(range(1, 200))
    assert [ref.value() for ref in names["bounded"].values()] == [7, 8, 9]
    assert _item(names["ordered"], "a") == 1
    assert _item(names["counts"], "k") == 9
    assert [key.value() for key, _ in names["deleted"].items()] == list(range(15, 20))
    assert names["deleted"].length() == 5
    assert names["real"].length() is None
    table = _frame(interpreter, "values").globals.item("GLOBAL_TABLE")
    assert table is not None
    assert [_item(table, key) for key in ("one", 2, -1, 10**20)] == [1, "two", "minus one", "large"]
    assert table.item("two") is table.item(3) is None
    assert table.length() == len(table.items()) == 5


def _item(ref: Ref, key: int | str) -> object:
    found = ref.item(key)
    assert found is not None
    return found.value()


def test_attributes(interpreter: Interpreter) -> None:
    names = _values(interpreter)
    plain, slotted = names["plain"], names["slotted"]
    assert _attribute(plain, "inherited") == "from base"
    assert _attribute(plain, "number") == 7
    assert _attribute(plain, "shared") == "class attribute"
    assert plain.attribute("computed") is plain.attribute("cached") is plain.attribute("missing") is None
    assert _attribute(slotted, "left") == "left slot"
    assert _attribute(slotted, "own") == 3
    assert slotted.attribute("unset") is None
    assert _attribute(names["record"], "name") == "record"
    assert _attribute(names["record"], "size") == 4
    assert _attribute(names["with_dict"], "extra") == "added"
    assert _attribute(names["with_dict"], "text") == "text"
    assert _attribute(names["many"], "attribute_59") == 59
    assert len(names["many"].attributes()) == 64
    assert _attribute(names["int_child"], "note") == "on int"
    assert _attribute(names["tuple_child"], "note") == "on tuple"
    assert names["plain"].type_name == "__main__.Plain"
    assert names["queue"].type_name == "collections.deque"


def _attribute(ref: Ref, name: str) -> object:
    found = ref.attribute(name)
    assert found is not None, name
    return found.value()


def test_functions_patterns_and_sockets(interpreter: Interpreter) -> None:
    names = _values(interpreter)
    assert names["method"].method_self == names["plain"]
    assert names["method"].function_name == "wait"
    assert names["method"].function_globals == _frame(interpreter, "values").globals
    assert names["builtin"].method_self == names["items"]
    assert names["builtin"].function_name == "append"
    assert names["pattern"].pattern_length() == len("a+b?")
    left, right = names["left"].socket(), names["right"].socket()
    assert left is not None
    assert right is not None
    assert left.timeout_ns == 2_500_000_000
    assert right.timeout_ns < 0
    for state in (left, right):
        assert os.readlink(f"/proc/{interpreter.pid}/fd/{state.fd}").startswith("socket:")
    assert names["small"].socket() is names["small"].pattern_length() is names["small"].method_self is None


def test_locks(interpreter: Interpreter) -> None:
    frame = _frame(interpreter, "nested_with")
    free = _values(interpreter)["free_lock"]
    outer, process_lock, reentrant = (
        evaluate(frame, name) for name in ("outer_lock", "process_lock._semlock", "reentrant")
    )
    assert outer is not None
    assert process_lock is not None
    assert reentrant is not None
    assert (free.locked, outer.locked, reentrant.locked) == (False, True, True)
    thread = _thread_of(interpreter, "nested_with")
    state = reentrant.rlock()
    assert state is not None
    assert (state.owner, state.count) == (thread.ident, 2)
    assert state.address == reentrant.thread_lock_address()
    semaphore = process_lock.semlock()
    assert semaphore is not None
    assert (semaphore.count, semaphore.maxvalue, semaphore.kind) == (1, 1, 1)
    assert semaphore.last_tid == thread.ident
    regions = interpreter.memory.regions()
    assert any("/dev/shm/" in r.path for r in regions if r.start <= semaphore.handle < r.end)
    assert outer.rlock() is outer.semlock() is frame.globals.thread_lock_address() is None


def test_the_lock_address_is_the_futex_its_waiters_sleep_on(interpreter: Interpreter) -> None:
    blocker = evaluate(_frame(interpreter, "values"), "blocker")
    assert blocker is not None
    for function in ("values", "nested_with", "generator"):
        thread = _thread_of(interpreter, function)
        try:
            fields = Path(f"/proc/{interpreter.pid}/task/{thread.native_id}/syscall").read_text().split()
        except OSError:
            pytest.skip("/proc/<pid>/syscall is not readable here")
        assert int(fields[1], 16) == blocker.thread_lock_address()


def _thread_of(interpreter: Interpreter, function: str) -> ThreadState:
    for thread in interpreter.threads():
        if any(frame.function == function for frame in thread.frames()):
            return thread
    raise AssertionError(function)


def test_contexts_are_the_with_blocks_around_the_instruction(interpreter: Interpreter) -> None:
    frame = _frame(interpreter, "nested_with")
    names = ("outer_lock", "process_lock", "reentrant", "reentrant", "process_semaphore")
    assert frame.contexts() == [evaluate(frame, name) for name in names]
    assert _frame(interpreter, "after_with").contexts() == []
    assert _frame(interpreter, "run_generator").contexts() == []


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("plain.table['a'][-1]", 3),
        ("plain.table", UNRESOLVED),
        ("items[small - 4]", UNRESOLVED),
        ("items[zero]", 1),
        ("queue[small]", 6),
        ("GLOBAL_NUMBER", UNRESOLVED),  # a local that was deleted
        ("started", UNRESOLVED),
        ("GLOBAL_TABLE[negative]", UNRESOLVED),
        ("len(items)", 3),
        ("len(plain.table['a'])", 3),
        ("len(GLOBAL_TABLE)", 5),
        ("print(items)", UNRESOLVED),
        ("plain.wait(1)", UNRESOLVED),
        ("missing.attribute", UNRESOLVED),
        ("nothing", None),
        ("-7", -7),
        ("re.compile", UNRESOLVED),
        ("syntax error", UNRESOLVED),
        ("a" + ".a" * 5000, UNRESOLVED),
    ],
)
def test_expressions(interpreter: Interpreter, expression: str, value: object) -> None:
    assert evaluate_value(_frame(interpreter, "values"), expression) == value


def test_globals_are_found_after_locals(interpreter: Interpreter) -> None:
    assert evaluate_value(_frame(interpreter, "nested_with"), "GLOBAL_NUMBER") == 12345
    found = evaluate(_frame(interpreter, "nested_with"), "started")
    assert found is not None
    assert found.type_name == "threading.Semaphore"


def test_modules(interpreter: Interpreter) -> None:
    main = interpreter.module_of(str(SOURCE))
    assert main is not None
    assert main == interpreter.module_of(str(SOURCE)) == _frame(interpreter, "values").globals
    threading = interpreter.modules().item("threading")
    assert threading is not None
    thread_class = threading.attribute("Thread")
    assert thread_class is not None
    assert thread_class.is_type
    assert interpreter.module_of("/no/such/file.py") is None


def test_every_frame_is_where_its_source_says(interpreter: Interpreter) -> None:
    tree = ast.parse(SOURCE.read_text())
    spans = {
        node.name: (node.lineno, node.end_lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for thread in interpreter.threads():
        for frame in thread.frames():
            name = frame.function.replace(".<locals>.<listcomp>", "").rpartition(".")[2]
            if frame.file == str(SOURCE) and name in spans and frame.line is not None:
                first, last = spans[name]
                assert first <= frame.line <= (last or first), frame
