package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// SweepOn is [Sweep] with states that have a row for each edge of another graph, such
// as the weights with which a step attended to its inputs. on[i] says what state i has
// a row for: an edge of on[i] or, where that is nil, a node of g. A nil on is Sweep.
// The destinations of on[i] are g's nodes, as [Level.Of] wants them.
//
// In step, prev[i] has a row for each edge of l.Of(on[i]), in its order: that of the
// predecessor's edge from the same source. Several predecessors' are summed; where
// none hears the source, the row is zero. Of parallel edges the first goes with the
// first. step returns a row for each edge of l.Of(on[i]), and SweepOn one for each
// edge of on[i], in its order.
//
// init[i] has a row for each edge of on[i] into g.Roots(), one root's after the
// other's, or one row for all.
func SweepOn(g *graph.Graph, on []*graph.Graph, init State, step func(l *Level, prev State) State) State {
	given("message.Sweep", g)
	if g.Bipartite() {
		panic(misfit("message.Sweep", []int{g.NumSrc(), g.NumDst()}, "the graph is bipartite, and a state goes from node to node"))
	}
	levels, err := g.Levels()
	if err != nil {
		panic(err)
	}
	if on != nil && len(on) != len(init) {
		panic(&grad.TapeError{Op: "message.SweepOn", Why: fmt.Sprintf("%d graphs for %d states; nil is one with a row for each node", len(on), len(init))})
	}
	if step == nil {
		panic(&grad.TapeError{Op: "message.Sweep", Why: "step is nil; it computes a level"})
	}
	if levels.Len() == 0 {
		levels = emptyLevel
	}
	shared := checkInit(g, on, init)
	sw := &sweep{g: g, levels: levels, init: init, arranged: map[*grad.Var]*grad.Var{}}
	for i, att := range on {
		if att != nil {
			sw.scheduleEdges(i, att)
		}
	}
	sw.schedule = scheduleOf(g, levels, shared)
	sw.run(step)
	return sw.states()
}

// emptyLevel is the levels of a graph without nodes: one, so that the step runs once, for no
// rows, and its result is on the tape of what it reads.
var emptyLevel = &graph.Levels{Offsets: []int{0, 0}}

// edges is where a state with rows for edges stands, or nil.
func (sw *sweep) edges(i int) *edgeSchedule {
	if sw.onEdges == nil {
		return nil
	}
	return sw.onEdges[i]
}

// scheduleEdges schedules state i, which has a row for each edge of att.
func (sw *sweep) scheduleEdges(i int, att *graph.Graph) {
	x := sw.init[i]
	bad := func(shape []int, why string) {
		panic(&tensor.ShapeError{Op: "message.SweepOn", Shapes: [][]int{slices.Clone(shape)}, Why: why})
	}
	if n := len(sw.levels.Order); att.NumDst() != n {
		bad([]int{att.NumSrc(), att.NumDst()}, fmt.Sprintf("the swept graph has %d nodes, want each to be a destination", n))
	}
	before := 0
	for _, v := range sw.g.Roots() {
		before += att.InDegree(int(v))
	}
	n := x.Value().Rows()
	if n != 1 && n != before {
		bad(x.Shape(), fmt.Sprintf("init wants one row, or one for each of %d edges into the roots", before))
	}
	if sw.onEdges == nil {
		sw.onEdges = make([]*edgeSchedule, len(sw.init))
	}
	key := edgesKey{sw.levels, n != before}
	sw.onEdges[i] = graph.Derive(att, key, func() *edgeSchedule { return newEdgeSchedule(sw.g, sw.levels, att, n != before) })
}

// edgesKey is that of the plan of a state on the edges of a graph, in the sweeps over
// another, whose levels tell it.
type edgesKey struct {
	levels *graph.Levels
	shared bool
}

// edgeSchedule is where a state with a row for each edge stands in its frame: first the
// rows before the roots, then the edges into the nodes of each level.
type edgeSchedule struct {
	before      int     // the rows before the roots
	first       []int32 // the row of init of each of these
	inOrder     bool    // first is 0, 1, 2 …
	places      []edgePlace
	order, rank []int32 // the edges in the order of the frame, and the place of each
}

// edgePlace is where the edges of a level stand.
type edgePlace struct {
	row, edges int          // the frame's first row that the level writes, and how many
	lo, hi     int          // the rows that it reads
	link       *graph.Graph // from those to its edges
}

// rows is the number of rows of the frame.
func (p *edgeSchedule) rows() int { return p.before + len(p.order) }

// read returns the rows that a level's edges have from those of its predecessors.
func (at *edgePlace) read(f tape.Frame) *grad.Var {
	return UpdateAll(at.link, U(f.View(at.lo, at.hi)), Sum)
}

