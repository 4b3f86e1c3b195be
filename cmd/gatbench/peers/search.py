"""Beam search over an LSTM in plain PyTorch."""

import torch
from torch import nn

from timing import forward_only

END = 1

# Of the first captions of Multi30k's test set of 2016, in English: words and marks, and the end. edgewise's
# beamLengths are the same.
LENGTHS = [
    11, 17, 14, 19, 10, 27, 12, 30, 8, 15, 13, 18, 12, 12, 8, 15, 12, 19, 11, 12, 8, 13, 13, 15, 13, 18, 8, 13, 12, 19, 11, 14,
    8, 18, 13, 22, 8, 18, 10, 14, 11, 20, 7, 15, 11, 16, 9, 27, 9, 14, 12, 13, 10, 12, 20, 20, 8, 8, 12, 19, 10, 19, 13, 16,
]


def run_beam(run, form, s):
    """The best `beam` continuations of 64 states, each of which ends at its own length.

    All beams of all sentences are one batch. The first step has one beam a sentence. A hypothesis that
    has ended stays in its place: END follows it, for nothing. The search is over when all have ended.
    `whole` keeps all rows until then, as most loops that people write; `shrinking` gives up the rows of
    a sentence when it is over, as translation toolkits do. Who comes from whom is kept, and followed back.
    """
    beam, vocab, count = s["beam"], s["vocab"], len(LENGTHS)
    run.line["params"].update(lengths=LENGTHS)
    words, cell, out = nn.Embedding(vocab, s["i"]), nn.LSTMCell(s["i"], s["h"]), nn.Linear(s["h"], vocab)
    start = torch.randn(count, s["h"]), torch.randn(count, s["h"])
    lengths, place = torch.tensor(LENGTHS), torch.arange(beam).expand(count, -1)
    over = torch.full((vocab,), -torch.inf)
    over[END] = 0

    def search(shrinking):
        (h, c), live = start, torch.arange(count)  # the sentences that there are rows of
        token, scores, done = torch.zeros(count, dtype=torch.long), torch.zeros(count, 1), torch.zeros(count, 1, dtype=torch.bool)
        tokens, origins, final = [], [], torch.zeros(count, beam)
        for step in range(s["longest"]):
            h, c = cell(words(token), (h, c))
            logits = out(h).view(len(live), -1, vocab)
            logits[:, :, END] += torch.where(lengths[live] == step + 1, 30.0, -30.0).unsqueeze(1)
            logs = logits.log_softmax(2)
            if done.any():
                logs[done] = over
            width = logs.shape[1]
            scores, at = logs.add_(scores.unsqueeze(2)).flatten(1).topk(beam, 1)
            origin, token = at // vocab, at % vocab
            done = done.gather(1, origin) | (token == END)
            tokens.append(torch.full((count, beam), END).index_copy(0, live, token))
            origins.append(place.index_copy(0, live, origin))
            final[live] = scores
            rows = torch.arange(len(live)).unsqueeze(1) * width + origin
            ended = done.all(1)
            if ended.all():
                break
            if shrinking and ended.any():
                stay = ~ended
                live, rows, token, scores, done = live[stay], rows[stay], token[stay], scores[stay], done[stay]
            rows, token = rows.flatten(), token.flatten()
            h, c = h[rows], c[rows]
        at = place
        for step in reversed(range(len(tokens))):
            tokens[step] = tokens[step].gather(1, at)
            at = origins[step].gather(1, at)
        return torch.stack(tokens, 2).tolist(), final

    with torch.no_grad():
        run.extra["agree"] = search(True)[0] == search(False)[0]
        run.extra["steps"] = len(search(False)[0][0][0])
    forward_only(run, lambda: search(form == "shrinking"))
