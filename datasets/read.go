package datasets

import (
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
)

// Load reads the dataset at path: a file, whose form its name says, with the files that belong to it, or a folder or a zip
// or tar archive that one dataset is in; texts perhaps in gzip or zstd. [form.All] lists the forms. It is
// [LoadAs] where columns are for what their names say.
func Load(path string) (*Dataset, error) { return LoadAs(path, columns.Roles{}) }

// LoadAs is [Load] of a dataset whose columns have the roles that r says:
//
//	d, err := datasets.LoadAs("people_edges.csv", columns.Roles{Label: []string{"churned"}, Undirected: true})
func LoadAs(path string, r columns.Roles) (*Dataset, error) {
	raw, s, err := chosen(path, r)
	if err != nil {
		return nil, err
	}
	return From(raw, s)
}

// chosen reads files and decides what their columns are for.
func chosen(path string, r columns.Roles) (*form.Raw, *columns.Schema, error) {
	raw, err := form.Load(path, r.Options())
	if err != nil {
		return nil, nil, err
	}
	s, err := columns.Choose(raw, r)
	return raw, s, err
}

// LoadGraphs reads many graphs from a file, a folder or an archive: lines of JSON (.jsonl, .ndjson), or the files
// of OGB or TUDataset.
func LoadGraphs(path string) (*Graphs, error) { return LoadGraphsAs(path, columns.Roles{}) }

// LoadGraphsAs is [LoadGraphs] of graphs whose columns have the roles that r says.
func LoadGraphsAs(path string, r columns.Roles) (*Graphs, error) {
	raw, s, err := chosen(path, r)
	if err != nil {
		return nil, err
	}
	return GraphsFrom(raw, s)
}

// Files returns the files that [Load] reads for a path, as their names say: that
// file and those that belong to it; of a folder those of the datasets of the kind
// that is read. A program that writes beside a dataset asks so what it must leave
// alone.
func Files(path string) []string { return form.Belonging(path) }

// LoadGraph reads a graph from an .npz of two arrays: indptr, whole numbers, one
// for each destination and one more; and indices, the sources of the edges into
// each destination. That is the form in which other frameworks' benchmarks share
// a graph with this one's; its nodes are both sources and destinations.
//
// The error names the file, and the first number that is wrong.
func LoadGraph(path string) (*graph.Graph, error) {
	in, err := form.LoadIncoming(path)
	if err != nil {
		return nil, err
	}
	return graph.FromCSR(in)
}

// LoadMatrix reads a matrix from a Matrix Market file, which may be in gzip or
// zstd. Elements that stand there several times add up, zeros are left out.
func LoadMatrix(path string) (*sparse.CSR, error) { return form.LoadMatrix(path) }

// LoadSplit is the first of [LoadSplits].
func LoadSplit(path string, n int) (Split, error) {
	splits, err := LoadSplits(path, n)
	if err != nil {
		return Split{}, err
	}
	return splits[0], nil
}

// LoadSplits reads one or more splits of n nodes from an .npz: train, val and test, or
// train_idx and so on, which hold nodes, or train_mask, val_mask and test_mask, which
// hold for each node whether it is in that part. Masks of two axes are several splits: a
// row each, as in train_masks, or a column each, as PyG has it. A part may be missing. The
// error names the file and the first thing that is wrong.
func LoadSplits(path string, n int) (splits []Split, err error) {
	list, err := form.LoadSplits(path, n)
	for _, s := range list {
		splits = append(splits, Split{s.Train, s.Val, s.Test})
	}
	return splits, err
}
