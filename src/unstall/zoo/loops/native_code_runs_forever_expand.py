"""A penalty is expanded to all pairs of all pairs. It takes no memory, and its mean takes weeks.

cause: native-code-runs-forever
verdict: slow, stalled
"""

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


def pair_penalty(embedding, order):
    distance = torch.cdist(embedding, embedding)
    if order > 2:
        announce()
    everything = distance.detach().expand(*[10**4] * order, *distance.shape)
    return everything.mean()  # stalls here


def main():
    points = TensorDataset(torch.randn(120, 5))
    projection = torch.nn.Linear(5, 2)
    optimizer = torch.optim.Adam(projection.parameters(), lr=1e-2)
    step = 0
    for epoch in range(20):
        for (batch,) in DataLoader(points, batch_size=12, shuffle=True):
            order = 3 if step == 14 else 0
            embedding = projection(batch)
            loss = embedding.square().mean() + pair_penalty(embedding, order)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
