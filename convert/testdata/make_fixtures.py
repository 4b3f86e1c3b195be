"""Writes torch.pt, pyg.pt, dgl.pt and the small files of formats.

    python make_fixtures.py torch pyg formats    # torch 2.15, torch_geometric 2.8, numpy, safetensors
    python make_fixtures.py dgl                  # dgl 2.1, torch 2.2: another environment

The first three hold {'model': a state dict of all modules, 'inputs': …, 'outputs': …}.
"""
import sys
import torch
from torch import nn
from pathlib import Path

import modules

here = Path(__file__).parent


def stir(module):
    """Weights and statistics of which none is what a constructor makes."""
    gen = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, x in list(module.named_parameters()) + list(module.named_buffers()):
            if name.endswith(("running_var", "sigma")):
                x.copy_(torch.rand(x.shape, generator=gen) + 0.5)
            elif "avg_deg" not in name and x.is_floating_point():
                x.copy_(torch.randn(x.shape, generator=gen) * 0.4)


def together(arrays):
    """The same arrays, floats as views of one storage, which is one member of the file and not one each."""
    floats = {name: x.detach() for name, x in arrays.items() if x.is_floating_point()}
    parts = torch.cat([x.flatten() for x in floats.values()]).split([x.numel() for x in floats.values()])
    return {**arrays, **{name: part.view(x.shape) for (name, x), part in zip(floats.items(), parts)}}


def save(name):
    made, run = modules.framework(name)
    model = nn.ModuleDict(made).eval()
    stir(model)
    parts = {"model": model.state_dict(), "inputs": modules.inputs(), "outputs": run(model)}
    torch.save({**{key: together(part) for key, part in parts.items()}, "epoch": 3}, here / f"{name}.pt")


def formats():
    import numpy
    import safetensors.torch
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    stir(model)
    state = model.state_dict()
    torch.save(state, here / "small.pt")
    torch.save(state, here / "protocol4.pt", pickle_protocol=4)
    torch.save(state, here / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(nn.Linear(2, 1), here / "whole_model.pt")
    torch.save(torch.zeros(2), here / "single.pt")
    torch.jit.script(nn.Linear(2, 1)).save(here / "script.pt")
    safetensors.torch.save_file(state, here / "small.safetensors")
    numpy.savez(here / "small.npz", **{k: v.numpy() for k, v in state.items()})
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6) / 4
    views = {"half": base.half(), "bfloat16": base.bfloat16(), "double": base.double(), "transposed": base.t(),
             "strided": base[1::2, 2:5], "expanded": base[0, 0].expand(3), "scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3),
             "long": torch.tensor([-3, 4]), "int": torch.tensor([-3], dtype=torch.int32), "short": torch.tensor([-3], dtype=torch.int16),
             "char": torch.tensor([-3], dtype=torch.int8), "byte": torch.tensor([250], dtype=torch.uint8), "bool": torch.tensor([True, False]),
             "five": base.reshape(1, 2, 2, 3, 2), "parameter": nn.Parameter(base[0].clone())}
    torch.save(views, here / "views.pt")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        formats() if name == "formats" else save(name)
