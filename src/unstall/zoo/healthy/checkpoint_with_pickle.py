"""The replay memory, a large nest of Python objects, is pickled again and again.

cause: none
verdict: progressing, slow
"""

import pathlib
import pickle
import random
import tempfile
import time

import torch

from unstall.zoo import announce


class Replay:
    def __init__(self):
        self.memory = []

    def remember(self, number):
        for _ in range(number):
            self.memory.append({"state": [random.random() for _ in range(4)], "reward": random.random()})

    def sample(self, number):
        picked = random.sample(self.memory, number)
        return torch.tensor([p["state"] for p in picked]), torch.tensor([p["reward"] for p in picked])


def main():
    replay = Replay()
    critic = torch.nn.Linear(4, 1)
    optimizer = torch.optim.Adam(critic.parameters())
    file = pathlib.Path(tempfile.mkdtemp()) / "replay.pickle"
    deadline = time.monotonic() + 45
    episode = 0
    while time.monotonic() < deadline:
        replay.remember(200_000 if episode == 0 else 20_000)
        state, reward = replay.sample(64)
        optimizer.zero_grad()
        (critic(state).squeeze(1) - reward).square().mean().backward()
        optimizer.step()
        if episode == 1:
            announce()
        with file.open("wb") as target:
            pickle.dump(replay, target)
        episode += 1
        print(f"episode {episode}: {file.stat().st_size} bytes", flush=True)
    file.unlink()


if __name__ == "__main__":
    main()
