"""A program that calls as fast as it can; tests/probes/test_python_sampling.py samples it. Prints "ready"."""

import threading


def leaf(number):
    total = number
    total += 1
    return total


def middle(number):
    first = leaf(number)
    second = leaf(first)
    return first + second


def numbers(count):
    for number in range(count):
        yield middle(number)


class Worker:
    def __init__(self):
        self.step = 0

    def run_once(self):
        self.step += 1
        return sum(numbers(3)) + self.descend(self.step % 20)

    def descend(self, depth):
        if depth == 0:
            return leaf(depth)
        result = self.descend(depth - 1)
        return result + 1


def created():
    namespace = {}
    exec("def fresh(value):\n    return value + 1\n", namespace)
    return namespace["fresh"](1)


def loop():
    worker = Worker()
    while True:
        worker.run_once()
        if worker.step % 50 == 0:
            created()


threading.Thread(target=loop, daemon=True).start()
print("ready", flush=True)
loop()
