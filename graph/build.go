package graph

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/sparse"
)

// New returns the graph of n nodes with an edge from src[i] to dst[i] for each
// i. It copies what it needs of both. The error names the first edge whose ends
// are not both in 0..n−1. It panics with a [*tensor.ShapeError] if n is negative or the lists are not of one length.
func New(n int, src, dst []int32) (*Graph, error) {
	return fromList("graph.New", n, n, src, dst)
}

// NewBipartite returns the bipartite graph of nSrc sources and nDst
// destinations with an edge from src[i] to dst[i] for each i. It copies what it
// needs of both. The error names the first edge that has a wrong end. It panics as [New] does.
func NewBipartite(nSrc, nDst int, src, dst []int32) (*Graph, error) {
	g, err := fromList("graph.NewBipartite", nSrc, nDst, src, dst)
	if err != nil {
		return nil, err
	}
	g.top().bipartite = true
	return g, nil
}

// Must returns g, or panics with err if there is one. It is for graphs that the
// program itself spells out.
func Must[T *Graph | []*Graph](g T, err error) T {
	if err != nil {
		panic(err)
	}
	return g
}

// FromCSR returns the graph whose destinations are the rows of in and whose
// sources are its columns: nonzero e is edge e, and the list is the nonzeros in
// order. A square matrix gives a homogeneous graph. Values are ignored; offsets
// and columns are shared, not copied, and must not be modified afterwards. The error names what is wrong with the matrix.
func FromCSR(in *sparse.CSR) (*Graph, error) { return fromCSR(in, in.NumCols != in.NumRows) }

// Bags returns the bipartite graph from nSrc sources to bags of them, as sentences are bags
// of words: bag v has the sources src[offsets[v]] to src[offsets[v+1]], without the latter, in
// that order, which is that of the edges. Both are shared, not copied, and must not be modified
// afterwards. The error names the first offset or source that is wrong. It panics with a [*tensor.ShapeError] if nSrc is
// negative.
func Bags(nSrc int, offsets []int64, src []int32) (*Graph, error) {
	mistake.NotNegative("graph.Bags", "source nodes", nSrc)
	return fromCSR(&sparse.CSR{Offsets: offsets, Cols: src, NumRows: max(0, len(offsets)-1), NumCols: nSrc}, true)
}

func fromCSR(in *sparse.CSR, bipartite bool) (*Graph, error) {
	if in.NumRows < 0 || in.NumCols < 0 {
		return nil, fmt.Errorf("graph: a matrix of %d rows and %d columns, want 0 or more of each", in.NumRows, in.NumCols)
	}
	if err := mistake.Counts(in.NumCols, in.NumRows, len(in.Cols)); err != nil {
		return nil, err
	}
	if err := checkOffsets(in); err != nil {
		return nil, err
	}
	for e, u := range in.Cols {
		if u < 0 || int(u) >= in.NumCols {
			row := sort.Search(in.NumRows, func(v int) bool { return in.Offsets[v+1] > int64(e) })
			return nil, fmt.Errorf("graph: nonzero %d, in row %d: column %d is not in %s", e, row, u, mistake.Range(in.NumCols))
		}
	}
	return ofCSR(in.NumCols, in.Offsets, in.Cols, bipartite), nil
}

// checkOffsets checks that the offsets of in ascend from 0 to the number of its
// nonzeros.
func checkOffsets(in *sparse.CSR) error {
	if len(in.Offsets) != in.NumRows+1 {
		return fmt.Errorf("graph: %d offsets for %d rows, want %d", len(in.Offsets), in.NumRows, in.NumRows+1)
	}
	if in.Offsets[0] != 0 {
		return fmt.Errorf("graph: offset 0 is %d, want 0", in.Offsets[0])
	}
	for v := range in.NumRows {
		if lo, hi := in.Offsets[v], in.Offsets[v+1]; hi < lo {
			return fmt.Errorf("graph: row %d ends at nonzero %d, before its start %d", v, hi, lo)
		}
	}
	if end := in.Offsets[in.NumRows]; end != int64(len(in.Cols)) {
		return fmt.Errorf("graph: the last offset is %d, want %d, the number of columns", end, len(in.Cols))
	}
	return nil
}

// fromList returns the homogeneous graph of the list that a caller of op has.
func fromList(op string, nSrc, nDst int, src, dst []int32) (*Graph, error) {
	mistake.Length(op, "sources", len(src), "destinations", len(dst))
	mistake.NotNegative(op, "source nodes", nSrc)
	mistake.NotNegative(op, "destination nodes", nDst)
	if err := mistake.Counts(nSrc, nDst, len(src)); err != nil {
		return nil, err
	}
	l := list{src: src, dst: dst}
	if err := l.check(nSrc, nDst); err != nil {
		return nil, err
	}
	return l.sorted(nSrc, nDst), nil
}

// list is edges in the order of a caller.
type list struct {
	src, dst []int32
	kinds    []int32 // nil: none
	parent   []int32 // the parent's edge, or −1; nil: there is no parent
}

