"""Attention in plain PyTorch on what is not a rectangle: a window, ragged sentences, a decoder's steps."""

import torch
import torch.nn.functional as F
from torch import nn

from recurrent import ragged_lengths
from timing import forward_and_backward


def run_window(run, form, s):
    """Scaled dot products of each of n words with those at most w away; gradients to queries, keys, values.

    `masked` is scaled_dot_product_attention with a mask of n × n, made beforehand; `blocks` cuts the
    queries into blocks of w, each with the 3w keys around it, as Longformer's implementations do.
    """
    n, w, heads, width = s["n"], s["w"], s["heads"], s["d"] // s["heads"]
    q, k, v = (torch.randn(1, heads, n, width) for _ in range(3))
    if form == "masked":
        place = torch.arange(n)
        mask = (place.unsqueeze(1) - place).abs() <= w
        forward_and_backward(run, lambda: F.scaled_dot_product_attention(q, k, v, mask), leaves=[q, k, v])
        return
    if n % w:
        raise SystemExit(f"n={n} must be a multiple of w={w} for blocks")
    query, key = torch.arange(w).unsqueeze(1) + w, torch.arange(3 * w)
    key_place = key + torch.arange(-w, n - w, w).view(-1, 1, 1)  # blocks × 1 × 3w
    mask = (((query - key).abs() <= w) & (key_place >= 0) & (key_place < n)).unsqueeze(0)

    def around(x):
        """heads × blocks × 3w × width"""
        return F.pad(x[0], (0, 0, w, w)).unfold(1, 3 * w, w).transpose(2, 3)

    def blocks():
        y = F.scaled_dot_product_attention(q[0].unflatten(1, (-1, w)), around(k), around(v), mask)
        return y.flatten(1, 2)

    forward_and_backward(run, blocks, leaves=[q, k, v])


def run_ragged(run, form, s):
    """MultiheadAttention over padded sentences, whose padding is masked."""
    lengths = torch.tensor(ragged_lengths())
    run.line["params"].update(b=len(lengths), lengths=lengths.tolist())
    net = nn.MultiheadAttention(s["d"], s["heads"], batch_first=True)
    x = torch.randn(len(lengths), int(lengths.max()), s["d"])
    padding = torch.arange(x.shape[1]) >= lengths.unsqueeze(1)
    forward_and_backward(run, lambda: net(x, x, x, key_padding_mask=padding, need_weights=False)[0], net, [x])
    run.extra["padding_pct"] = 100 * padding.float().mean().item()


def run_additive(run, form, s):
    """Softmax of tanh(keys + query)·v over s words, and the mean of values by it, for t queries a sentence.

    Keys and queries are projected already. `whole` broadcasts all queries at once, `steps` one of each
    sentence at a time. Gradients go to keys, queries, values and v.
    """
    keys, values = torch.randn(s["b"], s["s"], s["h"]), torch.randn(s["b"], s["s"], s["h"])
    queries, v = torch.randn(s["b"], s["t"], s["h"]), torch.randn(s["h"])

    def attend(query):  # b × some steps × h
        logits = torch.tanh(keys.unsqueeze(1) + query.unsqueeze(2)) @ v
        return torch.bmm(logits.softmax(2), values)

    calls = {
        "whole": lambda: attend(queries),
        "steps": lambda: torch.cat([attend(q) for q in queries.split(1, 1)], 1),
    }
    forward_and_backward(run, calls[form], leaves=[keys, queries, values, v])
