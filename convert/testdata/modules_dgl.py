"""The modules of DGL whose weights go both ways, and what they compute, as in modules.py."""
import os

os.environ.setdefault("DGLBACKEND", "pytorch")

import dgl
import dgl.nn.pytorch as g
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn import Linear, ReLU, Sequential

import modules

GRAPH = dgl.graph((modules.EDGES[0], modules.EDGES[1]), num_nodes=5)
PAIR = dgl.heterograph({("a", "to", "b"): (modules.EDGES[0], modules.EDGES[1])}, {"a": 5, "b": 5})
BATCH = dgl.batch([dgl.graph(([0], [1]), num_nodes=n) for n in (3, 2)])  # modules.MEMBERS
TYPED = dgl.graph((torch.cat([modules.EDGES[0], modules.EDGES[0] + 5, modules.EDGES[0]]), torch.cat([modules.EDGES[1] + 5, modules.EDGES[1], modules.EDGES[1]])))  # modules.RELATIONS
TYPES, RELATIONS = torch.arange(2).repeat_interleave(5), torch.arange(3).repeat_interleave(modules.EDGES.size(1))


class GAT(nn.Module):
    """A whole model: two layers, as in DGL's own example of GAT."""

    def __init__(self):
        super().__init__()
        self.gat_layers = nn.ModuleList([g.GATConv(4, 3, 2, activation=F.elu), g.GATConv(6, 3, 2, residual=True)])

    def forward(self, graph, x):
        return self.gat_layers[1](graph, self.gat_layers[0](graph, x).flatten(1)).mean(1)


def dgl_modules():
    torch.manual_seed(1)
    mlp = lambda i, o: Sequential(Linear(i, 6), ReLU(), Linear(6, o))
    pna = dict(aggregators=["mean", "max", "min", "std", "sum", "var"], scalers=["identity", "amplification", "attenuation"], delta=1.2)
    return {
        "gat": g.GATConv(4, 3, 2), "gat_linear": g.GATConv(4, 3, 2, residual=True, activation=F.elu), "gat_identity": g.GATConv(4, 2, 2, residual=True, bias=False),
        "gat_pair": g.GATConv((4, 3), 3, 2), "gatv2": g.GATv2Conv(4, 3, 2), "gatv2_shared": g.GATv2Conv(4, 3, 2, share_weights=True, residual=True),
        "gatv2_bare": g.GATv2Conv(4, 3, 2, bias=False), "gatv2_pair": g.GATv2Conv((4, 3), 3, 2),
        "dotgat": g.DotGatConv(4, 3, 2), "dotgat_pair": g.DotGatConv((4, 3), 3, 2), "agnn": g.AGNNConv(),
        "graphconv": g.GraphConv(4, 3), "graphconv_right": g.GraphConv(4, 3, norm="right", bias=False), "sgc": g.SGConv(4, 3, k=2), "tag": g.TAGConv(4, 3, k=2),
        "cheb": g.ChebConv(4, 3, 3, activation=None), "gcn2": g.GCN2Conv(4, 2, 0.1, 0.5), "gcn2_two": g.GCN2Conv(4, 2, 0.1, 0.5, project_initial_features=False),
        "appnp": g.APPNPConv(4, 0.2), "sage": g.SAGEConv(4, 3, "mean"), "sage_pool": g.SAGEConv(4, 3, "pool"), "sage_gcn": g.SAGEConv(4, 3, "gcn"),
        "sage_lstm": g.SAGEConv(4, 3, "lstm"), "sage_pair": g.SAGEConv((4, 3), 3, "mean"),
        "gin": g.GINConv(mlp(4, 3), "sum", init_eps=0.3), "gin_eps": g.GINConv(Linear(4, 3), "max", learn_eps=True), "gine": g.GINEConv(mlp(4, 3), 0.3),
        "edgeconv": g.EdgeConv(4, 3), "edgeconv_norm": g.EdgeConv(4, 3, batch_norm=True),
        "nnconv": g.NNConv(4, 3, Sequential(Linear(2, 5), ReLU(), Linear(5, 12)), "sum", residual=True), "nnconv_mean": g.NNConv(4, 3, Linear(2, 12), "mean"),
        "gmm": g.GMMConv(4, 3, 2, 3), "gmm_mean": g.GMMConv(4, 3, 2, 3, "mean", residual=True, bias=False),
        "rgcn": g.RelGraphConv(4, 6, 3), "rgcn_basis": g.RelGraphConv(4, 6, 3, "basis", 2), "rgcn_bdd": g.RelGraphConv(4, 6, 3, "bdd", 2),
        "rgcn_norm": g.RelGraphConv(4, 6, 3, "basis", 2, self_loop=False, layer_norm=True),
        "gated": g.GatedGraphConv(4, 5, 2, 3), "gated_one": g.GatedGraphConv(4, 4, 2, 1), "pna": g.PNAConv(4, 3, **pna), "pna_towers": g.PNAConv(4, 4, num_towers=2, edge_feat_size=2, **pna),
        "attpool": g.GlobalAttentionPooling(Linear(4, 1), mlp(4, 3)), "set2set": g.Set2Set(4, 3, 2), "hgt": g.HGTConv(4, 2, 2, 2, 3),
        "transe": g.TransE(3, 4), "deepwalk": g.DeepWalk(GRAPH, emb_dim=3),
        "jumping": g.JumpingKnowledge("lstm", 4, 3), "linear": Linear(4, 3), "batchnorm": nn.BatchNorm1d(4), "model": GAT(),
    }


def run(model):
    """The output of each module, as rows."""
    data = modules.inputs()
    x, dst, edge, kinds = data["x"], data["dst"], data["edge"], modules.KINDS
    special = {
        "gcn2": lambda m: m(GRAPH, x, x.flip(0)), "gcn2_two": lambda m: m(GRAPH, x, x.flip(0)), "gine": lambda m: m(GRAPH, x, torch.cat([edge, edge], 1)),
        "cheb": lambda m: m(GRAPH, x, [2.0]), "gated_one": lambda m: m(GRAPH, x), "pna": lambda m: m(GRAPH, x),
        "attpool": lambda m: m(BATCH, x), "set2set": lambda m: m(BATCH, x), "hgt": lambda m: m(TYPED, torch.cat([x, x.flip(0)]), TYPES, RELATIONS),
        "transe": lambda m: m(x[modules.EDGES[0]], x[modules.EDGES[1]], kinds).unsqueeze(1), "deepwalk": lambda m: m.node_embed.weight @ m.context_embed.weight.t(),
        "jumping": lambda m: m([x, x.flip(0), -x]), "linear": lambda m: m(x), "batchnorm": lambda m: m(x),
    }
    outputs = {}
    with torch.no_grad():
        for name, m in model.items():
            if name in special:
                y = special[name](m)
            elif name.endswith("_pair"):
                y = m(PAIR, (x, dst))
            elif name.startswith(("nnconv", "gmm", "pna")):
                y = m(GRAPH, x, edge)
            elif name.startswith(("rgcn", "gated")):
                y = m(GRAPH, x, kinds)
            else:
                y = m(GRAPH, x)
            outputs[name] = y.flatten(1).contiguous()
    return outputs
