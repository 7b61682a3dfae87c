"""A client with one worker thread. Used by `fork_lost_thread_module_client.py`."""

import queue
import threading
from concurrent.futures import Future


class TokenService:
    def __init__(self):
        self._jobs = queue.Queue()
        self._thread = None

    def _work(self):
        while True:
            text, future = self._jobs.get()
            future.set_result([len(word) for word in text.split()])

    def tokens(self, text):
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="token-service", daemon=True)
            self._thread.start()
        future = Future()
        self._jobs.put((text, future))
        return future.result()  # stalls here


client = TokenService()
