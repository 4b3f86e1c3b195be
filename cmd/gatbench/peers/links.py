"""PyTorch Geometric's graph autoencoder, examples/autoencoder.py: predicts which nodes are linked."""

import time

import numpy as np
import torch
from torch_geometric import nn
from torch_geometric.data import Data
from torch_geometric.transforms import RandomLinkSplit

import planetoid
from timing import profile


class Encoder(torch.nn.Module):
    """The example's encoder, 2·16 hidden units and 16 more; cached spares it the normalisation of each epoch."""

    def __init__(self, features):
        super().__init__()
        self.first = nn.GCNConv(features, 32, cached=True)
        self.second = nn.GCNConv(32, 16, cached=True)

    def forward(self, x, edges):
        return self.second(self.first(x, edges).relu(), edges)


def run_train(run, args):
    """An epoch: encode, draw as many negatives as links, loss of both, backward, Adam. Nothing is evaluated."""
    data = planetoid.load(args.data, args.dataset)
    split = RandomLinkSplit(num_val=0.05, num_test=0.1, is_undirected=True, split_labels=True, add_negative_train_samples=False)
    train, _, _ = split(Data(x=torch.from_numpy(data.features), edge_index=torch.from_numpy(np.stack([data.src, data.dst]))))
    model = nn.GAE(Encoder(data.features.shape[1]))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    model.train()

    def step():
        optimiser.zero_grad()
        z = model.encode(train.x, train.edge_index)
        loss = model.recon_loss(z, train.pos_edge_label_index)
        loss.backward()
        optimiser.step()
        return loss.item()

    times, loss = [], 0.0
    for _ in range(args.epochs):
        began = time.perf_counter()
        loss = step()
        times.append(time.perf_counter() - began)
    run.record(times)
    run.extra.update(last_loss=loss)
    run.line["params"].update(pairs=2 * train.pos_edge_label_index.shape[1])
    if args.profile:
        profile(run, step, args.profile, calls=20)
