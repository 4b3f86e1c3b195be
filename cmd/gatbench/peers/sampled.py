"""A training step on drawn neighbours: DGL's NeighborSampler, DGL's GraphBolt and PyG's NeighborLoader.

A step draws neighbours of the next seeds, gathers their features, and trains: forward, cross-entropy, backward,
Adam. The seeds are all nodes, shuffled. Fan-outs are listed from the input, as DGL has them: the last is the seeds'.

Each peer is a class: batches() yields batches of one pass over the nodes, data() gives a batch's features and
labels, forward() the logits of the seeds, and draws() what was drawn for the check.
"""

import gc
import os

import numpy as np
import torch
import torch.nn.functional as F

from measure import Cannot, add_torch_sparse, repeat
from timing import profile

CHECKED = 10  # batches whose draws are counted and checked
PROFILED = 10  # steps under torch's profiler
PRODUCTS = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::addmv", "aten::mv", "aten::_addmm_activation",
            "aten::mkldnn_linear", "mkldnn::_linear_pointwise"}


class Task:
    """What is trained: the graph by destination, drawn features and labels, and the network's widths."""

    def __init__(self, args, indptr, indices):
        self.args, self.indptr, self.indices = args, indptr, indices
        self.nodes = len(indptr) - 1
        self.x = torch.randn(self.nodes, args.dim)
        self.y = torch.arange(self.nodes) % args.classes
        self.weights = None
        if args.weighted:
            self.weights = torch.from_numpy(np.random.default_rng(7).random(len(indices), np.float32) + np.float32(0.1))

    def widths(self):
        """(in, out, is it the last) of each layer."""
        args, last = self.args, len(self.args.fanout) - 1
        ends = [args.dim] + [args.hidden] * last + [args.classes]
        return [(ends[i], ends[i + 1], i == last) for i in range(last + 1)]


