package rules

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// additiveBlocks is a message that has an additive score, on a graph of blocks:
//
//	z = tanh(U(k) + V(q))·W(v)
//
// z is computed by itself, a number an edge, and the message that reads it is left to
// other rules. Its bits are those of tiles. [fused.Additive] has the arithmetic.
type additiveBlocks struct {
	k, q, v int
	z       int     // the array that z becomes in what reads it,
	reader  *reader // which is nil if nothing does
	mean    int     // the array x where that is Σ U(x) × softmax(z), or none
}

// reader is the rest of a message, which is compiled when it first runs.
type reader struct {
	program  *ir.Program
	once     sync.Once
	compiled *Compiled
}

func (r *reader) plan() *Compiled {
	r.once.Do(func() { r.compiled = Compile("message", r.program) })
	return r.compiled
}

const additiveName = "additive scores on blocks: one pass over the keys of each query, then what reads the scores"

// mostHidden is the widest row that an additive score is taken of.
const mostHidden = 1 << 12

func matchAdditiveBlocks(p *plan.Plan) Way {
	all := p.Program
	score, ok := additiveIn(all.Message())
	if !ok {
		return nil
	}
	ends, v := score.Operand().Operand(), score.Second()
	k, q := ends.Operand(), ends.Second()
	if k.Is(ops.LeafV) {
		k, q = q, k
	}
	m := additiveBlocks{k: k.Var(), q: q.Var(), v: v.Var(), z: all.Arrays(), mean: none}
	needs := k.Leaf().Needs || q.Leaf().Needs || v.Leaf().Needs
	rest := all.Given(score, ir.Leaf{Shape: []int{1}, Needs: needs}, m.z)
	if rest.Message().IsLeaf() && len(rest.Reducers) == 0 {
		return m
	}
	m.mean, m.reader = meanBySoftmax(rest), &reader{program: rest}
	return m
}

// additiveIn returns the first additive score that e is made of.
func additiveIn(e ir.Expr) (score ir.Expr, ok bool) {
	if e.IsLeaf() {
		return e, false
	}
	if isAdditive(e) {
		return e, true
	}
	if score, ok = additiveIn(e.Operand()); !ok && e.Paired() {
		score, ok = additiveIn(e.Second())
	}
	return score, ok
}

// isAdditive reports whether e is an additive score of rows of one axis.
func isAdditive(e ir.Expr) bool {
	if !e.Is(ops.DotLast) || !e.Second().Is(ops.LeafW) {
		return false
	}
	if _, ok := e.Operand().Function(vec.Tanh); !ok {
		return false
	}
	x, y, ok := e.Operand().Operand().Pair(vec.Add)
	if !ok || !(x.Is(ops.LeafU) && y.Is(ops.LeafV) || x.Is(ops.LeafV) && y.Is(ops.LeafU)) || !sameRows(x.Leaf(), y.Leaf()) {
		return false
	}
	width := x.Leaf().Shape
	return len(width) == 1 && width[0] > 0 && width[0] <= mostHidden && slices.Equal(e.Second().Leaf().Shape, width)
}

// meanBySoftmax returns which array x is where a program is Σ U(x) × softmax(E), of
// which E is a number an edge, or none.
func meanBySoftmax(p *ir.Program) int {
	x, w, ok := p.Message().Product(ops.LeafU)
	if !ok || !p.Reduces(ops.Sum) || x.Leaf().Flat || !w.Is(ops.Softmax) || !w.Operand().Is(ops.LeafE) {
		return none
	}
	return x.Var()
}

// Takes takes graphs of blocks.
func (additiveBlocks) Takes(c *exec.Call) bool { return c.Graph.Spans() != nil }

// Forward runs a call.
func (m additiveBlocks) Forward(c *exec.Call) *grad.Var {
	z := m.score(c)
	if m.reader == nil {
		return z
	}
	if m.mean != none {
		alpha := edgeSoftmax{}.Forward(&exec.Call{Graph: c.Graph, Vars: []*grad.Var{z}})
		return weightedSum{x: 0, w: 1}.Forward(&exec.Call{Graph: c.Graph, Vars: []*grad.Var{c.Vars[m.mean], alpha}})
	}
	p, rest := m.reader.plan(), *c
	rest.Plan, rest.Vars = p.Plan, append(slices.Clone(c.Vars[:m.z]), z)
	return p.Choose(&rest).Forward(&rest)
}

type additiveKey struct{ width int }

// score computes the scores of all edges.
func (m additiveBlocks) score(c *exec.Call) *grad.Var {
	k, q, v := c.Vars[m.k], c.Vars[m.q], c.Vars[m.v]
	op := grad.Begin("AdditiveBlocks", k, q, v)
	on := graph.Derive(c.Graph, additiveKey{k.Dim(-1)}, func() *fused.AdditiveBlocks {
		return fused.NewAdditiveBlocks(c.Graph.Spans(), k.Dim(-1))
	})
	z := op.Fresh(c.Graph.NumEdges(), 1)
	n := tape.Note(op, additiveBack{op: op, k: k, q: q, v: v, pass: fused.Additive{On: on, K: k.Value().Data, Q: q.Value().Data, V: v.Value().Data}})
	if exec.Overlap(n.pass.K, n.pass.Q) {
		n.apart = len(n.pass.Q)
	}
	if !tape.Dry(op, on.Room()+n.apart) {
		n.pass.Logits(z.Value().Data)
	}
	return tape.RecordBy(op, z, n)
}

// additiveBack is the pullback of additive scores.
type additiveBack struct {
	op      grad.Op
	k, q, v *grad.Var
	pass    fused.Additive
	apart   int // the elements of q, where these are elements of k, too
}

// Pull adds to the gradients of the operands.
func (n *additiveBack) Pull(dz *tensor.Dense) {
	n.op.Scratch(n.pass.On.Room()+n.apart, func(buf []tensor.Float) {
		to := fused.AdditiveGrads{Z: dz.Data, K: gradOf(n.k), Q: gradOf(n.q), V: gradOf(n.v)}
		dq := to.Q
		if n.apart > 0 && dq != nil {
			to.Q = buf[len(buf)-n.apart:]
		}
		n.pass.Backward(&to, buf[:len(buf)-n.apart])
		if n.apart > 0 && dq != nil {
			vec.Axpy(dq, 1, to.Q)
		}
	})
}

// gradOf returns where the gradient of x goes, nil if it is not wanted.
func gradOf(x *grad.Var) []tensor.Float {
	if !x.Needs() {
		return nil
	}
	return x.Grad().Data
}
