"""The modules whose weights go both ways, and what they compute."""
import math
import torch
from torch import nn
from torch.nn import Linear, ReLU, Sequential

# A path with two chords, both directions, no loops.
PAIRS = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 3), (1, 4)]
EDGES = torch.tensor(sorted(p for a, b in PAIRS for p in ((a, b), (b, a)))).flip(1).t().contiguous()  # by destination
RELATIONS = {("a", "to", "b"): EDGES, ("b", "back", "a"): EDGES, ("a", "self", "a"): EDGES}
KINDS = torch.arange(EDGES.size(1)) % 3
MEMBERS = torch.tensor([0, 0, 0, 1, 1])  # of a batch of two graphs


def inputs():
    gen = torch.Generator().manual_seed(3)
    draw = lambda *shape: torch.randn(*shape, generator=gen)
    return {"x": draw(5, 4), "dst": draw(5, 3), "edge": draw(EDGES.size(1), 2), "memory": draw(3, 4),
            "edges": EDGES.clone(), "kinds": KINDS.clone()}


def framework(name):
    """The modules of torch, pyg or dgl, and what runs them; it alone imports the framework."""
    if name == "dgl":
        import modules_dgl
        return modules_dgl.dgl_modules(), modules_dgl.run
    return {"torch": torch_modules, "pyg": pyg_modules}[name](), run


def pyg_modules():
    import torch_geometric.nn as g
    torch.manual_seed(1)
    degrees = torch.tensor([0, 0, 2, 2, 1])
    mlp = lambda i, o: Sequential(Linear(i, 6), ReLU(), Linear(6, o))
    return {
        "gat": g.GATConv(4, 3, heads=2), "gat_mean": g.GATConv(4, 3, heads=2, concat=False, residual=True, bias=False),
        "gat_edge": g.GATConv(4, 3, heads=2, edge_dim=2, add_self_loops=False),
        "gat_pair": g.GATConv((4, 3), 3, heads=2, add_self_loops=False),
        "gatv2": g.GATv2Conv(4, 3, heads=2), "gatv2_shared": g.GATv2Conv(4, 3, heads=2, share_weights=True),
        "gatv2_edge": g.GATv2Conv(4, 3, heads=2, edge_dim=2, add_self_loops=False, residual=True),
        "supergat": g.SuperGATConv(4, 3, heads=2), "supergat_sd": g.SuperGATConv(4, 3, heads=2, attention_type="SD"),
        "transformer": g.TransformerConv(4, 3, heads=2, beta=True, edge_dim=2),
        "transformer_mean": g.TransformerConv(4, 3, heads=2, concat=False, root_weight=False),
        "agnn": g.AGNNConv(), "gcn": g.GCNConv(4, 3), "sgc": g.SGConv(4, 3, K=2), "appnp": g.APPNP(4, 0.2),
        "cheb": g.ChebConv(4, 3, K=3), "tag": g.TAGConv(4, 3, K=2),
        "arma": g.ARMAConv(4, 3, num_stacks=2, num_layers=3), "arma_shared": g.ARMAConv(4, 3, num_stacks=2, num_layers=3, shared_weights=True),
        "arma_one": g.ARMAConv(4, 3),
        "gcn2": g.GCN2Conv(4, 0.1, theta=0.5, layer=2), "gcn2_two": g.GCN2Conv(4, 0.1, theta=0.5, layer=2, shared_weights=False),
        "sage": g.SAGEConv(4, 3), "sage_max": g.SAGEConv(4, 3, aggr="max", project=True, normalize=True), "sage_bare": g.SAGEConv(4, 3, root_weight=False, bias=False),
        "graphconv": g.GraphConv(4, 3), "gin": g.GINConv(mlp(4, 3), eps=0.3), "gin_eps": g.GINConv(mlp(4, 3), train_eps=True),
        "gin_mlp": g.GINConv(g.MLP([4, 6, 3])), "gine": g.GINEConv(mlp(4, 3), edge_dim=2, train_eps=True),
        "edgeconv": g.EdgeConv(mlp(8, 3)), "nnconv": g.NNConv(4, 3, Sequential(Linear(2, 5), ReLU(), Linear(5, 12))),
        "nnconv_plain": g.NNConv(4, 3, Linear(2, 12), aggr="mean", root_weight=False),
        "gmm": g.GMMConv(4, 3, dim=2, kernel_size=3), "resgated": g.ResGatedGraphConv(4, 3), "resgated_edge": g.ResGatedGraphConv(4, 3, edge_dim=2),
        "rgcn": g.RGCNConv(4, 6, 3), "rgcn_bases": g.RGCNConv(4, 6, 3, num_bases=2), "rgcn_blocks": g.RGCNConv(4, 6, 3, num_blocks=2),
        "gated": g.GatedGraphConv(6, 2), "pna": g.PNAConv(4, 6, ["mean", "max"], ["identity", "amplification"], degrees, edge_dim=2, towers=2, pre_layers=2),
        "gps": g.GPSConv(4, g.GINConv(Sequential(Linear(4, 4), ReLU(), Linear(4, 4))), heads=2), "gps_layer": g.GPSConv(4, g.GINEConv(Sequential(Linear(4, 4), ReLU(), Linear(4, 4)), edge_dim=2), heads=2, norm="layer_norm", norm_kwargs={"mode": "node"}),
        "hgt": g.HGTConv({"a": 4, "b": 3}, 4, (["a", "b"], list(RELATIONS)), heads=2), "han": g.HANConv({"a": 4, "b": 3}, 4, (["a", "b"], list(RELATIONS)), heads=2),
        "batchnorm": g.BatchNorm(4), "graphnorm": g.GraphNorm(4), "jumping": g.JumpingKnowledge("lstm", 4, 3),
        "set2set": g.Set2Set(4, 3, num_layers=2), "attpool": g.AttentionalAggregation(Sequential(Linear(4, 5), ReLU(), Linear(5, 1)), Linear(4, 3)),
        "attpool_mlp": g.AttentionalAggregation(g.MLP([4, 5, 1]), g.MLP([4, 3])), "topk": g.TopKPooling(4, 0.6), "sag": g.SAGPooling(4, 0.6, g.GCNConv),
        "vgae": g.VGAE(nn.ModuleDict({"conv1": g.GCNConv(4, 5), "conv_mu": g.GCNConv(5, 3), "conv_logstd": g.GCNConv(5, 3)})),
        "dgi": g.DeepGraphInfomax(4, g.GCNConv(4, 4), lambda z, *_: z.mean(0).sigmoid(), lambda x, edges: (x.flip(0), edges)),
        "node2vec": nn.ModuleDict({"embedding": nn.Embedding(5, 4)}),  # Node2Vec itself wants pyg-lib
        "transe": g.TransE(5, 3, 4), "distmult": g.DistMult(5, 3, 4), "complex": g.ComplEx(5, 3, 2), "rotate": g.RotatE(5, 3, 2),
        "model": g.GAT(4, 6, num_layers=2, out_channels=3, heads=2),
    }


