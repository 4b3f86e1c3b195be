package message

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// planned returns the plan of m on g, under reducers or none. It panics with a
// [*tensor.ShapeError] where m does not fit g.
//
// A training step says the same messages again, of other Vars. So plans are kept,
// up to a number, by all that they are made from.
func planned(op string, g *graph.Graph, m *Msg, rs []Reducer) *plan {
	if m.empty() {
		panic(&grad.TapeError{Op: op, Why: "the Msg is empty"})
	}
	checkLeaves(op, g, m)
	k := keys.Get().(*planKey)
	k.of(g, m, rs)
	p := plans.find(k)
	if p == nil {
		p = newPlan(op, g, m, rs)
		p.key = slices.Clone(k.words)
		plans.keep(k, p)
	}
	keys.Put(k)
	checkPicks(op, g, m, p)
	return p
}

// planKey tells plans apart: the operations, the shapes of what they read, and
// the reducers.
type planKey struct {
	words []uint64
	hash  uint64
}

var keys = sync.Pool{New: func() any { return new(planKey) }}

func (k *planKey) of(g *graph.Graph, m *Msg, rs []Reducer) {
	code := m.nodes()
	k.words = append(k.words[:0], flag(joins), uint64(len(rs)), uint64(len(code)))
	for _, r := range rs {
		k.words = append(k.words, uint64(r))
	}
	for i := range code {
		n := &code[i]
		k.words = append(k.words, uint64(n.kind)|uint64(n.fn)<<8|flag(n.mark)<<16,
			uint64(uint32(n.a))|uint64(uint32(n.b))<<32, uint64(uint32(n.k)), math.Float64bits(float64(n.c)))
		if n.kind <= leafW {
			k.leaf(g, n.kind, m.operands()[n.k])
		}
	}
	k.hash = 0
	for _, w := range k.words {
		k.hash = (k.hash ^ w) * 0x9e3779b97f4a7c15
		k.hash ^= k.hash >> 29
	}
}

func (k *planKey) leaf(g *graph.Graph, kind kind, x *grad.Var) {
	shape := shapeOf(kind, x)
	k.words = append(k.words, flag(x.Needs())|flag(kind == leafV && ofSources(g, x))<<1, uint64(len(shape)))
	for _, n := range shape {
		k.words = append(k.words, uint64(n))
	}
}

func flag(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

// mostPlans is how many plans are kept: a model has a few for each layer, but a
// constant of a message may change with every step.
const mostPlans = 512

// planCache holds plans by the hashes of their keys.
type planCache struct {
	sync.RWMutex
	all map[uint64][]*plan
	n   int
}

var plans planCache

func (c *planCache) find(k *planKey) *plan {
	c.RLock()
	defer c.RUnlock()
	for _, p := range c.all[k.hash] {
		if slices.Equal(p.key, k.words) {
			return p
		}
	}
	return nil
}

func (c *planCache) keep(k *planKey, p *plan) {
	c.Lock()
	defer c.Unlock()
	if c.n >= mostPlans || c.all == nil {
		c.all, c.n = map[uint64][]*plan{}, 0
	}
	c.all[k.hash] = append(c.all[k.hash], p)
	c.n++
}

// checkLeaves panics unless every leaf has the rows that g wants.
func checkLeaves(op string, g *graph.Graph, m *Msg) {
	for i := range m.nodes() {
		n := &m.nodes()[i]
		if n.kind > leafW {
			continue
		}
		x := m.operands()[n.k]
		rows, want := x.Value().Rows(), g.NumSrc()
		switch n.kind {
		case leafW:
			if len(x.Shape()) == tensor.MaxAxes {
				panic(misfit(op, x.Shape(), "an array of four axes leaves none for the edges"))
			}
			continue
		case leafE:
			want = g.NumEdges()
		case leafV:
			if want = g.NumDst(); ofSources(g, x) {
				continue
			}
		}
		if rows != want {
			panic(misfit(op, x.Shape(), fmt.Sprintf("%s wants %d rows on a graph of %d sources, %d destinations and %d edges",
				leafNames[n.kind], want, g.NumSrc(), g.NumDst(), g.NumEdges())))
		}
	}
}

// checkPicks panics unless every edge has a row to take.
func checkPicks(op string, g *graph.Graph, m *Msg, p *plan) {
	for i := range p.steps {
		s := &p.steps[i]
		if !s.picks() {
			continue
		}
		rows := m.besides()[s.aside].rows
		shape := append([]int{s.from}, s.shape...)
		if len(rows) != g.NumEdges() {
			panic(misfit(op, shape, fmt.Sprintf("Pick wants a kind for each of %d edges, got %d", g.NumEdges(), len(rows))))
		}
		for e, k := range rows {
			if uint(k) >= uint(s.from) {
				panic(misfit(op, shape, fmt.Sprintf("edge %d has kind %d, the message has %d rows", e, k, s.from)))
			}
		}
	}
}

// picks reports whether a step takes one of several rows for each edge.
func (s *step) picks() bool { return s.taken || s.kind == pick }

func misfit(op string, shape []int, why string) *tensor.ShapeError {
	return &tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(shape)}, Why: why}
}
