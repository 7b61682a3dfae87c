"""Answers are looked up while a batch is put together. One sample has none.

cause: sample-raises
verdict: crashed
watched: run
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Questions(Dataset):
    def __len__(self):
        return 80

    def __getitem__(self, index):
        found = {"question": torch.ones(4) * index, "answer": index % 3}
        if index == 43:
            del found["answer"]
        return found


def collate(samples):
    questions = torch.stack([one["question"] for one in samples])
    return questions, torch.tensor([one["answer"] for one in samples])  # stalls here


def main():
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for questions, answers in DataLoader(Questions(), batch_size=8, num_workers=2, collate_fn=collate):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(questions), answers).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
