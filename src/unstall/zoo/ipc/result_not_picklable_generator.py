"""Every sample is a tuple with a generator in it. That works without workers; with workers not one batch
arrives.

cause: result-not-picklable
"""

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

from unstall.zoo import announce


class Sentences(Dataset):
    def __init__(self, sentences):
        self.sentences = sentences

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, number):
        words = self.sentences[number].split()
        if number == 0 and get_worker_info():
            announce()
        return len(words), (len(word) for word in words)  # stalls here


def run(loader, model, optimizer):
    for words, lengths in loader:
        features = torch.tensor([words, sum(lengths)], dtype=torch.float32)
        loss = (model(features) - 1).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item(), flush=True)


def main():
    sentences = Sentences(["to be or not to be", "that is the question"] * 15)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    run(DataLoader(sentences, batch_size=None), model, optimizer)
    parallel = DataLoader(sentences, batch_size=None, num_workers=1, multiprocessing_context="spawn")
    run(parallel, model, optimizer)


if __name__ == "__main__":
    main()
