package sample

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Walks draws random walks along the edges. With neither Return nor Explore each
// out-edge of the node at hand is as likely (DeepWalk); else they are node2vec's of the
// second order, where a step from u over v to x has the weight 1/Return if x is u, 1 if
// there is an edge from u to x, and else 1/Explore.
//
// They are those of Perozzi, Al-Rfou and Skiena, "DeepWalk", KDD 2014, and of Grover and
// Leskovec, "node2vec", KDD 2016. The second order is drawn by rejection, without a table
// of every pair of edges.
type Walks struct {
	Graph   *graph.Graph // homogeneous
	Length  int          // steps; a walk has a node more
	Return  float64      // p of the paper; 0: 1
	Explore float64      // q of the paper; 0: 1
	Seed    uint64
}

// Check returns an error for walks that cannot be.
func (w *Walks) Check() error {
	switch {
	case w.Graph == nil:
		return fmt.Errorf("sample: the walks have no Graph")
	case w.Graph.Bipartite():
		return fmt.Errorf("sample: %v: walks go on in a graph of one set of nodes", w.Graph)
	case w.Length < 0:
		return fmt.Errorf("sample: walks of %d steps", w.Length)
	case !(w.Return >= 0 && w.Return-w.Return == 0) || !(w.Explore >= 0 && w.Explore-w.Explore == 0):
		return fmt.Errorf("sample: Return is %v and Explore %v; want positive numbers, or 0 for 1", w.Return, w.Explore)
	}
	return nil
}

// From returns a walk from each of some nodes, which begins with it and ends early at a
// node without out-edges. It follows from Seed, round and the place in nodes alone, not
// from threads. The error names a node that is not the graph's.
func (w *Walks) From(nodes []int32, round uint64) ([][]int32, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	for i, v := range nodes {
		if v < 0 || int(v) >= w.Graph.NumNodes() {
			return nil, fmt.Errorf("sample: walk %d begins at node %d of %d", i, v, w.Graph.NumNodes())
		}
	}
	out, _ := w.Graph.Out()
	d := walking{out: out, width: w.Length + 1, key: mix(mix(w.Seed) ^ round)}
	d.weigh(w.Graph, w.Return, w.Explore)
	walks, all := make([][]int32, len(nodes)), make([]int32, len(nodes)*d.width)
	for i := range walks {
		walks[i] = all[i*d.width : (i+1)*d.width : (i+1)*d.width]
		walks[i][0] = nodes[i]
	}
	par.For(len(nodes), walkGrain, func(lo, hi int) {
		for ; lo < hi; lo += abreast {
			d.walk(walks[lo:min(lo+abreast, hi)], lo)
		}
	})
	return walks, nil
}

const (
	walkGrain = 512 // walks that a thread takes at a time
	abreast   = 32  // walks that go on in turn, so that one need not wait for another's memory
)

// walking draws walks.
type walking struct {
	out   *sparse.CSR
	width int
	key   uint64

	second    bool
	symmetric bool    // an edge may be looked for at either end
	back      float64 // what an edge back weighs more than any other edge can; 0 if it does not
	top       float64 // the most that an edge weighs otherwise
	ret, near, far,
	least uint64 // how likely a drawn edge is taken, of 2⁶³; the least of the others' two
}

// weigh takes the parameters of walks of the second order.
func (d *walking) weigh(g *graph.Graph, back, explore float64) {
	weight := func(v float64) float64 {
		if v == 0 {
			return 1
		}
		return 1 / v
	}
	b, f := weight(back), weight(explore)
	if d.second = b != 1 || f != 1; !d.second {
		return
	}
	d.symmetric = g.Symmetric()
	d.top = max(1, f)
	d.back = max(0, b-d.top)
	share := func(v float64) uint64 { return uint64(v / d.top * (1 << 63)) }
	d.ret, d.near, d.far = share(min(b, d.top)), share(1), share(f)
	d.least = min(d.near, d.far)
}

