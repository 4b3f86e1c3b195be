package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Explanation scores what a class comes from. What is higher speaks more for the
// class; a score below 0 speaks against it.
type Explanation struct {
	Edges    []float64     // of each edge of the Case's Graph
	Features []float64     // of each column, over all nodes of the neighbourhood; nil: the method has none
	Each     *tensor.Dense // of each feature of each node; nil: the method does not tell nodes apart
	Gap      float64       // of Integrated: by how much its sums miss what they add up to, the larger of both

	open []int32
}

// blank returns an explanation of the case without scores.
func (c *Case) blank() *Explanation {
	return &Explanation{Edges: make([]float64, c.Graph.NumEdges()), open: c.open}
}

// TopEdges returns the k edges of the highest scores, the highest first and of the
// same the first, or all that can be left out if there are fewer.
func (e *Explanation) TopEdges(k int) []int32 { return top(e.Edges, slices.Clone(e.open), k) }

// TopFeatures returns the k columns of the highest scores.
func (e *Explanation) TopFeatures(k int) []int32 {
	all := make([]int32, len(e.Features))
	for j := range all {
		all[j] = int32(j)
	}
	return top(e.Features, all, k)
}

// Undirected returns the explanation of a graph whose edges go both ways as one that
// scores pairs of nodes: each edge has the mean of its score and that of its way back.
// An edge whose way back is not there, or does not count, keeps its own.
func (c *Case) Undirected(e *Explanation) *Explanation {
	c.fits("explain.Case.Undirected", e)
	out := *e
	out.Edges = slices.Clone(e.Edges)
	from, to := c.Graph.In().Cols, c.Graph.Destinations()
	at := make(map[[2]int32]int32, len(c.open))
	for _, edge := range c.open {
		at[[2]int32{from[edge], to[edge]}] = edge
	}
	for _, edge := range c.open {
		if back, ok := at[[2]int32{to[edge], from[edge]}]; ok {
			out.Edges[edge] = (e.Edges[edge] + e.Edges[back]) / 2
		}
	}
	return &out
}

// fits panics unless e is an explanation of the case, or of one like it.
func (c *Case) fits(op string, e *Explanation) {
	if e == nil || len(e.Edges) != c.Graph.NumEdges() {
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("the Explanation is none of this Case, whose Graph has %d edges", c.Graph.NumEdges())})
	}
}

// top sorts numbers by their scores and returns the first k.
func top(scores []float64, numbers []int32, k int) []int32 {
	slices.SortStableFunc(numbers, func(a, b int32) int { return cmp.Compare(scores[b], scores[a]) })
	return numbers[:max(0, min(k, len(numbers)))]
}

// Attention returns the mean of the attention of layers, over heads and layers. Each
// is the Attention of a layer's Out on the Case's Graph, by message.ApplyEdges: a row
// for each edge, a number for each head. It panics with a [*tensor.ShapeError] if the
// rows are not the edges, or there is no layer.
func (c *Case) Attention(layers ...*tensor.Dense) *Explanation {
	if len(layers) == 0 {
		panic(&tensor.ShapeError{Op: "explain.Case.Attention", Why: "there are no layers"})
	}
	e := c.blank()
	for _, l := range layers {
		if l == nil || len(l.Shape()) == 0 {
			panic(&tensor.ShapeError{Op: "explain.Case.Attention", Why: "the attention of a layer is nil"})
		}
		if l.Dim(0) != c.Graph.NumEdges() {
			panic(&tensor.ShapeError{Op: "explain.Case.Attention", Shapes: [][]int{slices.Clone(l.Shape()), {c.Graph.NumEdges()}}, Why: "attention has a row for each edge of the Case's Graph"})
		}
		for _, edge := range c.open {
			sum := 0.0
			for _, v := range l.Row(int(edge)) {
				sum += float64(v)
			}
			e.Edges[edge] += sum / float64(l.RowLen()) / float64(len(layers))
		}
	}
	return e
}
