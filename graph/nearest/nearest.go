package nearest

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// KNN returns the graph of points, the rows of an array, in which each hears the
// k others nearest to it; fewer only if there are not so many. Within a
// destination the nearest comes first, and of points equally far the lower one.
// The list is that order. Distances are Euclidean, and the result is exact. It
// takes about log n steps a point in few dimensions, and up to n in many. For angles
// and for several sets of points there is [Neighbours].
//
// The error names a coordinate that is not finite, or says that there are too many edges. It panics with a
// [*tensor.ShapeError] if k is negative.
func KNN(points *tensor.Dense, k int) (*graph.Graph, error) { return Neighbours{K: k}.Graph(points) }

// Neighbours makes graphs of points as [KNN] does.
type Neighbours struct {
	K       int
	Cosine  bool  // by the cosine of the angle, the largest first; a point of zeros has 0 with all
	Members []int // where members begin and end, as in [graph.Graph.NodeOffsets]: points hear those of their own; nil: one member
}

// Graph returns the graph of points, the rows of an array, whose members are n.Members. The
// result is exact: by angles, or in more than 8 dimensions, products of tiles of the points
// say which pairs may be near, and these are compared in float64.
//
// The error names a coordinate that is not finite, an offset that is out of order, or says that there are too many edges.
// It panics with a [*tensor.ShapeError] if K is negative.
func (n Neighbours) Graph(points *tensor.Dense) (*graph.Graph, error) {
	rows, at := points.Rows(), n.Members
	if at == nil {
		at = []int{0, rows}
	}
	mistake.NotNegative("nearest.Neighbours", "neighbours", n.K)
	if len(at) == 0 || at[0] != 0 || at[len(at)-1] != rows || !slices.IsSorted(at) {
		return nil, fmt.Errorf("nearest: offsets of members %v, want them to ascend from 0 to the %d points", at, rows)
	}
	offsets := make([]int64, 1, rows+1)
	for m := range len(at) - 1 {
		each := max(min(n.K, at[m+1]-at[m]-1), 0)
		for range at[m+1] - at[m] {
			offsets = append(offsets, offsets[len(offsets)-1]+int64(each))
		}
	}
	if err := mistake.Counts(rows, rows, offsets[rows]); err != nil {
		return nil, err
	}
	if err := checkPoints(points); err != nil {
		return nil, err
	}
	cols := make([]int32, offsets[rows])
	for m := range len(at) - 1 {
		if k := max(min(n.K, at[m+1]-at[m]-1), 0); k > 0 {
			n.fill(cols[offsets[at[m]]:], points, at[m], at[m+1], k)
		}
	}
	g, err := graph.FromCSR(&sparse.CSR{Offsets: offsets, Cols: cols, NumRows: rows, NumCols: rows})
	if err == nil && n.Members != nil {
		g, err = graph.WithMembers(g, at)
	}
	return g, err
}

// treeDims is the number of dimensions up to which a tree finds neighbours.
const treeDims = 8

// fill sets the k nearest of each of the points lo to hi.
func (n Neighbours) fill(cols []int32, points *tensor.Dense, lo, hi, k int) {
	x := tensor.Of(points.Data[lo*points.RowLen():hi*points.RowLen()], hi-lo, points.RowLen())
	if n.Cosine || x.RowLen() > treeDims {
		newTiles(x, n.Cosine).fill(cols, k, lo)
		return
	}
	t := newKDTree(x)
	par.For(hi-lo, pointsAtOnce, func(first, last int) {
		q := search{kdTree: t, most: k}
		for v := first; v < last; v++ {
			q.around(v, math.Inf(1))
			for i, h := range q.hits {
				cols[v*k+i] = h.v + int32(lo)
			}
		}
	})
}

// Radius returns the graph of points, the rows of an array, in which each hears
// all others at most r away. Within a destination sources ascend; the list is
// that order. Distances are Euclidean, and the result is exact.
//
// The error names a coordinate that is not finite, or says that there are too many edges. It panics with a
// [*tensor.ShapeError] if r is negative or NaN.
func Radius(points *tensor.Dense, r float64) (*graph.Graph, error) {
	n := points.Rows()
	if !(r >= 0) {
		mistake.Panic("nearest.Radius", nil, "a radius of %v, want 0 or more", r)
	}
	if err := mistake.Counts(n, n, 0); err != nil {
		return nil, err
	}
	if err := checkPoints(points); err != nil {
		return nil, err
	}
	t := newKDTree(points)
	offsets, parts := make([]int64, n+1), make([][]int32, (n+pointsAtOnce-1)/pointsAtOnce)
	par.For(n, pointsAtOnce, func(lo, hi int) {
		q, cols := search{kdTree: t, most: math.MaxInt}, []int32(nil)
		for v := lo; v < hi; v++ {
			q.around(v, r*r)
			row := len(cols)
			for _, h := range q.hits {
				cols = append(cols, h.v)
			}
			slices.Sort(cols[row:])
			offsets[v+1] = int64(len(cols) - row)
		}
		parts[lo/pointsAtOnce] = cols
	})
	for v := range n {
		offsets[v+1] += offsets[v]
	}
	if err := mistake.Counts(n, n, offsets[n]); err != nil {
		return nil, err
	}
	return graph.FromCSR(&sparse.CSR{Offsets: offsets, Cols: slices.Concat(parts...), NumRows: n, NumCols: n})
}

// pointsAtOnce is how many points one part of a parallel loop asks for.
const pointsAtOnce = 256

// search asks a kdTree for the points near one of its own.
type search struct {
	*kdTree
	most int // how many are wanted

	self  int32
	limit float64 // squared distance beyond which nothing is wanted
	hits  []hit   // what was found; by distance and number if most can be reached
}

// hit is a point at a squared distance.
type hit struct {
	d float64
	v int32
}

// around finds the points near point v, within a squared distance.
func (q *search) around(v int, limit float64) {
	q.self, q.limit, q.hits = int32(v), limit, q.hits[:0]
	q.visit(0, len(q.order))
}

// visit looks at the points order[lo:hi].
func (q *search) visit(lo, hi int) {
	if hi-lo <= leafPoints || q.dims == 0 {
		for _, v := range q.order[lo:hi] {
			q.offer(v)
		}
		return
	}
	mid := (lo + hi) / 2
	v, axis := q.order[mid], int(q.axis[mid])
	q.offer(v)
	d := q.at(q.self, axis) - q.at(v, axis)
	if d <= 0 {
		q.visit(lo, mid)
	} else {
		q.visit(mid+1, hi)
	}
	// No point beyond the plane is nearer than the plane, in rounded
	// arithmetic too; one as near may still have a lower number.
	switch {
	case !(d*d <= q.limit):
	case d <= 0:
		q.visit(mid+1, hi)
	default:
		q.visit(lo, mid)
	}
}

// offer takes point v if it is near enough.
func (q *search) offer(v int32) {
	if v == q.self {
		return
	}
	h := hit{q.distance(q.self, v), v}
	if h.d > q.limit {
		return
	}
	if q.most == math.MaxInt {
		q.hits = append(q.hits, h)
		return
	}
	i, _ := slices.BinarySearchFunc(q.hits, h, func(a, b hit) int {
		switch {
		case a.d < b.d || a.d == b.d && a.v < b.v:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	if i == q.most {
		return
	}
	if len(q.hits) < q.most {
		q.hits = append(q.hits, hit{})
	}
	copy(q.hits[i+1:], q.hits[i:])
	q.hits[i] = h
	if len(q.hits) == q.most {
		q.limit = q.hits[q.most-1].d
	}
}
