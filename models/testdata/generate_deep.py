"""Golden cases of deep networks of PyTorch Geometric, for package models:

    python generate_deep.py         # deep_gcn.json and deep_gat.json here

The networks are those of LUOyk1999/tunedGNN (medium_graph/model.py): a convolution, + a linear layer of what it reads, a norm,
ReLU; a linear layer at the end. Made with torch_geometric and torch without dropout, in float64 from float32 numbers.
"""
import json
from pathlib import Path

import torch
import torch_geometric
from torch import nn
from torch_geometric.nn import GATConv, GCNConv

HERE = Path(__file__).resolve().parent
NODES, EDGES = 7, [(4, 1), (1, 3), (0, 1), (3, 4), (1, 2), (2, 4), (0, 3), (4, 5), (2, 1), (3, 5)]
SRC, DST = ([e[i] for e in EDGES] + list(range(NODES)) for i in range(2))  # a loop at each node


class Net(nn.Module):
    def __init__(self, gnn, inputs, hidden, outputs, layers, norm, pre):
        super().__init__()
        self.lin_in = nn.Linear(inputs, hidden) if pre else None
        self.convs, self.lins, self.norms = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        width = hidden if pre else inputs
        for _ in range(layers):
            if gnn == "gat":
                self.convs.append(GATConv(width, hidden, heads=1, add_self_loops=False, bias=False))
            else:
                self.convs.append(GCNConv(width, hidden))
            self.lins.append(nn.Linear(width, hidden))
            self.norms.append(nn.LayerNorm(hidden) if norm == "layer" else nn.BatchNorm1d(hidden))
            width = hidden
        self.pred = nn.Linear(hidden, outputs)

    def forward(self, x, edges):
        if self.lin_in is not None:
            x = self.lin_in(x)
        for conv, lin, norm in zip(self.convs, self.lins, self.norms):
            x = torch.relu(norm(conv(x, edges) + lin(x)))
        return self.pred(x)


def array(x):
    return {"shape": list(x.shape), "data": [float(f"{v:.9g}") for v in x.detach().float().flatten().tolist()]}


def case(name, **how):
    torch.manual_seed(1)
    net = Net(inputs=5, hidden=4, outputs=3, layers=3, **how)
    for p in net.parameters():
        nn.init.normal_(p, 0, 0.7)
    x, cotangent = torch.randn(NODES, 5), torch.randn(NODES, 3)
    params = {k: array(v) for k, v in net.named_parameters()}
    edges, sides = torch.tensor([SRC, DST]), {}
    for dtype in (torch.float32, torch.float64):
        net.load_state_dict(Net(inputs=5, hidden=4, outputs=3, layers=3, **how).state_dict() | {k: torch.tensor(v["data"]).reshape(v["shape"]) for k, v in params.items()})
        net = net.to(dtype).train()
        net.zero_grad()
        y = net(x.to(dtype), edges)
        (y * cotangent.to(dtype)).sum().backward()
        running = {k: v.clone() for k, v in net.state_dict().items() if "running" in k}
        sides[dtype] = y.detach().clone(), {k: p.grad.clone() for k, p in net.named_parameters()}, running, net.eval()(x.to(dtype), edges)
    (y32, g32, _, _), (y, grads, running, after) = sides[torch.float32], sides[torch.float64]
    worst = lambda a, b: float((a.double() - b.double()).abs().max() / (1 + b.double().abs().max()))
    out = {
        "name": name, "framework": "pyg", "version": f"{torch_geometric.__version__} (torch {torch.__version__.split('+')[0]})", "config": how,
        "graph": {"num_src": NODES, "num_dst": NODES, "src": SRC, "dst": DST}, "params": params,
        "inputs": {"x": array(x), "evaluated": array(after)} | {k: array(v) for k, v in running.items()},
        "outputs": {"y": array(y)}, "cotangents": {"y": array(cotangent)}, "grads": {k: array(v) for k, v in grads.items()},
        "float32_error": {"outputs": worst(y32, y), "grads": max(worst(g32[k], grads[k]) for k in grads)},
    }
    (HERE / f"{name}.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")


case("deep_gcn", gnn="gcn", norm="layer", pre=True)
case("deep_gat", gnn="gat", norm="batch", pre=False)
