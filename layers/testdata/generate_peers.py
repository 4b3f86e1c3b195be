"""Golden cases of PyTorch Geometric's models, poolings and scorers, for the packages of layers:

    python generate_peers.py        # pyg/ here, ../{pool,knowledge}/testdata and ../../convert/testdata/golden

Made with torch_geometric 2.8.1 and torch 2.15.0, without pyg-lib, on a CPU. Parameters and inputs are
float32 numbers; the framework runs in float64, and its answers are rounded to float32.
"""
import json
import warnings
import zlib
from pathlib import Path

warnings.filterwarnings("ignore")

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric
from torch import nn
from torch_geometric.nn import (DeepGraphInfomax, GAE, GCNConv, InnerProductDecoder, JumpingKnowledge, LGConv, LightGCN,
                                SAGEConv, VGAE)
from torch_geometric import nn as g
from torch_geometric.nn import kge
from torch_geometric.utils import to_dense_adj, to_dense_batch

HERE = Path(__file__).resolve().parent
CONVERT = "../../convert/testdata/golden"  # layers whose weights package convert brings here
VERSION = f"{torch_geometric.__version__} (torch {torch.__version__.split('+')[0]})"


def graph(nodes, *pairs, into=None):
    return {"num_src": nodes, "num_dst": into or nodes, "src": [u for u, _ in pairs], "dst": [v for _, v in pairs]}


# Node 6 is isolated, 0 has no in-edges, 5 no out-edges, 2 a loop; 1→3 are two edges.
G = graph(7, (4, 1), (1, 3), (0, 1), (2, 2), (3, 4), (1, 2), (1, 3), (2, 4), (0, 3), (4, 5), (2, 1), (3, 5))
# The last destination hears nobody; 2→0 are two edges.
PAIR = graph(5, (2, 0), (0, 1), (4, 2), (2, 0), (1, 1), (3, 0), into=4)
# Members of five nodes, none, one and three; node 4 is isolated. In SIMPLE no edge is double.
MEMBERS = [5, 0, 1, 3]
BATCH = graph(9, (1, 0), (0, 1), (1, 2), (2, 2), (3, 1), (1, 2), (2, 3), (0, 3), (6, 7), (7, 8), (8, 7))
SIMPLE = graph(9, (1, 0), (0, 1), (1, 2), (2, 2), (3, 1), (2, 3), (0, 3), (6, 7), (7, 8), (8, 7))
# Two members that are not empty, for attention within each.
TWO = graph(8, (1, 0), (0, 1), (1, 2), (2, 2), (3, 1), (1, 2), (5, 6), (6, 7), (7, 6), (7, 5))
FACTS = graph(5, (0, 1), (1, 2), (2, 2), (0, 1), (3, 0), (1, 0))  # entity 4 is in none of them, 0→1 is twice


def ends(of):
    return torch.tensor([of["src"], of["dst"]])


def batch(counts):
    return torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))


def stream(name):
    return np.random.default_rng([1, zlib.crc32(name.encode())])


def normal(rng, *shape, scale=1.0):
    return torch.from_numpy(np.asarray(rng.standard_normal(shape) * scale, np.float32))


def fill(module, rng):
    """Random values for all that a module holds, its zeros and ones included."""
    with torch.no_grad():
        for name, p in module.named_parameters():
            if name.endswith("sigma"):
                p.copy_(torch.from_numpy(rng.uniform(0.6, 1.6, p.shape).astype(np.float32)))
            elif name == "select.weight" and p.numel() == 1:  # SAGPooling's, of which only the sign is read
                p.fill_(0.7)
            else:
                p.copy_(normal(rng, *p.shape, scale=0.5) + (1.0 if "norm" in name and name.endswith("weight") else 0.0))


def encode(t):
    t = t.detach()
    if not t.is_floating_point():
        return {"shape": list(t.shape), "dtype": "int64", "data": t.to(torch.int64).flatten().tolist()}
    return {"shape": list(t.shape), "data": [float("%.9g" % v) for v in t.to(torch.float32).flatten().tolist()]}


def deviation(got, want):
    worst = 0.0
    for k, w in want.items():
        if w.is_floating_point() and w.numel():
            worst = max(worst, ((got[k].double() - w).abs().max() / max(1, w.abs().max())).item())
    return float("%.2g" % worst)