def sinusoids(n, width):
    rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000) / width))
    angles = torch.arange(n).unsqueeze(1) * rate
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)


class Translator(nn.Module):
    """A whole nn.Transformer between tables of words, of which the targets' is tied to the output."""

    def __init__(self):
        super().__init__()
        self.src, self.tgt, self.out = nn.Embedding(7, 4), nn.Embedding(6, 4), Linear(4, 6, bias=False)
        self.out.weight = self.tgt.weight
        self.transformer = nn.Transformer(4, 2, 1, 1, 8, batch_first=True)

    def forward(self, source, fed):
        words = lambda table, ids: (table(ids) * math.sqrt(4) + sinusoids(len(ids), 4)).unsqueeze(0)
        mask = nn.Transformer.generate_square_subsequent_mask(len(fed))
        return self.out(self.transformer(words(self.src, source), words(self.tgt, fed), tgt_mask=mask, tgt_is_causal=True)[0])


class LanguageModel(nn.Module):
    """Blocks on a causal mask, learned places, and a head tied to the words."""

    def __init__(self):
        super().__init__()
        self.wte, self.wpe, self.lm_head = nn.Embedding(7, 4), nn.Embedding(5, 4), Linear(4, 7, bias=False)
        self.lm_head.weight = self.wte.weight
        block = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=True, activation="gelu")
        self.blocks = nn.TransformerEncoder(block, 2, norm=nn.LayerNorm(4), enable_nested_tensor=False)

    def forward(self, tokens):
        x = self.wte(tokens) * math.sqrt(4) + self.wpe.weight[:len(tokens)]
        mask = nn.Transformer.generate_square_subsequent_mask(len(tokens))
        return self.lm_head(self.blocks(x.unsqueeze(0), mask=mask, is_causal=True)[0])


