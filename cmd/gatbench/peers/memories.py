"""Networks with a memory in plain PyTorch: a Neural Turing Machine and an end-to-end memory network."""

import os
import re
import tarfile

import torch
import torch.nn.functional as F
from torch import nn

from measure import repeat


class NTM(nn.Module):
    """One write head and one read head on slots × width, which are written before they are read.

    A head takes from the controller: key, strength, gate, three shifts, sharpening; the write head erase
    and add too. The controller reads the input and what was read last; the output reads both.
    """

    def __init__(self, bits, slots, width, hidden, form):
        super().__init__()
        self.slots, self.width, self.form = slots, width, form
        into = bits + 2 + width
        self.controller = nn.LSTMCell(into, hidden) if form == "lstm" else nn.Linear(into, hidden)
        self.write, self.read = nn.Linear(hidden, 3 * width + 6), nn.Linear(hidden, width + 6)
        self.out = nn.Linear(hidden + width, bits)
        self.start_read = nn.Parameter(torch.randn(width) * 0.1)
        self.start_weights = nn.Parameter(torch.randn(2, slots) * 0.1)

    def address(self, memory, before, part):
        key, strength, gate, shift, sharp = part.split([self.width, 1, 1, 3, 1], 1)
        w = (F.softplus(strength) * F.cosine_similarity(memory, key.tanh().unsqueeze(1), 2)).softmax(1)
        gate, shift = gate.sigmoid(), shift.softmax(1)
        w = gate * w + (1 - gate) * before
        w = shift[:, :1] * w.roll(-1, 1) + shift[:, 1:2] * w + shift[:, 2:] * w.roll(1, 1)
        return ((1 + F.softplus(sharp)) * torch.log(w + 1e-12)).softmax(1)

    def forward(self, steps):  # t × batch × bits + 2
        batch = steps.shape[1]
        memory = steps.new_full((batch, self.slots, self.width), 1e-6)
        read = self.start_read.expand(batch, -1)
        writing, reading = self.start_weights.softmax(1).unsqueeze(1).expand(-1, batch, -1)
        state, out = None, []
        for x in steps:
            x = torch.cat([x, read], 1)
            if self.form == "lstm":
                state = self.controller(x, state)
                h = state[0]
            else:
                h = self.controller(x).tanh()
            head, erase, add = self.write(h).split([self.width + 6, self.width, self.width], 1)
            writing = self.address(memory, writing, head)
            at = writing.unsqueeze(2)
            memory = memory * (1 - at * erase.sigmoid().unsqueeze(1)) + at * add.tanh().unsqueeze(1)
            reading = self.address(memory, reading, self.read(h))
            read = torch.bmm(reading.unsqueeze(1), memory).squeeze(1)
            out.append(self.out(torch.cat([h, read], 1)))
        return torch.stack(out)


def run_ntm(run, form, s):
    """A training step of copying: a start flag, t rows of bits, an end flag, t empty rows in which the answer is
    due; cross-entropy of the answer, backward, gradients clipped to ±10, RMSProp."""
    net = NTM(s["bits"], s["slots"], s["width"], s["hidden"], form)
    t, rows = s["t"], torch.randint(2, (s["t"], s["batch"], s["bits"])).float()
    steps = torch.zeros(2 * t + 2, s["batch"], s["bits"] + 2)
    steps[0, :, -2], steps[t + 1, :, -1], steps[1:t + 1, :, :-2] = 1, 1, rows
    optimiser = torch.optim.RMSprop(net.parameters(), lr=1e-4, alpha=0.95, momentum=0.9)

    def step():
        optimiser.zero_grad()
        F.binary_cross_entropy_with_logits(net(steps)[t + 2:], rows).backward()
        nn.utils.clip_grad_value_(net.parameters(), 10)
        optimiser.step()

    run.record(repeat(step))
    run.extra["parameters"] = sum(p.numel() for p in net.parameters())