def evaluate(fn, module, inputs, cotangents, rng, dtype):
    """Outputs and gradients; outputs that are numbers get a cotangent each."""
    torch.set_default_dtype(dtype)
    x = {k: v.to(dtype).requires_grad_() if v.is_floating_point() else v for k, v in inputs.items()}
    m = None if module is None else module.to(dtype)
    out = fn(m, x)
    for k, v in out.items():
        if v.requires_grad and k not in cotangents:
            cotangents[k] = normal(rng, *v.shape)
    leaves = {k: v for k, v in x.items() if v.requires_grad}
    if m is not None:
        leaves |= dict(m.named_parameters())
    loss = sum((out[k] * c.to(dtype)).sum() for k, c in cotangents.items())
    values = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    grads = {k: torch.zeros_like(v) if d is None else d for (k, v), d in zip(leaves.items(), values)}
    return {k: v.detach() for k, v in out.items()}, grads


def case(folder, name, config, fn, inputs, module=None, on=None):
    rng = stream(name)
    if module is not None:
        fill(module, rng)
    params = {} if module is None else {k: encode(v) for k, v in module.state_dict().items() if v.is_floating_point()}
    cotangents = {}
    single = evaluate(fn, module, inputs, cotangents, rng, torch.float32)
    if module is not None:  # what a norm has seen in float32 is forgotten
        module.load_state_dict({k: torch.tensor(v["data"]).reshape(v["shape"]) for k, v in params.items()}, strict=False)
    exact = evaluate(fn, module, inputs, cotangents, rng, torch.float64)
    doc = {
        "name": "pyg/" + name, "framework": "pyg", "version": VERSION, "config": config, "graph": on, "params": params,
        "inputs": {k: encode(v) for k, v in inputs.items()}, "outputs": {k: encode(v) for k, v in exact[0].items()},
        "cotangents": {k: encode(v) for k, v in cotangents.items()}, "grads": {k: encode(v) for k, v in exact[1].items()},
        "float32_error": {"outputs": deviation(single[0], exact[0]), "grads": deviation(single[1], exact[1])},
    }
    torch.set_default_dtype(torch.float32)
    path = (HERE / folder / (name + ".json")).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(doc, separators=(",", ":"), allow_nan=False) + "\n")


def rows(name, n, width, key="x"):
    return {key: normal(stream(name + key), n, width)}


def weights(name, of):
    return {"edge_weight": torch.from_numpy(stream(name + "/w").uniform(0.2, 2, len(of["src"])).astype(np.float32))}


def recommendation():
    ei = ends(G)
    for name, w in ("lgconv", {}), ("lgconv_edge_weight", weights("lgconv", G)):
        case("pyg", name, {"layer": "LGConv"}, lambda m, x: {"y": m(x["x"], ei, x.get("edge_weight"))},
             rows(name, 7, 3) | w, LGConv(), G)
    taken = {"users": torch.tensor([0, 1, 0, 6]), "items": torch.tensor([3, 4, 5, 2]), "others": torch.tensor([2, 2, 6, 4])}

    def model(m, x):
        pairs = torch.stack([torch.cat([x["users"], x["users"]]), torch.cat([x["items"], x["others"]])])
        right, wrong = m(ei, pairs).chunk(2)
        return {"y": m.get_embedding(ei), "right": right, "wrong": wrong, "plain": m.recommendation_loss(right, wrong, lambda_reg=0),
                "regularised": m.recommendation_loss(right, wrong, node_id=x["users"], lambda_reg=0.1)}

    case("pyg", "lightgcn", {"layer": "LightGCN", "num_layers": 2, "lambda_reg": 0.1}, model, taken, LightGCN(7, 3, 2), G)


class Gaussian(nn.Module):
    """The encoder of the paper. The graph's loops are the caller's."""

    def __init__(self):
        super().__init__()
        self.first = GCNConv(3, 4, add_self_loops=False)
        self.mu, self.logstd = GCNConv(4, 2, add_self_loops=False), GCNConv(4, 2, add_self_loops=False)

    def forward(self, x, ei):
        h = self.first(x, ei).relu()
        return self.mu(h, ei), self.logstd(h, ei)


