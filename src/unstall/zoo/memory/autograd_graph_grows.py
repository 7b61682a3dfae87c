"""The hidden state of a recurrent network goes from batch to batch with its graph.

cause: autograd-graph-grows
verdict: slow
watched: run
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.set_num_threads(1)
    loader = DataLoader(TensorDataset(torch.rand(64_000, 4)), batch_size=8, num_workers=1)
    cell = torch.nn.GRUCell(4, 16)
    head = torch.nn.Linear(16, 1)
    optimizer = torch.optim.SGD([*head.parameters()], lr=0.01)
    hidden = torch.zeros(8, 16)
    for (rows,) in loader:
        hidden = cell(rows, hidden)  # stalls here
        loss = head(hidden).square().mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()


if __name__ == "__main__":
    main()
