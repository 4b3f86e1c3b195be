"""PyTorch Geometric: a graph autoencoder, as gatbench train --task link trains it.

    python links.py PLANETOID_FOLDER [pubmed] [--threads N] [--epochs N]

prints the median of an epoch in milliseconds: encode, draw as many negatives as links, loss, backward, Adam. Evaluation is not timed.
"""

import argparse
import statistics
import time

import numpy as np
import torch
from torch_geometric import nn
from torch_geometric.data import Data
from torch_geometric.transforms import RandomLinkSplit

import planetoid


class Encoder(torch.nn.Module):
    """PyG's examples/autoencoder.py: 2·16 hidden units, 16 more, the normalisation cached."""

    def __init__(self, features):
        super().__init__()
        self.first = nn.GCNConv(features, 32, cached=True)
        self.second = nn.GCNConv(32, 16, cached=True)

    def forward(self, x, edges):
        return self.second(self.first(x, edges).relu(), edges)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("dataset", nargs="?", default="pubmed")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=20)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    data = planetoid.load(args.folder, args.dataset)
    split = RandomLinkSplit(num_val=0.05, num_test=0.1, is_undirected=True, split_labels=True, add_negative_train_samples=False)
    train, _, _ = split(Data(x=torch.from_numpy(data.features), edge_index=torch.from_numpy(np.stack([data.src, data.dst]))))
    model = nn.GAE(Encoder(data.features.shape[1]))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    times = []
    for _ in range(args.epochs):
        start = time.perf_counter()
        optimiser.zero_grad()
        z = model.encode(train.x, train.edge_index)
        loss = model.recon_loss(z, train.pos_edge_label_index)
        loss.backward()
        optimiser.step()
        times.append(1000 * (time.perf_counter() - start))
    print(f"{args.dataset}: {statistics.median(times):.1f} ms an epoch, least {min(times):.1f} ms, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
