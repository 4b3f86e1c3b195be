package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Members of up to denseNodes nodes have all their eigenvectors computed, which is work of
// n³: gonum takes a tenth of a second for 256 nodes and a minute for 1,500. Larger ones
// have those that are wanted computed by Lanczos's method; where that fails, up to
// denseMost nodes are left to gonum, too.
const (
	denseNodes = 256
	denseMost  = 2000
)

// LaplacianVectors returns, for each member on its own, the eigenvectors of I − D^−½·A·D^−½
// with the smallest eigenvalues but for the first, ascending, as columns: a row a node. An
// edge counts in both directions, once; a node without edges has the eigenvalue 0. A member
// of too few nodes has columns of zeros. They are the positions of Dwivedi and Bresson, "A
// Generalization of Transformer Networks to Graphs", 2021.
//
// A vector has length 1, and its first element that is not about zero is positive: its sign
// means nothing, so that a training should draw it anew each step, a sign a column. Vectors
// of one eigenvalue, such as those of a ring, are one of many bases of their space, and mean
// no more than their signs do. The eigenvalue 0 is there once for each component, so that of
// a graph of several the first columns say only which component a node is in.
//
// Members of up to 256 nodes are given to gonum's eigensolver; of larger ones, Lanczos's
// method finds the vectors that are wanted to an error of 1e-9, with 4·columns+44 numbers of
// 8 bytes a node beside the result. The same graph has the same result, on any number of
// threads.
//
// The error says so if eigenvalues lie too close together, as those of a ring of 50,000 nodes. It panics with a
// [*tensor.ShapeError] if g is bipartite, or columns is not positive.
func LaplacianVectors(g *graph.Graph, columns int) (*tensor.Dense, error) {
	mistake.Homogeneous("analysis.LaplacianVectors", g)
	if columns < 1 {
		mistake.Panic("analysis.LaplacianVectors", nil, "an encoding of %d columns, want at least 1", columns)
	}
	y, at := tensor.New(g.NumNodes(), columns), g.NodeOffsets()
	for m := range len(at) - 1 {
		s := normalised(g, at[m], at[m+1])
		vectors, err := s.vectors(columns)
		if err != nil {
			return nil, fmt.Errorf("analysis: member %d: %w", m, err)
		}
		for k, column := range vectors {
			sign := 1.0
			if i := slices.IndexFunc(column, func(v float64) bool { return math.Abs(v) > 1e-6 }); i >= 0 && column[i] < 0 {
				sign = -1
			}
			for v, x := range column {
				y.Row(at[m] + v)[k] = tensor.Float(sign * x)
			}
		}
	}
	return y, nil
}

// similarity is I − L of a member, S = D^−½·A·D^−½, whose largest eigenvalues are the
// smallest of its Laplacian L. A node without edges has a loop.
type similarity struct {
	offsets []int
	cols    []int32   // ascending
	root    []float64 // √d, 1 of a node without edges
}

// normalised returns S of the nodes lo to hi, where an edge counts in both directions, once.
func normalised(g *graph.Graph, lo, hi int) *similarity {
	in := g.In()
	out, _ := g.Out()
	s := &similarity{offsets: make([]int, 1, hi-lo+1), root: make([]float64, hi-lo)}
	for v := lo; v < hi; v++ {
		first := len(s.cols)
		for _, list := range [][]int32{in.Cols[in.Offsets[v]:in.Offsets[v+1]], out.Cols[out.Offsets[v]:out.Offsets[v+1]]} {
			for _, u := range list {
				if int(u) != v {
					s.cols = append(s.cols, u-int32(lo))
				}
			}
		}
		if len(s.cols) == first {
			s.cols = append(s.cols, int32(v-lo))
		}
		slices.Sort(s.cols[first:])
		s.cols = s.cols[:first+len(slices.Compact(s.cols[first:]))]
		s.root[v-lo] = math.Sqrt(float64(len(s.cols) - first))
		s.offsets = append(s.offsets, len(s.cols))
	}
	return s
}

