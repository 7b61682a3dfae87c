"""A game process sends a position every two seconds or so; the training asks its queue twice a second.

cause: none
verdict: progressing, slow
"""

import multiprocessing
import queue
import time

import torch

from unstall.zoo import announce


def play(positions, number):
    for move in range(number):
        time.sleep(2 + move % 3)
        positions.put([move / number, 1 - move / number])
    positions.put(None)


def positions_from(channel):
    while True:
        try:
            position = channel.get(timeout=0.5)
        except queue.Empty:
            continue
        if position is None:
            return
        yield torch.tensor(position)


def main():
    context = multiprocessing.get_context("forkserver")
    channel = context.Queue()
    player = context.Process(target=play, args=(channel, 14))
    player.start()
    value = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(value.parameters())
    for move, position in enumerate(positions_from(channel)):
        optimizer.zero_grad()
        (value(position) - 1).square().sum().backward()
        optimizer.step()
        print("move", move, flush=True)
        if move == 0:
            announce()
    player.join()


if __name__ == "__main__":
    main()