func newEdgeSchedule(g *graph.Graph, l *graph.Levels, att *graph.Graph, shared bool) *edgeSchedule {
	p := &edgeSchedule{rank: make([]int32, att.NumEdges()), order: make([]int32, 0, att.NumEdges())}
	off := att.In().Offsets
	for _, v := range l.Order {
		for e := off[v]; e < off[v+1]; e++ {
			p.rank[e] = int32(len(p.order))
			p.order = append(p.order, int32(e))
		}
	}
	if l.Len() == 0 {
		return p
	}
	p.placeRoots(g, l.Order[:l.Offsets[1]], att, shared)
	for n := 1; n < l.Len(); n++ {
		p.placeLevel(g, l.Order[l.Offsets[n]:l.Offsets[n+1]], att)
	}
	return p
}

// placeRoots has the edges into level 0 read the first rows of the frame, each its own.
func (p *edgeSchedule) placeRoots(g *graph.Graph, nodes []int32, att *graph.Graph, shared bool) {
	start, at := map[int32]int32{}, int32(0) // of each root's rows of init
	for _, v := range g.Roots() {
		start[v] = at
		at += int32(att.InDegree(int(v)))
	}
	p.inOrder = !shared
	for _, v := range nodes {
		for k := range int32(att.InDegree(int(v))) {
			r := int32(0)
			if !shared {
				r = start[v] + k
				p.inOrder = p.inOrder && int(r) == len(p.first)
			}
			p.first = append(p.first, r)
		}
	}
	p.before = len(p.first)
	own := newLink()
	for r := range p.before {
		own.add(r)
		own.end()
	}
	p.places = append(p.places, own.place(p.before))
}

// placeLevel finds for each edge into some nodes the rows of the edges from the same
// source into their predecessors.
func (p *edgeSchedule) placeLevel(g *graph.Graph, nodes []int32, att *graph.Graph) {
	k, in := newLink(), att.In()
	var m matching
	var rows [][]int32 // of each edge
	for _, v := range nodes {
		into := sourcesOf(in, v)
		rows = slices.Grow(rows[:0], len(into))[:len(into)]
		for e := range rows {
			rows[e] = rows[e][:0]
		}
		for _, u := range sourcesOf(g.In(), v) {
			m.each(into, sourcesOf(in, u), func(e, f int) {
				rows[e] = append(rows[e], int32(p.before)+p.rank[int(in.Offsets[u])+f])
			})
		}
		for _, list := range rows {
			for _, r := range list {
				k.add(int(r))
			}
			k.end()
		}
	}
	last := &p.places[len(p.places)-1]
	p.places = append(p.places, k.place(last.row+last.edges))
}

// sourcesOf is the sources of v's in-edges.
func sourcesOf(in *sparse.CSR, v int32) []int32 { return in.Cols[in.Offsets[v]:in.Offsets[v+1]] }

// matching finds the edges from the same source in two lists of sources.
type matching struct{ at map[parallel]int }

// parallel is a source and which of its parallel edges is meant.
type parallel struct{ source, n int32 }

// each calls f with every pair of places in x and y that have the same source. Of
// parallel edges the first is paired with the first.
func (m *matching) each(x, y []int32, f func(i, j int)) {
	if slices.Equal(x, y) {
		for i := range x {
			f(i, i)
		}
		return
	}
	if m.at == nil {
		m.at = map[parallel]int{}
	}
	clear(m.at)
	count := map[int32]int32{}
	for j, s := range y {
		m.at[parallel{s, count[s]}] = j
		count[s]++
	}
	clear(count)
	for i, s := range x {
		if j, ok := m.at[parallel{s, count[s]}]; ok {
			f(i, j)
		}
		count[s]++
	}
}

// link is the graph from rows of a frame to a level's edges, as it is made.
type link struct {
	in     *sparse.CSR
	lo, hi int
}

func newLink() *link { return &link{in: &sparse.CSR{Offsets: []int64{0}}} }

// add lets the next edge read a row.
func (k *link) add(row int) {
	if len(k.in.Cols) == 0 {
		k.lo = row
	}
	k.lo, k.hi = min(k.lo, row), max(k.hi, row+1)
	k.in.Cols = append(k.in.Cols, int32(row))
}

// end completes an edge.
func (k *link) end() { k.in.Offsets = append(k.in.Offsets, int64(len(k.in.Cols))) }

// place is that of a level which writes from a row on.
func (k *link) place(row int) edgePlace {
	for i := range k.in.Cols {
		k.in.Cols[i] -= int32(k.lo)
	}
	k.in.NumRows, k.in.NumCols = len(k.in.Offsets)-1, k.hi-k.lo
	return edgePlace{row: row, edges: k.in.NumRows, lo: k.lo, hi: k.hi, link: graph.Must(graph.FromCSR(k.in))}
}
