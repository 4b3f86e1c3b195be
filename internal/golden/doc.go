// Package golden reads the golden numbers of DGL, PyTorch Geometric and PyTorch
// and compares results with them. It is for tests only.
//
// Its one noun is [Case]: one JSON file with what went into a layer of another
// framework, what came out and the gradients.
//
//	c := golden.Load(t, "testdata/gatconv_multihead.json")
//	w := golden.Transpose(c.Tensor(t, "params", "fc.weight")) // out×in there, in×out here
//	golden.Compare(t, "y", got, c.Tensor(t, "outputs", "y"), c.Float32Error.Outputs)
//
// Arrays on edges are in the order of the case's own edge list, not in that of
// the graph's in-edges.
package golden
