"""A decoder service takes requests from a queue and answers through an event. Its thread lives in the main
process; the worker puts a request into its own copy of the queue and waits.

cause: fork-lost-thread
sample: 0
"""

import queue
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class Request:
    def __init__(self, payload):
        self.payload = payload
        self.answered = threading.Event()
        self.answer = None


class DecoderService:
    def __init__(self):
        self.requests = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            request = self.requests.get()
            request.answer = torch.tensor(request.payload).sqrt()
            request.answered.set()

    def __call__(self, payload):
        request = Request(payload)
        self.requests.put(request)
        request.answered.wait()  # stalls here
        return request.answer


class Decoded(Dataset):
    def __init__(self, payloads, decode, validation=False):
        self.payloads = payloads
        self.decode = decode
        self.validation = validation

    def __len__(self):
        return len(self.payloads)

    def __getitem__(self, index):
        if self.validation:
            announce()
        return self.decode(self.payloads[index])


def main():
    service = DecoderService()
    payloads = [[n, n + 1.0] for n in range(24)]
    train = DataLoader(Decoded(payloads, service), batch_size=6)
    validation = DataLoader(Decoded(payloads[:6], service, validation=True), batch_size=3, num_workers=1)
    head = torch.nn.Linear(2, 1)
    for epoch in range(2):
        for batch in train:
            print("train", head(batch).mean().item(), flush=True)
        for batch in validation:
            print("validation", head(batch).mean().item(), flush=True)


if __name__ == "__main__":
    main()
