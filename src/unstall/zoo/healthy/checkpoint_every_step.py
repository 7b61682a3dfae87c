"""Each step writes a checkpoint of 200 MB and waits until it is on the disk.

cause: none
verdict: progressing, slow
"""

import os
import tempfile
import time

import torch

from unstall.zoo import announce


def save(state, path):
    with open(path + ".part", "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".part", path)


def main():
    with tempfile.TemporaryDirectory() as folder:
        model = torch.nn.Linear(7000, 7000)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        begin = time.monotonic()
        for step in range(500):
            loss = model(torch.randn(4, 7000)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step == 1:
                announce()
            save({"model": model.state_dict(), "step": step}, os.path.join(folder, "last.pt"))
            print("step", step, flush=True)
            if time.monotonic() - begin > 40:
                break


if __name__ == "__main__":
    main()