class MemN2N(nn.Module):
    """Adjacent tying, positions and time in the sentences' encodings; row 0 of an embedding is the padding."""

    def __init__(self, words, d, hops, memory, longest):
        super().__init__()
        self.words = nn.ModuleList(nn.Embedding(words, d, 0) for _ in range(hops + 1))
        self.times = nn.ParameterList(nn.Parameter(torch.randn(memory, d) * 0.1) for _ in range(hops + 1))
        for e in self.words:
            nn.init.normal_(e.weight, std=0.1)
            e.weight.data[0] = 0
        j, k = torch.arange(1, longest + 1).unsqueeze(1), torch.arange(1, d + 1)
        self.register_buffer("places", 1 + 4 * (k / d - 0.5) * (j / longest - 0.5))

    def forward(self, stories, questions):  # batch × memory × longest, latest first; batch × longest
        u = (self.words[0](questions) * self.places).sum(1)
        empty = stories[:, :, 0] == 0
        memories = [(e(stories) * self.places).sum(2) + time for e, time in zip(self.words, self.times)]
        for keys, values in zip(memories, memories[1:]):
            p = torch.bmm(keys, u.unsqueeze(2)).squeeze(2).masked_fill(empty, -torch.inf).softmax(1)
            u = u + torch.bmm(p.unsqueeze(1), values).squeeze(1)
        return u @ self.words[-1].weight.t()


def read_babi(data, task):
    """[(sentences before the question, question, answer), ...] of a task's training questions."""
    path = next((p for p in (os.path.join(data, *rest, "babi_en.tar.gz") for rest in (("babi",), ())) if os.path.exists(p)), None)
    if not path:
        raise SystemExit(f"{data}: no babi_en.tar.gz in it, nor in its folder babi")
    with tarfile.open(path) as archive:
        name = next(n for n in archive.getnames() if re.search(rf"(^|/)(en/)?qa{task}_[^/]*train\.txt$", n) and "10k" not in n)
        text = archive.extractfile(name).read().decode("utf-8")
    out, story = [], []
    for line in text.splitlines():
        number, rest = line.split(" ", 1)
        if number == "1":
            story = []
        parts = rest.split("\t")
        words = re.findall(r"\w+", parts[0].lower())
        if len(parts) > 1:
            out.append((list(story), words, parts[1].lower()))
        else:
            story.append(words)
    return out


def run_memn2n(run, form, s, data):
    """An epoch of training: all questions of a bAbI task in batches, summed cross-entropy, norm clipped to 40, SGD."""
    if not data:
        raise SystemExit("memory/memn2n reads bAbI's questions: name the folder of babi_en.tar.gz with --data")
    asked = read_babi(data, s["task"])
    number = {}
    for story, question, answer in asked:
        for w in [*(w for sentence in story for w in sentence), *question, answer]:
            number.setdefault(w, len(number) + 1)
    longest = max(len(words) for story, question, _ in asked for words in [question, *story])
    stories = torch.zeros(len(asked), s["memory"], longest, dtype=torch.long)
    questions = torch.zeros(len(asked), longest, dtype=torch.long)
    for i, (story, question, _) in enumerate(asked):
        questions[i, :len(question)] = torch.tensor([number[w] for w in question])
        for k, words in enumerate(story[:-s["memory"] - 1:-1]):
            stories[i, k, :len(words)] = torch.tensor([number[w] for w in words])
    answers = torch.tensor([number[a] for _, _, a in asked])
    stories = stories[:, :int((stories[:, :, 0] > 0).sum(1).max())]  # no story is longer
    net = MemN2N(len(number) + 1, s["d"], s["hops"], stories.shape[1], longest)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01)

    def epoch():
        for at in torch.randperm(len(asked)).split(s["batch"]):
            optimiser.zero_grad()
            F.cross_entropy(net(stories[at], questions[at]), answers[at], reduction="sum").backward()
            nn.utils.clip_grad_norm_(net.parameters(), 40)
            optimiser.step()

    run.record(repeat(epoch))
    run.extra.update(questions=len(asked), vocabulary=len(number), longest=longest, slots=stories.shape[1])