class OfDGL:
    """DGL's layers on blocks."""

    def __init__(self, task):
        import dgl.nn as nn

        heads = task.args.heads
        if task.args.layer == "sage":
            layers = [nn.SAGEConv(i, o, "mean", activation=None if last else F.relu) for i, o, last in task.widths()]
        else:
            layers = [nn.GATConv(i, o, 1, allow_zero_in_degree=True) if last else
                      nn.GATConv(i, o // heads, heads, activation=F.elu, allow_zero_in_degree=True)
                      for i, o, last in task.widths()]
        self.task, self.net = task, torch.nn.ModuleList(layers)

    def forward(self, batch):
        x = self.data(batch)[0]
        for layer, block in zip(self.net, self.blocks(batch)):
            x = layer(block, x).flatten(1)
        return x

    def draws(self, batch):
        """(nodes drawn for, sources and destinations of the edges) of each layer, from the input."""
        ids, out = self.inputs(batch), []
        for block in self.blocks(batch):
            src, dst = block.edges()
            out.append((ids[:block.num_dst_nodes()], ids[src.long()], ids[dst.long()]))
            ids = ids[:block.num_dst_nodes()]  # a block's destinations are its first sources, and the next one's sources
        return out

    def regions(self):
        from on_dgl import named_kernels

        return named_kernels()


class DGL(OfDGL):
    """dgl.dataloading's NeighborSampler and DataLoader, which gathers features and labels ("prefetches")."""

    def __init__(self, task):
        import dgl

        super().__init__(task)
        # 64-bit ids: with 32 bits the fused sampler of DGL 2.1 returns sources that are not in the block
        ends = torch.from_numpy(task.indptr), torch.from_numpy(task.indices.astype(np.int64))
        g = dgl.graph(("csc", (*ends, torch.empty(0, dtype=torch.int64))), num_nodes=task.nodes)
        g.ndata.update(x=task.x, y=task.y)
        if task.weights is not None:
            g.edata["w"] = task.weights
        self.graph = g
        self.sampler = dgl.dataloading.NeighborSampler(
            task.args.fanout, prob="w" if task.args.weighted else None, replace=task.args.replace,
            prefetch_node_feats=["x"], prefetch_labels=["y"])

    def batches(self, workers):
        import dgl

        seeds = torch.arange(self.task.nodes, dtype=self.graph.idtype)
        return dgl.dataloading.DataLoader(self.graph, seeds, self.sampler, batch_size=self.task.args.batch, shuffle=True,
                                          num_workers=workers)

    def blocks(self, batch):
        return batch[2]

    def inputs(self, batch):
        return batch[0]

    def data(self, batch):
        return batch[2][0].srcdata["x"], batch[2][-1].dstdata["y"]


class GraphBolt(OfDGL):
    """The pipeline of DGL's GraphBolt examples: ItemSampler, sample_neighbor, fetch_feature."""

    def __init__(self, task):
        import dgl.graphbolt as gb

        super().__init__(task)
        args = task.args
        weights = {} if task.weights is None else {"edge_attributes": {"w": task.weights}}
        graph = gb.fused_csc_sampling_graph(torch.from_numpy(task.indptr), torch.from_numpy(task.indices), **weights)
        items = gb.ItemSet((torch.arange(task.nodes, dtype=torch.int32), task.y), names=("seed_nodes", "labels"))
        store = gb.BasicFeatureStore({("node", None, "x"): gb.TorchBasedFeature(task.x)})

        def pipe():
            seeds = gb.ItemSampler(items, batch_size=args.batch, shuffle=True)
            drawn = seeds.sample_neighbor(graph, args.fanout, replace=args.replace, prob_name="w" if args.weighted else None)
            return drawn.fetch_feature(store, node_feature_keys=["x"])

        self.pipe = pipe

    def batches(self, workers):
        import dgl.graphbolt as gb

        return gb.DataLoader(self.pipe(), num_workers=workers)

    def blocks(self, batch):
        return batch.blocks

    def inputs(self, batch):
        return batch.input_nodes

    def data(self, batch):
        return batch.node_features["x"], batch.labels


class PyG:
    """NeighborLoader, which draws a node's neighbours once and uses them in every layer.

    As in PyG's examples each layer computes all nodes of the batch, also those that the seeds do not read any
    more. --trim leaves them out by trim_to_layer; what pyg-lib would tell it is read from the order of the edges.
    """

    def __init__(self, task):
        import warnings

        import torch_geometric.typing as has
        from torch_geometric import nn
        from torch_geometric.data import Data
        from torch_geometric.sampler import NeighborSampler

        import graphs

        if not has.WITH_PYG_LIB and not has.WITH_TORCH_SPARSE:
            raise Cannot(why_no_torch_sparse())
        if task.args.weighted and not has.WITH_WEIGHTED_NEIGHBOR_SAMPLE:
            raise Cannot("PyG draws by weight with pyg-lib 0.3 alone, which is not on the package index; torch-sparse draws uniformly")
        warnings.filterwarnings("ignore", message=".*without a 'pyg-lib' installation")
        heads = task.args.heads
        if task.args.layer == "sage":
            layers = [nn.SAGEConv(i, o) for i, o, _ in task.widths()]
        else:
            layers = [nn.GATConv(i, o, 1, add_self_loops=False) if last else
                      nn.GATConv(i, o // heads, heads, add_self_loops=False) for i, o, last in task.widths()]
        self.task, self.net = task, torch.nn.ModuleList(layers)
        edges = torch.from_numpy(np.stack([task.indices.astype(np.int64), graphs.destinations(task.indptr)]))
        self.graph = Data(x=task.x, y=task.y, edge_index=edges, num_nodes=task.nodes)
        if task.weights is not None:
            self.graph.w = task.weights
        # fan-outs are listed from the seeds here; one sampler for all loaders, because it has a copy of the graph
        self.sampler = NeighborSampler(self.graph, task.args.fanout[::-1], replace=task.args.replace, is_sorted=True,
                                       weight_attr="w" if task.args.weighted else None)

    def batches(self, workers):
        from torch_geometric.loader import NeighborLoader

        return NeighborLoader(self.graph, self.sampler.num_neighbors, neighbor_sampler=self.sampler,
                              batch_size=self.task.args.batch, shuffle=True, num_workers=workers)

    def data(self, batch):
        return batch.x, batch.y[:batch.batch_size]

    def forward(self, batch):
        from torch_geometric.utils import trim_to_layer

        x, edges = batch.x, batch.edge_index
        hops = self.hops(batch) if self.task.args.trim else None
        activation = F.relu if self.task.args.layer == "sage" else F.elu
        for i, layer in enumerate(self.net):
            if hops:
                x, edges, _ = trim_to_layer(i, *hops, x, edges)
            x = layer(x, edges)
            if i < len(self.net) - 1:
                x = activation(x)
        return x[:batch.batch_size]

    def hops(self, batch):
        """How many nodes and edges each hop added: nodes are numbered and edges stand in the order of the draws."""
        src, dst = batch.edge_index
        nodes, edges, end, done = [batch.batch_size], [], batch.batch_size, 0
        for _ in self.task.args.fanout:
            stop = int(torch.searchsorted(dst, end))
            edges.append(stop - done)
            reached = max(end, int(src[done:stop].max()) + 1) if stop > done else end
            nodes.append(reached - end)
            end, done = reached, stop
        return nodes, edges

    def draws(self, batch):
        nodes, edges = self.hops(batch)
        src, dst = batch.n_id[batch.edge_index]
        node, edge, out = 0, 0, []
        for n, e in zip(nodes, edges):
            out.append((batch.n_id[node:node + n], src[edge:edge + e], dst[edge:edge + e]))
            node, edge = node + n, edge + e
        return out[::-1]

    def inputs(self, batch):
        return batch.n_id

    def regions(self):
        import contextlib

        return contextlib.nullcontext()


def why_no_torch_sparse():
    """Names what PyG needs, and why setup.sh could not build it, where it says so."""
    text = "PyG's NeighborLoader needs torch-sparse (or pyg-lib, which is not on the package index)"
    try:
        with open(os.path.join(add_torch_sparse(), "why")) as f:
            return f"{text}: {f.read().strip()}"
    except OSError:
        return f"{text}: run setup.sh, which builds it from source"


def endless(batches):
    """Batch after batch, pass after pass."""
    while True:
        yield from batches


def run_sample(run, args, indptr, indices):
    task = Task(args, indptr, indices)
    peer = {"dgl": DGL, "graphbolt": GraphBolt, "pyg": PyG}[args.peer](task)
    peer.net.train()
    optimiser = torch.optim.Adam(peer.net.parameters(), lr=0.01)

    def call(source):
        def batch():
            peer.data(next(source))

        def step():
            b = next(source)
            loss = F.cross_entropy(peer.forward(b), peer.data(b)[1])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

        return step if args.op == "step" else batch

    times = {}
    for workers in args.workers:
        source = endless(peer.batches(workers))
        times[workers] = repeat(call(source))
        source.close()
        gc.collect()  # ends the workers
    best = min(times, key=lambda w: np.median(times[w]))
    run.record(times[best])
    run.extra.update(workers=best, median_ms_by_workers={str(w): 1e3 * float(np.median(t)) for w, t in times.items()})
    if args.profile:
        source = endless(peer.batches(best))
        f = call(source)
        f()
        rows, wall = profile(run, f, args.profile, PROFILED, peer.regions)
        run.extra["products_share"] = sum(t for name, t in rows if name in PRODUCTS) / wall
        source.close()
    count(run, peer, task)


def count(run, peer, task):
    """Counts what some batches hold, and checks that each node got as many neighbours as it should, and its own."""
    source = endless(peer.batches(0))
    inputs, drawn = [], []
    for _ in range(CHECKED):
        batch = next(source)
        draws = [[part.numpy().astype(np.int64) for part in draw] for draw in peer.draws(batch)]
        if len(draws[-1][0]) != len(peer.data(batch)[1]):
            raise SystemExit(f"{task.args.peer}: {len(draws[-1][0])} seeds were drawn for, and {len(peer.data(batch)[1])} have labels")
        for fanout, (nodes, src, dst) in zip(task.args.fanout, draws):
            check(task, fanout, nodes, src, dst)
        inputs.append(len(peer.inputs(batch)))
        drawn.append([len(src) for _, src, _ in draws])
    run.extra.update(sampled_nodes=float(np.mean(inputs)), sampled_edges=float(np.sum(drawn, 1).mean()),
                     edges_of_draws=np.mean(drawn, 0).tolist())


def check(task, fanout, nodes, src, dst):
    """The edges must be the graph's, and as many into each node as the fan-out says."""
    low, high = task.indptr[nodes], task.indptr[nodes + 1]
    want = (high > low) * fanout if task.args.replace else np.minimum(high - low, fanout)
    have = np.bincount(dst, minlength=task.nodes)
    if have.sum() != want.sum() or (have[nodes] != want).any():
        raise SystemExit(f"{task.args.peer} drew {len(src)} edges for {len(nodes)} nodes; a fan-out of {fanout} makes them {want.sum()}")
    low, end = task.indptr[dst], task.indptr[dst + 1]
    high = end
    while (low < high).any():  # bisects all rows at once
        middle = (low + high) // 2
        less = (low < high) & (task.indices[np.minimum(middle, len(task.indices) - 1)] < src)
        low, high = np.where(less, middle + 1, low), np.where(less, high, np.minimum(high, middle))
    if (low == end).any() or (task.indices[low] != src).any():
        raise SystemExit(f"{task.args.peer} drew edges that are not in the graph")
