"""Recurrent networks of torch.nn where a batch is ragged, or a chain is cut into segments."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence

from measure import repeat
from timing import forward_and_backward

SEQUENCES = 64


def ragged_lengths():
    """What edgewise's raggedLengths makes: 64 lengths of 5 to 97, 25 in the mean, in no order."""
    return [5 + int(95 * ((k * 37 % SEQUENCES + 0.5) / SEQUENCES) ** 3.63) for k in range(SEQUENCES)]


def run_ragged(run, form, s, cell):
    """Gradients to the parameters and to the input, whose padding is zeros.

    `padded` runs all steps of all sequences, `packed` those that there are: it packs the input in
    each call, as one does whose words come out of an embedding, and leaves the result packed.
    """
    lengths = torch.tensor(ragged_lengths())
    run.line["params"].update(b=len(lengths), lengths=lengths.tolist())
    net = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell](s["i"], s["h"])
    x = torch.randn(int(lengths.max()), len(lengths), s["i"])
    x[torch.arange(len(x)).unsqueeze(1) >= lengths] = 0
    calls = {
        "padded": lambda: net(x)[0],
        "packed": lambda: net(pack_padded_sequence(x, lengths, enforce_sorted=False))[0].data,
    }
    forward_and_backward(run, calls[form], net, [x])
    run.extra["padding_pct"] = 100 * (1 - lengths.sum().item() / x.shape[0] / x.shape[1])


def run_truncated(run, form, s):
    """A chain in segments: forward and backward of each, and the state goes on without its gradient."""
    net = torch.nn.LSTM(s["i"], s["h"])
    x = torch.randn(s["t"], s["b"], s["i"], requires_grad=True)
    inputs = [x, *net.parameters()]

    def step():
        state = None
        for segment in x.split(s["segment"]):
            y, state = net(segment, state)
            y.sum().backward()
            state = tuple(part.detach() for part in state)
        for leaf in inputs:
            leaf.grad = None

    run.record(repeat(step))
