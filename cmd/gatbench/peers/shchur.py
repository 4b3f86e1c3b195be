"""Reads the .npz of Shchur and others' benchmark (Amazon Photo, Coauthor CS) with numpy alone.

The matrices are pickled scipy CSRs, or plain arrays NAME_data, NAME_indices, NAME_indptr, NAME_shape
(without NAME_data all ones). There is no published split: see per_class.
"""

import os
import zipfile

import numpy as np

from planetoid import CSR, Citation, Unpickler, mask, normalised, undirected

FILES = {"photo": ("amazon_photo.npz", "amazon_electronics_photo.npz"),
         "cs": ("coauthor_cs.npz", "ms_academic_cs.npz")}
TRAIN, VAL = 20, 30  # nodes of each class


def find(folder, dataset):
    """The path of the dataset's file, in the folder itself or in npz or npz_plain there."""
    for sub in ("", "npz", "npz_plain"):
        for name in FILES[dataset]:
            path = os.path.join(folder, sub, name)
            if os.path.exists(path):
                return path
    raise SystemExit(f"no {FILES[dataset][0]} in {folder}, nor in npz or npz_plain there; --data must name its folder")


def load(folder, dataset):
    """The graph with both directions of each edge, row-normalised features, labels and per_class's split."""
    path = find(folder, dataset)
    with zipfile.ZipFile(path) as z:
        arrays = {name.removesuffix(".npy"): _array(z, name, path) for name in z.namelist()}
    adjacency = _matrix(arrays, path, "adj_matrix", "adj")
    features = _matrix(arrays, path, "node_attr", "attr_matrix", "attr").dense()
    labels = arrays["node_label" if "node_label" in arrays else "labels"].astype(np.int64)
    src = np.repeat(np.arange(len(labels)), np.diff(adjacency.indptr))
    src, dst = undirected(len(labels), src, adjacency.indices.astype(np.int64))
    return Citation(normalised(features), labels, src, dst, *per_class(labels), int(labels.max()) + 1)


def per_class(labels):
    """Masks of a split that anybody can draw again, without a generator of random numbers.

    Nodes are taken in the order of v · 2654435761 mod 2³². Of each class the first 20 are for
    training and the next 30 for validation; the others are for testing.
    """
    order = np.argsort(np.arange(len(labels), dtype=np.uint64) * 2654435761 % 2**32, kind="stable")
    place = np.empty(len(labels), np.int64)  # of a node among those of its class
    for c in range(labels.max() + 1):
        of_class = order[labels[order] == c]
        place[of_class] = np.arange(len(of_class))
    rows = np.arange(len(labels))
    return (mask(len(labels), rows[place < TRAIN]),
            mask(len(labels), rows[(place >= TRAIN) & (place < TRAIN + VAL)]),
            mask(len(labels), rows[place >= TRAIN + VAL]))


def _array(z, name, path):
    """An array of the archive; of a pickled one, the matrix that it holds."""
    with z.open(name) as f:
        version = np.lib.format.read_magic(f)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        _, _, dtype = read(f)
        if not dtype.hasobject:
            f.seek(0)
            return np.lib.format.read_array(f, allow_pickle=False)
        try:
            return Unpickler(f, encoding="latin1").load().item()
        except Exception:  # what is neither an array nor a matrix, such as metadata, is not needed
            return None


def _matrix(arrays, path, *names):
    """The first of the matrices that is there."""
    for name in names:
        if isinstance(arrays.get(name), CSR):
            return arrays[name]
        if f"{name}_indptr" in arrays:
            m = CSR()
            m.indptr, m.indices = arrays[f"{name}_indptr"], arrays[f"{name}_indices"]
            m.shape = tuple(arrays[f"{name}_shape"])
            m.data = arrays.get(f"{name}_data", np.ones(len(m.indices), np.float32))
            return m
    raise SystemExit(f"{path}: no matrix {' or '.join(names)} in it; it has {', '.join(arrays)}")
