"""Tree-LSTMs in plain PyTorch: a node after the other, or a level after the other.

A tree is (parents, labels, words): nodes in preorder, words by node, None where a node has none. They are the
first of the Stanford Sentiment Treebank's, or drawn ones, the same that edgewise draws.
"""

import gzip
import itertools
import os

import torch
import torch.nn.functional as F
from torch import nn

from timing import forward_and_backward

SENTIMENTS = 5


def read_treebank(data, count):
    """The first trees of train.txt or train.txt.gz in data, or in its folder sst."""
    for path in (os.path.join(data, *rest) for rest in itertools.product(("sst", ""), ("train.txt", "train.txt.gz"))):
        if os.path.exists(path):
            with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
                trees = [parse_tree(line) for line in itertools.islice(f, count)]
            if len(trees) < count:
                raise SystemExit(f"{path}: {len(trees)} trees, want {count}")
            return trees
    raise SystemExit(f"{data}: no train.txt and no train.txt.gz in it, nor in its folder sst")


def parse_tree(line):
    parents, labels, words, path = [], [], [], [-1]
    for part in line.replace("(", " ( ").replace(")", " ) ").split():
        if part == "(":
            parents.append(path[-1])
            labels.append(None)
            words.append(None)
            path.append(len(parents) - 1)
        elif part == ")":
            path.pop()
        elif labels[path[-1]] is None:
            labels[path[-1]] = int(part)
        else:
            words[path[-1]] = part
    return parents, labels, words


def draw_trees(count):
    """What edgewise's drawnTrees makes."""
    trees, r, word = [], 1, 0
    for k in range(count):
        parents, words = [], []

        def grow(up, n):
            nonlocal r, word
            at = len(parents)
            parents.append(up)
            words.append(None)
            if n == 1:
                words[at] = word
                word += 1
                return
            r = (1664525 * r + 1013904223) % 2**32
            left = 1 + (r >> 16) % min(n - 1, 4)
            grow(at, left)
            grow(at, n - left)

        grow(-1, 4 + 6 * k % 31)
        trees.append((parents, [v % SENTIMENTS for v in range(len(parents))], words))
    return trees


class TreeLSTM(nn.Module):
    """Of Tai, Socher and Manning: the child-sum form, or with two places for children.

    What the gates take from the input is made for all nodes at once. Of a leaf it is all there is.
    """

    def __init__(self, width, hidden, places):
        super().__init__()
        self.hidden, self.places = hidden, places
        self.inputs = nn.Linear(width, 4 * hidden)  # i, o, u, f
        if places:
            self.gates = nn.Linear(places * hidden, (3 + places) * hidden, bias=False)
        else:
            self.gates, self.forget = nn.Linear(hidden, 3 * hidden, bias=False), nn.Linear(hidden, hidden, bias=False)

    def cell(self, x, h, c):
        """h and c of nodes of equally many children; x: nodes × 4·hidden, h and c: nodes × children × hidden."""
        if self.places:
            recurrent = self.gates(h.flatten(1))
            gates, forget = recurrent[:, :3 * self.hidden], recurrent[:, 3 * self.hidden:].view_as(c)
        else:
            gates, forget = self.gates(h.sum(1)), self.forget(h)
        wanted, own = x.split([3 * self.hidden, self.hidden], 1)
        i, o, u = (wanted + gates).chunk(3, 1)
        c = i.sigmoid() * u.tanh() + ((own.unsqueeze(1) + forget).sigmoid() * c).sum(1)
        return o.sigmoid() * c.tanh(), c

    def leaves(self, x):
        i, o, u = x[:, :3 * self.hidden].chunk(3, 1)
        c = i.sigmoid() * u.tanh()
        return o.sigmoid() * c.tanh(), c

    def recursion(self, x, children):
        """h of all nodes: of each tree from its root down, a node at a time."""
        states = {}

        def visit(v):
            below = [visit(u) for u in children[v]]
            row = x[v:v + 1]
            if below:
                states[v] = self.cell(row, torch.stack([h for h, _ in below], 1), torch.stack([c for _, c in below], 1))
            else:
                states[v] = self.leaves(row)
            return states[v]

        for root in children.roots:
            visit(root)
        return torch.cat([states[v][0] for v in range(len(x))])

    def levels(self, x, children):
        """h of all nodes: all leaves, then all nodes of which every child is known, and so on."""
        h, c = self.leaves(x[children.order[0]])
        for nodes, below in zip(children.order[1:], children.below):
            new_h, new_c = self.cell(x[nodes], h[below], c[below])
            h, c = torch.cat([h, new_h]), torch.cat([c, new_c])
        return h[children.rank]


class Children(list):
    """The children of each node of a forest, and its levels as tensors."""

    def __init__(self, trees):
        first = 0
        self.roots = []
        for parents, _, _ in trees:
            self.roots.append(first)
            self.extend([] for _ in parents)
            for v, up in enumerate(parents):
                if up >= 0:
                    self[first + up].append(first + v)
            first += len(parents)
        height = [0] * len(self)
        for v in reversed(range(len(self))):
            height[v] = 1 + max((height[u] for u in self[v]), default=-1)
        nodes = [[v for v in range(len(self)) if height[v] == level] for level in range(max(height) + 1)]
        self.order = [torch.tensor(level) for level in nodes]
        self.rank = torch.argsort(torch.cat(self.order))
        self.below = [torch.stack([self.rank[self[v]] for v in level]) for level in nodes[1:]]


def run_trees(run, form, s, places, data=None):
    """The loss at all nodes, with gradients to the parameters, words included."""
    trees = read_treebank(data, s["batch"]) if data else draw_trees(s["batch"])
    run.line["params"]["trees"] = "sst" if data else "drawn"
    children, labels = Children(trees), torch.tensor([y for _, ys, _ in trees for y in ys])
    words = [w for _, _, ws in trees for w in ws]
    number = {w: i for i, w in enumerate(dict.fromkeys(w for w in words if w is not None))}
    leaves = torch.tensor([v for v, w in enumerate(words) if w is not None])
    tokens = torch.tensor([number[w] for w in words if w is not None])
    net = nn.ModuleDict({"words": nn.Embedding(len(number), s["i"]), "tree": TreeLSTM(s["i"], s["h"], places),
                         "out": nn.Linear(s["h"], SENTIMENTS)})
    walk = getattr(net["tree"], form)

    def loss():
        x = torch.zeros(len(words), s["i"]).index_copy(0, leaves, net["words"](tokens))
        return F.cross_entropy(net["out"](walk(net["tree"].inputs(x), children)), labels)

    forward_and_backward(run, loss, net)
    run.extra.update(nodes=len(words), levels=len(children.order))
