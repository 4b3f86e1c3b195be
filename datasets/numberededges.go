package datasets

import (
	"errors"
	"math"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// numberedEdges is a list of edges while it is read: eight bytes an edge as long as every
// number of a node fits 32 bits, and sixteen from then on.
type numberedEdges struct {
	n        int
	src, dst chunkedSlice[int32]
	wide     *wideEdges     // all edges, if there is one
	budget   *unpack.Budget // of the text
}

// edgeTakes is what an edge takes while it is read and a graph is made, in bytes,
// and wideTakes what it takes more if a number of a node is beyond 32 bits.
const edgeTakes, wideTakes = 24, 32

// wideEdges is a list of edges between nodes of any number.
type wideEdges struct{ src, dst chunkedSlice[int64] }

// add adds an edge.
func (e *numberedEdges) add(u, v int64) error {
	if e.n == math.MaxInt32 {
		return errors.New("there are more than 2³¹−1 edges")
	}
	e.n++
	if e.wide == nil && max(u, v) > math.MaxInt32 {
		if err := e.budget.Keep(wideTakes * e.n); err != nil {
			return err
		}
		e.wide = &wideEdges{widened(&e.src), widened(&e.dst)}
	}
	takes := edgeTakes
	if e.wide != nil {
		takes += wideTakes
	}
	if err := e.budget.Keep(takes); err != nil {
		return err
	}
	if e.wide != nil {
		e.wide.src.add(u)
		e.wide.dst.add(v)
	} else {
		e.src.add(int32(u))
		e.dst.add(int32(v))
	}
	return nil
}

// widened returns what p holds, which it gives up.
func widened(p *chunkedSlice[int32]) (wide chunkedSlice[int64]) {
	for part := range p.taken() {
		for _, v := range part {
			wide.add(int64(v))
		}
	}
	return wide
}

// number returns the numbers of the nodes that occur, in ascending order, and the
// edges between their places. The list is used up.
func (e *numberedEdges) number() (ids []int64, src, dst []int32, err error) {
	if e.wide != nil {
		ids, places, err := graph.Compact(e.wide.src.join(), e.wide.dst.join())
		if err != nil {
			return nil, nil, nil, err
		}
		return ids, places[0], places[1], nil
	}
	near, places, err := graph.Compact(e.src.join(), e.dst.join())
	if err != nil {
		return nil, nil, nil, err
	}
	for _, id := range near {
		ids = append(ids, int64(id))
	}
	return ids, places[0], places[1], nil
}

// simple makes the graph of n nodes: of a list of edges it takes those that are no
// loops, and of parallel ones the first, whose weight is the sum of theirs. Within a
// node's edges the order is the list's. kept says of each edge which of the list it is.
func (d *Dataset) simple(n int, src, dst []int32, weights []tensor.Float) (kept []int32, err error) {
	in, order, err := sparse.FromCOO(n, n, dst, src, weights)
	if err != nil {
		return nil, err
	}
	place := make([]int, n) // of the last edge out of each node that was kept
	end, next := 0, 0
	for v := range n {
		start, stop := end, int(in.Offsets[v+1])
		for ; next < stop; next++ {
			u := in.Cols[next]
			p := place[u]
			switch {
			case int(u) == v:
				d.loops++
			case p >= start && p < end && in.Cols[p] == u:
				d.repeated++
				if in.Values != nil {
					in.Values[p] += in.Values[next]
				}
			default:
				in.Cols[end], order[end], place[u] = u, order[next], end
				if in.Values != nil {
					in.Values[end] = in.Values[next]
				}
				end++
			}
		}
		in.Offsets[v+1] = int64(end)
	}
	in.Cols = trimmed(in.Cols, end)
	if in.Values != nil {
		d.Weights, in.Values = trimmed(in.Values, end), nil
	}
	d.Graph, err = graph.FromCSR(in)
	return trimmed(order, end), err
}

// trimmed returns the first n elements, in a slice of their own if the others are
// worth giving back.
func trimmed[T any](x []T, n int) []T {
	if n > len(x)/2 {
		return x[:n:n]
	}
	return append(make([]T, 0, n), x[:n]...)
}
