"""Writes gdc.json: graph diffusion convolution by PyTorch Geometric's transforms.GDC, exact.

    python3 gdc.py > gdc.json

made with PyTorch Geometric 2.8.1 and PyTorch 2.15.0, in float64. The graph is drawn; edges go both
ways with one weight, as the symmetric normalisation wants. Of a matrix of PyG's, entry (u, v) is that
of the edge from u to v. PyG asks SciPy for the exponential of a matrix; here it is torch.linalg's.
"""

import json
import sys

import torch
from torch_geometric.data import Data
from torch_geometric.transforms import GDC

N = 12
torch.set_default_dtype(torch.float64)
GDC.__expm__ = lambda self, matrix, symmetric: torch.linalg.matrix_exp(matrix)


def drawn():
    torch.manual_seed(7)
    pairs = torch.combinations(torch.arange(N))
    pairs = pairs[torch.rand(len(pairs)) < 0.25].t()
    weight = 0.2 + torch.rand(pairs.size(1))
    return torch.cat([pairs, pairs.flip(0)], 1), torch.cat([weight, weight])


def case(name, edges, weight, normalisation, diffusion, sparsification, loops=1.0, out="col"):
    data = Data(edge_index=edges, edge_attr=weight, num_nodes=N)
    data = GDC(loops, normalisation, out, diffusion, sparsification, exact=True)(data)
    return {"name": name, "src": data.edge_index[0].tolist(), "dst": data.edge_index[1].tolist(), "weight": data.edge_attr.tolist()}


def main():
    edges, weight = drawn()
    ppr, heat = dict(method="ppr", alpha=0.15), dict(method="heat", t=3.0)
    top, above = dict(method="topk", k=4, dim=0), dict(method="threshold", eps=0.02)
    cases = [
        case("ppr top", edges, weight, "sym", ppr, top),
        case("ppr above", edges, weight, "sym", ppr, above),
        case("ppr raw", edges, weight, "sym", ppr, above, out=None),
        case("ppr walk", edges, weight, "col", dict(method="ppr", alpha=0.4), top),
        case("heat top", edges, weight, "sym", heat, top),
        case("heat above", edges, weight, "sym", heat, above),
        case("heat without loops", edges, weight, "sym", heat, above, loops=None, out=None),
    ]
    json.dump({"nodes": N, "src": edges[0].tolist(), "dst": edges[1].tolist(), "weight": weight.tolist(), "cases": cases}, sys.stdout)


main()
