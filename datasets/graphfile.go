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
	z, err := npy.OpenArchive(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer z.Close()
	offsets, err := member(z, "indptr", (*npy.Array).Int64s)
	if err != nil {
		return nil, err
	}
	sources, err := member(z, "indices", (*npy.Array).Int32s)
	if err != nil {
		return nil, err
	}
	n := len(offsets) - 1
	if n < 0 {
		return nil, fmt.Errorf("datasets: %s: array \"indptr\" is empty, want one number for each node and one more", path)
	}
	in, err := sparse.New(n, n, offsets, sources, nil)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	return graph.FromCSR(in)
}

// member returns the elements of an array of an archive, as read reads them.
func member[T any](z *npy.Archive, name string, read func(*npy.Array) ([]T, error)) ([]T, error) {
	a, err := z.Read(name)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	if len(a.Shape) != 1 {
		return nil, fmt.Errorf("datasets: array %q has the shape %v, want one axis", name, a.Shape)
	}
	out, err := read(a)
	if err != nil {
		return nil, fmt.Errorf("datasets: array %q: %w", name, err)
	}
	return out, nil
}