// check checks that the ends of every edge are in range.
func (l list) check(nSrc, nDst int) error {
	for i, u := range l.src {
		v := l.dst[i]
		if u < 0 || int(u) >= nSrc {
			return fmt.Errorf("graph: edge %d of %d, %d → %d: the source is not in %s", i, len(l.src), u, v, mistake.Range(nSrc))
		}
		if v < 0 || int(v) >= nDst {
			return fmt.Errorf("graph: edge %d of %d, %d → %d: the destination is not in %s", i, len(l.src), u, v, mistake.Range(nDst))
		}
	}
	return nil
}

// list returns g's edges in the order of its list, with g as the parent.
func (g *Graph) list() list {
	n := g.NumEdges()
	l := list{src: make([]int32, n), dst: make([]int32, n), parent: make([]int32, n)}
	if g.kinds != nil {
		l.kinds = make([]int32, n)
	}
	cols, dst := g.In().Cols, g.Destinations()
	for e, i := range g.EdgeOrder() {
		l.src[i], l.dst[i], l.parent[i] = cols[e], dst[e], int32(e)
		if g.kinds != nil {
			l.kinds[i] = g.kinds[e]
		}
	}
	return l
}

// pick returns the edges of l at the given places.
func (l list) pick(at []int32) list {
	return list{src: gather(l.src, at), dst: gather(l.dst, at), kinds: gather(l.kinds, at), parent: gather(l.parent, at)}
}

// sorted returns the homogeneous graph of l, whose ends must be in range. The
// sort is stable: within a destination the order is l's. A list that is in order is not
// sorted.
func (l list) sorted(nSrc, nDst int) *Graph {
	if slices.IsSorted(l.dst) {
		return l.inOrder(nSrc, nDst)
	}
	in, order, err := sparse.FromCOO(nDst, nSrc, l.dst, l.src, nil)
	if err != nil {
		panic(err) // the ends were not in range
	}
	g := ofMatrix(in, false)
	g.order = order
	g.kinds = gather(l.kinds, order)
	g.from.Edges = gather(l.parent, order)
	return g
}

// inOrder is sorted of a list that is.
func (l list) inOrder(nSrc, nDst int) *Graph {
	offsets := make([]int64, nDst+1)
	for _, v := range l.dst {
		offsets[v+1]++
	}
	for v := range nDst {
		offsets[v+1] += offsets[v]
	}
	g := ofCSR(nSrc, offsets, slices.Clone(l.src), false)
	g.kinds, g.from.Edges = slices.Clone(l.kinds), slices.Clone(l.parent)
	return g
}

// ofCSR returns the graph of a CSR that is known to be good; its list is its
// nonzeros in order.
func ofCSR(nSrc int, offsets []int64, cols []int32, bipartite bool) *Graph {
	return ofMatrix(&sparse.CSR{Offsets: offsets, Cols: cols, NumRows: len(offsets) - 1, NumCols: nSrc}, bipartite)
}

// ofMatrix is [ofCSR] of a matrix.
func ofMatrix(in *sparse.CSR, bipartite bool) *Graph {
	return &Graph{csr: in, shared: &topology{nSrc: in.NumCols, nDst: in.NumRows, edges: in.NNZ(), bipartite: bipartite}}
}

// gather returns x[at[0]], x[at[1]], …, or nil if x is nil.
func gather(x, at []int32) []int32 {
	if x == nil {
		return nil
	}
	y := make([]int32, len(at))
	for i, j := range at {
		y[i] = x[j]
	}
	return y
}

// iota32 returns 0, 1, … n−1.
func iota32(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i)
	}
	return x
}

// ID is what may name a node in data from elsewhere.
type ID interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~string
}

// NewCompact returns the graph of an edge list whose ids leave gaps, or are
// names: its nodes are the ids that occur, in ascending order, and ids[v] is
// that of node v. Otherwise it is [New], with an edge from src[i] to dst[i] for
// each i. A node that no edge has must be given by other means: see [Compact]. It panics as New does.
func NewCompact[T ID](src, dst []T) (g *Graph, ids []T, err error) {
	mistake.Length("graph.NewCompact", "sources", len(src), "destinations", len(dst))
	ids, numbers, err := Compact(src, dst)
	if err != nil {
		return nil, nil, err
	}
	g, err = New(len(ids), numbers[0], numbers[1])
	return g, ids, err
}

// Compact numbers the ids that occur in the lists from 0 up, in ascending order
// and without gaps: numbers[k][i] is the number of lists[k][i], and ids[n] the
// id of number n. Labels or features that stand in the order of a list of ids
// of their own find their nodes when that list is one of those given.
//
// The error says that there are more than 2³¹−1 ids.
func Compact[T ID](lists ...[]T) (ids []T, numbers [][]int32, err error) {
	for _, list := range lists {
		part := slices.Clone(list)
		slices.Sort(part)
		ids = append(ids, slices.Compact(part)...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > math.MaxInt32 {
		return nil, nil, fmt.Errorf("graph: %d different ids, at most %d", len(ids), math.MaxInt32)
	}
	numbers = make([][]int32, len(lists))
	for k, list := range lists {
		numbers[k] = make([]int32, len(list))
		for i, id := range list {
			n, _ := slices.BinarySearch(ids, id)
			numbers[k][i] = int32(n)
		}
	}
	return ids, numbers, nil
}
