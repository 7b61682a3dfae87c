"""A collate function tokenizes whole batches. A first batch was tokenized in the main process, to see how long it is.

cause: fork-after-rust-threads
needs: tokenizers
"""

import os

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

os.environ["TOKENIZERS_PARALLELISM"] = "true"


class Sentences(Dataset):
    def __init__(self, sentences):
        self.sentences = sentences

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, index):
        return self.sentences[index]


class Collate:
    def __init__(self, words):
        from tokenizers import Tokenizer, models, pre_tokenizers

        vocabulary = {word: number for number, word in enumerate(words)}
        self.tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=words[0]))
        self.tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        self.tokenizer.enable_padding()

    def __call__(self, batch):
        announce()
        encoded = self.tokenizer.encode_batch_fast(batch)  # stalls here
        return torch.tensor([one.ids for one in encoded])


def main():
    words = "unknown the quick brown fox jumps over lazy dogs".split()
    sentences = [" ".join(words[1 : 3 + number % 6]) for number in range(64)]
    collate = Collate(words)
    embedding = torch.nn.Embedding(len(words), 4)
    print("longest", max(len(one.ids) for one in collate.tokenizer.encode_batch(sentences)), flush=True)
    for tokens in DataLoader(Sentences(sentences), batch_size=16, num_workers=1, collate_fn=collate):
        loss = embedding(tokens).square().mean()
        loss.backward()
        print(loss.item(), flush=True)


if __name__ == "__main__":
    main()
