package memory

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// FastWeights is a recurrent network with a second matrix of weights, which is no Param: every
// state writes itself into it, and fades. Before a state settles it looks, a few times, at what
// was there like it:
//
//	A_t = λ·A_t−1 + η·h_tᵀ·h_t
//	z = x_t·W + h_t−1·U + b,  h ← f(z),  then Steps times h ← f(LN(z + h·A_t−1)),  h_t = h
//
// of Ba and others, "Using Fast Weights to Attend to the Recent Past", 2016. A is never made:
// h·A_t−1 = η·Σ_τ<t λ^(t−1−τ)·(h_τ·h)·h_τ is attention to all earlier states, without a softmax.
// So the graph that is swept has an edge from each node to all that come after it in its chain.
// The first node of a chain has a state of zeros before it. With no Steps it is a plain
// recurrent network. x is N×In, the result N×Hidden.
type FastWeights struct {
	In, Hidden int
	Steps      int             `json:",omitempty"` // looks back before a state settles
	Decay      float64         `json:",omitempty"` // λ, 0: 0.95
	Rate       float64         `json:",omitempty"` // η, 0: 0.5
	Activation grad.Activation `json:",omitempty"` // f; "" is ReLU
	NoNorm     bool            `json:",omitempty"` // no LN: states may grow without bound

	W *grad.Param `json:"-"` // In×Hidden
	U *grad.Param `json:"-"` // Hidden×Hidden
	B *grad.Param `json:"-"` // Hidden

	Gain  *grad.Param `json:"-"` // Hidden, of the norm; nil without
	Shift *grad.Param `json:"-"` // Hidden, of the norm; nil without
}

// Init makes the Params: W uniform up to 1/√Hidden, U a twentieth of the identity, as in the
// paper, the bias zero, the norm's gain one and its shift zero.
func (l *FastWeights) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W, l.U, l.B = compose.Uniform(rng, l.In, l.Hidden, l.Hidden), grad.NewParam(l.Hidden, l.Hidden), grad.NewParam(l.Hidden)
	for i := range l.Hidden {
		l.U.Value.Row(i)[i] = 0.05
	}
	l.Gain, l.Shift = compose.GainAndBias(l.Steps > 0 && !l.NoNorm, l.Hidden)
}

// Forward returns the state of every node of g, a graph of chains.
func (l *FastWeights) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	p := l.check(g, x)
	xp := compose.Affine(t, x, l.W, l.B)
	u, before := t.Use(l.U), grad.Const(p.before)
	fading := grad.Const(p.fading(grad.Preset(l.Decay, 0.95), grad.Preset(l.Rate, 0.5)))
	gain, shift := compose.Use(t, l.Gain), compose.Use(t, l.Shift)
	f := l.Activation
	if f == "" {
		f = grad.ReLU
	}
	start := message.State{grad.Const(tensor.New(1, l.Hidden))}
	return message.Sweep(p.graph, start, func(lv *message.Level, prev message.State) message.State {
		past := prev[0]
		last := message.UpdateAll(lv.In, message.UMulE(past, lv.Edges(before)), message.Sum)
		z := last.MatMul(u).Add(lv.Rows(xp))
		h, fade := z.Activate(f), message.E(lv.Edges(fading))
		for range l.Steps {
			seen := message.UpdateAll(lv.In, message.U(past).Mul(message.UDotV(past, h).Mul(fade)), message.Sum)
			h = z.Add(seen)
			if gain != nil {
				h = h.LayerNorm(gain, shift, 1e-5)
			}
			h = h.Activate(f)
		}
		return message.State{h}
	})[0]
}

func (l *FastWeights) check(g *graph.Graph, x *grad.Var) *past {
	const op = "memory.FastWeights"
	compose.WantParam(op, l.W, true)
	compose.WantInit(op, l.W, l.Hidden)
	compose.WantParam(op, l.Gain, l.Steps > 0 && !l.NoNorm)
	compose.WantNodes(op, g, x)
	compose.WantWidth(op, "x", x, l.In, "In")
	p, why := pastOf(g)
	if why != "" {
		compose.BadShape(op, x, why)
	}
	return p
}

// past is who comes before whom in chains.
type past struct {
	graph  *graph.Graph  // from each node to all that come after it in its chain
	before *tensor.Dense // of each edge: 1 from the node right before, else 0
	back   []int32       // of each edge: how many nodes are between
	why    string        // there is none
}

type pastKey struct{}

// pastOf returns the past of each node of g, or why there is none.
func pastOf(g *graph.Graph) (*past, string) {
	p := graph.Derive(g, pastKey{}, func() *past { return walkBack(g) })
	return p, p.why
}

func walkBack(g *graph.Graph) *past {
	p := &past{}
	if g.Bipartite() {
		p.why = "the graph is bipartite, want chains"
		return p
	}
	n := g.NumNodes()
	var src, dst, line []int32
	for v := range n {
		line = line[:0]
		for at := v; g.InDegree(at) > 0 && p.why == ""; {
			switch {
			case g.InDegree(at) > 1:
				p.why = fmt.Sprintf("node %d has %d predecessors, want chains", at, g.InDegree(at))
			case len(line) == n:
				p.why = fmt.Sprintf("the graph has a cycle through node %d, want chains", v)
			}
			for _, u := range g.Sources(at) {
				at, line = int(u), append(line, u)
				break
			}
		}
		if p.why != "" {
			return p
		}
		for k := len(line) - 1; k >= 0; k-- { // the first of the chain first
			src, dst, p.back = append(src, line[k]), append(dst, int32(v)), append(p.back, int32(k))
		}
	}
	p.graph, p.before = graph.Must(graph.New(n, src, dst)), tensor.New(len(src), 1)
	for e, k := range p.back {
		if k == 0 {
			p.before.Data[e] = 1
		}
	}
	return p
}

// fading is what each edge weighs: rate·decay^(nodes between).
func (p *past) fading(decay, rate float64) *tensor.Dense {
	y := tensor.New(len(p.back), 1)
	for e, k := range p.back {
		y.Data[e] = tensor.Float(rate * math.Pow(decay, float64(k)))
	}
	return y
}
