"""The results are to be uploaded after training, and the helper asks for a password that the batch job cannot
type.

cause: waiting-for-user-input
"""

import getpass

import torch
from torch.utils.data import DataLoader, TensorDataset

from unstall.zoo import announce


class Uploader:
    def __init__(self, account):
        self.account = account
        self.token = None

    def login(self):
        announce()
        self.token = hash(getpass.getpass(f"password of {self.account}: "))  # stalls here

    def upload(self, state):
        if self.token is None:
            self.login()
        print("uploaded", sum(value.numel() for value in state.values()), "numbers")


def main():
    data = TensorDataset(torch.arange(32.0).unsqueeze(1))
    layer = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(layer.parameters())
    for (x,) in DataLoader(data, batch_size=4, shuffle=True):
        optimizer.zero_grad()
        layer(x).abs().mean().backward()
        optimizer.step()
        print("weight", layer.weight.item(), flush=True)
    Uploader("trainer").upload(layer.state_dict())


if __name__ == "__main__":
    main()
