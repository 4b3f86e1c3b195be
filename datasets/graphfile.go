package datasets

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/sparse"
)

// ReadGraph reads a graph from an .npz of two arrays: indptr, whole numbers, one
// for each destination and one more; and indices, the sources of the edges into
// each destination. That is the form in which other frameworks' benchmarks share
// a graph with this one's; its nodes are both sources and destinations.
//
// The error names the file, and the first number that is wrong.
func ReadGraph(path string) (*graph.Graph, error) {
	z, err := openArchive(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return incoming(z)
}

// incoming reads the sources of the edges into each node.
func incoming(z archive) (*graph.Graph, error) {
	offsets, err := vector(z, "indptr", (*npy.Array).Int64s)
	if err != nil {
		return nil, err
	}
	sources, err := vector(z, "indices", (*npy.Array).Int32s)
	if err != nil {
		return nil, err
	}
	n := len(offsets) - 1
	if n < 0 {
		return nil, z.wrong("indptr", "it is empty, want one number for each node and one more")
	}
	if err := believableNodes(n, z.Size()); err != nil {
		return nil, fmt.Errorf("%s: %w", z.path, err)
	}
	in, err := sparse.New(n, n, offsets, sources, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", z.path, err)
	}
	return graph.FromCSR(in)
}
