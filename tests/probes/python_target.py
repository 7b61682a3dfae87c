"""The program that tests/probes/test_python_*.py reads from outside: many kinds of values, then stillness.

Runs on Python 3.11 to 3.13. Prints "ready" once all its threads have come to rest.
"""

# ruff: noqa: F841, N806, RUF059, SIM117
import collections
import dataclasses
import functools
import multiprocessing
import re
import socket
import sys
import threading

GLOBAL_NUMBER = 12345
GLOBAL_TABLE = {"one": 1, 2: "two", -1: "minus one", (1, 2): "pair", 10**20: "large"}
started = threading.Semaphore(0)
blocker = threading.Lock()
blocker.acquire()
outer_lock = threading.Lock()
reentrant = threading.RLock()
process_lock = multiprocessing.Lock()
process_semaphore = multiprocessing.Semaphore(5)


class Base:
    shared = "class attribute"

    def __init__(self):
        self.inherited = "from base"


class Plain(Base):
    def __init__(self):
        super().__init__()
        self.text = "text"
        self.number = 7
        self.table = {"a": [1, 2, 3]}

    @property
    def computed(self):
        return 1

    @functools.cached_property
    def cached(self):
        return 2

    def wait(self, argument):
        local = argument + 1
        block(local)


class Slotted:
    __slots__ = ("left", "right", "unset")

    def __init__(self):
        self.left = "left slot"
        self.right = [10, 20]


class SlottedChild(Slotted):
    __slots__ = ("own",)

    def __init__(self):
        super().__init__()
        self.own = 3


class WithDictInt(int):
    pass


class WithDictTuple(tuple):
    pass


@dataclasses.dataclass
class Record:
    name: str
    size: int = 4


class Text(str):
    pass


def block(local):
    ready_and_wait(local)


def ready_and_wait(unused):
    started.release()
    blocker.acquire()


def make_closure():
    captured = "captured value"
    empty_later = 1
    del empty_later

    def closure():
        seen = captured
        ready_and_wait(seen)

    return closure


def generator():
    inside = "in generator"
    yield 1
    ready_and_wait(inside)
    yield 2


def run_generator():
    for _ in generator():
        pass


def nested_with():
    with outer_lock, process_lock:
        with reentrant:
            with reentrant:
                for item in [1, 2]:
                    try:
                        with process_semaphore:
                            ready_and_wait(item)
                    finally:
                        pass


def after_with():
    with threading.Lock():
        inside = 1
    ready_and_wait(inside)


def recurse(depth):
    if depth:
        recurse(depth - 1)
    else:
        ready_and_wait(depth)


def comprehension():
    return [ready_and_wait(x) for x in ["element"]]


def class_body():
    class Body:
        member = "class member"
        ready_and_wait(member)


def multi_line(
    first,
):
    return max(
        first,
        ready_and_wait(
            first,
        ),
    )


def values():
    small, negative, large = 5, -3, 2**200 + 1
    minus_large, zero, sixty = -(2**64), 0, 2**60
    yes, no, nothing = True, False, None
    real, infinite = 1.5, float("inf")
    ascii_text, latin, wide, astral, empty = "plain", "café", "日本語", "a🎉b", ""
    subclass_text, long_text = Text("sub日"), "x" * 100_000
    data, long_data = b"by\0tes", b"y" * 100_000
    items, pair, names = [1, "two", None], (1, 2), {"x", "y"}
    queue = collections.deque([*range(200)])
    queue.popleft()
    bounded = collections.deque(range(10), maxlen=3)
    ordered = collections.OrderedDict(a=1)
    counts = collections.defaultdict(int, {"k": 9})
    deleted = dict.fromkeys(range(20))
    for key in range(15):
        del deleted[key]
    plain, slotted, record = Plain(), SlottedChild(), Record("record")
    with_dict = Plain()
    vars(with_dict)["extra"] = "added"
    many = Plain()
    for index in range(60):
        setattr(many, f"attribute_{index}", index)
    int_child, tuple_child = WithDictInt(2**100), WithDictTuple((1, 2, 3))
    int_child.note, tuple_child.note = "on int", "on tuple"
    pattern = re.compile("a+b?")
    left, right = socket.socketpair()
    left.settimeout(2.5)
    free_lock = threading.Lock()
    method, builtin = plain.wait, items.append
    GLOBAL_NUMBER = 1
    del GLOBAL_NUMBER
    ready_and_wait(0)


def main():
    functions = [
        make_closure(),
        run_generator,
        nested_with,
        after_with,
        comprehension,
        class_body,
        functools.partial(multi_line, "argument"),
        functools.partial(recurse, 900),
        functools.partial(Plain().wait, 41),
        values,
    ]
    threads = [threading.Thread(target=function, daemon=True, name=str(function)) for function in functions]
    for thread in threads:
        thread.start()
    for _ in threads:
        started.acquire()
    print("ready", flush=True)
    sys.stdin.readline()


main()
