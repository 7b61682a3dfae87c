"""A short script, all at the top level. Its workers are started by spawn, and run it again.

cause: spawn-without-main-guard
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, TensorDataset

rows = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(rows, batch_size=8, num_workers=1, multiprocessing_context="spawn")

for inputs, labels in loader:  # stalls here
    optimizer.zero_grad()
    (model(inputs) - labels).square().mean().backward()
    optimizer.step()