def unsupervised():
    ei = ends(G)
    others = {"other_src": torch.tensor([6, 5, 2]), "other_dst": torch.tensor([0, 5, 3])}
    no = torch.stack(list(others.values()))

    def decoder(m, x):
        z = x["x"]
        return {"logits": m(z, ei, sigmoid=False), "chances": m(z, ei), "recon_loss": GAE(nn.Identity(), m).recon_loss(z, ei, no)}

    case("pyg", "innerproductdecoder", {"layer": "InnerProductDecoder"}, decoder, rows("innerproduct", 7, 3) | others, InnerProductDecoder(), G)

    def vgae(m, x):
        z = m.encode(x["x"], ei)
        return {"z": z, "recon_loss": m.recon_loss(z, ei, no), "kl_loss": m.kl_loss()}

    case("pyg", "vgae", {"layer": "VGAE", "mode": "eval: z is the mean"}, vgae, rows("vgae", 7, 3) | others, VGAE(Gaussian()).eval(), G)
    order = {"order": torch.tensor([3, 0, 6, 5, 1, 2, 4])}

    def infomax(m, x):
        there, not_there, summary = m(x["x"], ei)
        return {"h": there, "shuffled": not_there, "loss": m.loss(there, not_there, summary)}

    dgi = DeepGraphInfomax(4, GCNConv(3, 4, add_self_loops=False), lambda z, *_: z.mean(0).sigmoid(), lambda x, ei: (x[order["order"]], ei))
    case("pyg", "deepgraphinfomax", {"layer": "DeepGraphInfomax"}, infomax, rows("dgi", 7, 3) | order, dgi, G)


def convolutions():
    ei, edge = ends(G), rows("edge", 12, 2, "edge_attr")
    weigh = lambda m, x: {"y": m(x["x"], ei, x.get("edge_weight"))}
    for name, w, args in (("armaconv", {}, {}), ("armaconv_stacks", weights("arma", G), dict(num_stacks=2, num_layers=3)),
                          ("armaconv_shared", {}, dict(num_stacks=2, num_layers=3, shared_weights=True, bias=False))):
        case(CONVERT, name, {"layer": "ARMAConv", **args}, weigh, rows(name, 7, 3) | w, g.ARMAConv(3, 2, **args), G)
    for name, args in (("gmmconv", {}), ("gmmconv_sum", dict(aggr="add", root_weight=False, bias=False))):
        m = g.GMMConv(3, 2, dim=2, kernel_size=3, **args)
        if "root_weight" in args:
            m.root = None  # without this PyG 2.8.1 asks for what it has not made
        case(CONVERT, name, {"layer": "GMMConv", **args}, lambda m, x: {"y": m(x["x"], ei, x["edge_attr"])}, rows(name, 7, 3) | edge, m, G)
    for name, e, args in (("resgatedgraphconv", {}, {}), ("resgatedgraphconv_edge_dim", edge, dict(edge_dim=2)),
                          ("resgatedgraphconv_bare", {}, dict(root_weight=False, bias=False))):
        case(CONVERT, name, {"layer": "ResGatedGraphConv", **args}, lambda m, x: {"y": m(x["x"], ei, x.get("edge_attr"))},
             rows(name, 7, 3) | e, g.ResGatedGraphConv(3, 2, **args), G)
    both = rows("pair", 5, 3, "x_src") | rows("pair", 4, 2, "x_dst")
    case(CONVERT, "resgatedgraphconv_bipartite", {"layer": "ResGatedGraphConv"}, lambda m, x: {"y": m((x["x_src"], x["x_dst"]), ends(PAIR))},
         both, g.ResGatedGraphConv((3, 2), 2), PAIR)
    mlp, e, of = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)), rows("gps", 10, 2, "edge_attr"), batch([5, 3])
    gps = lambda m, x: {"y": m(x["x"], ends(TWO), of, **{k: v for k, v in x.items() if k == "edge_attr"})}
    case(CONVERT, "gpsconv", {"layer": "GPSConv", "heads": 2, "batch_num_nodes": [5, 3]}, gps, rows("gps", 8, 4), g.GPSConv(4, g.GINConv(mlp), heads=2), TWO)
    case(CONVERT, "gpsconv_layer_norm", {"layer": "GPSConv", "heads": 2, "edge_dim": 2, "norm": "layer_norm", "batch_num_nodes": [5, 3]}, gps,
         rows("gps", 8, 4) | e, g.GPSConv(4, g.GINEConv(mlp, edge_dim=2), heads=2, norm="layer_norm", norm_kwargs={"mode": "node"}), TWO)
    for mode, args in ("cat", ()), ("max", ()), ("lstm", (3, 3)):
        name = "jumpingknowledge_" + mode
        case(CONVERT, name, {"layer": "JumpingKnowledge", "mode": mode}, lambda m, x: {"y": m([x["x_0"], x["x_1"], x["x_2"]])},
             rows(name, 4, 3, "x_0") | rows(name, 4, 3, "x_1") | rows(name, 4, 3, "x_2"), JumpingKnowledge(mode, *args))


