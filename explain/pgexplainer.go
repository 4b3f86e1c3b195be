package explain

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// PGExplainer learns from many cases which edges matter, and then explains cases that it has
// not seen, without learning anew: a network on what the model has learnt of the nodes,
//
//	ω_uv = W₂·ReLU(W₁·[z_u ‖ z_v ‖ z̄] + b₁) + b₂
//
// where z̄ is the mean of z of the nodes in question. For each case it makes
//
//	−log p(class | x, weight s) + EdgeSize·Σs + EdgeEntropy·mean H(s)
//	s = σ((log ε − log(1−ε) + ω)/τ),  ε uniform from 0.01 to 0.99
//
// small by Adam, with a temperature τ that falls from Hot to Cold. The scores are ω: above 0
// an edge is rather kept, and σ(ω) is its share, which is 1 for many. Luo,
// Cheng, Xu, Yu, Zong, Chen and Zhang, "Parameterized Explainer for Graph Neural Network",
// NeurIPS 2020. The zero value has the factors of its authors' code and of PyG, 30 epochs at
// the rate 0.003. A factor of 0 is said as [grad.Zero]. Features have no scores.
type PGExplainer struct {
	Epochs                int     // 0: 30
	LR                    float64 // 0: 0.003
	Hidden                int     // rows of W₁; 0: 64
	EdgeSize, EdgeEntropy float64 // 0: 0.05 and 1
	Hot, Cold             float64 // 0: 5 and 2
	Seed                  uint64  // of the Params, and of ε

	// Progress is called after each epoch of Fit, with the number of epochs that are over and of all; nil: nobody is told.
	Progress func(done, total int) `json:"-"`

	W1, B1, W2, B2 *grad.Param `json:"-"` // 3D×Hidden, Hidden, Hidden×1 and 1

	z *tensor.Dense
}

// Fit learns from cases of one model. z is what that has learnt of the nodes of the whole
// graph, such as its last layer but one: a row for each. The model is left as it is. The
// error says that there is nothing to learn from. It panics where z has no row for a node of a case.
func (l *PGExplainer) Fit(z *tensor.Dense, cases []*Case) error {
	const op = "explain.PGExplainer"
	wantOptions(op, option{"Epochs", float64(l.Epochs)}, option{"LR", l.LR}, option{"Hidden", float64(l.Hidden)},
		option{"EdgeSize", l.EdgeSize}, option{"EdgeEntropy", l.EdgeEntropy}, option{"Hot", l.Hot}, option{"Cold", l.Cold})
	edges := 0
	for i, c := range cases {
		if z == nil || c == nil {
			panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("z or case %d is nil", i)})
		}
		for v := range c.Graph.NumNodes() {
			if n := c.number(int32(v)); int(n) >= z.Rows() {
				panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(z.Shape())}, Why: fmt.Sprintf("case %d has the node %d, and z %d rows", i, n, z.Rows())})
			}
		}
		edges += len(c.open)
	}
	if edges == 0 {
		return fmt.Errorf("explain: in %d cases there is no edge to learn from", len(cases))
	}
	rng := rand.New(rand.NewPCG(l.Seed, 0x96e5))
	l.init(rng, z)
	opt, t := &train.Adam{LR: cmp.Or(l.LR, 0.003)}, grad.NewTape(l.Seed)
	epochs := cmp.Or(l.Epochs, 30)
	hot, cold := cmp.Or(l.Hot, 5), cmp.Or(l.Cold, 2)
	for epoch := range epochs {
		heat := hot * math.Pow(cold/hot, float64(epoch)/float64(epochs))
		for _, i := range rng.Perm(len(cases)) {
			c := cases[i]
			if len(c.open) == 0 {
				continue
			}
			t.Reset()
			opt.Step(l.own(t.Backward(l.loss(t, c, noise(rng, len(c.open)), heat))))
		}
		if l.Progress != nil {
			l.Progress(epoch+1, epochs)
		}
	}
	return nil
}

// init makes the Params.
func (l *PGExplainer) init(rng *rand.Rand, z *tensor.Dense) {
	in, hidden := 3*z.RowLen(), cmp.Or(l.Hidden, 64)
	l.z = z
	l.W1, l.B1 = grad.NewParam(in, hidden), grad.NewParam(hidden)
	l.W2, l.B2 = grad.NewParam(hidden, 1), grad.NewParam(1)
	l.W1.Value.GlorotUniform(rng, in, hidden, 1)
	l.W2.Value.GlorotUniform(rng, hidden, 1, 1)
}

// noise returns log ε − log(1−ε), n×1.
func noise(rng *rand.Rand, n int) *tensor.Dense {
	x := tensor.New(n, 1)
	for i := range x.Data {
		e := 0.01 + 0.98*rng.Float64()
		x.Data[i] = tensor.Float(math.Log(e) - math.Log(1-e))
	}
	return x
}

// own returns the gradients of the explainer's Params without those of the model.
func (l *PGExplainer) own(gs grad.Grads) grad.Grads {
	var out grad.Grads
	for _, g := range gs {
		switch g.Param {
		case nil:
		case l.W1, l.B1, l.W2, l.B2:
			out = append(out, g)
		}
	}
	return out
}

// omega returns ω of the edges of a case that can be left out.
func (l *PGExplainer) omega(t *grad.Tape, c *Case) *grad.Var {
	var from, to []int32
	src, dst := c.Graph.In().Cols, c.Graph.Destinations()
	for _, e := range c.open {
		from, to = append(from, c.number(src[e])), append(to, c.number(dst[e]))
	}
	own := tensor.New(1, l.z.RowLen())
	for _, v := range c.about {
		for j, x := range l.z.Row(int(c.number(v))) {
			own.Data[j] += x / tensor.Float(len(c.about))
		}
	}
	z := grad.Const(l.z)
	about := grad.Const(own).Expand(len(c.open), l.z.RowLen())
	h := grad.Concat(z.Rows(from), z.Rows(to), about).MatMul(t.Use(l.W1)).Add(t.Use(l.B1)).ReLU()
	return h.MatMul(t.Use(l.W2)).Add(t.Use(l.B2))
}

// loss is what is made small of a case, at a temperature.
func (l *PGExplainer) loss(t *grad.Tape, c *Case, noise *tensor.Dense, heat float64) *grad.Var {
	raw := l.omega(t, c).Add(grad.Const(noise)).Scale(1 / heat)
	p := raw.Sigmoid()
	weight := grad.Const(c.weights(0)).Add(p.ScatterAdd(c.open, c.Graph.NumEdges()))
	loss := c.logits(t, grad.Const(c.Features), weight).CrossEntropy([]int32{int32(c.Class)})
	return loss.Add(p.Sum().Scale(grad.Preset(l.EdgeSize, 0.05))).Add(entropy(raw, p).Scale(grad.Preset(l.EdgeEntropy, 1)))
}

// Explain scores the edges of a case, one that was learnt from or another of the same model
// and graph. It panics with a [*grad.TapeError] before Fit.
func (l *PGExplainer) Explain(c *Case) *Explanation {
	if c == nil {
		panic(&grad.TapeError{Op: "explain.PGExplainer", Why: "the case is nil"})
	}
	if l.z == nil {
		panic(&grad.TapeError{Op: "explain.PGExplainer", Why: "it has learnt nothing; was Fit called?"})
	}
	e := c.blank()
	if len(c.open) == 0 {
		return e
	}
	for i, v := range l.omega(grad.NewEval(), c).Value().Data {
		e.Edges[c.open[i]] = float64(v)
	}
	return e
}