// nodes returns the neighbours of v.
func (s *similarity) nodes(v int) []int32 { return s.cols[s.offsets[v]:s.offsets[v+1]] }

// vectors returns the eigenvectors, but for the first, by falling eigenvalue: at most count.
func (s *similarity) vectors(count int) ([][]float64, error) {
	n := len(s.root)
	count = min(count, n-1)
	switch {
	case count < 1:
		return nil, nil
	case n <= denseNodes:
		return s.dense(count)
	}
	vectors, err := s.sparse(count)
	if err != nil && n <= denseMost {
		return s.dense(count)
	}
	return vectors, err
}

// dense is vectors by gonum's eigensolver.
func (s *similarity) dense(count int) ([][]float64, error) {
	n := len(s.root)
	a := mat.NewSymDense(n, nil)
	for v := range n {
		a.SetSym(v, v, 1)
		for _, u := range s.nodes(v) {
			if int(u) == v {
				a.SetSym(v, v, 0)
			} else if int(u) < v {
				a.SetSym(v, int(u), -1/(s.root[v]*s.root[u]))
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, errors.New("its Laplacian has no eigenvectors that could be found")
	}
	var all mat.Dense
	e.VectorsTo(&all)
	values, order := e.Values(nil), numbers(n)
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(values[i], values[j]) })
	vectors := make([][]float64, count)
	for k := range vectors {
		vectors[k] = mat.Col(nil, int(order[k+1]), &all)
	}
	return vectors, nil
}

// sparse is vectors by Lanczos's method. Those of the eigenvalue 1 are known without it.
func (s *similarity) sparse(count int) ([][]float64, error) {
	flat := s.flat(count)
	if len(flat) > count {
		return flat[1:], nil
	}
	l := &lanczos{n: len(s.root), multiply: s.multiply, rng: rand.New(rand.NewPCG(1, 0x1a9c)), locked: flat, most: lanczosProducts}
	vectors, _, err := l.largest(count + 1 - len(flat))
	return slices.Concat(flat[1:], vectors), err
}

// multiply sets y to S·x.
func (s *similarity) multiply(y, x []float64) {
	par.For(len(y), lanczosGrain, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			sum := 0.0
			for _, u := range s.nodes(v) {
				sum += x[u] / s.root[u]
			}
			y[v] = sum / s.root[v]
		}
	})
}

// flat returns eigenvectors of the eigenvalue 1, the first of them √d on all nodes. There
// are as many as components, of which it returns at most 1+count. Vector k is √d, times a
// number on the components before the k-th and times another on that.
func (s *similarity) flat(count int) [][]float64 {
	n := len(s.root)
	of, components := make([]int32, n), 0
	for v := range of {
		of[v] = -1
	}
	var volumes []float64 // Σd of each component
	for v := range n {
		if of[v] >= 0 {
			continue
		}
		of[v] = int32(components)
		volume, reached := 0.0, []int32{int32(v)}
		for len(reached) > 0 {
			w := reached[len(reached)-1]
			reached = reached[:len(reached)-1]
			volume += s.root[w] * s.root[w]
			for _, u := range s.nodes(int(w)) {
				if of[u] < 0 {
					of[u] = int32(components)
					reached = append(reached, u)
				}
			}
		}
		components++
		volumes = append(volumes, volume)
	}
	flat := make([][]float64, min(components, count+1))
	for k, before := 0, 0.0; k < len(flat); k++ {
		x := make([]float64, n)
		for v, c := range of {
			switch {
			case k == 0 || int(c) < k:
				x[v] = s.root[v]
			case int(c) == k: // so that it is at right angles to √d of the components up to this one
				x[v] = -before / volumes[k] * s.root[v]
			}
		}
		scale(x, 1/math.Sqrt(dotProduct(x, x)))
		flat[k] = x
		before += volumes[k]
	}
	return flat
}
