package message

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
)

// planned returns the plan of m, under reducers or none, and its ways. It
// panics with a [*tensor.ShapeError] where m does not fit g.
//
// A training step says the same messages again, of other Vars. So plans are kept,
// up to a number, by all that they are made from.
func planned(op string, g *graph.Graph, m *Msg, rs []Reducer) *rules.Compiled {
	if m.empty() {
		panic(&grad.TapeError{Op: op, Why: "the Msg is empty"})
	}
	checkLeaves(op, g, m)
	k := keys.Get().(*planKey)
	k.of(m, rs)
	p := plans.find(k)
	if p == nil {
		p = &cachedPlan{key: slices.Clone(k.words), compiled: rules.Compile(op, programOf(op, m, rs))}
		plans.keep(k, p)
	}
	keys.Put(k)
	checkPicks(op, g, m, p.compiled.Plan)
	return p.compiled
}

// programOf returns what m says: what a plan is made from.
func programOf(op string, m *Msg, rs []Reducer) *ir.Program {
	code, vars := m.nodes(), m.operands()
	p := &ir.Program{Code: slices.Clone(code), Leaves: make([]ir.Leaf, len(code))}
	for i := range code {
		if n := &code[i]; n.Kind.IsLeaf() {
			x := vars[n.K]
			p.Leaves[i] = ir.Leaf{
				Shape: slices.Clone(shapeOf(n.Kind, x)), Flat: len(x.Shape()) == 1, Needs: x.Needs(),
			}
		}
	}
	for _, r := range rs {
		if int(r) >= len(reducers) {
			panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("there is no reducer %d", r)})
		}
		p.Reducers = append(p.Reducers, reducers[r])
	}
	return p
}

// shapeOf returns the shape of the message that a leaf of x is.
func shapeOf(k ops.Kind, x *grad.Var) []int {
	shape := arrayOf(x).Shape()
	switch {
	case k == ops.LeafW:
		return shape
	case len(shape) == 1:
		return oneElement
	}
	return shape[1:]
}

var oneElement = []int{1}

// planKey tells plans apart: the operations, the shapes of what they read, and
// the reducers.
type planKey struct {
	words []uint64
	hash  uint64
}

var keys = sync.Pool{New: func() any { return new(planKey) }}

func (k *planKey) of(m *Msg, rs []Reducer) {
	code := m.nodes()
	words := append(k.words[:0], flag(plan.Join)|uint64(len(rs))<<8|uint64(len(code))<<32)
	for _, r := range rs {
		words = append(words, uint64(r))
	}
	for i := range code {
		if n := &code[i]; n.Kind.IsLeaf() {
			words = leafKey(words, n, m.operands()[n.K])
		} else {
			words = append(words, uint64(n.Kind)|uint64(n.Fn)<<8|flag(n.Mark)<<16|uint64(uint32(n.K))<<32,
				uint64(uint32(n.A))|uint64(uint32(n.B))<<32, math.Float64bits(float64(n.C)))
		}
	}
	hash := uint64(0)
	for _, w := range words {
		hash = (hash ^ w) * 0x9e3779b97f4a7c15
		hash ^= hash >> 29
	}
	k.words, k.hash = words, hash
}

// leafKey appends what a plan is made from of a leaf that reads x.
func leafKey(words []uint64, n *ir.Node, x *grad.Var) []uint64 {
	shape := shapeOf(n.Kind, x)
	flags := flag(x.Needs()) | flag(len(x.Shape()) == 1)<<1
	words = append(words, uint64(n.Kind)|flags<<8|uint64(len(shape))<<16|uint64(uint32(n.K))<<32)
	for _, d := range shape {
		words = append(words, uint64(d))
	}
	return words
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
	all map[uint64][]*cachedPlan
	n   int
}

// cachedPlan is a plan with the words of its key.
type cachedPlan struct {
	key      []uint64
	compiled *rules.Compiled
}

var plans planCache

func (c *planCache) find(k *planKey) *cachedPlan {
	c.RLock()
	defer c.RUnlock()
	for _, p := range c.all[k.hash] {
		if slices.Equal(p.key, k.words) {
			return p
		}
	}
	return nil
}

func (c *planCache) keep(k *planKey, p *cachedPlan) {
	c.Lock()
	defer c.Unlock()
	if c.n >= mostPlans || c.all == nil {
		c.all, c.n = map[uint64][]*cachedPlan{}, 0
	}
	c.all[k.hash] = append(c.all[k.hash], p)
	c.n++
}