def poolings():
    folder, of = "../pool/testdata", batch(MEMBERS)

    def kept(m, x):
        y, edges, _, _, perm, score = m(x["x"], ends(BATCH), batch=of)
        return {"y": y, "score": score, "perm": perm, "edge_src": perm[edges[0]], "edge_dst": perm[edges[1]]}

    config = {"batch_num_nodes": MEMBERS, "in_channels": 3}
    case(folder, "pyg_topkpooling", {"layer": "TopKPooling", "ratio": 0.5, **config}, kept, rows("topk", 9, 3), g.TopKPooling(3), BATCH)
    case(folder, "pyg_sagpooling", {"layer": "SAGPooling", "ratio": 0.7, **config}, kept, rows("sag", 9, 3),
         g.SAGPooling(3, 0.7, GNN=GCNConv, add_self_loops=False), BATCH)
    for k in 2, 6:  # fewer than the largest member has, and more
        case(folder, f"pyg_sortaggregation_k{k}", {"layer": "SortAggregation", "k": k, **config}, lambda m, x: {"y": m(x["x"], of)},
             rows("sort", 9, 3), g.SortAggregation(k))

    def diff(on, losses):
        def pool(m, x):
            s, _ = to_dense_batch(m(x["x"], ends(on)), of)
            dense, mask = to_dense_batch(x["x"], of)
            y, adj, link, entropy = g.dense_diff_pool(dense, to_dense_adj(ends(on), of), s, mask, normalize=False)
            return {"y": y, "adj": adj} | ({"link_loss": link, "ent_loss": entropy} if losses else {})
        return pool

    for name, on, losses in ("pyg_dense_diff_pool", SIMPLE, True), ("pyg_dense_diff_pool_parallel", BATCH, False):
        case(folder, name, {"layer": "dense_diff_pool", "clusters": 2, **config}, diff(on, losses), rows(name, 9, 3), SAGEConv(3, 2), on)


def knowledge():
    folder = "../knowledge/testdata"
    kinds = {"edge_type": torch.tensor([0, 1, 2, 0, 1, 2])}
    wrong = {"wrong_src": torch.tensor([4, 1, 2, 0, 0, 1]), "wrong_dst": torch.tensor([1, 4, 3, 0, 0, 0])}  # of the same relations
    for name, of, args in (("transe_p1", kge.TransE, dict(margin=2.0)), ("transe_p2", kge.TransE, dict(margin=2.0, p_norm=2.0)),
                           ("distmult", kge.DistMult, dict(margin=0.5)), ("complex", kge.ComplEx, {}),
                           ("rotate", kge.RotatE, dict(margin=2.0)), ("rotate_one", kge.RotatE, dict(margin=2.0))):
        model = of(5, 3, 1 if name == "rotate_one" else 3, **args)

        def scored(m, x):
            heads, tails = ends(FACTS)
            m.random_sample = lambda *_: (x["wrong_src"], x["edge_type"], x["wrong_dst"])
            return {"score": m(heads, x["edge_type"], tails), "wrong": m(*m.random_sample()), "loss": m.loss(heads, x["edge_type"], tails)}

        case(folder, name, {"layer": of.__name__, "hidden_channels": model.hidden_channels, **args}, scored, kinds | wrong, model, FACTS)


def heterogeneous():
    # b's last node, and a's third, hear nobody; a→b has two edges that are parallel, a→a a loop.
    pairs = {("a", "to", "b"): [(0, 0), (4, 0), (0, 0), (2, 1), (1, 2)], ("b", "back", "a"): [(0, 1), (3, 1), (2, 4), (1, 0)],
             ("a", "self", "a"): [(1, 1), (0, 1), (3, 4), (4, 3)]}
    edges = {r: torch.tensor(p).t() for r, p in pairs.items()}
    inputs = rows("hetero", 5, 4, "x_a") | rows("hetero", 4, 3, "x_b")
    for r, e in edges.items():
        inputs |= {"src_" + "__".join(r): e[0], "dst_" + "__".join(r): e[1]}

    def both(m, x):
        y = m({"a": x["x_a"], "b": x["x_b"]}, edges)
        return {"y_a": y["a"], "y_b": y["b"]}

    for name, of in ("hgtconv", g.HGTConv), ("hanconv", g.HANConv):
        case(CONVERT, name, {"layer": of.__name__, "heads": 2, "out_channels": 4}, both, inputs,
             of({"a": 4, "b": 3}, 4, (["a", "b"], list(edges)), heads=2))


for part in recommendation, unsupervised, convolutions, poolings, knowledge, heterogeneous:
    part()
