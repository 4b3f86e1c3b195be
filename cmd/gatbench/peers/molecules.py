"""PyTorch Geometric on many graphs: GIN as its authors have it, and PyG's own reader of TUDataset."""

import os
import tempfile
import time
import zipfile

import torch
import torch.nn.functional as F
from torch.nn import BatchNorm1d, Dropout, Linear, ModuleList, ReLU, Sequential
from torch_geometric.data import InMemoryDataset
from torch_geometric.io import read_tu_data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool

from measure import repeat


def unpacked(args, to):
    """The folder of the dataset's raw files; unpacking is not timed."""
    name = args.dataset.upper()
    for folder in (args.data, os.path.join(args.data, "tudataset")):
        path = os.path.join(folder, f"{name}.zip")
        if os.path.exists(path):
            with zipfile.ZipFile(path) as z:
                for member in z.namelist():
                    if member.endswith(".txt"):
                        with open(os.path.join(to, os.path.basename(member)), "wb") as f:
                            f.write(z.read(member))
            return to, name
    raise SystemExit(f"--data {args.data}: there is no {name}.zip in it, nor in its folder tudataset")


def run_read(run, args):
    with tempfile.TemporaryDirectory() as tmp:
        folder, name = unpacked(args, tmp)
        run.record(repeat(lambda: read_tu_data(folder, name)))


class Graphs(InMemoryDataset):
    """What read_tu_data returns, as the dataset that PyG's users have; without attributes, as use_node_attr=False leaves it."""

    def __init__(self, data, slices, attributes):
        super().__init__(None)
        data.x = data.x[:, attributes:]
        self.data, self.slices = data, slices


class GIN(torch.nn.Module):
    """Xu and others (2019): four convolutions, a score of each layer's sum, the features' included."""

    def __init__(self, width, classes, hidden, layers=5):
        super().__init__()
        self.convs, self.norms, self.scores = ModuleList(), ModuleList(), ModuleList([Linear(width, classes)])
        for _ in range(layers - 1):
            self.convs.append(GINConv(Sequential(Linear(width, hidden), BatchNorm1d(hidden), ReLU(), Linear(hidden, hidden))))
            self.norms.append(BatchNorm1d(hidden))
            self.scores.append(Linear(hidden, classes))
            width = hidden
        self.drop = Dropout(0.5)

    def forward(self, x, edge_index, batch, size):
        y = self.drop(self.scores[0](global_add_pool(x, batch, size)))
        for conv, norm, score in zip(self.convs, self.norms, self.scores[1:]):
            x = F.relu(norm(conv(x, edge_index)))
            y = y + self.drop(score(global_add_pool(x, batch, size)))
        return y


def run_train(run, args):
    with tempfile.TemporaryDirectory() as tmp:
        data, slices, sizes = read_tu_data(*unpacked(args, tmp))
    graphs = Graphs(data, slices, sizes["num_node_attributes"])
    net = GIN(graphs[0].x.shape[1], int(data.y.max()) + 1, args.hidden)
    loader = DataLoader(graphs, batch_size=args.batch, shuffle=True)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    net.train()
    times, loss = [], 0.0
    for _ in range(args.epochs):
        began = time.perf_counter()
        for b in loader:
            optimiser.zero_grad()
            out = F.cross_entropy(net(b.x, b.edge_index, b.batch, b.num_graphs), b.y)
            out.backward()
            optimiser.step()
            loss = out.item()
        times.append(time.perf_counter() - began)
    run.record(times)
    run.extra.update(last_loss=loss)
