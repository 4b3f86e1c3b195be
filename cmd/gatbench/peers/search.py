"""Beam search over an LSTM in plain PyTorch."""

import torch
from torch import nn

from timing import forward_only


def run_beam(run, form, s):
    """The best `beam` continuations of `sentences` states, `t` tokens each; none ends early.

    All beams of all sentences are one batch. The first step has one beam a sentence. Who comes from
    whom is kept, and followed back at the end.
    """
    beam, count, vocab = s["beam"], s["sentences"], s["vocab"]
    words, cell, out = nn.Embedding(vocab, s["i"]), nn.LSTMCell(s["i"], s["h"]), nn.Linear(s["h"], vocab)
    start = torch.randn(count, s["h"]), torch.randn(count, s["h"])
    first = torch.arange(count).unsqueeze(1)  # of the rows of the beams: its sentence's

    def search():
        h, c = start
        token, scores = torch.zeros(count, dtype=torch.long), torch.zeros(count, 1)
        tokens, origins = [], []
        for _ in range(s["t"]):
            h, c = cell(words(token), (h, c))
            logs = out(h).log_softmax(1).view(count, -1, vocab)
            width = logs.shape[1]
            scores, at = (scores.unsqueeze(2) + logs).flatten(1).topk(beam, 1)
            origin = at // vocab
            tokens.append(at % vocab)
            origins.append(origin)
            rows = (first * width + origin).flatten()
            h, c, token = h[rows], c[rows], tokens[-1].flatten()
        place = torch.arange(beam).expand(count, -1)
        for step in reversed(range(s["t"])):
            tokens[step] = tokens[step].gather(1, place)
            place = origins[step].gather(1, place)
        return torch.stack(tokens, 2).tolist(), scores

    forward_only(run, search)
