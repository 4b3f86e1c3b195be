package graph

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// encodedMost is the number of nodes of the largest member that is encoded: the work goes
// with its square, or its cube.
const encodedMost = 2000

// ReturnProbabilities returns, for each node and each k from 1 to steps, how likely a random
// walk of k steps that begins at the node ends there: a row a node. A walk goes along an
// edge out of where it is, each as likely; one that cannot go on has ended elsewhere. They
// tell nodes apart that no sum over neighbours does, and are known as the random-walk
// encoding of Dwivedi and others, "Graph Neural Networks with Learnable Structural and
// Positional Representations", ICLR 2022.
//
// The error says so if steps is not positive, or a member has more than 2,000 nodes. It
// panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) ReturnProbabilities(steps int) (*tensor.Dense, error) {
	g.wantHomogeneous("graph.ReturnProbabilities")
	if err := g.encodable(steps); err != nil {
		return nil, err
	}
	y, at := tensor.New(g.NumNodes(), steps), g.NodeOffsets()
	out, _ := g.Out()
	par.For(len(at)-1, 1, func(first, last int) {
		for m := first; m < last; m++ {
			lo, n := at[m], at[m+1]-at[m]
			p, next := make([]float64, n), make([]float64, n)
			for v := range n { // one walker, whose place is known by its probabilities
				clear(p)
				p[v] = 1
				for k := range steps {
					clear(next)
					for u, pu := range p {
						if pu == 0 {
							continue
						}
						targets := out.Cols[out.Offsets[lo+u]:out.Offsets[lo+u+1]]
						for _, w := range targets {
							next[int(w)-lo] += pu / float64(len(targets))
						}
					}
					p, next = next, p
					y.Row(lo + v)[k] = tensor.Float(p[v])
				}
			}
		}
	})
	return y, nil
}

// encodable returns an error for encodings that cannot be.
func (g *Graph) encodable(columns int) error {
	if columns < 1 {
		return fmt.Errorf("graph: an encoding of %d columns, want at least 1", columns)
	}
	at := g.NodeOffsets()
	for m := range len(at) - 1 {
		if n := at[m+1] - at[m]; n > encodedMost {
			return fmt.Errorf("graph: member %d has %d nodes, and encodings are of at most %d", m, n, encodedMost)
		}
	}
	return nil
}

// LaplacianVectors returns, for each member on its own, the eigenvectors of I − D^−½·A·D^−½
// with the smallest eigenvalues but for the first, ascending, as columns: a row a node. An
// edge counts in both directions, once; a node without edges has the eigenvalue 0. A vector
// has length 1, and its first element that is not about zero is positive: its sign means
// nothing, so that a training should draw it anew. A member of too few nodes has columns of
// zeros. They are the positions of Dwivedi and Bresson, "A Generalization of Transformer
// Networks to Graphs", 2021.
//
// The error says so if columns is not positive, or a member has more than 2,000 nodes. It
// panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) LaplacianVectors(columns int) (*tensor.Dense, error) {
	g.wantHomogeneous("graph.LaplacianVectors")
	if err := g.encodable(columns); err != nil {
		return nil, err
	}
	y, at := tensor.New(g.NumNodes(), columns), g.NodeOffsets()
	for m := range len(at) - 1 {
		if err := g.memberVectors(y, at[m], at[m+1]); err != nil {
			return nil, fmt.Errorf("graph: member %d: %w", m, err)
		}
	}
	return y, nil
}

// memberVectors is LaplacianVectors of the nodes lo to hi.
func (g *Graph) memberVectors(y *tensor.Dense, lo, hi int) error {
	n := hi - lo
	if n < 2 {
		return nil
	}
	a := mat.NewSymDense(n, nil)
	for v := lo; v < hi; v++ {
		for _, u := range g.sources(v) {
			if int(u) != v {
				a.SetSym(v-lo, int(u)-lo, 1)
			}
		}
	}
	root := make([]float64, n)
	for v := range root {
		for u := range n {
			root[v] += a.At(v, u)
		}
		root[v] = math.Sqrt(root[v])
	}
	for v := range n {
		for u := range v {
			if a.At(v, u) != 0 {
				a.SetSym(v, u, -1/(root[v]*root[u]))
			}
		}
		if root[v] > 0 {
			a.SetSym(v, v, 1)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return errors.New("its Laplacian has no eigenvectors that could be found")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values, order := e.Values(nil), iota32(n)
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(values[i], values[j]) })
	for k := range min(y.Dim(1), n-1) {
		column, sign := mat.Col(nil, int(order[k+1]), &vectors), 1.0
		if i := slices.IndexFunc(column, func(v float64) bool { return math.Abs(v) > 1e-6 }); i >= 0 && column[i] < 0 {
			sign = -1
		}
		for v, x := range column {
			y.Row(lo + v)[k] = tensor.Float(sign * x)
		}
	}
	return nil
}

// WithVirtualNodes returns g with one more node in each member, the member's last, which has
// an edge to each other node of it and one from it: two steps lead from each node to each
// other. From() has −1 for the nodes and edges that are new. Kinds are kept if there are
// any: edges to a virtual node have the kind after the largest, those from it the next. The
// list is the result's own order. It panics with a [*tensor.ShapeError] if g is bipartite,
// or there are too many edges.
func (g *Graph) WithVirtualNodes() *Graph {
	g.wantHomogeneous("graph.WithVirtualNodes")
	g.wantFewEdges("graph.WithVirtualNodes", g.NumEdges()+2*g.NumNodes())
	at, in := g.NodeOffsets(), g.In()
	kind := int32(0)
	for _, k := range g.kinds {
		kind = max(kind, k+1)
	}
	own := []int{0}
	offsets, cols, edges, nodes := []int64{0}, []int32{}, []int32{}, []int32{}
	var kinds []int32
	add := func(u int, e, k int32) {
		cols, edges = append(cols, int32(u)), append(edges, e)
		if g.kinds != nil {
			kinds = append(kinds, k)
		}
	}
	for m := range len(at) - 1 {
		lo, hi := at[m], at[m+1]
		extra := hi + m // the virtual node's number; m came before it
		for v := lo; v < hi; v++ {
			for e := in.Offsets[v]; e < in.Offsets[v+1]; e++ {
				k := int32(0)
				if g.kinds != nil {
					k = g.kinds[e]
				}
				add(int(in.Cols[e])+m, int32(e), k)
			}
			add(extra, -1, kind+1)
			offsets, nodes = append(offsets, int64(len(cols))), append(nodes, int32(v))
		}
		for v := lo; v < hi; v++ {
			add(v+m, -1, kind)
		}
		offsets, nodes = append(offsets, int64(len(cols))), append(nodes, -1)
		own = append(own, extra+1)
	}
	h := ofCSR(len(nodes), offsets, cols, false)
	h.kinds, h.members = kinds, &members{src: own, dst: own}
	h.from = Origin{Edges: edges, Src: nodes, Dst: nodes}
	return h
}