// walk draws some walks, the first of which has number first.
func (d *walking) walk(walks [][]int32, first int) {
	var state [abreast]uint64
	for i := range walks {
		state[i] = mix(d.key ^ uint64(first+i))
	}
	for k := 1; k < d.width; k++ {
		for i, w := range walks {
			if len(w) < k {
				continue // it has ended
			}
			lo, hi := d.out.Offsets[w[k-1]], d.out.Offsets[w[k-1]+1]
			if lo == hi {
				walks[i] = w[:k]
				continue
			}
			if d.second && k > 1 {
				w[k] = d.step(w[k-2], d.out.Cols[lo:hi], &state[i])
				continue
			}
			state[i] += golden
			at, _ := bits.Mul64(mix(state[i]), uint64(hi-lo))
			w[k] = d.out.Cols[lo+int64(at)]
		}
	}
}

// step draws the next node of a walk that came from u, among some, which ascend. What
// edges back weigh beyond the others is a lot of its own; the others are drawn alike and
// taken in proportion to their weights, most of them before it is known which they have.
func (d *walking) step(u int32, next []int32, state *uint64) int32 {
	var back uint64
	if d.back > 0 {
		extra := d.back * float64(count(next, u))
		back = uint64(extra / (extra + d.top*float64(len(next))) * (1 << 63))
	}
	for { // whatever is not taken is drawn anew, edges back among it
		if back > 0 {
			*state += golden
			if mix(*state)>>1 < back {
				return u
			}
		}
		*state += golden
		at, rest := bits.Mul64(mix(*state), uint64(len(next)))
		x, lot := next[at], mix(rest)>>1
		share := d.far
		switch {
		case x == u:
			share = d.ret
		case lot < d.least:
			return x
		case d.near != d.far && d.leads(u, x):
			share = d.near
		}
		if lot < share {
			return x
		}
	}
}

// leads reports whether there is an edge from u to x.
func (d *walking) leads(u, x int32) bool {
	off := d.out.Offsets
	if d.symmetric && off[u+1]-off[u] > off[x+1]-off[x] {
		u, x = x, u
	}
	return find(d.out.Cols[off[u]:off[u+1]], x)
}

// few is how many numbers are looked through sooner than searched.
const few = 12

// find reports whether v is among numbers that ascend.
func find(list []int32, v int32) bool {
	if len(list) <= few {
		return slices.Contains(list, v)
	}
	_, found := slices.BinarySearch(list, v)
	return found
}

// count returns how many of the numbers, which ascend, are v.
func count(list []int32, v int32) int {
	at, n := 0, 0
	if len(list) > few {
		at, _ = slices.BinarySearch(list, v)
	}
	for ; at < len(list) && list[at] <= v; at++ {
		if list[at] == v {
			n++
		}
	}
	return n
}

// Contexts returns the graph of so many nodes whose edges lead from each node of a walk
// to those that stand at most window places from it: what a skip-gram learns from. A
// pair that occurs twice is two edges. The error names a node of a walk that is not there. It panics
// with a [*tensor.ShapeError] if nodes or window are negative.
func Contexts(nodes int, walks [][]int32, window int) (*graph.Graph, error) {
	if nodes < 0 || window < 0 {
		panic(&tensor.ShapeError{Op: "sample.Contexts", Why: fmt.Sprintf("%d nodes and a window of %d; want 0 or more", nodes, window)})
	}
	var src, dst []int32
	for k, w := range walks {
		for i, u := range w {
			if u < 0 || int(u) >= nodes {
				return nil, fmt.Errorf("sample: place %d of walk %d is node %d, and there are %d nodes", i, k, u, nodes)
			}
			for j := max(0, i-window); j < min(len(w), i+window+1); j++ {
				if j != i {
					src, dst = append(src, u), append(dst, w[j])
				}
			}
		}
	}
	return graph.New(nodes, src, dst)
}
