"""A gradient scaler begins with a scale that is too large, skips the first steps and lowers the scale, as it
should.

cause: none
verdict: progressing
watched: steps
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(256, 8), torch.randn(256, 1))
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    for step, (inputs, targets) in enumerate(DataLoader(data, batch_size=8)):
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        print(f"step {step} loss {loss.item():.3f} scale {scaler.get_scale():g}", flush=True)


if __name__ == "__main__":
    main()
