package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// stop stops for good. Its result has two columns: a one where it does, or none, and a one at
// each edge that it passes.
func (l *Monotonic) stop(t *grad.Tape, g *graph.Graph, p, last *grad.Var) *grad.Var {
	op := grad.Begin("attention.Monotonic", p, last)
	y := op.New(p.Dim(0), 2)
	least := l.leastToStop(t)
	if !tape.Dry(op, 0) {
		off, columns := g.In().Offsets, last.Dim(1)
		for v := range g.NumDst() {
			ran := true // off the end: it stays there
			for e := off[v]; e < off[v+1]; e++ {
				ran = ran && last.Value().Data[int(e)*columns] == 0
				u := least()
				if ran {
					continue
				}
				if float64(p.Value().Data[e]) > u {
					y.Value().Row(int(e))[0] = 1
					break
				}
				y.Value().Row(int(e))[1] = 1
			}
		}
	}
	return op.Record(y, func(*tensor.Dense) {})
}

// leastToStop returns what p has to be above at the next edge.
func (l *Monotonic) leastToStop(t *grad.Tape) func() float64 {
	switch {
	case l.Drawn && t.Recording():
		m := t.NextDropout(0.5) // a key for this place in the program
		return rand.New(rand.NewPCG(uint64(m.K0), uint64(m.K1))).Float64
	case l.Rand != nil:
		return l.Rand.Float64
	}
	return func() float64 { return 0.5 }
}

// weighDrawn is Weigh of Drawn, from the scores s. Beside the weights it carries what each edge
// adds to the logarithm of the probability of stopping there: log p where it stopped, log(1 − p)
// where it went on.
func (l *Monotonic) weighDrawn(t *grad.Tape, g *graph.Graph, s, last *grad.Var) (message.Msg, *grad.Var) {
	if l.Expected && !t.Recording() {
		alpha := stopping(g, s.Sigmoid(), last.Columns(0, 1))
		return message.E(alpha), grad.Concat(alpha, grad.Const(tensor.New(s.Dim(0), 1)))
	}
	chosen := l.stop(t, g, s.Sigmoid(), last).Detach()
	stopped, passed := chosen.Columns(0, 1), chosen.Columns(1, 2)
	log := stopped.Mul(s.Neg().Softplus()).Add(passed.Mul(s.Softplus())).Neg()
	return message.E(stopped), grad.Concat(stopped, log)
}

// LogP returns the logarithm of the probability of where each step stopped, of a network that
// aligns by l: a number a step. l is Drawn.
func (l *Monotonic) LogP(a Alignment) *grad.Var {
	if !l.Drawn {
		panic(&grad.TapeError{Op: "attention.Monotonic.LogP", Why: "only what is drawn has a probability: set Drawn"})
	}
	return message.UpdateAll(a.Graph, message.CopyE(a.Carried.Columns(1, 2)), message.Sum)
}

// ToGo returns, of each node of the chains g, the sum of its loss and of those after it in its
// chain, without gradients: what a choice that is made there answers for.
func ToGo(g *graph.Graph, losses *grad.Var) *grad.Var {
	x := losses.Value()
	if len(x.Data) != g.NumNodes() {
		panic(&tensor.ShapeError{Op: "attention.ToGo", Shapes: [][]int{{len(x.Data)}, {g.NumNodes()}}, Why: "it wants a loss for each node; grad.CrossEntropy gives one with the Reduction EachLoss"})
	}
	y, in := tensor.New(g.NumNodes(), 1), g.In()
	for _, v := range g.Sinks() {
		sum := 0.0
		for v >= 0 {
			sum += float64(x.Data[v])
			y.Data[v] = tensor.Float(sum)
			e, end := in.Offsets[v], in.Offsets[v+1]
			if v = -1; e < end {
				v = in.Cols[e]
			}
		}
	}
	return grad.Const(y)
}
