"""Requests are futures that a thread answers. It has ended after its share, and one request is left.

cause: future-never-completed
"""

import queue
import threading
from concurrent.futures import Future

import torch
from torch import nn

from unstall.zoo import announce


class Embedder:
    def __init__(self, most):
        self.requests = queue.Queue()
        threading.Thread(target=self.serve, args=(most,), daemon=True).start()

    def serve(self, most):
        for _ in range(most):
            text, answer = self.requests.get()
            answer.set_result([float(len(text))] * 4)

    def embed(self, text):
        answer = Future()
        self.requests.put((text, answer))
        return answer


def main():
    embedder = Embedder(10)
    model = nn.Linear(4, 1)
    for step in range(12):
        answer = embedder.embed("word " * step)
        if step == 10:
            announce()
        vector = torch.tensor(answer.result())  # stalls here
        model(vector).backward()
        print("step", step, flush=True)


if __name__ == "__main__":
    main()
