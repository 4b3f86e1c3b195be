"""Loads what edgewise wrote into modules of PyTorch and PyG, strictly, and compares
what they compute with the outputs in torch.pt and pyg.pt.

    go test ./convert -run TestWritten -update && python convert/testdata/check_written.py
"""
import torch
from pathlib import Path
from safetensors.torch import load_file
from torch import nn

import modules

here = Path(__file__).parent
for name, made in (("torch", modules.torch_modules()), ("pyg", modules.pyg_modules())):
    model = nn.ModuleDict(made).eval()
    print(name, model.load_state_dict(load_file(here / f"written_{name}.safetensors"), strict=True))
    want = torch.load(here / f"{name}.pt")["outputs"]
    for key, y in modules.run(model).items():
        error = (y - want[key]).abs().max().item()
        assert error < 1e-5, (key, error)
        print(f"  {key}: {error:.1e}")
