"""The tokenizer was trained in the main process, by threads of its own. Forked workers use it, and it may be parallel.

cause: fork-after-rust-threads
sample: 0
needs: tokenizers
"""

import os

import torch
from torch.utils.data import DataLoader, Dataset

from unstall.zoo import announce

os.environ["TOKENIZERS_PARALLELISM"] = "true"


class Texts(Dataset):
    def __init__(self, tokenizer, texts):
        self.tokenizer = tokenizer
        self.texts = texts

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        if index == 0:
            announce()
        tokens = self.tokenizer.encode_batch([self.texts[index]] * 16)  # stalls here
        return torch.tensor([len(one.ids) for one in tokens])


def main():
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    texts = ["the quick brown fox jumps over the lazy dog"] * 64
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(special_tokens=["[UNK]"], show_progress=False))
    tokenizer.encode_batch(texts)
    for batch in DataLoader(Texts(tokenizer, texts), batch_size=4, num_workers=2):
        print(batch.shape, flush=True)


if __name__ == "__main__":
    main()
