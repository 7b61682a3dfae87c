"""A run logger of a third party flushes from a background thread under its own re-entrant lock. The workers
are forked during a flush, and log.

cause: fork-inherited-lock
sample: 0
"""

import io
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce


class RunLogger:
    def __init__(self):
        self._lock = threading.RLock()
        self._buffer = io.StringIO()
        self._due = threading.Event()
        self._uploading = threading.Event()
        self._closed = threading.Event()
        threading.Thread(target=self._upload_loop, name="uploader", daemon=True).start()

    def info(self, message):
        with self._lock:  # stalls here
            self._buffer.write(message + "\n")

    def request_upload(self):
        self._due.set()
        self._uploading.wait()

    def _upload_loop(self):
        self._due.wait()
        with self._lock:
            self._uploading.set()
            self._closed.wait()


class Words(Dataset):
    def __init__(self, logger):
        self.logger = logger

    def __len__(self):
        return 20

    def __getitem__(self, index):
        announce()
        self.logger.info(f"reading word {index}")
        return torch.nn.functional.one_hot(torch.tensor(index % 5), 5).float()


class Trainer:
    def __init__(self, logger):
        self.logger = logger
        self.model = torch.nn.Linear(5, 5)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5)

    def fit(self, train_data):
        self.logger.info("training begins")
        self.logger.request_upload()
        self._run_epoch(DataLoader(train_data, batch_size=4, num_workers=1))

    def _run_epoch(self, loader):
        for words in loader:
            loss = torch.nn.functional.mse_loss(self.model(words), words)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def main():
    logger = RunLogger()
    Trainer(logger).fit(Words(logger))


if __name__ == "__main__":
    main()
