"""Greedy generation with a Transformer's decoder and its cache, in plain PyTorch."""

import torch
import torch.nn.functional as F
from torch import nn

from timing import forward_only


class Layer(nn.Module):
    """x + join(attend(norm x)), then x + narrow(relu(wide(norm x))); the inner layer is 4·d wide."""

    def __init__(self, d):
        super().__init__()
        self.first, self.second = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.join = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.wide, self.narrow = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)


class Decoder(nn.Module):
    """A Transformer that writes, without an encoder. These are its shapes, for whoever sets one beside it:

    words vocab×d and places t×d are added; `layers` layers, norms before their parts; one norm at
    the end; out d→vocab, not tied to words. Each linear layer has a bias. In a layer qkv's columns
    are queries, keys, values, each `heads` heads side by side; logits are scaled by 1/√(d/heads).
    """

    def __init__(self, layers, d, heads, t, vocab):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, d), nn.Embedding(t, d)
        self.layers = nn.ModuleList(Layer(d) for _ in range(layers))
        self.norm, self.out, self.heads = nn.LayerNorm(d), nn.Linear(d, vocab), heads

    def cached(self, token, at, cache):
        """The logits of what follows one token at a place; cache is layers × 2 × heads × t × width."""
        x = self.words(token) + self.places.weight[at]
        for layer, (keys, values) in zip(self.layers, cache):
            q, k, v = layer.qkv(layer.first(x)).view(3, self.heads, -1).unbind(0)
            keys[:, at], values[:, at] = k, v
            y = F.scaled_dot_product_attention(q.view(1, self.heads, 1, -1), keys[None, :, :at + 1], values[None, :, :at + 1])
            x = x + layer.join(y.flatten())
            x = x + layer.narrow(layer.wide(layer.second(x)).relu())
        return self.out(self.norm(x))

    def whole(self, tokens):
        """The logits after each of tokens, all at once."""
        x = self.words(tokens) + self.places.weight[:len(tokens)]
        for layer in self.layers:
            q, k, v = layer.qkv(layer.first(x)).view(len(tokens), 3, self.heads, -1).permute(1, 2, 0, 3).unbind(0)
            y = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
            x = x + layer.join(y.transpose(0, 1).flatten(1))
            x = x + layer.narrow(layer.wide(layer.second(x)).relu())
        return self.out(self.norm(x))


def run_generate(run, form, s):
    """t tokens of one sentence, from token 0, each the most likely: with a cache that is there
    beforehand (`cached`), or all that was written once more for each token (`whole`)."""
    net = Decoder(s["layers"], s["d"], s["heads"], s["t"], s["vocab"]).eval()
    cache = torch.empty(s["layers"], 2, s["heads"], s["t"], s["d"] // s["heads"])

    def cached():
        token, written = torch.tensor(0), []
        for at in range(s["t"]):
            token = net.cached(token, at, cache).argmax()
            written.append(token.item())
        return written

    def whole():
        written = [0]
        for _ in range(s["t"]):
            written.append(net.whole(torch.tensor(written))[-1].argmax().item())
        return written[1:]

    with torch.no_grad():
        run.extra["agree"] = cached()[:16] == whole()[:16]
    forward_only(run, {"cached": cached, "whole": whole}[form])
    run.extra["tokens_per_s"] = 1e3 * s["t"] / run.line["median_ms"]
