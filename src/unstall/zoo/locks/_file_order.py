"""Remembers in which order files are read. Used by `lock_self_deadlock_helper_module.py`."""

import multiprocessing


class FileOrder:
    def __init__(self):
        self._lock = multiprocessing.Lock()
        self._last = multiprocessing.Value("l", -1, lock=False)

    def visit(self, number, unusual):
        with self._lock:
            if number < self._last.value:
                unusual()
                self.report(number)
            self._last.value = number

    def report(self, number):
        with self._lock:  # stalls here
            print(f"file {number} was read after file {self._last.value}", flush=True)
