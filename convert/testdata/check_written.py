"""Loads what edgewise wrote into modules of PyTorch, PyG and DGL, strictly, and compares
what they compute with the outputs in torch.pt, pyg.pt and dgl.pt.

    go test ./convert -run TestWritten -update
    python convert/testdata/check_written.py torch pyg    # torch 2.15, torch_geometric 2.8, safetensors
    python convert/testdata/check_written.py dgl          # dgl 2.1, torch 2.2, safetensors
"""
import sys
import torch
from pathlib import Path
from safetensors.torch import load_file
from torch import nn

import modules

here = Path(__file__).parent
for name in sys.argv[1:]:
    made, run = modules.framework(name)
    model = nn.ModuleDict(made).eval()
    print(name, model.load_state_dict(load_file(here / f"written_{name}.safetensors"), strict=True))
    want = torch.load(here / f"{name}.pt")["outputs"]
    for key, y in run(model).items():
        error = (y - want[key]).abs().max().item()
        assert error < 1e-5, (key, error)
        print(f"  {key}: {error:.1e}")
