package datasets

import (
	"fmt"
	"io"
	"strings"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Dataset is a graph with what is known of its nodes.
type Dataset struct {
	Name       string
	Graph      *graph.Graph // both directions of every edge, no self-loops
	Features   tensor.Array // a row a node, as published: *sparse.CSR or *tensor.Dense
	Labels     []int32      // a class a node; −1: none
	Classes    int
	Split      Split
	ClassNames []string // empty if they have none

	loops int // self-loops of the raw data, which are not in Graph
}

// Split says what the nodes are used for. Ids ascend in each part; a node may
// be in none.
type Split struct{ Train, Val, Test []int32 }

// Normalised returns the features with each row divided by its sum. A row whose
// sum is zero stays as it is. The dataset does not change.
func (d *Dataset) Normalised() tensor.Array {
	switch x := d.Features.(type) {
	case *sparse.CSR:
		return x.NormaliseRows()
	case *tensor.Dense:
		y := x.Clone()
		for i := range y.Rows() {
			normalise(y.Row(i))
		}
		return y
	}
	panic(&tensor.ShapeError{Op: "datasets.Normalised", Why: fmt.Sprintf("features of type %T; want *sparse.CSR or *tensor.Dense", d.Features)})
}

func normalise(row []tensor.Float) {
	sum := 0.0
	for _, v := range row {
		sum += float64(v)
	}
	if sum == 0 {
		return
	}
	for j, v := range row {
		row[j] = tensor.Float(float64(v) / sum)
	}
}

// Describe writes what the dataset holds to w, a line each.
func (d *Dataset) Describe(w io.Writer) error {
	var b strings.Builder
	line := func(key, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", key, fmt.Sprintf(format, args...))
	}
	line("name", "%s", d.Name)
	line("nodes", "%d", d.Graph.NumNodes())
	line("edges", "%d directed, each in both directions, no self-loops", d.Graph.NumEdges())
	if d.loops > 0 {
		line("", "PyG counts %d, DGL %d: it keeps %d self-loops", d.Graph.NumEdges(), d.Graph.NumEdges()+d.loops, d.loops)
	}
	shape := d.Features.Shape()
	if x, ok := d.Features.(*sparse.CSR); ok {
		line("features", "%d a node, sparse: %d nonzeros, %.2f %%", shape[1], x.NNZ(), 100*density(x))
	} else {
		line("features", "%v, dense", shape)
	}
	line("classes", "%d", d.Classes)
	for c, n := range d.classSizes() {
		name := ""
		if c < len(d.ClassNames) {
			name = "  " + d.ClassNames[c]
		}
		line("", "%d: %d nodes%s", c, n, name)
	}
	line("split", "%d train, %d validation, %d test", len(d.Split.Train), len(d.Split.Val), len(d.Split.Test))
	_, err := io.WriteString(w, b.String())
	return err
}

func density(x *sparse.CSR) float64 {
	return float64(x.NNZ()) / max(1, float64(x.NumRows)*float64(x.NumCols))
}

// classSizes returns the number of nodes of each class.
func (d *Dataset) classSizes() []int {
	n := make([]int, d.Classes)
	for _, c := range d.Labels {
		if c >= 0 && int(c) < len(n) {
			n[c]++
		}
	}
	return n
}