def torch_modules():
    torch.manual_seed(2)
    return {
        "linear": Linear(4, 3), "mlp": Sequential(Linear(4, 6), nn.BatchNorm1d(6), ReLU(), nn.Dropout(0.5), Linear(6, 3)), "layernorm": nn.LayerNorm(4),
        "batchnorm": nn.BatchNorm1d(4), "embedding": nn.Embedding(7, 3), "conv1d": nn.Conv1d(4, 3, 3, padding=1),
        "rnn": nn.RNN(4, 3, batch_first=True, nonlinearity="relu"), "lstm": nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True),
        "gru": nn.GRU(4, 3, num_layers=2, bidirectional=True, batch_first=True), "gru_bare": nn.GRU(4, 3, bias=False, batch_first=True),
        "lstmcell": nn.LSTMCell(4, 3),
        "mha": nn.MultiheadAttention(4, 2, batch_first=True), "mha_wide": nn.MultiheadAttention(4, 2, kdim=3, vdim=3, bias=False, batch_first=True),
        "encoderlayer": nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), "decoderlayer": nn.TransformerDecoderLayer(4, 2, 8, batch_first=True),
        "encoder": nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=True, activation="gelu"), 2, norm=nn.LayerNorm(4), enable_nested_tensor=False),
        "decoder": nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, batch_first=True), 2, norm=nn.LayerNorm(4)),
        "translator": Translator(), "languagemodel": LanguageModel(),
    }


def kept(pooled):
    """The rows that a pooling layer keeps, in the order of the nodes."""
    return pooled[0][pooled[4].argsort()]


def variational(encoder, x, edges):
    h = encoder["conv1"](x, edges).relu()
    return torch.cat([encoder["conv_mu"](h, edges), encoder["conv_logstd"](h, edges)], 1)


def run(model):
    """The output of each module, as rows."""
    data = inputs()
    x, dst, edge, memory, edges = data["x"], data["dst"], data["edge"], data["memory"], EDGES
    rows = x.unsqueeze(0)
    types = lambda m: torch.cat([m({"a": x, "b": dst}, RELATIONS)[t] for t in "ab"])
    special = {
        "hgt": types, "han": types,
        "gat_pair": lambda m: m((x, dst), edges), "rgcn": lambda m: m(x, edges, KINDS), "rgcn_bases": lambda m: m(x, edges, KINDS), "rgcn_blocks": lambda m: m(x, edges, KINDS),
        "gcn2": lambda m: m(x, x.flip(0), edges), "gcn2_two": lambda m: m(x, x.flip(0), edges), "pna": lambda m: m(x, edges, edge),
        "gps": lambda m: m(x, edges, torch.zeros(5, dtype=torch.long)), "gps_layer": lambda m: m(x, edges, torch.zeros(5, dtype=torch.long), edge_attr=edge),
        "jumping": lambda m: m([x, x.flip(0), -x]), "embedding": lambda m: m(torch.tensor([3, 0, 6])), "conv1d": lambda m: m(x.t())[:].t(),
        "mha": lambda m: m(rows, rows, rows)[0][0], "mha_wide": lambda m: m(rows, dst.unsqueeze(0), dst.unsqueeze(0))[0][0],
        "lstmcell": lambda m: m(x)[0],
        "set2set": lambda m: m(x, MEMBERS), "attpool": lambda m: m(x, MEMBERS), "attpool_mlp": lambda m: m(x, MEMBERS), "topk": lambda m: kept(m(x, edges)),
        "sag": lambda m: kept(m(x, edges)), "vgae": lambda m: variational(m.encoder, x, edges), "dgi": lambda m: m.loss(*m(x, edges)).reshape(1),
        "node2vec": lambda m: m["embedding"].weight.detach(), **{name: lambda m: m(edges[0], KINDS, edges[1]) for name in ("transe", "distmult", "complex", "rotate")},
        "translator": lambda m: m(torch.tensor([3, 1, 5, 2]), torch.tensor([0, 4, 2])), "languagemodel": lambda m: m(torch.tensor([0, 3, 5, 1])),
    }
    outputs = {}
    with torch.no_grad():
        for name, m in model.items():
            if name in special:
                y = special[name](m)
            elif name.endswith("_edge") or name in ("transformer", "gine", "nnconv", "nnconv_plain", "gmm"):
                y = m(x, edges, edge)
            elif name in ("rnn", "lstm", "gru", "gru_bare"):
                y = m(rows)[0][0]
            elif name.startswith("encoder"):
                y = m(rows)[0]
            elif name.startswith("decoder"):
                y = m(rows, memory.unsqueeze(0))[0]
            elif name in ("linear", "mlp", "layernorm", "batchnorm", "graphnorm"):
                y = m(x)
            else:
                y = m(x, edges)
            outputs[name] = y.contiguous()
    return outputs
